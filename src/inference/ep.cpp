#include "covary/inference/ep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/anderson.hpp"
#include "inference/function_problem.hpp"
#include "inference/gaussian_sites.hpp"

namespace covary {
namespace {

constexpr Index block = 32;    // rows of a task
constexpr double near = 0.25;  // change of the sites below which they are extrapolated
constexpr int most_failures = 3;

// The log normaliser of exp(νh − ½τh²), but for a constant.
double log_normaliser(double nu, double tau) { return 0.5 * (nu * nu / tau - std::log(tau)); }

struct Cavity {
  double nu = 0.0, tau = 0.0;
};
Cavity cavity(const SiteState& q, double power, Index n) {
  return {q.h(n) / q.variance(n) - power * q.sites.nu(n),
          1.0 / q.variance(n) - power * q.sites.tau(n)};
}

// The sites that match moments, given q; a row without a proper cavity keeps its site.
struct Sweep {
  GaussianSites sites;
  Index improper = 0;
};
Sweep match_moments(const FunctionProblem& problem, const SiteState& q, double power) {
  const Index N = problem.size(), tasks = (N + block - 1) / block;
  Sweep out{q.sites, 0};
  std::vector<Index> improper(static_cast<std::size_t>(tasks), 0);
  parallel_for(tasks, [&](Index b) {
    for (Index n = b * block; n < std::min(N, (b + 1) * block); ++n) {
      const Cavity c = cavity(q, power, n);
      const double v = 1.0 / c.tau, mean = v * c.nu;
      Tilted t;
      if (c.tau > 0.0)
        t = tilted_moments(problem.model.likelihood, problem.datum(n), power, problem.m(n) + mean,
                           v);
      const double shrink = 1.0 + v * t.second;  // tilted variance over cavity variance
      if (!(c.tau > 0.0) || !(shrink > 0.0) || !std::isfinite(t.log_z)) {
        ++improper[static_cast<std::size_t>(b)];
        continue;
      }
      out.sites.tau(n) = -t.second / shrink / power;
      out.sites.nu(n) = (t.first - mean * t.second) / shrink / power;
    }
  });
  for (const Index count : improper) out.improper += count;
  return out;
}

// Past the first sweeps the sites approach their fixed point at a steady rate, which extrapolation
// improves. Sites of the wrong sign are not extrapolated to.
GaussianSites accelerated(Anderson& anderson, const SiteState& q, const GaussianSites& matched) {
  const Index N = q.h.size();
  Vector s(2 * N), r(2 * N), weights(2 * N);
  s << q.sites.nu, q.sites.tau;
  r << matched.nu - q.sites.nu, matched.tau - q.sites.tau;
  weights << q.variance.cwiseSqrt(), q.variance;
  anderson.add(s, r);
  const Vector next = anderson.ready() ? anderson.extrapolate(weights) : Vector(s + r);
  GaussianSites out{next.head(N), next.tail(N)};
  const bool sound = out.tau.minCoeff() > 0.0 || matched.tau.minCoeff() <= 0.0;
  return sound ? out : matched;
}

SiteState settle(const FunctionProblem& problem, const EpOptions& options, int& iterations) {
  const Vector zero = Vector::Zero(problem.size());
  SiteState q, next;  // they change places, in memory that is not given back
  if (!q.compute(problem.K, {zero, zero}))
    throw NumericalError("the prior variance of f is not positive at every row");
  double step = options.damping, last = std::numeric_limits<double>::infinity(), best = last;
  int since_best = 0;
  Anderson anderson(5);
  bool extrapolated = false;
  int failures = 0;  // extrapolations that led away
  for (iterations = 0; iterations < options.max_iterations; ++iterations) {
    const Sweep sweep = match_moments(problem, q, options.power);
    const double change = q.distance(sweep.sites);
    if (sweep.improper == 0) {
      if (change <= options.tolerance) return q;
      if (change <= settled && since_best >= 10) return q;
    }
    if (change > last) {
      if (extrapolated)
        ++failures;
      else
        step = std::max(0.5 * step, 0.02);
      anderson.forget();
    }
    since_best = change < 0.9 * best ? 0 : since_best + 1;
    best = std::min(best, change);
    last = change;
    if (step == 1.0 && change < near && sweep.improper == 0 && failures < most_failures &&
        next.compute(problem.K, accelerated(anderson, q, sweep.sites))) {
      extrapolated = anderson.ready();
      std::swap(q, next);
      continue;
    }
    extrapolated = false;
    double fraction = step;
    while (!next.compute(problem.K, q.towards(sweep.sites, fraction))) {
      fraction *= 0.5;
      if (fraction < 1e-6 * step)
        throw NumericalError(fmt::format(
            "EP for {} left the densities after {} sweeps; use the variational approximation",
            problem.model.likelihood.print(), iterations));
    }
    std::swap(q, next);
  }
  throw NumericalError(fmt::format(
      "EP for {} did not settle in {} sweeps (the sites still change by {:.2g}); lower the damping "
      "factor or the power, or use the variational approximation",
      problem.model.likelihood.print(), iterations, last));
}

}  // namespace

FunctionApproximation expectation_propagation(const FunctionModel& model,
                                              const FunctionParameters& parameters,
                                              FunctionParameters* gradient,
                                              const EpOptions& options) {
  if (!(options.power > 0.0 && options.power <= 1.0))
    throw InputError(fmt::format("the power of EP is {}; it must lie in (0, 1]", options.power));
  if (!(options.damping > 0.0 && options.damping <= 1.0))
    throw InputError(
        fmt::format("the damping factor is {}; it must lie in (0, 1]", options.damping));
  const FunctionProblem problem(model, parameters, Inference::ep);
  int iterations = 0;
  SiteState q = settle(problem, options, iterations);

  double value = 0.5 * (dot(q.sites.nu, q.h) - q.factor.log_determinant());
  Vector theta_bar = Vector::Zero(parameters.likelihood.size());
  for (Index n = 0; n < problem.size(); ++n) {
    const Cavity c = cavity(q, options.power, n);
    const Tilted t = tilted_moments(model.likelihood, problem.datum(n), options.power,
                                    problem.m(n) + c.nu / c.tau, 1.0 / c.tau,
                                    gradient && theta_bar.size() != 0 ? theta_bar.data() : nullptr);
    value += (t.log_z + log_normaliser(c.nu, c.tau) -
              log_normaliser(q.h(n) / q.variance(n), 1.0 / q.variance(n))) /
             options.power;
  }
  FunctionApproximation out = problem.approximation(std::move(q.alpha), std::move(q.sites.tau),
                                                    std::move(q.factor), std::move(q.variance));
  out.value = value;
  out.iterations = iterations;
  if (!gradient) return out;
  problem.pullback(out.posterior, out.posterior.factor.dense(), Vector(), *gradient);
  gradient->likelihood = theta_bar / options.power;
  return out;
}

}  // namespace covary
