#include "covary/report/target_report.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/generalised.hpp"
#include "covary/random/random.hpp"
#include "report/svg.hpp"

namespace covary {
namespace {

bool has(const std::string& html, const std::string& text) {
  return html.find(text) != std::string::npos;
}

double poisson(Random& random, double rate) {
  double n = 0.0, sum = -std::log(random.uniform());
  for (; sum < rate; n += 1.0) sum -= std::log(random.uniform());
  return n;
}

struct Rates {
  TargetData data;
  GeneralisedFit fit;
};
Rates counts(Index N, Index D, bool exposure) {
  Random random(5);
  TargetData data{"counts.csv", random.normal_matrix(N, D), Vector(N)};
  if (exposure) data.aux = Vector(N);
  for (Index n = 0; n < N; ++n) {
    const double e = n % 3 == 0 ? 4.0 : 1.0;
    if (exposure) data.aux(n) = e;
    data.y(n) =
        poisson(random, (exposure ? e : 1.0) * std::exp(0.5 + std::sin(2.0 * data.X(n, 0))));
  }
  GeneralisedOptions o;
  o.likelihood = "poisson";
  o.mean = "constant";
  o.training.starts = 1;
  o.training.max_iterations = 15;
  o.aux = data.aux;
  GeneralisedFit fit = Generalised(data.X, data.y, o).fit();
  fit.output_names = {"arrivals <n>"};
  std::vector<std::string> names{"hour"};
  names.resize(static_cast<std::size_t>(D), "other");
  fit.input_columns = InputColumns::named(names);
  return {std::move(data), std::move(fit)};
}

void expect_page(const std::string& html) {
  testing::expect_sound(html);
  EXPECT_LT(html.size(), 1000000u);
  EXPECT_FALSE(has(html, "://"));
  for (const std::string heading : {"At a glance", "Warnings", "Scores", "Calibration", "The fit"})
    EXPECT_TRUE(has(html, ">" + heading + "</h2>")) << heading;
}

TEST(TargetReport, CountsOnOneInput) {
  const Rates r = counts(120, 1, false);
  const std::string html = target_report(r.fit, r.data);
  expect_page(html);
  EXPECT_TRUE(has(html, "The fit of arrivals &lt;n&gt;"));
  EXPECT_TRUE(has(html, "95 % band of the expected value"));
  EXPECT_TRUE(has(html, "Rootogram"));
  EXPECT_TRUE(has(html, "Probability integral transform"));
  EXPECT_TRUE(has(html, "None."));  // the counts are what they are said to be
}

TEST(TargetReport, ExposuresAndSeveralInputs) {
  const Rates one = counts(60, 1, true);
  EXPECT_TRUE(has(target_report(one.fit, one.data), "Drawn for an exposure"));
  const Rates two = counts(60, 2, true);
  const std::string html = target_report(two.fit, two.data, {.title = "T", .most_rows = 20});
  expect_page(html);
  EXPECT_FALSE(has(html, "The predictions"));
  EXPECT_TRUE(has(html, "20 of 60 rows"));
}

// Counts with far more zeros and far larger values than a Poisson has.
TEST(TargetReport, TellsOfPredictionsThatAreTooNarrow) {
  Rates r = counts(120, 1, false);
  for (Index n = 0; n < 120; ++n) r.data.y(n) = n % 2 == 0 ? 0.0 : 3.0 * r.data.y(n);
  const std::string html = target_report(r.fit, r.data);
  EXPECT_TRUE(has(html, "negative_binomial"));
  EXPECT_TRUE(has(html, "more zeros than the likelihood allows for"));
}

TEST(TargetReport, OutliersInTheUnitsOfTheData) {
  Random random(6);
  TargetData data{"", random.normal_matrix(80, 1), Vector(80)};
  for (Index n = 0; n < 80; ++n)
    data.y(n) =
        500.0 + 40.0 * std::sin(data.X(n, 0)) + (n % 10 == 0 ? 80.0 : 4.0) * random.normal();
  data.y(7) = std::nan("");
  GeneralisedOptions o;
  o.likelihood = "student_t";
  o.training.starts = 1;
  o.training.max_iterations = 15;
  const GeneralisedFit fit = Generalised(data.X, data.y, o).fit();
  const std::string html = target_report(fit, data);
  expect_page(html);
  EXPECT_FALSE(has(html, "Rootogram"));
  EXPECT_TRUE(has(html, "observed y"));
}

TEST(TargetReport, BadInput) {
  const Rates r = counts(30, 1, false);
  TargetData none = r.data;
  none.y.setConstant(std::nan(""));
  EXPECT_THROW(target_report(r.fit, none), InputError);
  none.y.resize(3);
  EXPECT_THROW(target_report(r.fit, none), InputError);
  EXPECT_THROW(target_report(r.fit, r.data, {.most_rows = 0}), InputError);
  GeneralisedOptions o;
  o.training.max_iterations = 0;
  Vector labels = (r.data.y.array() > 1.0).cast<double>();
  const GeneralisedFit classes = Generalised(r.data.X, labels, o).fit();
  EXPECT_THROW(target_report(classes, {"", r.data.X, labels}), Unsupported);
}

}  // namespace
}  // namespace covary
