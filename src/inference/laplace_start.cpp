#include "inference/laplace_start.hpp"

#include <cmath>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

constexpr Index fewest = 16;  // rows kept
constexpr int most_steps = 20;
constexpr double enough = 1e-6;  // stops when a step gains less, relative to the objective

struct Terms {
  Vector slope, W;
  double fit = 0.0;
};

Terms evaluate(const FunctionProblem& problem, const Vector& h) {
  const std::vector<Taylor> terms = problem.terms(problem.m + h);
  Terms out{Vector(h.size()), Vector(h.size())};
  for (Index n = 0; n < h.size(); ++n) {
    const Taylor& t = terms[static_cast<std::size_t>(n)];
    out.fit += t.value;
    out.slope(n) = t.first;
    out.W(n) = std::max(0.0, -t.second);
  }
  return out;
}

}  // namespace

Vector laplace_start(const FunctionProblem& problem, Index thinning) {
  const Index N = problem.size(), M = N / thinning;
  Vector a = Vector::Zero(N);
  if (M < fewest) return a;
  const auto kept = Eigen::seqN(0, M, thinning);
  // a = L⁻ᵀv at the kept rows makes h = f − m = Aᵀv with the prior N(0, I) of v, A = L⁻¹K(kept, ·)
  Matrix A = problem.K(kept, Eigen::all);
  const Matrix L = cholesky(A(Eigen::all, kept), "K of the rows kept for a start").L;
  solve_lower(L, A);

  Vector v = Vector::Zero(M), h = Vector::Zero(N);
  Terms at = evaluate(problem, h);
  double objective = at.fit;
  for (int step = 0; step < most_steps && std::isfinite(objective); ++step) {
    Matrix scaled = A;
    for (Index n = 0; n < N; ++n) scaled.col(n) *= std::sqrt(at.W(n));
    Matrix B = Matrix::Identity(M, M);
    syrk(1.0, scaled, Op::none, 1.0, B);
    const Vector b = at.W.cwiseProduct(h) + at.slope;
    const Vector move = cholesky(B, "I + AWAᵀ").solve(multiply(A, b)) - v;
    const Vector shift = multiply(A, move, Op::transpose);
    double gain = 0.0;
    for (double fraction = 1.0; fraction > 1e-6; fraction *= 0.5) {
      const Vector v_next = v + fraction * move, h_next = h + fraction * shift;
      Terms next = evaluate(problem, h_next);
      const double found = next.fit - 0.5 * dot(v_next, v_next);
      gain = found - objective;
      if (!(gain > 0.0)) continue;
      v = v_next;
      h = h_next;
      at = std::move(next);
      objective = found;
      break;
    }
    if (!(gain > enough * (1.0 + std::abs(objective)))) break;
  }
  Matrix x = v;
  solve_lower(L, x, Op::transpose);
  a(kept) = x.col(0);
  return a;
}

}  // namespace covary
