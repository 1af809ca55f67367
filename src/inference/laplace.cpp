#include "covary/inference/laplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/laplace_start.hpp"

namespace covary {
namespace {

// log p(y | f) + log N(f; m, K) up to a constant, at f = m + K·a, with what Newton needs there.
struct Point {
  Vector a, Ka;
  std::vector<Taylor> terms;
  Vector slope, W;
  double objective = 0.0;
  double residual = 0.0;  // ‖a − ∇ log p‖∞ over max(1, ‖∇ log p‖∞): zero at the mode
};

Point evaluate(const FunctionProblem& problem, Vector a, Vector Ka) {
  Point p{std::move(a), std::move(Ka), {}, Vector(problem.size()), Vector(problem.size())};
  p.terms = problem.terms(problem.m + p.Ka);
  p.objective = -0.5 * dot(p.a, p.Ka);
  for (Index n = 0; n < problem.size(); ++n) {
    const Taylor& t = p.terms[static_cast<std::size_t>(n)];
    p.objective += t.value;
    p.slope(n) = t.first;
    p.W(n) = -t.second;
  }
  p.residual = (p.a - p.slope).cwiseAbs().maxCoeff() / std::max(1.0, p.slope.cwiseAbs().maxCoeff());
  if (!p.slope.allFinite() || !p.W.allFinite()) p.objective = std::nan("");
  return p;
}

// The first of the points a fraction 1, ½, ¼, … of the way that is better; false if none is. Where
// the objective cannot tell any more, the residual does.
bool advance(const FunctionProblem& problem, const Vector& target, Point& p) {
  const Vector Ktarget = multiply(problem.K, target);
  const double rounding = 1e-13 * (1.0 + std::abs(p.objective));
  double fraction = 1.0;
  for (int halving = 0; halving < 40; ++halving, fraction *= 0.5) {
    Point next = evaluate(problem, (1.0 - fraction) * p.a + fraction * target,
                          (1.0 - fraction) * p.Ka + fraction * Ktarget);
    const double gain = next.objective - p.objective;
    if (gain > rounding || (std::abs(gain) <= rounding && next.residual < 0.99 * p.residual)) {
      p = std::move(next);
      return true;
    }
  }
  return false;
}

// The matrix of Newton's method at some point. Where the true curvature is not that of a maximum,
// its negative entries are taken as zero: still an ascent.
struct Curvature {
  Vector W;
  SiteFactor factor;

  void compute(const FunctionProblem& problem, const Point& p) {
    W = p.W;
    if (factor.compute(problem.K, W)) return;
    W = W.cwiseMax(0.0);
    factor.compute(problem.K, W);
  }
  // a = (I − RK)(W(f − m) + ∇ log p)
  Vector target(const FunctionProblem& problem, const Point& p) const {
    const Vector b = W.cwiseProduct(p.Ka) + p.slope;
    return b - factor.apply(multiply(problem.K, b));
  }
};

Point start(const FunctionProblem& problem) {
  const Vector zero = Vector::Zero(problem.size());
  Point p = evaluate(problem, zero, zero);
  if (!std::isfinite(p.objective))
    throw NumericalError(fmt::format("log p(y | f) of {} is not finite at the prior mean",
                                     problem.model.likelihood.print()));
  // With several modes the start decides, and should be plain to see.
  if (!problem.model.likelihood.one_function().log_concave()) return p;
  Vector a = laplace_start(problem);
  Vector Ka = multiply(problem.K, a);
  Point better = evaluate(problem, std::move(a), std::move(Ka));
  return better.objective > p.objective ? better : p;
}

Point find_mode(const FunctionProblem& problem, const LaplaceOptions& options, Curvature& curvature,
                int& iterations) {
  // Far below this, rounding is all that keeps the residual from zero.
  constexpr double acceptable = 1e-7;
  // A step with an old factor takes N² flops instead of N³: worth it while it does as well as this.
  constexpr double quick = 0.1;
  const bool large = problem.size() >= 128;
  Point p = start(problem);
  bool stale = false;
  for (iterations = 0; iterations < options.max_iterations; ++iterations) {
    if (p.residual <= options.tolerance) return p;
    if (!stale) curvature.compute(problem, p);
    const double before = p.residual;
    const bool advanced = advance(problem, curvature.target(problem, p), p);
    if (!advanced && !stale) break;
    stale = advanced && large && p.residual < quick * before;
  }
  if (p.residual <= acceptable) return p;
  throw NumericalError(fmt::format(
      "Laplace found no mode of {} in {} iterations (residual {:.2g}); allow more of them, or use "
      "the variational approximation",
      problem.model.likelihood.print(), iterations, p.residual));
}

}  // namespace

FunctionApproximation laplace_approximation(const FunctionModel& model,
                                            const FunctionParameters& parameters,
                                            FunctionParameters* gradient,
                                            const LaplaceOptions& options) {
  const FunctionProblem problem(model, parameters, Inference::laplace);
  int iterations = 0;
  Curvature curvature;
  const Point mode = find_mode(problem, options, curvature, iterations);
  SiteFactor& factor = curvature.factor;  // in the same memory
  if (!factor.compute(problem.K, mode.W))
    throw NumericalError(fmt::format(
        "the stationary point Laplace found for {} is not a maximum; use the variational "
        "approximation",
        model.likelihood.print()));
  const Matrix dense = gradient ? factor.dense() : Matrix();
  const Vector variance = factor.variances(problem.K, gradient ? &dense : nullptr);
  FunctionApproximation out =
      problem.approximation(mode.a, mode.W, std::move(factor), variance.cwiseMax(0.0));
  const SiteFactor& R = out.posterior.factor;
  out.value = mode.objective - 0.5 * R.log_determinant();
  out.iterations = iterations;
  if (!gradient) return out;

  // The mode moves by df̂ = (I − KR)(dm + dK·a + K·d∇ log p), and log q(y) with it by
  // ½·variance·∂³ log p/∂f³ through W: u = (I − RK) of that.
  Vector by_mode(problem.size());
  for (Index n = 0; n < problem.size(); ++n)
    by_mode(n) = 0.5 * variance(n) * mode.terms[static_cast<std::size_t>(n)].third;
  const Vector u = by_mode - R.apply(multiply(problem.K, by_mode));
  problem.pullback(out.posterior, dense, u, *gradient);
  const Vector Ku = multiply(problem.K, u);
  std::vector<Taylor> weights(mode.terms.size());
  for (Index n = 0; n < problem.size(); ++n)
    weights[static_cast<std::size_t>(n)] = {problem.weight(n), problem.weight(n) * Ku(n),
                                            0.5 * problem.weight(n) * variance(n), 0.0};
  gradient->likelihood = log_densities_pullback(model.likelihood, parameters.likelihood, problem.y,
                                                problem.m + mode.Ka, weights, problem.aux);
  return out;
}

}  // namespace covary
