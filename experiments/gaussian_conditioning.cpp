// Slides 'GP intro reminder' and 'New visualisation': the draws of a Gaussian plotted
// as values against the index of the variable. Two variables with correlation 0.9; one of them is
// fixed and the other redrawn; then there are more of them. The larger matrices are not given in
// the slides: ours is S_ij = 0.9^((i−j)²), a squared exponential whose neighbours have correlation
// 0.9, so that the first two variables are those of the slides at any size.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/inference/gaussian.hpp"
#include "covary/kernels/kernels.hpp"
#include "experiments.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr double rho = 0.9;

// n variables with S_ij = 0.9^((i−j)²).
Gaussian curve(Index n) {
  const Kernel k = se(false, {1.0, {std::sqrt(-0.5 / std::log(rho))}});
  return {Vector::Zero(n),
          prior_covariance(k, Vector::LinSpaced(n, 0.0, static_cast<double>(n - 1)))};
}

void two_variables(Result& result, std::uint64_t seed) {
  Matrix S(2, 2);
  S << 1, rho, rho, 1;
  const Gaussian pair{Vector::Zero(2), S};
  double error = 0.0;
  for (const double a : {-1.0, 0.5, 2.0}) {
    const Gaussian rest = condition(pair, {0}, Vector::Constant(1, a));
    error =
        std::max({error, std::abs(rest.mean[0] - rho * a), std::abs(rest.covariance(0, 0) - 0.19)});
    result.add(fmt::format("y2 | y1 = {}", a), "",
               fmt::format("N({:.4g}, {:.4g})", rest.mean[0], rest.covariance(0, 0)),
               fmt::format("exact: N({:.4g}, 0.19)", rho * a));
  }
  result.claim("conditioning gives mean 0.9a and variance 0.19 (T1)", error < 1e-15,
               fmt::format("largest error {:.1e}", error));

  // The rule against counting: of many pairs keep those with y1 next to 1.
  constexpr Index draws = 200000;
  const Matrix y = sample(pair, draws, seed);
  std::vector<double> kept;
  for (Index i = 0; i < draws; ++i)
    if (std::abs(y(0, i) - 1.0) < 0.05) kept.push_back(y(1, i));
  const Vector near = Eigen::Map<const Vector>(kept.data(), static_cast<Index>(kept.size()));
  const double se = std::sqrt(0.19 / static_cast<double>(near.size()));
  const double variance = sample_sd(near) * sample_sd(near);
  result.claim(
      "drawn pairs with |y1 − 1| < 0.05: y2 ~ N(0.9, 0.19), to 4 errors",
      std::abs(near.mean() - rho) < 4 * se &&
          std::abs(variance - 0.19) < 4 * 0.19 * std::sqrt(2.0 / static_cast<double>(near.size())),
      fmt::format("mean {:.4f}, variance {:.4f} of {} pairs", near.mean(), variance, near.size()));

  // |y1 − y2| has mean √(4(1 − ρ)/π).
  const double step = (y.row(0) - y.row(1)).array().abs().mean(),
               exact = std::sqrt(4 * (1 - rho) / std::numbers::pi);
  result.claim("pairs are nearly level: mean |y1 − y2| (independent: 1.128)",
               std::abs(step - exact) < 0.01 * exact,
               fmt::format("{:.4f}, exact {:.4f}", step, exact));
  result.series.push_back({"pairs", {"y1", "y2"}, y.leftCols(200).transpose()});
}

void growing(Result& result, std::uint64_t seed) {
  const Gaussian largest = curve(50);
  double marginal_error = 0.0;
  for (const Index n : {2, 5, 20, 50}) {
    const Gaussian g = curve(n);
    std::vector<Index> first;
    for (Index i = 0; i < n; ++i) first.push_back(i);
    marginal_error = std::max(
        marginal_error, (marginal(largest, first).covariance - g.covariance).cwiseAbs().maxCoeff());
    const Matrix y = sample(g, 2000, seed + 1);
    const double step = (y.bottomRows(n - 1) - y.topRows(n - 1)).cwiseAbs().mean();
    Vector range = y.colwise().maxCoeff() - y.colwise().minCoeff();
    result.add(fmt::format("{} variables: mean step, mean range of a draw", n), "",
               fmt::format("{:.3f}, {:.3f}", step, range.mean()),
               "steps stay, the curve gets longer");
  }
  result.claim("marginalising the 50 variables equals building fewer (T2)", marginal_error < 1e-15,
               fmt::format("largest difference {:.1e}", marginal_error));

  bool falls = true;
  for (Index j = 1; j < 50; ++j)
    falls = falls && largest.covariance(0, j) < largest.covariance(0, j - 1);
  result.claim(
      "entries of S fall off with the distance of the indices", falls,
      fmt::format("S(1,2) = {:.3f}, S(1,4) = {:.3f}, S(1,8) = {:.4f}", largest.covariance(0, 1),
                  largest.covariance(0, 3), largest.covariance(0, 7)));

  // Smooth, and not merely level: second differences against those of a Markov chain with the same
  // neighbours, S_ij = 0.9^|i−j|, where they have variance 6 − 8ρ + 2ρ² = 0.42.
  const Matrix y = sample(largest, 2000, seed + 2);
  const double bend =
      (y.bottomRows(48) - 2 * y.middleRows(1, 48) + y.topRows(48)).array().square().mean();
  const double exact = 6 - 8 * rho + 2 * std::pow(rho, 4);
  result.claim("smooth: variance of second differences (Markov chain: 0.42)",
               std::abs(bend - exact) < 0.05 * exact && bend < 0.15,
               fmt::format("{:.4f}, exact {:.4f}", bend, exact));
}

void conditioned_curve(Result& result, std::uint64_t seed) {
  const Gaussian g = curve(50);
  const std::vector<Index> fixed{9, 20, 25};
  const Vector values = (Vector(3) << 1.0, -1.0, 0.5).finished();
  const Gaussian rest = condition(g, fixed, values);
  const Vector variance = rest.covariance.diagonal();
  // In two steps: number 20 first; then 9 and 25, which has become 24.
  const Gaussian again = condition(condition(g, {20}, values.segment(1, 1)), {9, 24},
                                   (Vector(2) << values[0], values[2]).finished());
  const double error = std::max((again.mean - rest.mean).cwiseAbs().maxCoeff(),
                                (again.covariance - rest.covariance).cwiseAbs().maxCoeff());
  result.claim("three variables fixed at once or in turn: one posterior", error < 1e-12,
               fmt::format("largest difference {:.1e}", error));
  // The remaining indices: 8 and 10 lie on both sides of the fixed 9; the last is 24 away.
  result.claim("the band is narrow beside the fixed variables, open far away",
               variance[8] < 0.2 && variance.maxCoeff() <= 1.0 + 1e-15 && variance[46] > 0.999,
               fmt::format("sd beside {:.3f}, between {:.3f}, far {:.3f}", std::sqrt(variance[8]),
                           std::sqrt(variance[14]), std::sqrt(variance[46])));
  const Matrix draws = sample(rest, 4000, seed + 3);
  const double z =
      ((draws.rowwise().mean() - rest.mean).array() / (variance.array() / 4000.0).sqrt())
          .abs()
          .maxCoeff();
  result.claim("redraws have the conditional mean (below 4.5 errors, 47 entries)", z < 4.5,
               fmt::format("{:.2f}", z));
  Matrix picture(47, 6);
  picture << rest.mean, variance.cwiseSqrt(), draws.leftCols(4);
  result.series.push_back(
      {"conditioned curve", {"mean", "sd", "draw 1", "draw 2", "draw 3", "draw 4"}, picture});
  result.series.push_back({"covariance of 50 variables", {}, g.covariance});
}

}  // namespace

Result gaussian_conditioning(std::uint64_t seed) {
  Result result;
  result.name = "gaussian-conditioning";
  result.source = "C. Savin, Gaussian Processes for Time Series (lecture slides)";
  two_variables(result, seed);
  growing(result, seed);
  conditioned_curve(result, seed);
  return result;
}

}  // namespace covary::experiments
