#include "report/class_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/classification_metrics.hpp"
#include "report/surface.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

constexpr Index most_classes = 6;                 // drawn: as many as there are inks
constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)

const std::string& name(const std::vector<std::string>& classes, Index k) {
  return classes[static_cast<std::size_t>(k)];
}

std::string input_name(const ClassificationReport& r, Index d) {
  return d < static_cast<Index>(r.input_names.size()) ? r.input_names[static_cast<std::size_t>(d)]
                                                      : fmt::format("input {}", d);
}

// Of two classes the second is drawn, of more each.
std::vector<Index> drawn_classes(Index K) {
  if (K == 2) return {1};
  std::vector<Index> out;
  for (Index k = 0; k < std::min(K, most_classes); ++k) out.push_back(k);
  return out;
}

// The training rows of a class, or those of the others.
RowMatrix rows_of(const ClassificationReport& r, Index k, bool of_class) {
  std::vector<Index> rows;
  for (Index i = 0; i < r.X.rows(); ++i)
    if (!std::isnan(r.labels[i]) && (r.labels[i] == static_cast<double>(k)) == of_class)
      rows.push_back(i);
  return r.X(rows, Eigen::all);
}

Vector diagonal() { return Vector{{0.0, 1.0}}; }

// Labels as 0 and 1 for one class against the rest; NaN stays.
Vector against_rest(const Vector& labels, Index k) {
  return labels.unaryExpr([=](double label) {
    return std::isnan(label) ? label : label == static_cast<double>(k) ? 1.0 : 0.0;
  });
}

bool both_occur(const Vector& zero_one) {
  return (zero_one.array() == 0.0).any() && (zero_one.array() == 1.0).any();
}

}  // namespace

Figure class_curve(const ClassificationReport& r) {
  const auto K = static_cast<Index>(r.classes.size());
  const Vector& x = r.grid->axes[0];
  Chart chart(K == 2 ? fmt::format("Probability of {}", r.classes[1]) : "Class probabilities",
              input_name(r, 0), "probability", true);
  std::vector<std::string> said;
  for (const Index k : drawn_classes(K)) {
    const Vector p = r.grid->probabilities.col(k);
    chart.line(x, p, series_ink(k), fmt::format("probability of {}", name(r.classes, k)));
    said.push_back(fmt::format("that of {} is at least {} and at most {}", name(r.classes, k),
                               short_number(p.minCoeff()), short_number(p.maxCoeff())));
  }
  // Rows of a class lie in a strip of its own, spread within it so that clusters can be seen: of
  // two classes one below and one above, of more all above.
  double top = 1.0;
  for (Index k = 0; k < std::min(K, most_classes); ++k) {
    const RowMatrix rows = rows_of(r, k, true);
    const double strip = K == 2 ? (k == 0 ? -0.09 : 1.02) : 1.02 + 0.06 * static_cast<double>(k);
    Vector at(rows.rows());
    for (Index i = 0; i < at.size(); ++i)
      at(i) = strip + 0.04 + 0.03 * std::sin(2.4 * static_cast<double>(i));
    if (rows.rows() > 0)
      chart.points(rows.col(0), at, series_ink(k), fmt::format("rows of {}", name(r.classes, k)));
    top = std::max(top, strip + 0.08);
  }
  if (r.Z.rows() > 0) chart.rug(r.Z.col(0), Ink::data, "inducing inputs");
  if (K == 2) chart.line(Vector{{x(0), x(x.size() - 1)}}, Vector{{0.5, 0.5}}, Ink::guide);
  return chart.x_limits(x(0), x(x.size() - 1))
      .y_limits(K == 2 ? -0.13 : -0.04, top)
      .describe(fmt::format("Probabilities for {} from {} to {}: {}.", input_name(r, 0),
                            short_number(x(0)), short_number(x(x.size() - 1)),
                            fmt::join(said, ", ")))
      .figure();
}

std::vector<Figure> class_surfaces(const ClassificationReport& r) {
  const auto K = static_cast<Index>(r.classes.size());
  const Vector &x = r.grid->axes[0], &y = r.grid->axes[1];
  std::vector<Figure> out;
  for (const Index k : drawn_classes(K)) {
    Surface s;
    s.title = fmt::format("Probability of {}", name(r.classes, k));
    s.x_name = input_name(r, 0);
    s.y_name = input_name(r, 1);
    s.x = x;
    s.y = y;
    s.p.resize(x.size(), y.size());
    for (Index i = 0; i < x.size(); ++i)
      for (Index j = 0; j < y.size(); ++j) s.p(i, j) = r.grid->probabilities(i * y.size() + j, k);
    s.half = "probability ½";
    s.marks = {{rows_of(r, k, false), "no",
                K == 2 ? fmt::format("rows of {}", r.classes[0]) : "rows of the others"},
               {rows_of(r, k, true), "yes", fmt::format("rows of {}", name(r.classes, k))}};
    s.Z = r.Z;
    out.push_back(surface_figure(s));
    out.back().description = fmt::format(
        "Over {} from {} to {} and {} from {} to {} the probability of {} is at least {} and at "
        "most "
        "{}; it exceeds one half over {:.0f} % of the area.",
        s.x_name, short_number(x(0)), short_number(x(x.size() - 1)), s.y_name, short_number(y(0)),
        short_number(y(y.size() - 1)), name(r.classes, k), short_number(s.p.minCoeff()),
        short_number(s.p.maxCoeff()),
        100.0 * static_cast<double>((s.p.array() > 0.5).count()) / static_cast<double>(s.p.size()));
  }
  return out;
}

std::vector<Figure> roc_figures(const ClassPredictions& p,
                                const std::vector<std::string>& classes) {
  const auto K = static_cast<Index>(classes.size());
  Chart chart("ROC", "false positive rate", "true positive rate");
  chart.line(diagonal(), diagonal(), Ink::guide, "chance");
  std::vector<std::string> said;
  for (const Index k : drawn_classes(K)) {
    const Vector is_class = against_rest(p.labels, k);
    if (!both_occur(is_class)) continue;
    const RocCurve roc = roc_curve(is_class, p.probabilities.col(k));
    const double area = auc(is_class, p.probabilities.col(k));
    chart.line(roc.false_positive, roc.true_positive, series_ink(k),
               fmt::format("{}, area {:.3f}", name(classes, k), area));
    said.push_back(fmt::format("{} {:.3f}", name(classes, k), area));
    if (K > 2) continue;
    Index at = 0;  // the last threshold that is at least one half
    while (at + 1 < roc.thresholds.size() && roc.thresholds(at + 1) >= 0.5) ++at;
    chart.points(roc.false_positive.segment(at, 1), roc.true_positive.segment(at, 1), Ink::data,
                 "threshold ½");
  }
  if (said.empty()) return {};
  return {chart.x_limits(0.0, 1.0)
              .y_limits(0.0, 1.0)
              .describe(fmt::format("Areas below the curves: {}.", fmt::join(said, ", ")))
              .figure()};
}

std::vector<Figure> reliability_figures(const ClassPredictions& p,
                                        const std::vector<std::string>& classes) {
  const bool two = classes.size() == 2;
  const Reliability table = reliability(p.labels, p.probabilities);
  const auto bins = static_cast<Index>(table.bins.size());
  std::vector<double> mean, found, low, high;
  Vector edges(bins + 1), counts(bins);
  edges(0) = 0.0;
  for (Index b = 0; b < bins; ++b) {
    const Reliability::Bin& bin = table.bins[static_cast<std::size_t>(b)];
    edges(b + 1) = bin.upper;
    counts(b) = static_cast<double>(bin.count);
    if (bin.count == 0) continue;
    const double m = bin.mean_probability,
                 scatter = normal_975 * std::sqrt(m * (1.0 - m) / static_cast<double>(bin.count));
    mean.push_back(m);
    found.push_back(bin.frequency);
    low.push_back(std::max(0.0, m - scatter));
    high.push_back(std::min(1.0, m + scatter));
  }
  const auto vector = [](const std::vector<double>& v) -> Vector {
    return Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size()));
  };
  const std::string what = two ? fmt::format("probability of {}", classes[1])
                               : std::string("probability of the predicted class");
  std::vector<std::string> said;
  for (std::size_t i = 0; i < mean.size(); ++i)
    said.push_back(fmt::format("{:.2f} at {:.2f}", found[i], mean[i]));
  Figure diagram =
      Chart("Reliability", what, "observed frequency")
          .band(vector(mean), vector(low), vector(high), Ink::guide,
                "expected, with its 95 % scatter")
          .line(diagonal(), diagonal(), Ink::guide)
          .line(vector(mean), vector(found), Ink::a, "observed")
          .points(vector(mean), vector(found), Ink::a)
          .x_limits(0.0, 1.0)
          .y_limits(0.0, 1.0)
          .caption(fmt::format("The expected calibration error is {:.3f}.", table.error))
          .describe(fmt::format("Observed frequencies: {}.", fmt::join(said, ", ")))
          .figure();
  Figure how_often = Chart("How sure the predictions are", what, "rows")
                         .columns(edges, counts, Ink::a)
                         .x_limits(0.0, 1.0)
                         .describe(fmt::format("A histogram of {} bars with {} rows.", bins,
                                               fmt::join(counts.begin(), counts.end(), ", ")))
                         .figure();
  return {std::move(diagram), std::move(how_often)};
}

HtmlTable confusion_table(const ClassPredictions& p, const std::vector<std::string>& classes) {
  const Matrix counts = confusion_matrix(p.labels, p.probabilities);
  HtmlTable table{
      "Counts; rows: labels, columns: predicted classes. Found (recall) is the share of a label's "
      "rows that were predicted correctly; right (precision) is the share of a prediction's rows "
      "that have that label.",
      {"label"},
      {},
      "l"};
  for (const auto& c : classes) table.header.push_back(c);
  for (const char* extra : {"rows", "found"}) table.header.emplace_back(extra);
  table.align.append(table.header.size() - 1, 'r');
  const auto share = [](double part, double all) {
    return all > 0.0 ? fmt::format("{:.1f} %", 100.0 * part / all) : "–";
  };
  std::vector<std::string> right{"right"};
  for (Index k = 0; k < counts.rows(); ++k) {
    std::vector<std::string> row{name(classes, k)};
    for (const double c : counts.row(k)) row.push_back(fmt::format("{:.0f}", c));
    row.push_back(fmt::format("{:.0f}", counts.row(k).sum()));
    row.push_back(share(counts(k, k), counts.row(k).sum()));
    table.rows.push_back(std::move(row));
    right.push_back(share(counts(k, k), counts.col(k).sum()));
  }
  right.push_back(fmt::format("{:.0f}", counts.sum()));
  right.push_back(share(counts.diagonal().sum(), counts.sum()));
  table.rows.push_back(std::move(right));
  return table;
}

}  // namespace covary
