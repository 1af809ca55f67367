#include "covary/report/classification_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/data/class_generators.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/error.hpp"
#include "covary/models/baselines.hpp"
#include "covary/random/random.hpp"
#include "report/svg.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool has(const std::string& html, const std::string& text) {
  return html.find(text) != std::string::npos;
}

void expect_page(const std::string& html) {
  testing::expect_sound(html);
  EXPECT_LT(html.size(), 1000000u);
  EXPECT_FALSE(has(html, "://"));
  for (const std::string heading : {"At a glance", "Warnings", "Scores"})
    EXPECT_TRUE(has(html, ">" + heading + "</h2>")) << heading;
}

// The pages know no model, so that a baseline serves to make them.
ClassificationReport wave_report() {
  const SyntheticClasses train = wave_classes_data(300, 1), test = wave_classes_data(200, 2);
  const NeighbourClassifier model(train.X, train.labels, 2, {.k = 21});
  ClassificationReport r;
  r.lead = "Nearest neighbours.";
  r.classes = {"no", "yes"};
  r.input_names = {"x"};
  r.summary = {{"neighbours", "21"}};
  r.predictions = {{"held-out", test.labels, model.predict(test.X), test.X}};
  r.grid = ClassGrid::over(train.X);
  r.grid->probabilities = model.predict(r.grid->inputs());
  r.X = train.X;
  r.labels = train.labels;
  r.Z = RowMatrix{{2.0}, {5.0}, {8.0}};
  return r;
}

ClassificationReport band_report() {
  const SyntheticClasses train = band_classes_data(300, 1), test = band_classes_data(200, 2);
  const NeighbourClassifier model(train.X, train.labels, 2, {.k = 9});
  ClassificationReport r;
  r.classes = {"no", "yes"};
  r.predictions = {{"held-out", test.labels, model.predict(test.X), test.X}};
  r.grid = ClassGrid::over(train.X);
  r.grid->probabilities = model.predict(r.grid->inputs());
  r.X = train.X;
  r.labels = train.labels;
  r.Z = train.X.topRows(12);
  return r;
}

// Four classes by the quadrant of two inputs.
ClassificationReport quadrants(Index D) {
  Random random(3);
  const RowMatrix X = random.normal_matrix(200, D);
  Vector labels(200);
  for (Index i = 0; i < 200; ++i)
    labels[i] = (X(i, 0) > 0 ? 1 : 0) + (D > 1 ? (X(i, 1) > 0 ? 2 : 0) : (X(i, 0) > 1 ? 1 : 0));
  const Index K = D > 1 ? 4 : 3;
  const NeighbourClassifier model(X, labels, K, {.k = 7});
  ClassificationReport r;
  r.classes = {"north <west>", "north & east", "south west", "south east"};
  r.classes.resize(static_cast<std::size_t>(K));
  r.predictions = {{"training", labels, model.predict(X), X}};
  r.grid = ClassGrid::over(X);
  r.grid->probabilities = model.predict(r.grid->inputs());
  r.X = X;
  r.labels = labels;
  return r;
}

TEST(ClassificationReport, OneInputShowsTheCurve) {
  const ClassificationReport r = wave_report();
  const std::string html = classification_report(r);
  expect_page(html);
  const ClassPredictions& p = r.predictions[0];
  const ClassificationScores s = classification_scores(p.labels, p.probabilities);
  for (const std::string& cell :
       {fmt::format("{:.4f}</td>", s.accuracy), fmt::format("{:.4g}</td>", s.nlpd),
        fmt::format("{:.4f}</td>", s.brier), fmt::format("{:.4f}</td>", *s.auc),
        fmt::format("{:.4f}</td>", s.ece), fmt::format("area {:.3f}", *s.auc),
        fmt::format("error is {:.3f}", s.ece)})
    EXPECT_TRUE(has(html, cell)) << cell;
  EXPECT_TRUE(has(html, "<strong>Probability of yes</strong>"));
  EXPECT_TRUE(has(html, ">neighbours</th><td>21</td>"));
  // Every training row is a dot in the strip of its class, above and below the curve.
  const auto below = testing::paths(html, "dots a"), above = testing::paths(html, "dots b");
  const auto zeros = static_cast<std::size_t>((r.labels.array() == 0.0).count());
  EXPECT_EQ(testing::count(below.at(0), "M"), zeros);
  EXPECT_EQ(testing::count(above.at(0), "M"), 300 - zeros);
  // The curve is that of the grid: highest on the page where the probability is largest.
  const auto curve = testing::numbers(testing::paths(html, "line b").at(0));
  ASSERT_EQ(curve.size(), 2u * 240);
  const Vector probability = r.grid->probabilities.col(1);
  for (Index i = 1; i < 240; ++i) {
    const double rise =
        curve[static_cast<std::size_t>(2 * i - 1)] - curve[static_cast<std::size_t>(2 * i + 1)];
    EXPECT_NEAR(rise, (probability[i] - probability[i - 1]) * 280.0 / 1.23, 0.2) << i;
  }
  EXPECT_EQ(testing::count(testing::paths(html, "line rug").at(0), "M"), 3u);
}

TEST(ClassificationReport, TwoInputsShowTheSurface) {
  const ClassificationReport r = band_report();
  const std::string html = classification_report(r);
  expect_page(html);
  EXPECT_EQ(testing::count(html, "<g class=\"image\">"), 1u);
  EXPECT_TRUE(has(html, "input 1"));
  const auto zeros = static_cast<std::size_t>((r.labels.array() == 0.0).count());
  EXPECT_EQ(testing::count(testing::paths(html, "spot no").at(0), "M"), zeros);
  EXPECT_EQ(testing::count(testing::paths(html, "spot yes").at(0), "M"), 300 - zeros);
  EXPECT_EQ(testing::count(testing::paths(html, "cross").at(0), "M"), 12u);
  EXPECT_TRUE(has(html, "probability ½"));
}

// A plane p = x has its contour at x = ½, from the bottom to the top.
TEST(ClassificationReport, TheContourIsAtOneHalf) {
  ClassificationReport r;
  r.classes = {"a", "b"};
  r.grid = ClassGrid{};
  r.grid->axes = {Vector::LinSpaced(8, 0.0, 1.0), Vector::LinSpaced(5, 0.0, 10.0)};
  r.grid->probabilities = two_class_probabilities(r.grid->inputs().col(0));
  const std::string html = classification_report(r);
  const auto contour = testing::numbers(testing::paths(html, "line half").at(0));
  ASSERT_EQ(contour.size(), 4u * 4);
  double lowest = 1e9, highest = -1e9;
  for (std::size_t i = 0; i < contour.size(); i += 2) {
    EXPECT_NEAR(contour[i], contour[0], 0.11);
    lowest = std::min(lowest, contour[i + 1]);
    highest = std::max(highest, contour[i + 1]);
  }
  EXPECT_NEAR(highest - lowest, 250.0, 0.2);
  EXPECT_TRUE(has(html, "exceeds one half over 50 % of the area"));
  EXPECT_TRUE(has(html, "no labelled predictions"));
}

TEST(ClassificationReport, MoreClassesHaveAPictureEach) {
  const std::string html = classification_report(quadrants(2));
  expect_page(html);
  EXPECT_EQ(testing::count(html, "<g class=\"image\">"), 4u);
  EXPECT_TRUE(has(html, "Probability of north &lt;west&gt;"));
  EXPECT_FALSE(has(html, "<west>"));
  EXPECT_EQ(testing::count(html, ", area 0.") + testing::count(html, ", area 1."), 4u);
  EXPECT_TRUE(has(html, "rows of the others"));
  EXPECT_TRUE(has(html, "probability of the predicted class"));
  const std::string line = classification_report(quadrants(1));
  expect_page(line);
  for (const char* ink : {"line a", "line b", "line c"})
    EXPECT_FALSE(testing::paths(line, ink).empty()) << ink;
}

TEST(ClassificationReport, ConfusionAndCases) {
  ClassificationReport r;
  r.classes = {"cat", "dog"};
  r.input_names = {"weight"};
  r.predictions = {{"held-out", Vector{{0, 0, 1, 1, nan}},
                    two_class_probabilities(Vector{{0.1, 0.97, 0.8, 0.52, 0.5}}),
                    RowMatrix{{1.5}, {2.5}, {3.5}, {4.5}, {5.5}}}};
  const std::string html = classification_report(r);
  expect_page(html);
  EXPECT_TRUE(has(html,
                  "<th scope=\"row\">cat</th><td class=\"r\">1</td><td class=\"r\">1</td><td "
                  "class=\"r\">2</td><td class=\"r\">50.0 %</td>"));
  EXPECT_TRUE(
      has(html,
          "<th scope=\"row\">right</th><td class=\"r\">100.0 %</td><td class=\"r\">66.7 %</td>"
          "<td class=\"r\">4</td><td class=\"r\">75.0 %</td>"));
  const auto uncertain = html.find("The most uncertain");
  EXPECT_TRUE(has(html.substr(uncertain, 600),
                  "<th scope=\"row\">3</th><td>dog</td><td>dog</td>"
                  "<td class=\"r\">0.520</td><td class=\"r\">0.480</td>"
                  "<td class=\"r\">4.5</td>"));
  const auto wrong = html.find("The surest of 1 wrong decision:");
  ASSERT_NE(wrong, std::string::npos);
  EXPECT_TRUE(has(html.substr(wrong), "<th scope=\"row\">1</th><td>cat</td><td>dog</td>"));
  EXPECT_FALSE(has(html, "5.5"));  // the row without a label is no case
}

TEST(ClassificationReport, WarningsInPlainWords) {
  Random random(5);
  Vector labels(400), sure(400), shy(400);
  for (Index i = 0; i < 400; ++i) {
    labels[i] = random.uniform() < 0.5;
    const bool right = random.uniform() < 0.8;
    sure[i] = (labels[i] == 1) == right ? 0.99 : 0.01;
    shy[i] = (labels[i] == 1) == right ? 0.55 : 0.45;
  }
  ClassificationReport r;
  r.classes = {"a", "b"};
  r.warnings = {"It rains."};
  const auto page = [&](const Vector& y, const Vector& p) {
    r.predictions = {{"held-out", y, two_class_probabilities(p)}};
    return classification_report(r);
  };
  EXPECT_TRUE(has(page(labels, sure), "overconfident"));
  EXPECT_TRUE(has(page(labels, shy), "underconfident"));
  EXPECT_TRUE(has(page(labels, shy), "It rains."));
  const std::string calibrated =
      page(labels, (sure.array() > 0.5).select(Vector::Constant(400, 0.8), 0.2));
  EXPECT_FALSE(has(calibrated, "overconfident"));
  EXPECT_FALSE(has(calibrated, "underconfident"));
  EXPECT_FALSE(has(calibrated, "no more than"));
  const std::string one = page(Vector::Zero(400), Vector::Constant(400, 0.3));
  EXPECT_TRUE(has(one, "no more than by always deciding for a"));
  EXPECT_TRUE(has(one, "no row is labelled b"));
  EXPECT_TRUE(has(one, "Every label was predicted correctly."));
  expect_page(one);  // without a ROC curve
}

TEST(ClassificationReport, AGridCoversTheData) {
  const RowMatrix X{{1.0, -5.0}, {3.0, 5.0}};
  const ClassGrid grid = ClassGrid::over(X);
  ASSERT_EQ(grid.axes.size(), 2u);
  const RowMatrix inputs = grid.inputs();
  EXPECT_EQ(inputs.rows(), grid.axes[0].size() * grid.axes[1].size());
  EXPECT_LT(inputs.col(0).minCoeff(), 1.0);
  EXPECT_GT(inputs.col(1).maxCoeff(), 5.0);
  EXPECT_EQ(inputs(1, 0), inputs(0, 0));  // the second axis runs fastest
  EXPECT_GT(inputs(1, 1), inputs(0, 1));
  EXPECT_THROW(ClassGrid::over(RowMatrix(3, 3)), InputError);
  EXPECT_THROW(ClassGrid::over(RowMatrix(0, 1)), InputError);
  EXPECT_THROW(ClassGrid{}.inputs(), InputError);
}

TEST(ClassificationReport, ShapesThatDoNotFitAreRefused) {
  const auto refused = [](auto spoil) {
    ClassificationReport r = band_report();
    spoil(r);
    EXPECT_THROW(classification_report(r), InputError);
  };
  refused([](auto& r) { r.classes = {"one"}; });
  refused([](auto& r) { r.classes.push_back("three"); });
  refused([](auto& r) { r.predictions[0].labels.conservativeResize(5); });
  refused([](auto& r) { r.predictions[0].X.conservativeResize(5, 2); });
  refused([](auto& r) { r.predictions[0].labels.setConstant(nan); });
  refused([](auto& r) { r.grid->probabilities.conservativeResize(5, 2); });
  refused([](auto& r) { r.grid->axes[0].reverseInPlace(); });
  refused([](auto& r) { r.labels.conservativeResize(5); });
  refused([](auto& r) { r.labels[0] = 7; });
  refused([](auto& r) { r.Z = RowMatrix(3, 1); });
}

}  // namespace
}  // namespace covary
