// What the tape costs beyond the arithmetic: chains of small operations, and a collapsed bound on
// M×M matrices against the same BLAS calls made by hand. Forward and reverse together.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "covary/autodiff/autodiff.hpp"

namespace covary {
namespace {

constexpr int chain_length = 1000;

void per_operation(benchmark::State& state) {
  state.counters["ns/op"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * chain_length * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

Matrix spd(Index n, double scale) {
  Matrix A(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) A(i, j) = scale * std::exp(-0.05 * std::abs(double(i - j)));
  A.diagonal().array() += scale;
  return A;
}

template <class Step>
void chain(benchmark::State& state, Step step) {
  const Matrix A = Matrix::Random(4, 4), B = 0.5 * Matrix::Identity(4, 4) + 0.1 * spd(4, 1.0);
  Tape tape;
  for (auto _ : state) {
    tape.clear();
    const Var a = tape.input(A), b = tape.input(B);
    Var x = a;
    for (int n = 0; n < chain_length; ++n) x = step(x, b);
    benchmark::DoNotOptimize(tape.gradient(sum(x))[b].data());
  }
  per_operation(state);
}

void tape_scale(benchmark::State& state) {
  chain(state, [](Var x, Var) { return 0.99 * x; });
}
void tape_add(benchmark::State& state) {
  chain(state, [](Var x, Var b) { return x + b; });
}
void tape_hadamard(benchmark::State& state) {
  chain(state, [](Var x, Var b) { return hadamard(x, b); });
}
void tape_matmul(benchmark::State& state) {
  chain(state, [](Var x, Var b) { return matmul(b, x); });
}
void tape_solve(benchmark::State& state) {
  chain(state, [](Var x, Var b) { return solve_lower(b, x); });
}

// The arithmetic of the chains alone: every value and adjoint stored, as a reverse sweep needs.
struct Bare {
  std::vector<Matrix> value = std::vector<Matrix>(chain_length + 1, Matrix::Random(4, 4));
  std::vector<Matrix> bar = std::vector<Matrix>(chain_length + 1, Matrix::Ones(4, 4));
  Matrix B = 0.5 * Matrix::Identity(4, 4) + 0.1 * spd(4, 1.0), Bbar = Matrix::Zero(4, 4),
         work = Matrix::Zero(4, 4);
};

template <class Forward, class Pullback>
void bare(benchmark::State& state, Forward forward, Pullback pullback) {
  Bare s;
  for (auto _ : state) {
    s.Bbar.setZero();
    for (std::size_t n = 0; n < chain_length; ++n) forward(s, s.value[n], s.value[n + 1]);
    for (std::size_t n = chain_length; n-- > 0;)
      pullback(s, s.value[n], s.value[n + 1], s.bar[n + 1], s.bar[n]);
    benchmark::DoNotOptimize(s.Bbar.data());
  }
  per_operation(state);
}

void bare_add(benchmark::State& state) {
  bare(
      state, [](Bare& s, const Matrix& x, Matrix& y) { y = x + s.B; },
      [](Bare& s, const Matrix&, const Matrix&, const Matrix& ybar, Matrix& xbar) {
        xbar = ybar;
        s.Bbar += ybar;
      });
}
void bare_matmul(benchmark::State& state) {
  bare(
      state, [](Bare& s, const Matrix& x, Matrix& y) { gemm(1, s.B, Op::none, x, Op::none, 0, y); },
      [](Bare& s, const Matrix& x, const Matrix&, const Matrix& ybar, Matrix& xbar) {
        gemm(1, s.B, Op::transpose, ybar, Op::none, 0, xbar);
        gemm(1, ybar, Op::none, x, Op::transpose, 1, s.Bbar);
      });
}
void bare_solve(benchmark::State& state) {
  bare(
      state,
      [](Bare& s, const Matrix& x, Matrix& y) {
        y = x;
        solve_lower(s.B, MatrixOut(y));
      },
      [](Bare& s, const Matrix&, const Matrix& y, const Matrix& ybar, Matrix& xbar) {
        xbar = ybar;
        solve_lower(s.B, MatrixOut(xbar), Op::transpose);
        gemm(-1, xbar, Op::none, y, Op::transpose, 1, s.Bbar);
      });
}

// ½cᵀc − ½log|B| + ½tr(A)/σ² with L = chol(Kuu), A = L⁻¹ΨL⁻ᵀ, B = I + A/σ², c = LB⁻¹L⁻¹b/σ².
struct Bound {
  Matrix Kuu, Psi, b;
  double noise = 0.1;
  explicit Bound(Index M) : Kuu(spd(M, 1.0)), Psi(spd(M, 3.0)), b(Vector::LinSpaced(M, -1, 1)) {}
};

void bound_on_tape(benchmark::State& state) {
  const Bound p(state.range(0));
  Tape tape;
  for (auto _ : state) {
    tape.clear();
    const Var Kuu = tape.input(p.Kuu), Psi = tape.input(p.Psi), b = tape.input(p.b);
    const Var noise = tape.input(p.noise);
    const Var L = cholesky(Kuu);
    const Var A = solve_lower_right(L, solve_lower(L, Psi), Op::transpose);
    const Var LB = cholesky(add_to_diagonal(A / noise, tape.constant(1.0)));
    const Var c = solve_lower(LB, solve_lower(L, b)) / noise;
    const Var elbo = 0.5 * dot(c, c) - 0.5 * log_determinant_of_factor(LB) + 0.5 * trace(A) / noise;
    benchmark::DoNotOptimize(tape.gradient(elbo)[Kuu].data());
  }
}

void factor(const Matrix& A, Matrix& L) {
  Jitter jitter;
  cholesky_in_place(
      L, [&] { L = A; }, jitter, "matrix");
}

void pull_factor(const Matrix& L, Matrix& Lbar) {
  Lbar.triangularView<Eigen::StrictlyUpper>().setZero();
  multiply_lower(L, Lbar, Op::transpose);
  Lbar *= 0.5;
  mirror_lower(Lbar);
  solve_lower(L, MatrixOut(Lbar), Op::transpose);
  solve_lower_right(L, Lbar);
}

void bound_by_hand(benchmark::State& state) {
  const Index M = state.range(0);
  const Bound p(M);
  const double s2 = p.noise;
  Matrix L(M, M), T(M, M), A(M, M), B(M, M), LB(M, M), w(M, 1), c(M, 1);
  Matrix Lbar(M, M), LBbar(M, M), Tbar(M, M), Psibar(M, M), wbar(M, 1), bbar(M, 1);
  for (auto _ : state) {
    factor(p.Kuu, L);
    T = p.Psi;
    solve_lower(L, MatrixOut(T));
    A = T;
    solve_lower_right(L, A, Op::transpose);
    B = A / s2;
    B.diagonal().array() += 1.0;
    factor(B, LB);
    w = p.b;
    solve_lower(L, MatrixOut(w));
    c = w;
    solve_lower(LB, MatrixOut(c));
    benchmark::DoNotOptimize(0.5 * c.squaredNorm() / (s2 * s2) -
                             0.5 * log_determinant_of_factor(LB) + 0.5 * A.trace() / s2);

    wbar = c / (s2 * s2);
    solve_lower(LB, MatrixOut(wbar), Op::transpose);
    gemm(-1.0, wbar, Op::none, c, Op::transpose, 0.0, LBbar);
    LBbar.diagonal().array() -= 1.0 / LB.diagonal().array();
    pull_factor(LB, LBbar);  // B̄
    const double noise_bar = -c.squaredNorm() / (s2 * s2 * s2) - 0.5 * A.trace() / (s2 * s2) -
                             frobenius(LBbar, A) / (s2 * s2);
    benchmark::DoNotOptimize(noise_bar);
    Tbar = LBbar / s2;
    Tbar.diagonal().array() += 0.5 / s2;
    solve_lower_right(L, Tbar);
    gemm(-1.0, Tbar, Op::transpose, A, Op::none, 0.0, Lbar);
    Lbar.triangularView<Eigen::StrictlyUpper>().setZero();
    Psibar = Tbar;
    solve_lower(L, MatrixOut(Psibar), Op::transpose);
    gemm(-1.0, Psibar, Op::none, T, Op::transpose, 1.0, Lbar);
    bbar = wbar;
    solve_lower(L, MatrixOut(bbar), Op::transpose);
    gemm(-1.0, bbar, Op::none, w, Op::transpose, 1.0, Lbar);
    pull_factor(L, Lbar);
    benchmark::DoNotOptimize(Lbar.data());
  }
}

BENCHMARK(tape_scale);
BENCHMARK(tape_add);
BENCHMARK(bare_add);
BENCHMARK(tape_hadamard);
BENCHMARK(tape_matmul);
BENCHMARK(bare_matmul);
BENCHMARK(tape_solve);
BENCHMARK(bare_solve);
BENCHMARK(bound_on_tape)->Arg(20)->Arg(100)->Arg(300)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(bound_by_hand)->Arg(20)->Arg(100)->Arg(300)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace covary

BENCHMARK_MAIN();
