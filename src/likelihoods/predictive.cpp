#include "covary/likelihoods/predictive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr int cells = 400;
constexpr Index few_counts = 400;

// y = place + scale·sinh(t) on the line, exp(t) above zero, the logistic function of t in (0, 1):
// scales on which the density of y is one hump with tails that a table can reach.
enum class Support { line, positive, unit };

double from(Support s, double place, double scale, double t) {
  if (s == Support::line) return place + scale * std::sinh(t);
  return s == Support::positive ? std::exp(t) : 1.0 / (1.0 + std::exp(-t));
}
double slope(Support s, double scale, double t, double y) {
  if (s == Support::line) return scale * std::cosh(t);
  return s == Support::positive ? y : y * (1.0 - y);
}

// Counts up to `most` with the mass of each: one by one at first, unless they are large; then in
// ever wider steps, the mass between two values from those at its ends.
template <class Density, class Add>
void add_counts(double place, double width, double most, const Density& density, const Add& add) {
  const double last = std::exp(std::min(place + 12.0 * width, 25.0));
  const auto end = static_cast<Index>(std::min(last, most));
  const auto lowest = static_cast<Index>(std::exp(place - 12.0 * width));
  const Index first = lowest > few_counts ? lowest : 0;
  const Index single = std::min(end, std::max(first, few_counts));
  double before = 0.0;
  for (Index k = first; k <= single; ++k)
    add(static_cast<double>(k), before = density(static_cast<double>(k)));
  const double growth =
      std::pow(static_cast<double>(end) / std::max(1.0, static_cast<double>(single)), 1.0 / cells);
  for (Index k = single; k < end;) {
    const auto wider = static_cast<Index>(std::round(static_cast<double>(k) * growth));
    const Index next = std::min(end, std::max(k + 1, wider));
    const double steps = static_cast<double>(next - k), now = density(static_cast<double>(next));
    add(static_cast<double>(next), 0.5 * (steps - 1.0) * before + 0.5 * (steps + 1.0) * now);
    before = now;
    k = next;
  }
}

// Equal cells of t, y = from(t), with the mass of each by the trapezoidal rule.
template <class Suits, class Density, class Add>
void add_cells(Support support, double place, double width, const Suits& suits,
               const Density& density, const Add& add) {
  const double reach = support == Support::line ? 9.0 : 12.0 * width;
  const double from_t = support == Support::line ? -reach : place - reach;
  const double step = 2.0 * reach / cells;
  double before = 0.0;
  for (int i = 0; i <= cells; ++i) {
    const double t = from_t + i * step, y = from(support, place, width, t);
    const bool inside = suits(y) && std::isfinite(y);
    const double now = inside ? density(y) * slope(support, width, t, y) : 0.0;
    if (inside) add(y, 0.5 * step * (before + now));
    before = now;
  }
}

}  // namespace

PredictiveTable::PredictiveTable(const Likelihood& likelihood, ConstVector theta, ConstVector mean,
                                 ConstVector variance, double aux) {
  const LikelihoodNode& node = likelihood.node();
  if (node.classes() > 0)
    throw Unsupported(
        fmt::format("labels of {} have probabilities, not quantiles", likelihood.print()));
  if (theta.size() != node.parameter_count() || mean.size() != node.functions() ||
      variance.size() != node.functions())
    throw InputError(fmt::format("a table for {} needs {} parameters and {} latent functions",
                                 likelihood.print(), node.parameter_count(), node.functions()));
  const auto suits = [&](double y) { return node.complaint(y, aux).empty(); };
  whole_ = !suits(0.5);
  const Support support = suits(-1.0)            ? Support::line
                          : suits(1.5) || whole_ ? Support::positive
                                                 : Support::unit;
  const auto density = [&](double y) {
    const Datum d{y, aux, theta.data()};
    try {
      return std::exp(node.log_predictive(d, mean.data(), variance.data()));
    } catch (const NumericalError&) {
      // Far out in a heavy tail the integral finds no place to stand: there p(y | f) hardly changes
      // over the range of f.
      return std::exp(node.log_density(d, mean.data(), nullptr, nullptr));
    }
  };
  // The middle is what y is expected to be when f is at its mean, and the width that of a Gaussian
  // with the density there.
  const Vector none = Vector::Zero(mean.size());
  const double middle = node.predictive({0.0, aux, theta.data()}, mean.data(), none.data()).mean;
  double place = middle;
  if (support == Support::positive) place = std::log(std::max(middle, whole_ ? 0.5 : 1e-300));
  if (support == Support::unit)
    place = std::log(std::clamp(middle, 1e-12, 1.0 - 1e-12)) -
            std::log1p(-std::clamp(middle, 1e-12, 1.0 - 1e-12));
  const double there = whole_ ? std::max(1.0, std::floor(middle)) : middle;
  const double root = std::sqrt(2.0 * std::numbers::pi);
  const double width =
      1.0 / (root * std::max(1e-12, density(there) * slope(support, 1.0, 0.0, there)));

  double sum = 0.0;
  const auto add = [&](double y, double mass) {
    sum += mass;
    nodes_.push_back({y, sum});
  };
  if (whole_)
    add_counts(place, width, node.aux() == Aux::trials ? aux : INFINITY, density, add);
  else
    add_cells(support, place, width, suits, density, add);
  if (nodes_.empty() || !(sum > 0.0) || !std::isfinite(sum))
    throw NumericalError(fmt::format(
        "the distribution of y under {} cannot be tabulated for f of mean {} and variance {}",
        likelihood.print(), mean(0), variance(0)));
  for (Node& n : nodes_) n.at_most /= sum;
}

double PredictiveTable::at_most(double y) const {
  const auto next = std::upper_bound(nodes_.begin(), nodes_.end(), y,
                                     [](double v, const Node& n) { return v < n.y; });
  if (next == nodes_.begin()) return 0.0;
  const auto here = next - 1;
  if (next == nodes_.end()) return 1.0;
  if (whole_ && next->y - here->y <= 1.0) return here->at_most;
  const double t = (y - here->y) / (next->y - here->y);
  return here->at_most + t * (next->at_most - here->at_most);
}

double PredictiveTable::below(double y) const {
  return whole_ ? at_most(std::ceil(y) - 1.0) : at_most(y);
}

double PredictiveTable::quantile(double p) const {
  if (!(p > 0.0 && p < 1.0))
    throw InputError(fmt::format("a quantile is of a probability between 0 and 1, got {}", p));
  const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), p,
                                      [](const Node& n, double v) { return n.at_most < v; });
  if (found == nodes_.end()) return nodes_.back().y;
  if (found == nodes_.begin()) return found->y;
  const auto before = found - 1;
  const double t = (p - before->at_most) / (found->at_most - before->at_most);
  const double y = before->y + t * (found->y - before->y);
  return whole_ ? std::ceil(y) : y;
}

double PredictiveTable::shortfall(double a) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < nodes_.size() && nodes_[i].y < a; ++i) {
    const bool last = i + 1 == nodes_.size();
    const double end = last ? a : std::min(a, nodes_[i + 1].y);
    const double steps = end - nodes_[i].y, here = nodes_[i].at_most;
    // P(Y ≤ y) of counts is a staircase, which stands at its value until the next count.
    const double there = last || (whole_ && steps <= 1.0) ? here
                         : whole_                         ? at_most(end - 1.0)
                                                          : at_most(end);
    sum += 0.5 * steps * (here + there);
  }
  return sum;
}

}  // namespace covary
