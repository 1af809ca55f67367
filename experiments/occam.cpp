// The evidence prefers the most constrained model that still fits (000 §5.1.1: E5.1, Fig. 5.1;
// E5.2, Figs 5.2–5.4, P1; slides "Occam's razor": E5, T18). The thesis gives the counts 9, 120 and
// 8 of 10⁶ prior functions with a high likelihood and states neither data, lengthscales nor what is
// high. Ours, fixed beforehand: squared exponentials with unit variance and ℓ = 0.25, 1, 4; six
// points spread evenly over [0, 4], y drawn from the middle one with noise sd 0.1; ten data sets. A
// function has a high likelihood (is 'likely') if it misses the points by at most two noise sd,
// root mean square.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/inference/basis_regression.hpp"
#include "covary/inference/gaussian.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr double noise_sd = 0.1;
constexpr Index points = 6, sets = 10;
constexpr double lengthscales[] = {0.25, 1.0, 4.0};
constexpr const char* names[] = {"short", "medium", "long"};
constexpr const char* reported[] = {"9", "120", "8"};

Kernel prior(double lengthscale) { return se(false, {1.0, {lengthscale}}); }

Vector draw(const Vector& x, double sd, std::uint64_t seed) {
  return prior_draws(prior(1.0), x, 1, seed).col(0) + sd * Random(seed, 1).normal_vector(x.size());
}

struct PriorSampling {
  double high = 0.0;       // functions with a high likelihood
  double ratio = 0.0;      // mean likelihood of the first points over their exact evidence
  double error = 0.0;      // its standard error
  double effective = 0.0;  // functions that carry the mean: (Σp)²/Σp²
};

// 10⁶ functions, in tasks with a stream of their own. The mean likelihood is that of the first
// three points: with all six it rests on about ten of the functions, too few for an error.
PriorSampling sample_functions(const Kernel& kernel, const Vector& x, const Vector& y,
                               std::uint64_t seed) {
  constexpr Index tasks = 100, first = 3;
  const Index each = few(10000, 100);
  constexpr double noise = noise_sd * noise_sd;
  const Matrix L = cholesky(prior_covariance(kernel, x), "the prior covariance").L;
  const double constant = -0.5 * first * std::log(2 * std::numbers::pi * noise) -
                          condition_on(kernel, x.head(first), y.head(first), noise).log_evidence();
  Matrix sums = Matrix::Zero(3, tasks);
  parallel_for(tasks, [&](Index task) {
    Random random(seed, static_cast<std::uint64_t>(task) + 2);
    double z[points];
    for (Index s = 0; s < each; ++s) {
      double square = 0.0, ratio = 0.0;  // ‖y − f‖²/σ² with f = Lz
      for (Index i = 0; i < points; ++i) {
        z[i] = random.normal();
        double r = y[i];
        for (Index j = 0; j <= i; ++j) r -= L(i, j) * z[j];
        square += r * r / noise;
        if (i + 1 == first) ratio = std::exp(constant - 0.5 * square);
      }
      sums(0, task) += square <= 4.0 * points;
      sums(1, task) += ratio;
      sums(2, task) += ratio * ratio;
    }
  });
  const auto n = static_cast<double>(tasks * each);
  const double sum = sums.row(1).sum(), squares = sums.row(2).sum();
  return {sums.row(0).sum(), sum / n, std::sqrt(squares - sum * sum / n) / n, sum * sum / squares};
}

// E5.1, Fig. 5.1
void prior_functions(Result& result, std::uint64_t seed) {
  const Vector x = Vector::LinSpaced(points, 0.0, 4.0);
  Matrix high(sets, 3), evidence(sets, 3);
  double z = 0.0;
  Index checked = 0;
  for (Index s = 0; s < sets; ++s) {
    const std::uint64_t own = seed + static_cast<std::uint64_t>(s);
    const Vector y = draw(x, noise_sd, own);
    for (Index k = 0; k < 3; ++k) {
      const Kernel kernel = prior(lengthscales[k]);
      evidence(s, k) = condition_on(kernel, x, y, noise_sd * noise_sd).log_evidence();
      const PriorSampling sampled = sample_functions(kernel, x, y, own);
      high(s, k) = sampled.high;
      if (sampled.effective < 1000) continue;
      ++checked;
      z = std::max(z, std::abs(sampled.ratio - 1) / sampled.error);
    }
  }
  // Medians: data that happen to be nearly straight give the long prior thousands.
  Vector middle(3);
  for (Index k = 0; k < 3; ++k) {
    Vector sorted = high.col(k);
    std::sort(sorted.begin(), sorted.end());
    middle[k] = 0.5 * (sorted[sets / 2 - 1] + sorted[sets / 2]);
    result.add(fmt::format("{} ℓ = {}: likely functions of 10⁶, first data set", names[k],
                           lengthscales[k]),
               reported[k], fmt::format("{:.0f}", high(0, k)));
    result.add(fmt::format("{}: the same, {} data sets, mean; median", names[k], sets), reported[k],
               fmt::format("{}; {:.0f}", mean_sd(high.col(k), 0), middle[k]));
    result.add(fmt::format("{}: exact log evidence", names[k]), "", mean_sd(evidence.col(k), 2));
  }
  const auto best = [](const Matrix& table) {
    return (table.col(1).array() > table.col(0).array() &&
            table.col(1).array() > table.col(2).array())
        .count();
  };
  result.claim("the medium prior has most likely functions, by the median",
               middle[1] > middle[0] && middle[1] > middle[2],
               fmt::format("and in {} of {} data sets", best(high), sets));
  result.claim("and the largest evidence, on average",
               evidence.col(1).mean() > evidence.col(0).mean() &&
                   evidence.col(1).mean() > evidence.col(2).mean(),
               fmt::format("and in {} of {} data sets", best(evidence), sets));
  result.claim(
      "mean likelihood over the prior = evidence, 3 points (below 4.5 errors)",
      z < 4.5 && checked >= 10,
      fmt::format("{:.2f} in the {} of {} cases that 1000 functions carry", z, checked, 3 * sets));
}

// E5.2, Figs 5.2–5.4: y_n given those before it.
void incremental(Result& result, std::uint64_t seed) {
  const Vector x = Vector::LinSpaced(points, 0.0, 4.0);
  Matrix sd(sets, 3), misfit(sets, 3), inside(sets, 3), steps(points, 8);
  double chain = 0.0;
  for (Index s = 0; s < sets; ++s) {
    const Vector y = draw(x, noise_sd, seed + static_cast<std::uint64_t>(s));
    for (Index k = 0; k < 3; ++k) {
      Gaussian joint{Vector::Zero(points), prior_covariance(prior(lengthscales[k]), x)};
      joint.covariance.diagonal().array() += noise_sd * noise_sd;
      Vector density(points), mean(points), spread(points);
      std::vector<Index> before;
      for (Index n = 0; n < points; ++n) {
        std::vector<Index> with = before;
        with.push_back(n);
        const Gaussian next = condition(marginal(joint, with), before, y.head(n));
        density[n] = log_density(next, y.segment(n, 1));
        mean[n] = next.mean[0];
        spread[n] = std::sqrt(next.covariance(0, 0));
        before = with;
      }
      const ExactPosterior exact = condition_on(prior(lengthscales[k]), x, y, noise_sd * noise_sd);
      chain = std::max({chain, std::abs(density.sum() - exact.log_evidence()),
                        (density - exact.one_step_log_densities()).cwiseAbs().maxCoeff()});
      const Vector error = (y - mean).cwiseQuotient(spread);
      sd(s, k) = spread.tail(points - 1).mean();
      misfit(s, k) = error.squaredNorm() / points;
      inside(s, k) = (error.array().abs() < 2).cast<double>().mean();
      if (s == 0) steps.middleCols(2 + 2 * k, 2) << mean, spread;
    }
    if (s == 0) steps.leftCols(2) << x, y;
  }
  for (Index k = 0; k < 3; ++k)
    result.add(
        fmt::format("{}: sd of next y; mean squared error in sd; share within 2 sd", names[k]), "",
        fmt::format("{:.3f}; {:.2f}; {:.2f}", sd.col(k).mean(), misfit.col(k).mean(),
                    inside.col(k).mean()));
  result.claim("one-step densities sum to the evidence (P1)", chain < 1e-9,
               fmt::format("largest difference {:.1e}", chain));
  result.claim("short: wide bars; long: overconfident and wrong (E5.2)",
               sd.col(0).mean() > 1.5 * sd.col(1).mean() && sd.col(2).mean() < sd.col(1).mean() &&
                   misfit.col(2).mean() > 4.0,
               fmt::format("sd {:.2f}, {:.2f}, {:.2f}; the long prior misses by {:.1f} sd (rms)",
                           sd.col(0).mean(), sd.col(1).mean(), sd.col(2).mean(),
                           std::sqrt(misfit.col(2).mean())));
  result.claim(
      "medium: the tightest bars that hold the data (0.85 within 2 sd)",
      inside.col(1).mean() >= 0.85 && inside.col(2).mean() < 0.85,
      fmt::format("{:.2f} medium, {:.2f} long", inside.col(1).mean(), inside.col(2).mean()));
  result.series.push_back(
      {"one step ahead",
       {"x", "y", "short", "short sd", "medium", "medium sd", "long", "long sd"},
       steps});
}

// T18: the evidence over ℓ for data drawn with ℓ = 1, sixty points on [0, 10].
void evidence_curve(Result& result, std::uint64_t seed) {
  constexpr Index grid = 41;
  const Vector x = Vector::LinSpaced(60, 0.0, 10.0);
  Vector peak(sets);
  Matrix curve(grid, 2);
  double least_fall = 1e300;
  for (Index s = 0; s < sets; ++s) {
    const Vector y = draw(x, noise_sd, seed + 100 + static_cast<std::uint64_t>(s));
    Vector evidence(grid);
    Index best = 0;
    for (Index i = 0; i < grid; ++i) {
      const double ell = std::pow(10.0, -1.0 + 2.0 * static_cast<double>(i) / (grid - 1));
      evidence[i] = condition_on(prior(ell), x, y, noise_sd * noise_sd).log_evidence();
      if (evidence[i] > evidence[best]) best = i;
      if (s == 0) curve.row(i) << ell, evidence[i];
    }
    peak[s] = std::pow(10.0, -1.0 + 2.0 * static_cast<double>(best) / (grid - 1));
    least_fall = std::min(least_fall, evidence[best] - std::max(evidence[0], evidence[grid - 1]));
  }
  result.add("ℓ with the largest evidence, truth 1", "", mean_sd(peak));
  result.claim("the evidence peaks within 20 % of the true ℓ, falls on both sides (T18)",
               std::abs(peak.array().log().mean()) < std::log(1.2) && least_fall > 10,
               fmt::format("geometric mean {:.3f}; ends at least {:.0f} nats lower",
                           std::exp(peak.array().log().mean()), least_fall));
  result.series.push_back({"evidence over lengthscale", {"lengthscale", "log evidence"}, curve});
}

// The degree 0 … 10 with the largest mean evidence; mean evidence of all.
Index best_degree(const Matrix& Y, Vector& evidence) {
  const Vector x = Vector::LinSpaced(Y.rows(), -1.0, 1.0);
  evidence = Vector::Zero(11);
  for (int d = 0; d <= 10; ++d)
    for (const auto& y : Y.colwise())
      evidence[d] += BasisRegression(polynomial_basis(x, d), y, 1.0, 0.04).log_evidence();
  evidence /= static_cast<double>(Y.cols());
  Index best = 0;
  evidence.maxCoeff(&best);
  return best;
}

// Slides E5: polynomials with weights ~ N(0, 1) for 200 data sets of thirty points with noise sd
// 0.2, on cubics whose weights are drawn from the model, and on one whose weights are too large for
// it.
void polynomial_degrees(Result& result, std::uint64_t seed) {
  const Vector x = Vector::LinSpaced(30, -1.0, 1.0);
  Random random(seed, 200);
  Matrix drawn(30, 200), fixed(30, 200);
  for (Index s = 0; s < 200; ++s) {
    const Vector noise = 0.2 * random.normal_vector(30);
    drawn.col(s) = noise + multiply(polynomial_basis(x, 3), random.normal_vector(4));
    fixed.col(s) = noise.array() + 2.5 * x.array().cube() - 1.5 * x.array();
  }
  Vector other, evidence;
  result.add("data on 2.5x³ − 1.5x: degree of the largest mean evidence", "",
             fmt::format("{}", best_degree(fixed, other)),
             "a prior too narrow for the weights is judged too");
  const Index best = best_degree(drawn, evidence);
  const double below = evidence[best] - evidence[0], above = evidence[best] - evidence[10];
  result.claim("cubics drawn from the model: the evidence peaks at degree 3 (E5)",
               best == 3 && below > 1 && above > 1,
               fmt::format("degree {}; degree 0 is {:.1f} nats lower, degree 10 {:.1f}", best,
                           below, above));
  Matrix curve(11, 2);
  curve << Vector::LinSpaced(11, 0, 10), evidence;
  result.series.push_back({"evidence over degree", {"degree", "mean log evidence"}, curve});
}

}  // namespace

Result occam(std::uint64_t seed) {
  Result result;
  result.name = "occam";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Figs "
      "5.1–5.4; C. Savin, Gaussian Processes for Time Series (lecture slides)";
  prior_functions(result, seed);
  incremental(result, seed);
  evidence_curve(result, seed);
  polynomial_degrees(result, seed);
  return result;
}

}  // namespace covary::experiments
