#include "covary/inference/laplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/latent_problem.hpp"

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

Point evaluate(const LatentProblem& problem, Vector a, Vector Ka) {
  Point p{std::move(a), std::move(Ka), {}, Vector(problem.size()), Vector(problem.size())};
  p.terms = log_densities(problem.model.likelihood, problem.parameters.likelihood, problem.y,
                          problem.m + p.Ka, problem.aux);
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
bool advance(const LatentProblem& problem, const Vector& target, Point& p) {
  const Vector step = target - p.a, Kstep = multiply(problem.K, step);
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

// Newton's target a = (I − RK)(W(f − m) + ∇ log p). Where the true curvature is not that of a
// maximum, its negative entries are taken as zero: still an ascent.
Vector newton_target(const LatentProblem& problem, const Point& p) {
  SiteFactor factor;
  Vector W = p.W;
  if (!factor.compute(problem.K, W)) {
    W = W.cwiseMax(0.0);
    factor.compute(problem.K, W);
  }
  const Vector b = W.cwiseProduct(p.Ka) + p.slope;
  return b - factor.apply(multiply(problem.K, b));
}

Point find_mode(const LatentProblem& problem, const LaplaceOptions& options, int& iterations) {
  // Far below this, rounding is all that keeps the residual from zero.
  constexpr double acceptable = 1e-7;
  const Vector zero = Vector::Zero(problem.size());
  Point p = evaluate(problem, zero, zero);
  if (!std::isfinite(p.objective))
    throw NumericalError(fmt::format("log p(y | f) of {} is not finite at the prior mean",
                                     problem.model.likelihood.print()));
  for (iterations = 0; iterations < options.max_iterations; ++iterations) {
    if (p.residual <= options.tolerance) return p;
    if (!advance(problem, newton_target(problem, p), p)) break;
  }
  if (p.residual <= acceptable) return p;
  throw NumericalError(fmt::format(
      "Laplace found no mode of {} in {} iterations (residual {:.2g}); allow more of them, or use "
      "the variational approximation",
      problem.model.likelihood.print(), iterations, p.residual));
}

}  // namespace

LatentApproximation laplace_approximation(const LatentModel& model,
                                          const LatentParameters& parameters,
                                          LatentParameters* gradient,
                                          const LaplaceOptions& options) {
  const LatentProblem problem(model, parameters, Inference::laplace);
  int iterations = 0;
  const Point mode = find_mode(problem, options, iterations);
  SiteFactor factor;
  if (!factor.compute(problem.K, mode.W))
    throw NumericalError(fmt::format(
        "the stationary point Laplace found for {} is not a maximum; use the variational "
        "approximation",
        model.likelihood.print()));
  const Vector variance = problem.K.diagonal() - factor.reduction(problem.K);
  LatentApproximation out =
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
  problem.pullback(out.posterior, u, *gradient);
  const Vector Ku = multiply(problem.K, u);
  std::vector<Taylor> weights(mode.terms.size());
  for (Index n = 0; n < problem.size(); ++n)
    weights[static_cast<std::size_t>(n)] = {1.0, Ku(n), 0.5 * variance(n), 0.0};
  gradient->likelihood = log_densities_pullback(model.likelihood, parameters.likelihood, problem.y,
                                                problem.m + mode.Ka, weights, problem.aux);
  return out;
}

}  // namespace covary
