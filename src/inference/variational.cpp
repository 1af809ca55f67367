#include "covary/inference/variational.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/gaussian_sites.hpp"

namespace covary {
namespace {

// q with its bound and the sites a whole natural-gradient step leads to.
struct Candidate {
  SiteState q;
  Expectations expected;
  double bound = 0.0;
  GaussianSites next;
  double change = 0.0;
};

bool evaluate(const LatentProblem& problem, GaussianSites sites, Candidate& out) {
  SiteState& q = out.q;
  if (!q.compute(problem, std::move(sites))) return false;
  out.expected = expectations(problem.model.likelihood, problem.parameters.likelihood, problem.y,
                              Matrix(problem.m + q.h), Matrix(q.variance), problem.aux);
  // KL = ½(hᵀK⁻¹h − tr ΛS + log|I + KΛ|), S = (K⁻¹ + Λ)⁻¹
  out.bound = out.expected.value.sum() -
              0.5 * (dot(q.alpha, q.h) - dot(q.sites.tau, q.variance) + q.factor.log_determinant());
  out.next.tau = -2.0 * out.expected.variance_bar.col(0);
  out.next.nu = out.expected.mean_bar.col(0) + out.next.tau.cwiseProduct(q.h);
  out.change = q.distance(out.next);
  return std::isfinite(out.bound) && std::isfinite(out.change);
}

Candidate maximise(const LatentProblem& problem, const VariationalOptions& options,
                   int& iterations) {
  const Vector zero = Vector::Zero(problem.size());
  Candidate now;
  if (!evaluate(problem, {zero, zero}, now))
    throw NumericalError(fmt::format("the expected log density of {} under the prior is not finite",
                                     problem.model.likelihood.print()));
  double step = 1.0;
  for (iterations = 0; iterations < options.max_iterations; ++iterations) {
    if (now.change <= options.tolerance) return now;
    // Large terms cancel in the bound (counts of thousands): a fall within `noise` is none if the
    // sites come nearer.
    const double scale = 1.0 + std::abs(now.bound), rounding = 1e-13 * scale, noise = 1e-10 * scale;
    Candidate trial;
    bool better = false;
    for (int halving = 0; halving < 40 && !better; ++halving) {
      if (evaluate(problem, now.q.towards(now.next, step), trial)) {
        const double gain = trial.bound - now.bound;
        better = gain > rounding || (gain >= -noise && trial.change < now.change);
      }
      if (!better) step *= 0.5;
    }
    if (!better) break;
    now = std::move(trial);
    step = std::min(1.0, 1.5 * step);
  }
  if (now.change <= settled) return now;
  throw NumericalError(fmt::format(
      "the variational bound for {} did not settle in {} iterations (the sites still change by "
      "{:.2g}); allow more of them, or check the scale of the kernel",
      problem.model.likelihood.print(), iterations, now.change));
}

}  // namespace

LatentApproximation variational_approximation(const LatentModel& model,
                                              const LatentParameters& parameters,
                                              LatentParameters* gradient,
                                              const VariationalOptions& options) {
  const LatentProblem problem(model, parameters, Inference::vi);
  int iterations = 0;
  Candidate best = maximise(problem, options, iterations);
  SiteState& q = best.q;
  LatentApproximation out = problem.approximation(std::move(q.alpha), std::move(q.sites.tau),
                                                  std::move(q.factor), std::move(q.variance));
  out.value = best.bound;
  out.iterations = iterations;
  if (!gradient) return out;
  problem.pullback(out.posterior, out.posterior.factor.dense(), Vector(),
                   *gradient);  // the bound is stationary in q
  gradient->likelihood = std::move(best.expected.theta_bar);
  return out;
}

}  // namespace covary
