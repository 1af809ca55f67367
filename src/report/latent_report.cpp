#include "covary/report/latent_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covary/data/labels.hpp"
#include "covary/report/page.hpp"
#include "covary/report/text.hpp"

namespace covary {
namespace {

constexpr Index most_labels = 6;  // drawn: as many as there are inks
constexpr Index most_courses = 4;

// Dimensions in the order of their relevance, the largest over the views.
std::vector<Index> by_relevance(const GplvmFit& fit) {
  const Vector largest = fit.relevance().colwise().maxCoeff();
  std::vector<Index> out(static_cast<std::size_t>(fit.latent()));
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(),
                   [&](Index a, Index b) { return largest(a) > largest(b); });
  return out;
}

std::string dimension(Index q) { return fmt::format("dimension {}", q); }

Figure relevance_bars(const GplvmFit& fit, std::size_t view) {
  std::vector<std::string> names;
  for (Index q = 0; q < fit.latent(); ++q) names.push_back(dimension(q));
  const std::string& name = fit.mappings[view].view.name;
  return bar_chart(
      name.empty() ? "Relevance of the dimensions" : fmt::format("Relevance for the view {}", name),
      names, Vector(fit.relevance().row(static_cast<Index>(view))), "weight over the largest");
}

// The rows by their means over two dimensions, in the inks of their labels where they have any.
Chart row_map(const RowMatrix& mean, const std::vector<std::string>& row_labels, Index x, Index y) {
  Chart chart("The rows in the latent space", dimension(x), dimension(y), true);
  if (row_labels.empty()) {
    chart.points(mean.col(x), mean.col(y), Ink::data, "rows");
  } else {
    const Labels labels = Labels::from(row_labels);
    const Vector codes = labels.encode(row_labels);
    for (Index k = 0; k < std::min(labels.classes(), most_labels); ++k) {
      std::vector<Index> rows;
      for (Index i = 0; i < codes.size(); ++i)
        if (codes(i) == static_cast<double>(k)) rows.push_back(i);
      chart.points(Vector(mean.col(x))(rows), Vector(mean.col(y))(rows), series_ink(k),
                   labels.names[static_cast<std::size_t>(k)]);
    }
  }
  chart.describe(fmt::format(
      "{} rows over dimensions {} and {}, from {} to {} and from {} to {}.", mean.rows(), x, y,
      short_number(mean.col(x).minCoeff()), short_number(mean.col(x).maxCoeff()),
      short_number(mean.col(y).minCoeff()), short_number(mean.col(y).maxCoeff())));
  return chart;
}

Figure latent_map(const GplvmFit& fit, Index x, Index y) {
  Chart chart = row_map(fit.mean, fit.row_labels, x, y);
  for (const auto& m : fit.mappings) {
    const auto& p = m.posterior.parts();
    const Eigen::Map<const RowMatrix> Z(p.values.z.data(), p.features->size(), fit.latent());
    if (fit.mappings.size() == 1) chart.points(Z.col(x), Z.col(y), Ink::guide, "inducing inputs");
  }
  return chart.caption("Means of q(x). Distances count along a dimension as far as it is relevant.")
      .figure();
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
  return Chart(fmt::format("What is known along dimension {}", q), dimension(q),
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

}  // namespace

std::string latent_report(const GplvmFit& fit, const LatentReportOptions& options) {
  const auto& mapping = fit.mappings.front().posterior.parts();
  Page page(
      options.title,
      fmt::format(
          "{} rows of {} outputs through {} latent dimensions, kernel {}, {} inducing "
          "inputs{}{}.",
          fit.mean.rows(), fit.outputs(), fit.latent(), mapping.kernel.print(),
          mapping.features->size(),
          fit.mappings.size() > 1 ? fmt::format(" for each of {} views", fit.mappings.size()) : "",
          fit.dynamics ? ", over time by " + fit.dynamics->options().kernel.print() : ""));
  const std::vector<Index> active = fit.active(), order = by_relevance(fit);
  page.key_numbers({{"dimensions in use", fmt::format("{} of {}", active.size(), fit.latent())},
                    {"bound, nats", fmt::format("{:.2f}", fit.elbo)},
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
      {{"log likelihood, nats", fmt::format("{:.2f}", fit.log_likelihood)},
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
  return page.html();
}

}  // namespace covary
