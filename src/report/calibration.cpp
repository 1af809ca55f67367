#include "report/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "report/axis.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)

Figure residuals(const Predictions& p, const std::string& output) {
  const Vector z = p.standardised();
  Range range;
  range.include(p.mean);
  const Range shown = range.padded(0.03);
  const Vector ends = (Vector(2) << shown.low(), shown.high()).finished();
  const double top = std::max(3.0, 1.1 * z.cwiseAbs().maxCoeff());
  return Chart("Standardised residuals", "predicted " + output, "(observed − predicted)/sd")
      .band(ends, Vector::Constant(2, -normal_975), Vector::Constant(2, normal_975), Ink::guide,
            "19 of 20 belong here")
      .line(ends, Vector::Zero(2), Ink::guide)
      .points(p.mean, z, Ink::data)
      .x_limits(ends(0), ends(1))
      .y_limits(-top, top)
      .describe(fmt::format("{} of {} residuals lie within 1.96 standard deviations; the largest "
                            "is {} standard deviations.",
                            (z.array().abs() <= normal_975).count(), p.size(),
                            short_number(z.cwiseAbs().maxCoeff())))
      .figure();
}

Figure coverage_curve(const Predictions& p) {
  const Index count = 19;
  const double n = static_cast<double>(p.size());
  const Vector level = Vector::LinSpaced(count, 0.05, 0.95);
  Vector found(count);
  for (Index i = 0; i < count; ++i) found(i) = coverage(p.y, p.mean, p.variance, level(i));
  const Vector scatter = normal_975 * (level.array() * (1.0 - level.array()) / n).sqrt();
  return Chart("Coverage", "nominal probability of the interval", "share of observations inside")
      .band(level, (level - scatter).cwiseMax(0.0), (level + scatter).cwiseMin(1.0), Ink::guide,
            "expected, with its 95 % scatter")
      .line(level, found, Ink::a, "observed")
      .points(level, found, Ink::a)
      .x_limits(0.0, 1.0)
      .y_limits(0.0, 1.0)
      .describe(fmt::format("{:.0f} % of the observations lie within the 50 % interval and {:.0f} "
                            "% within the 95 % interval.",
                            100.0 * found(9), 100.0 * found(18)))
      .figure();
}

}  // namespace

Figure predicted_against_observed(ConstVector y, ConstVector mean, const std::string& output) {
  Range both;
  both.include(y);
  both.include(mean);
  const Range shown = both.padded(0.05);
  const Vector ends = (Vector(2) << shown.low(), shown.high()).finished();
  return Chart("Predicted against observed", "predicted " + output, "observed " + output)
      .line(ends, ends, Ink::guide, "equal")
      .points(mean, y, Ink::data)
      .x_limits(ends(0), ends(1))
      .y_limits(ends(0), ends(1))
      .describe(fmt::format(
          "{} points of the observed {} against the predicted one; their root-mean-square "
          "distance from the line of equality is {}.",
          y.size(), output, short_number(rmse(y, mean))))
      .figure();
}

Figure pit_histogram(ConstVector below, ConstVector at_most) {
  const Index bins = below.size() >= 50 ? 10 : 5;
  const double n = static_cast<double>(below.size()), share = 1.0 / static_cast<double>(bins);
  Vector counts = Vector::Zero(bins);
  const auto bin_of = [&](double u) {
    return std::clamp<Index>(static_cast<Index>(u * static_cast<double>(bins)), 0, bins - 1);
  };
  for (Index i = 0; i < below.size(); ++i) {
    const double width = at_most(i) - below(i);
    for (Index b = bin_of(below(i)); b <= bin_of(at_most(i)); ++b) {
      const double from = std::max(below(i), share * static_cast<double>(b)),
                   to = std::min(at_most(i), share * static_cast<double>(b + 1));
      counts(b) += width > 0.0 ? std::max(0.0, to - from) / width : 1.0;
    }
  }
  std::vector<std::string> shown;
  for (const double c : counts) shown.push_back(short_number(c));
  const Vector ends = (Vector(2) << 0.0, 1.0).finished();
  const double spread = normal_975 * std::sqrt(n * share * (1.0 - share));
  return Chart("Probability integral transform", "predicted probability of a value below y",
               "observations")
      .columns(Vector::LinSpaced(bins + 1, 0.0, 1.0), counts, Ink::a, "observed")
      .line(ends, Vector::Constant(2, std::max(0.0, n * share - spread)), Ink::guide,
            "19 of 20 bars end between these")
      .line(ends, Vector::Constant(2, n * share + spread), Ink::guide)
      .x_limits(0.0, 1.0)
      .caption(
          "Flat when calibrated; high at the ends when the bands are too narrow, high in the "
          "middle when they are too wide.")
      .describe(fmt::format("A histogram of {} bars with heights {}; {} each are expected.", bins,
                            fmt::join(shown, ", "), short_number(n * share)))
      .figure();
}

Vector Predictions::standardised() const { return (y - mean).array() / variance.array().sqrt(); }

Predictions observed_predictions(ConstVector y, ConstVector mean, ConstVector variance) {
  Predictions out;
  for (Index i = 0; i < y.size(); ++i)
    if (Range::drawable(y(i)) && Range::drawable(mean(i)) && Range::drawable(variance(i)) &&
        variance(i) > 0.0)
      out.rows.push_back(i);
  out.y = y(out.rows);
  out.mean = mean(out.rows);
  out.variance = variance(out.rows);
  return out;
}

std::vector<Figure> calibration_figures(const Predictions& p, const std::string& output) {
  if (p.size() == 0) return {};
  const Vector u = pit(p.y, p.mean, p.variance);
  return {predicted_against_observed(p.y, p.mean, output), residuals(p, output),
          pit_histogram(u, u), coverage_curve(p)};
}

std::vector<std::string> score_names() {
  return {"rows", "RMSE", "MAE", "SMSE", "NLPD", "CRPS", "50 % coverage", "95 % coverage"};
}

std::vector<std::string> score_cells(const Predictions& p) {
  if (p.size() == 0) return {"0", "–", "–", "–", "–", "–", "–", "–"};
  const bool constant = p.y.maxCoeff() == p.y.minCoeff();  // then SMSE has no value
  const auto percent = [&](double level) {
    return fmt::format("{:.1f} %", 100.0 * coverage(p.y, p.mean, p.variance, level));
  };
  return {fmt::format("{}", p.size()),
          short_number(rmse(p.y, p.mean)),
          short_number(mae(p.y, p.mean)),
          constant ? "–" : short_number(smse(p.y, p.mean)),
          short_number(nlpd(p.y, p.mean, p.variance)),
          short_number(crps(p.y, p.mean, p.variance)),
          percent(0.5),
          percent(0.95)};
}

std::vector<std::string> calibration_warnings(const Predictions& p, const std::string& what) {
  std::vector<std::string> out;
  if (p.size() < 20) return out;
  const double n = static_cast<double>(p.size()), inside = coverage(p.y, p.mean, p.variance, 0.95);
  // Three standard errors: leave-one-out residuals are not quite independent.
  const double scatter = 3.0 * std::sqrt(0.95 * 0.05 / n);
  if (inside < 0.95 - scatter)
    out.push_back(fmt::format(
        "{}: only {:.1f} % of the observations lie in their 95 % bands. The bands are too narrow "
        "there; do not rely on their width.",
        what, 100.0 * inside));
  if (inside > 0.95 + scatter)
    out.push_back(
        fmt::format("{}: {:.1f} % of the observations lie in their 95 % bands, which are wider "
                    "than the errors justify.",
                    what, 100.0 * inside));
  const Vector z = p.standardised();
  std::vector<std::string> far;
  for (Index i = 0; i < z.size(); ++i)
    if (std::abs(z(i)) > 4.5)
      far.push_back(fmt::format("{} ({:+.1f})", p.rows[static_cast<std::size_t>(i)], z(i)));
  if (!far.empty()) {
    const std::size_t count = far.size();
    if (count > 5) far.resize(5), far.emplace_back("…");
    out.push_back(fmt::format(
        "{}: {} observation{} more than 4.5 standard deviations from the prediction, at row{} {} "
        "(counted from 0). Check them, or expect noise with heavier tails than a Gaussian.",
        what, count, count == 1 ? " is" : "s are", count == 1 ? "" : "s", fmt::join(far, ", ")));
  }
  return out;
}

}  // namespace covary
