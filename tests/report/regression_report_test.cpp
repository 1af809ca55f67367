#include "covary/report/regression_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "covary/data/generators.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "report/svg.hpp"

namespace covary {
namespace {

RegressionFit fitted(const RowMatrix& X, const RowMatrix& Y, const char* kernel = "se(ard)",
                     Index iterations = 30) {
  RegressionOptions o;
  o.kernel = kernel;
  o.training.starts = 1;
  o.training.max_iterations = iterations;
  return Regression(X, Y, o).fit();
}

bool has(const std::string& html, const std::string& text) {
  return html.find(text) != std::string::npos;
}

void expect_page(const std::string& html) {
  testing::expect_sound(html);
  EXPECT_LT(html.size(), 1000000u);
  EXPECT_FALSE(has(html, "://"));
  for (const std::string heading : {"Warnings", "Scores", "Parameters", "Evidence and training"})
    EXPECT_TRUE(has(html, ">" + heading + "</h2>")) << heading;
}

// Vertices of the band of the function must be the prediction's.
TEST(RegressionReport, OneInputShowsTheFit) {
  const SyntheticData d = snelson_like_data(80, 1);
  const RegressionFit fit = fitted(d.X, d.y);
  const std::string html = regression_report(fit);
  expect_page(html);
  EXPECT_TRUE(has(html, "The fit of y"));
  EXPECT_FALSE(has(html, ">Components</h2>"));
  EXPECT_EQ(testing::paths(html, "line draw").size(), 4u);
  EXPECT_EQ(testing::count(testing::paths(html, "dots data").at(0), "M"), 80u);
  EXPECT_TRUE(has(html, fmt::format("{:.6g} nats (exact", fit.value)));
  for (const auto& p : fit.parameters.all()) EXPECT_TRUE(has(html, p.path));
  EXPECT_TRUE(has(html, fmt::format("{:.3g}</td>", fit.standard_errors(0))));
  // The mean is above the middle of the f band nowhere: both are drawn on one grid.
  const auto mean = testing::numbers(testing::paths(html, "line mean").at(0));
  const auto band = testing::numbers(testing::paths(html, "band function").at(0));
  ASSERT_EQ(band.size(), 2 * mean.size());
  for (std::size_t i = 0; i < mean.size(); i += 2) {
    EXPECT_EQ(band[i], mean[i]);
    EXPECT_NEAR(0.5 * (band[i + 1] + band[band.size() - 1 - i]), mean[i + 1], 0.11);
  }
}

// Six inks in turn: of seven variables the sixth has the last one, and of forty 24 are drawn.
TEST(RegressionReport, SparseFitsShowWhatTheirVariablesSee) {
  const SyntheticData d = snelson_like_data(80, 1);
  const auto page = [&](const char* features, Index M) {
    SparseRegressionOptions o;
    o.kernel = "se";
    o.features = features;
    o.inducing = M;
    o.training.starts = 1;
    o.training.max_iterations = 5;
    return regression_report(SparseRegression(d.X, d.y, o).fit());
  };
  const std::string few = page("eigen", 7);
  expect_page(few);
  EXPECT_TRUE(has(few, "What the inducing variables see"));
  EXPECT_EQ(testing::paths(few, "line f").size(), 1u);
  const std::string many = page("eigen", 40);
  EXPECT_EQ(testing::paths(many, "line f").size(), 4u);
  EXPECT_TRUE(has(many, "24 of 40 are shown."));
  EXPECT_FALSE(has(regression_report(fitted(d.X, d.y)), "What the inducing variables see"));
}

TEST(RegressionReport, ManyInputsShowRelevanceAndSlices) {
  const SyntheticData d = friedman_data(120, 2);
  const RegressionFit fit = fitted(d.X, d.y);
  const std::string html = regression_report(fit);
  expect_page(html);
  EXPECT_EQ(testing::count(html, "class=\"bar\""), 10u);
  EXPECT_EQ(testing::count(html, "<strong>Along "), 8u);
  Index shortest = 0;
  fit.parameters.at("kernel.lengthscales").value.minCoeff(&shortest);
  const auto first = html.find("<strong>Along ");
  EXPECT_EQ(html.substr(first + 14, 3), fmt::format("x{}<", shortest));
  RegressionReportOptions few;
  few.most_slices = 2;
  EXPECT_EQ(testing::count(regression_report(fit, few), "<strong>Along "), 2u);
}

// Without a lengthscale for each input the slope of the mean tells: here only x1 matters.
TEST(RegressionReport, RelevanceWithoutArd) {
  RowMatrix X(40, 2);
  Vector y(40);
  for (Index i = 0; i < 40; ++i) {
    X.row(i) << static_cast<double>(i % 7), 0.1 * static_cast<double>(i);
    y(i) = std::sin(X(i, 1));
  }
  for (const char* kernel : {"se", "se@1", "linear + se@1,0"}) {
    const std::string html = regression_report(fitted(X, y, kernel));
    expect_page(html);
    EXPECT_TRUE(has(html, "slope of the mean, relative: x1 1,")) << kernel;
  }
}

TEST(RegressionReport, ComponentsOfASum) {
  const SyntheticData d = periodic_data(60, 3);
  const std::string html = regression_report(fitted(d.X, d.y, "periodic + se + white"));
  expect_page(html);
  EXPECT_TRUE(has(html, ">Components</h2>"));
  EXPECT_TRUE(has(html, "<strong>periodic</strong>"));
  EXPECT_TRUE(has(html, "<strong>se</strong>"));
  EXPECT_FALSE(has(html, "<strong>white</strong>"));
}

TEST(RegressionReport, HeldOutDataAreScored) {
  const SyntheticData d = snelson_like_data(140, 4);
  const RegressionFit fit = fitted(d.X.topRows(100), d.y.head(100));
  RegressionReportOptions o;
  o.held_out = HeldOutData{"test<1>.csv", d.X.bottomRows(40), d.y.tail(40)};
  const std::string html = regression_report(fit, o);
  expect_page(html);
  EXPECT_TRUE(has(html, "test&lt;1&gt;.csv"));
  EXPECT_TRUE(has(html, "Calibration on held-out data"));
  const Prediction p = fit.predict(o.held_out->X);
  EXPECT_TRUE(has(html, fmt::format("<td class=\"r\">40</td><td class=\"r\">{:.4g}</td>",
                                    rmse(d.y.tail(40), p.mean.col(0)))));
  EXPECT_EQ(testing::count(testing::paths(html, "dots held").at(0), "M"), 40u);
}

TEST(RegressionReport, NamesAreEscaped) {
  const SyntheticData d = friedman_data(30, 5, 5);
  RegressionFit fit = fitted(d.X, d.y, "se(ard)", 3);
  fit.input_columns =
      InputColumns::named({"a<b", "c&d", "\"e\"", "</svg><script>alert(1)</script>", "f'"});
  fit.output_names = {"<img src=x onerror=alert(1)>"};
  fit.summary.warnings.push_back("<b>warned</b>");
  RegressionReportOptions o;
  o.title = "<title>";
  const std::string html = regression_report(fit, o);
  expect_page(html);
  EXPECT_FALSE(has(html, "<script"));
  EXPECT_FALSE(has(html, "<img"));
  EXPECT_FALSE(has(html, "<b>"));
  EXPECT_TRUE(has(html, "&lt;b&gt;warned"));
  EXPECT_TRUE(has(html, "a&lt;b"));
  EXPECT_TRUE(has(html, "c&amp;d"));
}

TEST(RegressionReport, ConstantDataAndOnePoint) {
  const RowMatrix line = Vector::LinSpaced(12, 0, 1), one = RowMatrix::Constant(1, 1, 3.0);
  expect_page(regression_report(fitted(line, RowMatrix::Constant(12, 1, 5.0))));
  expect_page(regression_report(fitted(line, RowMatrix::Zero(12, 1))));
  expect_page(regression_report(fitted(one, one)));
  expect_page(regression_report(fitted(RowMatrix::Ones(1, 3), one)));
  RowMatrix X(12, 2);
  X.col(0) = line;
  X.col(1).setConstant(7.0);
  const std::string html = regression_report(fitted(X, RowMatrix(line)));
  expect_page(html);
  EXPECT_EQ(testing::count(html, "<strong>Along "), 1u);
  EXPECT_TRUE(has(html, "inputs that do not vary are omitted"));
  // Equal inputs, different outputs
  expect_page(regression_report(fitted(RowMatrix::Ones(12, 1), line)));
}

TEST(RegressionReport, TwoOutputsWithMissingValues) {
  const SyntheticData d = snelson_like_data(50, 6);
  RowMatrix Y(50, 2);
  Y.col(0) = d.y;
  Y.col(1) = d.y.cwiseAbs();
  for (Index i = 0; i < 50; i += 3) Y(i, 1) = std::nan("");
  const RegressionFit fit = fitted(d.X, Y);
  RegressionReportOptions o;
  o.held_out = HeldOutData{"", d.X, Y};
  o.held_out->Y.col(0).setConstant(std::nan(""));
  const std::string html = regression_report(fit, o);
  expect_page(html);
  EXPECT_TRUE(has(html, "17 output values are missing"));
  EXPECT_TRUE(has(html, "The fit of y1"));
  EXPECT_TRUE(has(html, "y0, held-out</th><td class=\"r\">0</td><td class=\"r\">–</td>"));
  EXPECT_TRUE(has(html, "y1, leave-one-out</th><td class=\"r\">33</td>"));
  o.most_outputs = 1;
  EXPECT_TRUE(has(regression_report(fit, o), "The first 1 of 2 outputs are drawn"));
}

TEST(RegressionReport, WarnsInPlainWords) {
  const SyntheticData d = snelson_like_data(60, 7);
  Vector y = d.y;
  y(10) += 40.0;
  const std::string outlier = regression_report(fitted(d.X, y, "se", 50));
  EXPECT_TRUE(has(outlier, "1 observation is more than 4.5 standard deviations"));
  EXPECT_TRUE(has(outlier, "at row 10 ("));
  EXPECT_TRUE(has(regression_report(fitted(d.X, d.y, "se", 1)), "Training did not converge"));
  EXPECT_TRUE(has(regression_report(fitted(d.X, d.y, "se", 0)), "Nothing was trained"));
  Regression narrow(d.X, d.y, [] {
    RegressionOptions o;
    o.kernel = "se";
    o.training.max_iterations = 0;
    return o;
  }());
  narrow.parameters().set("likelihood.variance", 1e-3);
  EXPECT_TRUE(has(regression_report(narrow.fit()), "The bands are too narrow"));
  const std::string good = regression_report(fitted(d.X, d.y, "se", 200));
  EXPECT_TRUE(has(good, ">Warnings</h2>\n<p>None.</p>"));
}

TEST(RegressionReport, RefusesWhatDoesNotFit) {
  const SyntheticData d = snelson_like_data(20, 8);
  const RegressionFit fit = fitted(d.X, d.y, "se", 0);
  RegressionReportOptions o;
  o.held_out = HeldOutData{"h", RowMatrix::Zero(3, 2), RowMatrix::Zero(3, 1)};
  EXPECT_THROW(regression_report(fit, o), InputError);
  o.held_out = HeldOutData{"h", RowMatrix::Zero(3, 1), RowMatrix::Zero(3, 2)};
  EXPECT_THROW(regression_report(fit, o), InputError);
  o.held_out = HeldOutData{"h", RowMatrix::Zero(3, 1), RowMatrix::Constant(3, 1, std::nan(""))};
  EXPECT_THROW(regression_report(fit, o), InputError);
  o = {};
  o.draws = -1;
  EXPECT_THROW(regression_report(fit, o), InputError);
  o = {};
  o.most_slices = 0;
  EXPECT_THROW(regression_report(fit, o), InputError);
}

}  // namespace
}  // namespace covary
