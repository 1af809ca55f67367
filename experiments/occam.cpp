// The evidence prefers the most constrained model that still fits (000 §5.1.1: E5.1, Fig. 5.1; E5.2,
// Figs 5.2–5.4, P1; slides «Occam's razor»: E5, T18). The thesis gives the counts 9, 120 and 8 of
// 10⁶ prior functions with a high likelihood and states neither data, lengthscales nor what is high.
// Ours, fixed beforehand: squared exponentials with unit variance and ℓ = 0.25, 1, 4; six points
// spread evenly over [0, 4], y drawn from the middle one with noise sd 0.1; ten data sets. A function
// has a high likelihood if it misses the points by at most two noise sd, root mean square.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "covary/inference/basis_regression.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr double noise_sd = 0.1;
constexpr Index points = 6, sets = 10;
constexpr std::array<double, 3> lengthscales{0.25, 1.0, 4.0};
constexpr std::array<const char*, 3> names{"short", "medium", "long"};
constexpr std::array<const char*, 3> reported{"9", "120", "8"};

Kernel prior(double lengthscale) { return se(false, {1.0, {lengthscale}}); }

Vector draw(const Vector& x, double sd, std::uint64_t seed) {
  return prior_draws(prior(1.0), x, 1, seed).col(0) + sd * Random(seed, 1).normal_vector(x.size());
}

struct PriorSampling {
  double high = 0.0;      // functions with a high likelihood
  double evidence = 0.0;  // mean likelihood relative to the exact evidence
  double error = 0.0;     // its standard error
};

// 10⁶ functions, in tasks with a stream of their own.
PriorSampling sample_functions(const Kernel& kernel, const Vector& x, const Vector& y,
                               double log_evidence, std::uint64_t seed) {
  constexpr Index tasks = 100, each = 10000;
  const Matrix L = cholesky(prior_covariance(kernel, x), "the prior covariance").L;
  const double constant =
      -points * (0.5 * std::log(2 * std::numbers::pi) + std::log(noise_sd)) - log_evidence;
  Matrix sums = Matrix::Zero(3, tasks);
  parallel_for(tasks, [&](Index task) {
    Random random(seed, static_cast<std::uint64_t>(task) + 2);
    std::array<double, points> z;
    for (Index s = 0; s < each; ++s) {
      double square = 0.0;  // ‖y − f‖²/σ², f = Lz
      for (Index i = 0; i < points; ++i) {
        z[static_cast<std::size_t>(i)] = random.normal();
        double r = y[i];
        for (Index j = 0; j <= i; ++j) r -= L(i, j) * z[static_cast<std::size_t>(j)];
        square += r * r / (noise_sd * noise_sd);
      }
      const double likelihood = std::exp(constant - 0.5 * square);
      sums(0, task) += square <= 4.0 * points;
      sums(1, task) += likelihood;
      sums(2, task) += likelihood * likelihood;
    }
  });
  const double n = tasks * each, mean = sums.row(1).sum() / n;
  return {sums.row(0).sum(), mean, std::sqrt((sums.row(2).sum() / n - mean * mean) / n)};
}

// E5.1, E5.2
void three_priors(Result& result, std::uint64_t seed) {
  const Vector x = Vector::LinSpaced(points, 0.0, 4.0);
  const double noise = noise_sd * noise_sd;
  Matrix high(sets, 3), evidence(sets, 3), sd(sets, 3), misfit(sets, 3), inside(sets, 3);
  Matrix steps(points, 7);
  double chain = 0.0, z = 0.0;
  for (Index s = 0; s < sets; ++s) {
    const std::uint64_t own = seed + static_cast<std::uint64_t>(s);
    const Vector y = draw(x, noise_sd, own);
    for (Index k = 0; k < 3; ++k) {
      const Kernel kernel = prior(lengthscales[static_cast<std::size_t>(k)]);
      const ExactPosterior exact = condition_on(kernel, x, y, noise);
      evidence(s, k) = exact.log_evidence();
      const PriorSampling sampled = sample_functions(kernel, x, y, evidence(s, k), own);
      high(s, k) = sampled.high;
      // With fewer hits the average is carried by a handful of functions and has no error to speak of.
      if (sampled.high >= 100) z = std::max(z, std::abs(sampled.evidence - 1) / sampled.error);

      // y_n given those before, by conditioning the joint Gaussian.
      Matrix S = prior_covariance(kernel, x);
      S.diagonal().array() += noise;
      const Gaussian joint{Vector::Zero(points), S};
      Vector log_density(points), error(points), spread(points);
      std::vector<Index> before;
      for (Index n = 0; n < points; ++n) {
        std::vector<Index> with = before;
        with.push_back(n);
        const Gaussian next = condition(marginal(joint, with), before, y.head(n));
        log_density[n] = experiments_log_normal(y[n], next);
        spread[n] = std::sqrt(next.covariance(0, 0));
        error[n] = (y[n] - next.mean[0]) / spread[n];
        before.push_back(n);
      }
      chain = std::max({chain, std::abs(log_density.sum() - evidence(s, k)),
                        (log_density - exact.one_step_log_densities()).cwiseAbs().maxCoeff()});
      sd(s, k) = spread.tail(points - 1).mean();
      misfit(s, k) = error.squaredNorm() / points;
      inside(s, k) = (error.array().abs() < 2).cast<double>().mean();
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const auto c = static_cast<Index>(k);
    result.add(fmt::format("{}, ℓ = {}: functions of 10⁶ with a high likelihood, first data set", names[k],
                           lengthscales[k]),
               reported[k], fmt::format("{:.0f}", high(0, c)));
    result.add(fmt::format("{}: the same, {} data sets", names[k], sets), reported[k], mean_sd(high.col(c), 0));
    result.add(fmt::format("{}: exact log evidence", names[k]), "", mean_sd(evidence.col(c), 2));
    result.add(fmt::format("{}: sd of the next y, mean (z/sd)², share within 2 sd", names[k]), "",
               fmt::format("{:.3f}, {:.2f}, {:.2f}", sd.col(c).mean(), misfit.col(c).mean(),
                           inside.col(c).mean()));
  }
}

}  // namespace
}
