// The two cases of autodiff_bench.cpp in other libraries, for docs/decisions/autodiff.md: a chain
// of 4×4 products, and the collapsed bound on M×M matrices; value and gradient together. Build with
// one of PEER_TORCH, PEER_STAN, PEER_CPPAD, PEER_ADOLC defined; the note gives the commands. Not
// part of any target.
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

namespace {

constexpr int chain_length = 1000;

// The best of several runs, in µs of processor time, which a busy machine disturbs least.
double best_time(const std::function<void()>& run) {
  double best = 1e300, total = 0;
  for (int n = 0; n < 5 || (n < 2000 && total < 2e6); ++n) {
    const std::clock_t start = std::clock();
    run();
    const double us = 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (us < best) best = us;
    total += us;
  }
  return best;
}

double spd(int i, int j, double scale) {
  return scale * (std::exp(-0.05 * std::abs(i - j)) + (i == j));
}

// ½cᵀc − ½log|B| + ½tr(A)/σ² with L = chol(Kuu), A = L⁻¹ΨL⁻ᵀ, B = I + A/σ², c = LB⁻¹L⁻¹b/σ².
// x holds Kuu, Ψ (lower triangles used, M×M column-major), b and σ², in this order.
std::vector<double> bound_point(int M) {
  std::vector<double> x;
  for (double scale : {1.0, 3.0})
    for (int j = 0; j < M; ++j)
      for (int i = 0; i < M; ++i) x.push_back(spd(i, j, scale));
  for (int i = 0; i < M; ++i) x.push_back(-1.0 + 2.0 * i / (M - 1));
  x.push_back(0.1);
  return x;
}

// Element by element, as a library of scalar tapes records it.
template <class T>
void factor(std::vector<T>& A, int n) {
  using std::sqrt;
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k)
      for (int i = j; i < n; ++i) A[i + j * n] -= A[i + k * n] * A[j + k * n];
    A[j + j * n] = sqrt(A[j + j * n]);
    for (int i = j + 1; i < n; ++i) A[i + j * n] /= A[j + j * n];
  }
}

template <class T>
void solve(const std::vector<T>& L, int n, T* b, int stride) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) b[i * stride] -= L[i + k * n] * b[k * stride];
    b[i * stride] /= L[i + i * n];
  }
}

template <class T>
T bound_by_scalars(const std::vector<T>& x, int M) {
  using std::log;
  std::vector<T> L(x.begin(), x.begin() + M * M), A(x.begin() + M * M, x.begin() + 2 * M * M);
  std::vector<T> c(x.begin() + 2 * M * M, x.end() - 1);
  const T noise = x.back();
  factor(L, M);
  for (int j = 0; j < M; ++j) solve(L, M, &A[j * M], 1);
  for (int i = 0; i < M; ++i) solve(L, M, &A[i], M);
  T value = 0.0;
  for (int i = 0; i < M; ++i) value += 0.5 * A[i + i * M] / noise;
  for (T& a : A) a /= noise;
  for (int i = 0; i < M; ++i) A[i + i * M] += 1.0;
  factor(A, M);
  solve(L, M, c.data(), 1);
  solve(A, M, c.data(), 1);
  for (int i = 0; i < M; ++i) value += 0.5 * c[i] * c[i] / (noise * noise) - log(A[i + i * M]);
  return value;
}

// x holds B and X: the sum of the elements of B·B⋯B·X.
std::vector<double> chain_point() {
  std::vector<double> x;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) x.push_back(0.5 * (i == j) + 0.1 * spd(i, j, 1.0));
  for (int n = 0; n < 16; ++n) x.push_back(std::sin(n));
  return x;
}

template <class T>
T chain_by_scalars(const std::vector<T>& x) {
  std::vector<T> X(x.begin() + 16, x.end()), Y(16);
  for (int n = 0; n < chain_length; ++n) {
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i) {
        T sum = 0.0;
        for (int k = 0; k < 4; ++k) sum += x[i + 4 * k] * X[k + 4 * j];
        Y[i + 4 * j] = sum;
      }
    X = Y;
  }
  T sum = 0.0;
  for (const T& element : X) sum += element;
  return sum;
}

}  // namespace

#if defined(PEER_TORCH)
#include <torch/torch.h>

const char* peer = "libtorch";

torch::Tensor leaf(const double* data, int rows, int cols) {  // a copy, from column-major
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  return torch::from_blob(const_cast<double*>(data), {cols, rows}, options)
      .t()
      .contiguous()
      .clone()
      .requires_grad_(true);
}

double run_chain(const std::vector<double>& x) {
  torch::Tensor B = leaf(&x[0], 4, 4), X = leaf(&x[16], 4, 4), Y = X;
  for (int n = 0; n < chain_length; ++n) Y = torch::matmul(B, Y);
  Y.sum().backward();
  return B.grad()[0][0].item<double>();
}

double run_bound(const std::vector<double>& x, int M) {
  const torch::Tensor Kuu = leaf(&x[0], M, M), Psi = leaf(&x[std::size_t(M) * M], M, M),
                      b = leaf(&x[2 * std::size_t(M) * M], M, 1), noise = leaf(&x.back(), 1, 1);
  auto lower = [](const torch::Tensor& L, const torch::Tensor& R) {
    return torch::linalg_solve_triangular(L, R, false);
  };
  const auto L = torch::linalg_cholesky(Kuu);
  const auto A = lower(L, lower(L, Psi).t());
  const auto LB = torch::linalg_cholesky(A / noise + torch::eye(M, torch::kFloat64));
  const auto c = lower(LB, lower(L, b)) / noise;
  const auto value = 0.5 * c.square().sum() - LB.diagonal().log().sum() + 0.5 * A.trace() / noise;
  value.sum().backward();
  return noise.grad().item<double>();
}

#elif defined(PEER_STAN)
#include <stan/math.hpp>

const char* peer = "Stan Math";
using Eigen::MatrixXd;
using stan::math::var_value;

template <class V>
V matrix(const double* data, int rows, int cols) {
  return V(MatrixXd(Eigen::Map<const MatrixXd>(data, rows, cols)));
}

double run_chain(const std::vector<double>& x) {
  using M = var_value<MatrixXd>;
  M B = matrix<M>(&x[0], 4, 4), Y = matrix<M>(&x[16], 4, 4);
  for (int n = 0; n < chain_length; ++n) Y = stan::math::multiply(B, Y);
  stan::math::sum(Y).grad();
  const double g = B.adj()(0, 0);
  stan::math::recover_memory();
  return g;
}

double run_bound(const std::vector<double>& x, int M) {
  using namespace stan::math;
  using V = var_value<MatrixXd>;
  const std::size_t n = std::size_t(M) * M;
  V Kuu = matrix<V>(&x[0], M, M), Psi = matrix<V>(&x[n], M, M), b = matrix<V>(&x[2 * n], M, 1);
  var noise(x.back());
  V L = cholesky_decompose(Kuu);
  V A = mdivide_left_tri<Eigen::Lower>(L, transpose(mdivide_left_tri<Eigen::Lower>(L, Psi)));
  V LB = cholesky_decompose(add(divide(A, noise), MatrixXd::Identity(M, M).eval()));
  V c = divide(mdivide_left_tri<Eigen::Lower>(LB, mdivide_left_tri<Eigen::Lower>(L, b)), noise);
  var value = 0.5 * sum(square(c)) - sum(stan::math::log(diagonal(LB))) + 0.5 * trace(A) / noise;
  value.grad();
  const double g = noise.adj();
  recover_memory();
  return g;
}

#elif defined(PEER_CPPAD)
#include <cppad/cppad.hpp>

const char* peer = "CppAD, taped anew each time";
using AD = CppAD::AD<double>;

template <class F>
double gradient(const std::vector<double>& x, int wanted, F f) {
  std::vector<AD> X(x.begin(), x.end());
  CppAD::Independent(X);
  std::vector<AD> Y{f(X)};
  CppAD::ADFun<double> fun(X, Y);
  return fun.Reverse(1, std::vector<double>{1.0})[static_cast<std::size_t>(wanted)];
}
double run_chain(const std::vector<double>& x) { return gradient(x, 0, chain_by_scalars<AD>); }
double run_bound(const std::vector<double>& x, int M) {
  return gradient(x, int(x.size()) - 1, [M](std::vector<AD>& X) { return bound_by_scalars(X, M); });
}

#elif defined(PEER_ADOLC)
#include <adolc/adolc.h>

const char* peer = "ADOL-C, taped anew each time";

template <class F>
double tape_gradient(const std::vector<double>& x, int wanted, F f) {
  trace_on(1);
  std::vector<adouble> X(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) X[n] <<= x[n];
  double value;
  f(X) >>= value;
  trace_off();
  std::vector<double> g(x.size());
  ::gradient(1, int(x.size()), x.data(), g.data());
  return g[static_cast<std::size_t>(wanted)];
}
double run_chain(const std::vector<double>& x) {
  return tape_gradient(x, 0, chain_by_scalars<adouble>);
}
double run_bound(const std::vector<double>& x, int M) {
  return tape_gradient(x, int(x.size()) - 1,
                       [M](std::vector<adouble>& X) { return bound_by_scalars(X, M); });
}
#endif

int main() {
#if defined(PEER_TORCH)
  torch::set_num_threads(1);
#endif
  // A derivative of each case by central differences of the plain formula: all peers must agree.
  std::vector<double> x = chain_point();
  const double h = 1e-6;
  auto derivative = [&](std::vector<double> at, std::size_t k, auto f) {
    at[k] += h;
    const double up = f(at);
    at[k] -= 2 * h;
    return (up - f(at)) / (2 * h);
  };
  std::printf("%s\nchain of 4×4 products: %.0f ns an operation (gradient %.6g, differences %.6g)\n",
              peer, best_time([&] { run_chain(x); }) * 1e3 / chain_length, run_chain(x),
              derivative(x, 0, chain_by_scalars<double>));
  for (int M : {20, 100, 300}) {
    x = bound_point(M);
    std::printf("bound, M = %d: %.0f µs (gradient %.6g, differences %.6g)\n", M,
                best_time([&] { run_bound(x, M); }), run_bound(x, M),
                derivative(x, x.size() - 1, [M](auto& p) { return bound_by_scalars(p, M); }));
  }
}
