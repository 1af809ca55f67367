#include "inference/softmax_laplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/multi_function_problem.hpp"

namespace covary {
namespace {

Matrix times_K(const MultiFunctionProblem& problem, const Matrix& a) {
  Matrix out(a.rows(), a.cols());
  for (Index c = 0; c < a.cols(); ++c) out.col(c) = multiply(problem.K(c), a.col(c));
  return out;
}

// log p(y | f) + log N(f; m, K) up to a constant, at f = m + K·a, with what Newton needs there.
struct Point {
  Matrix a, Ka;
  Matrix slope, pi;  // pi: the probabilities times the weights
  double objective = 0.0;
  double residual = 0.0;  // ‖a − ∇ log p‖∞ over the largest weight, or one: zero at the mode
};

Point evaluate(const MultiFunctionProblem& problem, Matrix a, Matrix Ka) {
  const Index N = problem.size(), C = problem.functions();
  Point p{std::move(a), std::move(Ka), Matrix(N, C), Matrix(N, C)};
  p.objective = -0.5 * frobenius(p.a, p.Ka);
  Vector f(C), slope(C);
  for (Index n = 0; n < N; ++n) {
    f = problem.m.row(n) + p.Ka.row(n);
    p.objective += problem.weight(n) * problem.model.likelihood.node().log_density(
                                           problem.datum(n), f.data(), slope.data(), nullptr);
    p.slope.row(n) = problem.weight(n) * slope;  // w(e_y − π)
  }
  p.pi = -p.slope;
  for (Index n = 0; n < N; ++n) p.pi(n, static_cast<Index>(problem.y(n))) += problem.weight(n);
  p.pi = p.pi.cwiseMax(0.0);
  const double most = problem.weights.size() != 0 ? problem.weights.maxCoeff() : 1.0;
  p.residual = (p.a - p.slope).cwiseAbs().maxCoeff() / std::max(1.0, most);
  return p;
}

// W·h = p∘h − p(pᵀh)/w of every row, p = wπ
Matrix times_W(const Matrix& pi, const Matrix& h) {
  const Vector mean = pi.cwiseProduct(h).rowwise().sum().cwiseQuotient(pi.rowwise().sum());
  return pi.cwiseProduct(h.colwise() - mean);
}

SoftmaxFactor factor_at(const MultiFunctionProblem& problem, const Matrix& pi) {
  std::vector<const Matrix*> K;
  for (Index c = 0; c < problem.functions(); ++c) K.push_back(&problem.K(c));
  SoftmaxFactor factor;
  factor.compute(K, pi);
  return factor;
}

// The first of the points a fraction 1, ½, ¼, … of the way that is better; false if none is. Where
// the objective cannot tell any more, the residual does.
bool advance(const MultiFunctionProblem& problem, const Matrix& target, Point& p) {
  const Matrix step = target - p.a, Kstep = times_K(problem, step);
  const double rounding = 1e-13 * (1.0 + std::abs(p.objective));
  double fraction = 1.0;
  for (int halving = 0; halving < 40; ++halving, fraction *= 0.5) {
    Point next = evaluate(problem, p.a + fraction * step, p.Ka + fraction * Kstep);
    const double gain = next.objective - p.objective;
    if (gain > rounding || (std::abs(gain) <= rounding && next.residual < 0.99 * p.residual)) {
      p = std::move(next);
      return true;
    }
  }
  return false;
}

Point find_mode(const MultiFunctionProblem& problem, const LaplaceOptions& options,
                int& iterations) {
  // Far below this, rounding is all that keeps the residual from zero.
  constexpr double acceptable = 1e-7;
  const Matrix zero = Matrix::Zero(problem.size(), problem.functions());
  Point p = evaluate(problem, zero, zero);
  for (iterations = 0; iterations < options.max_iterations; ++iterations) {
    if (p.residual <= options.tolerance) return p;
    // Newton's target a = (I − RK)(W(f − m) + ∇ log p)
    const Matrix b = times_W(p.pi, p.Ka) + p.slope;
    const Matrix target = b - factor_at(problem, p.pi).apply(times_K(problem, b));
    if (!advance(problem, target, p)) break;
  }
  if (p.residual <= acceptable) return p;
  throw NumericalError(fmt::format(
      "Laplace found no mode of {} in {} iterations (residual {:.2g}); allow more of them, or use "
      "the variational approximation",
      problem.model.likelihood.print(), iterations, p.residual));
}

// ∂/∂f of −½ log|I + KW| = −½ tr(S·∂W/∂f), S the covariance of a row's functions:
// −½wπ_j(S_jj − Σ_a π_a S_aa − 2(Sπ)_j + 2πᵀSπ)
Matrix determinant_slope(const Matrix& weighted, const Matrix& covariance) {
  const Index N = weighted.rows(), C = weighted.cols();
  const Vector weight = weighted.rowwise().sum();
  const Matrix pi = weighted.array().colwise() / weight.array();
  Matrix out(N, C);
  Vector Spi(C);
  for (Index n = 0; n < N; ++n) {
    double own = 0.0, quadratic = 0.0;
    for (Index j = 0; j < C; ++j) {
      Spi(j) = 0.0;
      for (Index k = 0; k < C; ++k) Spi(j) += covariance(n, j * C + k) * pi(n, k);
      own += pi(n, j) * covariance(n, j * C + j);
      quadratic += pi(n, j) * Spi(j);
    }
    for (Index j = 0; j < C; ++j)
      out(n, j) = -0.5 * weight(n) * pi(n, j) *
                  (covariance(n, j * C + j) - own - 2.0 * Spi(j) + 2.0 * quadratic);
  }
  return out;
}

}  // namespace

JointApproximation laplace_approximation(const MultiFunctionModel& model,
                                         const MultiFunctionParameters& parameters,
                                         MultiFunctionParameters* gradient,
                                         const LaplaceOptions& options) {
  if (!model.likelihood.node().multinomial_logit())
    throw Unsupported(fmt::format(
        "Laplace with several latent functions needs softmax, got {}; use a FunctionModel "
        "for one function, or variational_approximation()",
        model.likelihood.print()));
  const MultiFunctionProblem problem(model, parameters, Inference::laplace);
  const Index C = problem.functions();
  JointApproximation out;
  Point mode = find_mode(problem, options, out.iterations);
  SoftmaxFactor R = factor_at(problem, mode.pi);
  out.value = mode.objective - 0.5 * R.log_determinant();
  std::vector<const Matrix*> K;
  for (Index c = 0; c < C; ++c) K.push_back(&problem.K(c));
  out.marginals = {problem.m + mode.Ka, -R.reduction(K)};
  for (Index c = 0; c < C; ++c) out.marginals.covariance.col(c * C + c) += problem.K(c).diagonal();
  if (gradient) {
    // The mode moves by df̂ = (I − KR)(dm + dK·a): u = (I − RK) of the slope there.
    const Matrix slope = determinant_slope(mode.pi, out.marginals.covariance);
    const Matrix u = slope - R.apply(times_K(problem, slope));
    problem.pullback(
        mode.a, u, [&](Index c) { return R.dense(c); }, *gradient);
    gradient->likelihood = Vector(0);
  }
  out.posterior = {model.kernels,     model.mean,         parameters,  problem.X,
                   std::move(mode.a), std::move(mode.pi), std::move(R)};
  return out;
}

}  // namespace covary
