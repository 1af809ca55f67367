#include "covary/report/latent_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/labels.hpp"
#include "covary/data/split.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/report/page.hpp"
#include "report/surface.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

constexpr Index most_labels = 6;  // drawn: as many as there are inks
constexpr Index most_courses = 4;

std::string dimension(Index q) { return fmt::format("dimension {}", q); }

Figure relevance_bars(const GplvmFit& fit, std::size_t view) {
  std::vector<std::string> names;
  for (Index q = 0; q < fit.latent(); ++q) names.push_back(dimension(q));
  const std::string& name = fit.mappings[view].view.name;
  return bar_chart(
      name.empty() ? "Relevance of the dimensions" : fmt::format("Relevance for the view {}", name),
      names, Vector(fit.relevance().row(static_cast<Index>(view))), "weight over the largest");
}

Vector unknown_share(const Posterior& posterior, const RowMatrix& X) {
  const InducingView p = posterior.inducing();
  const RowMatrix Z = Eigen::Map<const RowMatrix>(p.z.data(), p.features->size(), X.cols());
  const Matrix K = cross(p.kernel, p.theta, X, Z);
  const Matrix KR = product(K, UncertainInputs(posterior).reduced());
  const Vector prior = diagonal(p.kernel, p.theta, X);
  return (1.0 - KR.cwiseProduct(K).rowwise().sum().array() / prior.array()).min(1.0).max(0.0);
}

// Rows of one label, or all of them under no name.
struct LabelledRows {
  std::string name;
  std::vector<Index> rows;
};

std::vector<LabelledRows> rows_by_label(const std::vector<std::string>& row_labels) {
  const Labels labels = Labels::from(row_labels);
  const Vector codes = labels.encode(row_labels);
  std::vector<LabelledRows> out;
  for (Index k = 0; k < std::min(labels.classes(), most_labels); ++k) {
    out.push_back({labels.names[static_cast<std::size_t>(k)], {}});
    for (Index i = 0; i < codes.size(); ++i)
      if (codes(i) == static_cast<double>(k)) out.back().rows.push_back(i);
  }
  return out;
}

std::vector<Surface::Marks> marks_of(const GplvmFit& fit, const RowMatrix& at) {
  if (fit.row_labels.empty()) return {{at, "yes", "rows"}};
  std::vector<Surface::Marks> out;
  for (const LabelledRows& group : rows_by_label(fit.row_labels))
    out.push_back({take_rows(at, group.rows), css_class(series_ink(static_cast<Index>(out.size()))),
                   group.name});
  return out;
}

// The rows by their means over two dimensions, in the inks of their labels where they have any.
Chart row_map(const RowMatrix& mean, const std::vector<std::string>& row_labels, Index x, Index y) {
  Chart chart("The rows in the latent space", dimension(x), dimension(y), true);
  if (row_labels.empty()) {
    chart.points(mean.col(x), mean.col(y), Ink::data, "rows");
  } else {
    Index k = 0;
    for (const LabelledRows& group : rows_by_label(row_labels))
      chart.points(Vector(mean.col(x))(group.rows), Vector(mean.col(y))(group.rows),
                   series_ink(k++), group.name);
  }
  chart.describe(fmt::format(
      "{} rows over dimensions {} and {}, from {} to {} and from {} to {}.", mean.rows(), x, y,
      short_number(mean.col(x).minCoeff()), short_number(mean.col(x).maxCoeff()),
      short_number(mean.col(y).minCoeff()), short_number(mean.col(y).maxCoeff())));
  return chart;
}

// The share of the prior's variance that is left, the largest over the views: over two dimensions,
// the others at the middle of the rows.
Figure latent_map(const GplvmFit& fit, Index a, Index b) {
  constexpr Index side = 48;
  const auto axis = [&](Index q) {
    const double low = fit.mean.col(q).minCoeff(), high = fit.mean.col(q).maxCoeff(),
                 margin = 0.1 * (high - low) + 1e-9;
    return Vector(Vector::LinSpaced(side, low - margin, high + margin));
  };
  Surface s;
  s.title = "The rows in the latent space";
  s.x_name = dimension(a);
  s.y_name = dimension(b);
  s.x = axis(a);
  s.y = axis(b);
  RowMatrix at = fit.mean.colwise().mean().replicate(side * side, 1);
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j < side; ++j) {
      at(i * side + j, a) = s.x(i);
      at(i * side + j, b) = s.y(j);
    }
  Vector left = Vector::Zero(at.rows());
  for (const auto& m : fit.mappings) left = left.cwiseMax(unknown_share(m.posterior, at));
  s.p = Eigen::Map<const Matrix>(left.data(), side, side).transpose();
  RowMatrix rows(fit.mean.rows(), 2);
  rows << fit.mean.col(a), fit.mean.col(b);
  s.marks = marks_of(fit, rows);
  if (fit.mappings.size() == 1) {
    const InducingView p = fit.mappings.front().posterior.inducing();
    const Eigen::Map<const RowMatrix> Z(p.z.data(), p.features->size(), fit.latent());
    s.Z.resize(Z.rows(), 2);
    s.Z << Z.col(a), Z.col(b);
  }
  Figure out = surface_figure(s);
  out.description = fmt::format(
      "{} rows over dimensions {} and {}, from {} to {} and from {} to {}; of the prior's variance "
      "{} to {} is left.",
      rows.rows(), a, b, short_number(rows.col(0).minCoeff()), short_number(rows.col(0).maxCoeff()),
      short_number(rows.col(1).minCoeff()), short_number(rows.col(1).maxCoeff()),
      short_number(left.minCoeff()), short_number(left.maxCoeff()));
  out.caption =
      "Means of q(x). The image shows the remaining share of the variance: 0 is known, 1 unknown. "
      "Distances are weighted by the relevance of each dimension.";
  return out;
}

// How far out of the map the model knows what rows look like: the predictive deviation of the
// outputs along each axis through the middle of the rows.
Figure uncertainty_along(const GplvmFit& fit, Index q) {
  constexpr Index points = 100;
  const double low = fit.mean.col(q).minCoeff(), high = fit.mean.col(q).maxCoeff(),
               margin = 0.25 * (high - low) + 1e-9;
  RowMatrix at = fit.mean.colwise().mean().replicate(points, 1);
  at.col(q) = Vector::LinSpaced(points, low - margin, high + margin);
  const Prediction p = fit.decode(at);
  const Vector sd = p.variance_f.cwiseSqrt().rowwise().mean();
  const Vector x = at.col(q);
  return Chart(fmt::format("Uncertainty along dimension {}", q), dimension(q),
               "mean sd of the outputs")
      .line(x, sd, Ink::mean)
      .rug(fit.mean.col(q), Ink::data, "rows")
      .describe(fmt::format("The outputs' standard deviation lies between {} and {}.",
                            short_number(sd.minCoeff()), short_number(sd.maxCoeff())))
      .figure();
}

Figure course(const GplvmFit& fit, Index q) {
  const RowMatrix& times = fit.dynamics->options().times;
  const Vector t = times.col(0), m = fit.mean.col(q), s = 2.0 * fit.variance.col(q).cwiseSqrt();
  return Chart(fmt::format("Dimension {} over time", q), "time", dimension(q))
      .band(t, m - s, m + s, Ink::mean, "two standard deviations")
      .line(t, m, Ink::mean, "mean")
      .describe(fmt::format("Dimension {} over {} times.", q, t.size()))
      .figure();
}

HtmlTable sharing(const GplvmFit& fit, const std::vector<Index>& order) {
  HtmlTable table{"Which view uses which dimension: relevance above 0.01.", {"dimension"}, {}, "l"};
  for (const auto& m : fit.mappings) table.header.push_back(m.view.name);
  table.header.emplace_back("");
  table.align.append(fit.mappings.size(), 'r');
  const Matrix relevance = fit.relevance();
  for (const Index q : order) {
    const auto users = (relevance.col(q).array() > 0.01).count();
    if (users == 0) continue;
    std::vector<std::string> row{fmt::format("{}", q)};
    for (Index v = 0; v < relevance.rows(); ++v)
      row.push_back(fmt::format("{:.4f}", relevance(v, q)));
    row.emplace_back(users == relevance.rows() ? "shared by all"
                     : users == 1              ? "private"
                                               : "shared");
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Some rows of a table as the model gives them back, over the outputs.
std::vector<Figure> reconstructions(const HeldOutRows& data) {
  constexpr Index most = 6;
  std::vector<Figure> out;
  const Index n = data.Y.rows(), P = data.Y.cols(), count = std::min(n, most);
  const Vector at = Vector::LinSpaced(P, 0.0, static_cast<double>(P - 1));
  for (Index i = 0; i < count; ++i) {
    const Index row = count < 2 ? 0 : i * (n - 1) / (count - 1);
    const Vector y = data.Y.row(row), m = data.decoded.mean.row(row),
                 s = 2.0 * data.decoded.variance_y.row(row).cwiseSqrt();
    out.push_back(Chart(fmt::format("Row {}", row), "output", "value")
                      .band(at, m - s, m + s, Ink::mean, "two standard deviations")
                      .line(at, m, Ink::mean, "decoded")
                      .points(at, y, Ink::data, "observed")
                      .describe(fmt::format("Row {} over {} outputs.", row, P))
                      .figure());
  }
  return out;
}

void add_reconstructions(Page& page, const HeldOutRows& data) {
  page.section("Rows given back");
  page.paragraph(fmt::format(
      "Rows of {}: each latent input was inferred from the observed outputs of the row, and "
      "decoded.",
      data.name));
  page.figures(reconstructions(data));
}

}  // namespace

std::string latent_report(const GplvmFit& fit, const LatentReportOptions& options) {
  const InducingView mapping = fit.mappings.front().posterior.inducing();
  Page page(
      options.title,
      fmt::format(
          "{} rows of {} outputs through {} latent dimensions, kernel {}, {} inducing "
          "inputs{}{}.",
          fit.mean.rows(), fit.outputs(), fit.latent(), mapping.kernel.print(),
          mapping.features->size(),
          fit.mappings.size() > 1 ? fmt::format(" for each of {} views", fit.mappings.size()) : "",
          fit.dynamics ? ", over time by " + fit.dynamics->options().kernel.print() : ""));
  const std::vector<Index> active = fit.active(), order = fit.by_relevance();
  page.key_numbers({{"dimensions in use", fmt::format("{} of {}", active.size(), fit.latent())},
                    {"bound, nats", fmt::format("{:.2f}", fit.value)},
                    {"iterations", fmt::format("{}", fit.summary.iterations)},
                    {"seconds", fmt::format("{:.3g}", fit.summary.seconds)}});
  page.paragraph(fit.summary.reason);
  if (!fit.summary.warnings.empty()) page.list(fit.summary.warnings, true);

  page.section("Dimensions");
  std::vector<Figure> bars;
  for (std::size_t v = 0; v < fit.mappings.size(); ++v) bars.push_back(relevance_bars(fit, v));
  page.figures(bars);
  if (fit.mappings.size() > 1) page.table(sharing(fit, order));

  page.section("The latent space");
  if (fit.latent() > 1) page.figures({latent_map(fit, order[0], order[1])});
  std::vector<Figure> along;
  for (Index i = 0; i < std::min<Index>(2, fit.latent()); ++i)
    along.push_back(uncertainty_along(fit, order[static_cast<std::size_t>(i)]));
  page.figures(along);

  if (options.held_out) add_reconstructions(page, *options.held_out);

  if (fit.dynamics) {
    page.section("Over time");
    std::vector<Figure> courses;
    for (Index i = 0; i < std::min(most_courses, fit.latent()); ++i)
      courses.push_back(course(fit, order[static_cast<std::size_t>(i)]));
    page.figures(courses);
  }
  return page.html();
}

std::string latent_report(const PpcaFit& fit, const LatentReportOptions& options) {
  Page page(options.title,
            fmt::format("{} rows of {} outputs through {} probabilistic principal components.",
                        fit.mean.rows(), fit.outputs(), fit.latent()));
  page.key_numbers(
      {{"log likelihood, nats", fmt::format("{:.2f}", fit.value)},
       {"noise variance", short_number(fit.noise_variance)},
       {"variance explained, %", fmt::format("{:.3g}", 100.0 * fit.pca.explained().sum())}});
  page.section("Dimensions");
  std::vector<std::string> names;
  for (Index q = 0; q < fit.latent(); ++q) names.push_back(dimension(q));
  page.figures({bar_chart("Share of the variance", names, fit.pca.explained(),
                          "share of the outputs' variance")});
  if (fit.latent() > 1) {
    page.section("The latent space");
    page.figures(
        {row_map(fit.mean, fit.row_labels, 0, 1).caption("Means of x given a row.").figure()});
  }
  if (options.held_out) add_reconstructions(page, *options.held_out);
  return page.html();
}

std::string latent_report(const MapGplvmFit& fit, const LatentReportOptions& options) {
  const std::string kernel = fit.mappings.front().posterior.kernel().print();
  Page page(
      options.title,
      fmt::format(
          "{} rows of {} outputs at points of {} latent dimensions, kernel {}{}{}{}.", fit.X.rows(),
          fit.outputs(), fit.latent(), kernel,
          fit.mappings.size() > 1 ? fmt::format(" for each of {} views", fit.mappings.size()) : "",
          fit.recognition ? ", back constraint by a " + fit.recognition->options().form : "",
          fit.dynamics ? ", over time by " + fit.dynamics->options().kernel.print() : ""));
  page.key_numbers({{"log p(Y | X), nats", fmt::format("{:.2f}", fit.value)},
                    {"log prior, nats", fmt::format("{:.2f}", fit.log_prior)},
                    {"iterations", fmt::format("{}", fit.summary.iterations)},
                    {"seconds", fmt::format("{:.3g}", fit.summary.seconds)}});
  page.paragraph(fit.summary.reason);
  if (!fit.summary.warnings.empty()) page.list(fit.summary.warnings, true);

  page.section("Dimensions");
  const Vector spread = fit.spread();
  std::vector<std::string> names;
  std::vector<Index> order;
  for (Index q = 0; q < fit.latent(); ++q) {
    names.push_back(dimension(q));
    order.push_back(q);
  }
  page.figures({bar_chart("Spread of the dimensions", names, spread, "standard deviation of x")});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return spread(a) > spread(b); });
  if (fit.latent() > 1) {
    page.section("The latent space");
    page.figures({row_map(fit.X, fit.row_labels, order[0], order[1])
                      .caption("The x of each row.")
                      .figure()});
  }
  if (options.held_out) add_reconstructions(page, *options.held_out);
  if (fit.dynamics) {
    page.section("Over time");
    const Vector t = fit.dynamics->options().times.col(0);
    std::vector<Figure> courses;
    for (Index i = 0; i < std::min(most_courses, fit.latent()); ++i) {
      const Index q = order[static_cast<std::size_t>(i)];
      courses.push_back(Chart(fmt::format("Dimension {} over time", q), "time", dimension(q))
                            .line(t, fit.X.col(q), Ink::mean)
                            .describe(fmt::format("Dimension {} over {} times.", q, t.size()))
                            .figure());
    }
    page.figures(courses);
  }
  return page.html();
}

}  // namespace covary
