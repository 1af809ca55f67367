#include "covary/features/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "covary/error.hpp"
#include "features/exponential_roots.hpp"

namespace covary {
namespace {

using Degrees = Eigen::MatrixX<Index>;

void positive(double value, const char* what) {
  if (!(value > 0.0) || !std::isfinite(value))
    throw InputError(fmt::format("{} must be positive, got {}", what, value));
}

// The rows of `degrees` hold with each all lower ones. By the degree k of column d: what the rows
// of that degree leave of the columns after it, and all of the degrees beyond.
double left(ConstVector ratios, const Degrees& degrees, const std::vector<Index>& rows, Index d) {
  if (rows.empty()) return 1.0;
  const double B = ratios(d);
  if (d == ratios.size() - 1) return std::pow(B, static_cast<double>(rows.size()));
  std::vector<std::vector<Index>> by_degree;
  for (const Index row : rows) {
    const auto k = static_cast<std::size_t>(degrees(row, d));
    if (k >= by_degree.size()) by_degree.resize(k + 1);
    by_degree[k].push_back(row);
  }
  double power = 1.0, sum = 0.0;
  for (const auto& own : by_degree) {
    sum += (1.0 - B) * power * left(ratios, degrees, own, d + 1);
    power *= B;
  }
  return sum + power;
}

// |H_m(z)|e^{−z²/2} ≤ √(2ᵐm!) bounds every row's k − q by √q·tail·exp((x − mean)²/2sd²).
double row_constant(double lengthscale, double sd) {
  return std::pow(1.0 + 4.0 * sd * sd / (lengthscale * lengthscale), 0.25);
}

}  // namespace

double eigen_tail(ConstVector ratios, const Degrees& degrees) {
  if (ratios.size() == 0 || degrees.cols() != ratios.size())
    throw InputError(fmt::format("degrees of {} columns for {} ratios of eigenvalues",
                                 degrees.cols(), ratios.size()));
  std::vector<Index> rows;
  for (Index m = 0; m < degrees.rows(); ++m) rows.push_back(m);
  return left(ratios, degrees, rows, 0);
}

Spectrum::Spectrum(double variance, std::function<double(Index)> share)
    : variance_(variance), share_(std::move(share)) {}

Spectrum Spectrum::squared_exponential(double variance, ConstVector lengthscales, ConstVector sd) {
  positive(variance, "a kernel's variance");
  if (lengthscales.size() == 0 || lengthscales.size() != sd.size())
    throw InputError(
        fmt::format("{} lengthscales for a measure of {} columns", lengthscales.size(), sd.size()));
  Vector ratios(sd.size());
  for (Index d = 0; d < sd.size(); ++d) ratios(d) = eigenvalue_ratio(lengthscales(d), sd(d));
  return {variance, [ratios](Index M) {
            if (M == 0) return 1.0;
            // Of one column a power; a column without weight has one eigenfunction and no more.
            const double largest = ratios.maxCoeff();
            if (ratios.size() == 1 || largest == 0.0)
              return std::pow(largest, static_cast<double>(M));
            return eigen_tail(ratios, largest_degrees(ratios, M));
          }};
}

Spectrum Spectrum::exponential(double variance, double lengthscale, double length) {
  positive(variance, "a kernel's variance");
  positive(lengthscale, "a lengthscale");
  positive(length, "the length of an interval");
  return {variance, [lengthscale, length](Index M) {
            const Eigen::ArrayXd lw = lengthscale * exponential_roots(lengthscale, length, M);
            const double sum = (2.0 * lengthscale / length / (1.0 + lw.square())).sum();
            return std::max(0.0, 1.0 - sum);
          }};
}

double Spectrum::tail(Index M) const {
  if (M < 0)
    throw InputError(fmt::format("the number of features must not be negative, got {}", M));
  return variance_ * share_(M);
}

Index Spectrum::first_below(double level, Index most) const {
  if (!(tail(most) <= level)) return most + 1;
  Index low = -1, high = most;  // tails fall
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    (tail(middle) <= level ? high : low) = middle;
  }
  return high;
}

double normal_domination(double sd, double inputs_sd) {
  positive(sd, "a standard deviation");
  positive(inputs_sd, "a standard deviation");
  if (inputs_sd > sd)
    throw InputError(fmt::format(
        "a measure with standard deviation {} does not dominate inputs with {}; make it wider", sd,
        inputs_sd));
  return sd / inputs_sd;
}

double uniform_domination(double sd, double half_width) {
  positive(sd, "a standard deviation");
  positive(half_width, "half the width of an interval");
  const double r = half_width / sd;
  return std::sqrt(2.0 * std::numbers::pi) / (2.0 * r) * std::exp(0.5 * r * r);
}

double uniform_failure(Index N, double lengthscale, double sd, double half_width, double excess) {
  positive(lengthscale, "a lengthscale");
  positive(excess, "an excess");
  const double rho = row_constant(lengthscale, sd) *
                     std::exp(0.5 * (half_width / sd) * (half_width / sd)) /
                     uniform_domination(sd, half_width);
  return std::exp(-2.0 * static_cast<double>(N) * excess * excess / (rho * rho));
}

// E[Aʳ] of A = exp(x²/2sd²) is (1 − r(s′/s)²)^{−½}: there for r below (s/s′)². The centred moment
// is at most twice that, and at r = 2, where Chebyshev's inequality does, once.
double normal_failure(Index N, double lengthscale, double sd, double inputs_sd, double excess) {
  positive(lengthscale, "a lengthscale");
  positive(excess, "an excess");
  const double ratio = 1.0 / normal_domination(sd, inputs_sd), n = static_cast<double>(N);
  double best = 1.0;
  constexpr int steps = 400;
  for (int i = 1; i <= steps; ++i) {
    const double r = 1.0 + static_cast<double>(i) / steps, left = 1.0 - r * ratio * ratio;
    if (!(left > 0.0)) break;
    const double constant = i == steps ? 1.0 : 2.0 * (2.0 - 1.0 / n);
    best = std::min(best, constant * std::pow(row_constant(lengthscale, sd) / excess, r) *
                              std::pow(n, 1.0 - r) / std::sqrt(left));
  }
  return best;
}

std::pair<double, double> expected_kl(double trace, double noise) {
  positive(noise, "a noise variance");
  const double t = std::max(0.0, trace);
  return {0.5 * t / noise, t / noise};
}

double planning::kl_bound(double trace, double noise, double energy) {
  const double t = std::max(0.0, trace);
  return expected_kl(t, noise).first + 0.5 * energy * t / (noise + t);
}

Index eigenfunctions_for(Index N, double ratio) {
  if (N < 1 || !(ratio > 0.0) || !(ratio < 1.0))
    throw InputError(fmt::format(
        "{} rows and a ratio of eigenvalues of {}: one row, and between 0 and 1", N, ratio));
  return static_cast<Index>(std::ceil(4.0 * std::log(static_cast<double>(N)) / -std::log(ratio)));
}

FeaturePlan plan_of(const Spectrum& spectrum, const PlanRequest& r, Index inducing) {
  FeaturePlan out;
  out.inducing = inducing;
  out.trace = r.rows * r.domination * spectrum.tail(inducing);
  const auto [low, high] = expected_kl(out.trace, r.noise);
  out.low = r.domination > 1.0 ? 0.0 : r.outputs * low;
  out.high = r.outputs * high;
  out.within = out.high <= r.kl;
  // With t ≤ E[t]/risk but for that risk, and the bound of the lemma is at most its slope at 0.
  const double slope = 0.5 * (r.outputs + r.energy) / r.noise;
  const Index found = spectrum.first_below(r.risk * r.kl / (slope * r.rows * r.domination), r.most);
  out.certain = found > r.most ? 0 : found;
  return out;
}

FeaturePlan plan_features(const Spectrum& spectrum, const PlanRequest& r) {
  positive(r.rows, "the number of rows");
  positive(r.outputs, "the number of outputs");
  positive(r.noise, "a noise variance");
  positive(r.kl, "the KL divergence asked for");
  if (!(r.energy >= 0.0) || !(r.domination >= 1.0) || !(r.risk > 0.0) || !(r.risk < 1.0) ||
      r.most < 1)
    throw InputError(
        "a plan needs energy ≥ 0, domination ≥ 1, a risk between 0 and 1 and a maximum of at least "
        "one feature");
  const double level = r.kl * r.noise / (r.outputs * r.rows * r.domination);
  return plan_of(spectrum, r, std::clamp<Index>(spectrum.first_below(level, r.most), 1, r.most));
}

std::string FeaturePlan::print(const PlanRequest& r) const {
  std::string out = fmt::format(
      "{} eigenfunctions: the mean KL over data from the model is between {:.2g} and {:.2g} nats{}",
      inducing, low, high, within ? "" : fmt::format(", above the {:.2g} asked for", r.kl));
  if (certain > 0)
    out += fmt::format("; {} make it {:.2g} for these outputs with probability {:.3g}", certain,
                       r.kl, 1.0 - r.risk);
  return out;
}

}  // namespace covary
