#include "covary/inference/slice_sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "inference/elliptical_slice.hpp"
#include "inference/function_problem.hpp"
#include "inference/multi_function_problem.hpp"

namespace covary {

void elliptical_slice_step(const Matrix& other,
                           const std::function<double(const Matrix&)>& log_density, Random& random,
                           Matrix& h, double& log_p) {
  const double height = log_p + std::log(random.uniform());
  double angle = 2.0 * std::numbers::pi * random.uniform();
  double low = angle - 2.0 * std::numbers::pi, high = angle;
  for (;;) {
    const Matrix trial = std::cos(angle) * h + std::sin(angle) * other;
    const double value = log_density(trial);
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

namespace {

// f = m + h with h_l ~ N(0, L_l·L_lᵀ), seen through a likelihood.
struct Target {
  std::vector<const Matrix*> factors;
  std::function<double(const Matrix& h)> log_density;  // of an N×L block
};

void step(const Target& target, Random& random, Matrix& h, double& log_p) {
  Matrix other(h.rows(), h.cols());
  for (Index l = 0; l < h.cols(); ++l) {
    other.col(l) = random.normal_vector(h.rows());
    multiply_lower(*target.factors[static_cast<std::size_t>(l)], other.col(l));
  }
  elliptical_slice_step(other, target.log_density, random, h, log_p);
}

// Gives each sample of h to `keep`.
void sample(const Target& target, Index N, const Likelihood& likelihood,
            const SliceSamplingOptions& options,
            const std::function<void(Index s, const Matrix& h)>& keep) {
  Random random(options.seed);
  Matrix h = Matrix::Zero(N, static_cast<Index>(target.factors.size()));
  double log_p = target.log_density(h);
  if (!std::isfinite(log_p))
    throw NumericalError(
        fmt::format("log p(y | f) of {} is not finite at the prior mean", likelihood.print()));
  for (Index i = 0; i < options.burn_in; ++i) step(target, random, h, log_p);
  for (Index s = 0; s < options.samples; ++s) {
    for (Index i = 0; i < options.thin; ++i) step(target, random, h, log_p);
    keep(s, h);
  }
}

void check(const SliceSamplingOptions& options) {
  if (options.samples < 1 || options.burn_in < 0 || options.thin < 1)
    throw InputError(fmt::format("samples ≥ 1, burn_in ≥ 0, thin ≥ 1 required; got {}, {}, {}",
                                 options.samples, options.burn_in, options.thin));
}

}  // namespace

FunctionSamples elliptical_slice_samples(const FunctionModel& model,
                                         const FunctionParameters& parameters,
                                         const SliceSamplingOptions& options) {
  check(options);
  const FunctionProblem problem(model, parameters, Inference::mcmc);
  const Cholesky K = cholesky(problem.K, "the prior covariance of f");
  const auto log_density = [&](const Matrix& h) {
    double sum = 0.0;
    for (const Taylor& t : problem.terms(problem.m + h.col(0))) sum += t.value;
    return sum;
  };
  FunctionSamples out{RowMatrix(options.samples, problem.size()), K.jitter};
  sample({{&K.L}, log_density}, problem.size(), model.likelihood, options,
         [&](Index s, const Matrix& h) { out.f.row(s) = problem.m + h.col(0); });
  return out;
}

MultiFunctionSamples elliptical_slice_samples(const MultiFunctionModel& model,
                                              const MultiFunctionParameters& parameters,
                                              const SliceSamplingOptions& options) {
  check(options);
  const MultiFunctionProblem problem(model, parameters, Inference::mcmc);
  const Index N = problem.size(), L = problem.functions();
  MultiFunctionSamples out{
      std::vector<RowMatrix>(static_cast<std::size_t>(L), RowMatrix(options.samples, N)), 0.0};
  std::vector<Cholesky> factors;
  for (const Matrix& K : problem.grams) {
    factors.push_back(cholesky(K, "the prior covariance of f"));
    out.jitter = std::max(out.jitter, factors.back().jitter);
  }
  Target target;
  for (Index l = 0; l < L; ++l) target.factors.push_back(&factors[problem.kernel_of(l)].L);
  Vector f(L);
  target.log_density = [&](const Matrix& h) {
    double sum = 0.0;
    for (Index n = 0; n < N; ++n) {
      f = problem.m.row(n) + h.row(n);
      sum += problem.weight(n) *
             model.likelihood.node().log_density(problem.datum(n), f.data(), nullptr, nullptr);
    }
    return sum;
  };
  sample(target, N, model.likelihood, options, [&](Index s, const Matrix& h) {
    for (Index l = 0; l < L; ++l)
      out.f[static_cast<std::size_t>(l)].row(s) = problem.m.col(l) + h.col(l);
  });
  return out;
}

}  // namespace covary
