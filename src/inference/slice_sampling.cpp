#include "covary/inference/slice_sampling.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"
#include "inference/latent_problem.hpp"

namespace covary {
namespace {

double log_density(const LatentProblem& problem, const Vector& h) {
  double sum = 0.0;
  for (const Taylor& t : log_densities(problem.model.likelihood, problem.parameters.likelihood,
                                       problem.y, problem.m + h, problem.aux))
    sum += t.value;
  return sum;
}

// One step: a point of the ellipse through h and a prior draw, above a random height. The bracket
// shrinks towards h itself, so it ends.
void step(const LatentProblem& problem, const Matrix& L, Random& random, Vector& h, double& log_p) {
  Matrix other = random.normal_vector(h.size());
  multiply_lower(L, other);
  const double height = log_p + std::log(random.uniform());
  double angle = 2.0 * std::numbers::pi * random.uniform();
  double low = angle - 2.0 * std::numbers::pi, high = angle;
  for (;;) {
    const Vector trial = std::cos(angle) * h + std::sin(angle) * other.col(0);
    const double value = log_density(problem, trial);
    if (value > height) {
      h = trial;
      log_p = value;
      return;
    }
    (angle < 0.0 ? low : high) = angle;
    if (high - low < 1e-14) return;  // nothing but h itself is left
    angle = low + (high - low) * random.uniform();
  }
}

}  // namespace

LatentSamples elliptical_slice_samples(const LatentModel& model, const LatentParameters& parameters,
                                       const SliceSamplingOptions& options) {
  if (options.samples < 1 || options.burn_in < 0 || options.thin < 1)
    throw InputError(
        fmt::format("slice sampling of {} samples, {} steps of burn-in and every {}-th step kept; "
                    "they must be at least 1, 0 and 1",
                    options.samples, options.burn_in, options.thin));
  const LatentProblem problem(model, parameters, Inference::mcmc);
  const Cholesky K = cholesky(problem.K, "the prior covariance of f");
  Random random(options.seed);
  Vector h = Vector::Zero(problem.size());
  double log_p = log_density(problem, h);
  if (!std::isfinite(log_p))
    throw NumericalError(fmt::format("log p(y | f) of {} is not finite at the prior mean",
                                     model.likelihood.print()));
  for (Index i = 0; i < options.burn_in; ++i) step(problem, K.L, random, h, log_p);
  LatentSamples out{RowMatrix(options.samples, problem.size()), K.jitter};
  for (Index s = 0; s < options.samples; ++s) {
    for (Index i = 0; i < options.thin; ++i) step(problem, K.L, random, h, log_p);
    out.f.row(s) = problem.m + h;
  }
  return out;
}

}  // namespace covary
