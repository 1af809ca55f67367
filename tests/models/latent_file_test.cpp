#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"
#include "covary/storage/container.hpp"
#include "damage.hpp"

namespace covary {
namespace {

using testing::expect_damage_refused, testing::expect_refused;

// Two views over time, with a missing cell and labels.
GplvmFit saved(bool dynamics) {
  RowMatrix Y = Random(3).normal_matrix(12, 4);
  Y(2, 1) = std::nan("");
  GplvmOptions o;
  o.latent = 2;
  o.inducing = 5;
  o.views = {{"a", {2, 0}}, {"b", {1, 3}}};
  o.training.max_iterations = 5;
  o.held_iterations = 2;
  if (dynamics) {
    o.times = Vector::LinSpaced(12, 0.0, 1.0);
    o.sequences = {0, 7};
  }
  GplvmFit out = Gplvm(Y, o).fit();
  out.output_names = {"p", "q", "r", "s"};
  out.row_labels = std::vector<std::string>(12, "x");
  if (dynamics) out.time_names = {"t"};
  return out;
}

TEST(LatentFile, RoundTripKeepsTheBits) {
  for (const bool dynamics : {false, true}) {
    const GplvmFit m = saved(dynamics);
    const Fit back = load_bytes(m.bytes());
    const GplvmFit& fit = back.as<GplvmFit>();
    EXPECT_EQ(fit.mean, m.mean);
    EXPECT_EQ(fit.variance, m.variance);
    EXPECT_EQ(fit.relevance(), m.relevance());
    EXPECT_EQ(fit.active(), m.active());
    EXPECT_EQ(fit.value, m.value);
    EXPECT_EQ(fit.output_names, m.output_names);
    EXPECT_EQ(fit.row_labels, m.row_labels);
    EXPECT_EQ(fit.decode(fit.mean, fit.variance).mean, m.decode(m.mean, m.variance).mean);
    EXPECT_EQ(fit.decode(fit.mean).variance_y, m.decode(m.mean).variance_y);
    EXPECT_EQ(fit.infer(RowMatrix::Constant(1, 4, 0.3)).mean,
              m.infer(RowMatrix::Constant(1, 4, 0.3)).mean);
    if (!dynamics) continue;
    const RowMatrix next = RowMatrix::Constant(1, 1, 1.1);
    EXPECT_EQ(fit.forecast(next, 1).mean, m.forecast(next, 1).mean);
    EXPECT_EQ(fit.forecast(next, 1).variance, m.forecast(next, 1).variance);
  }
}

TEST(LatentFile, RegressionReadersSayWhatItIs) {
  EXPECT_THROW(load_bytes(saved(false).bytes()).as<RegressionFit>(), Unsupported);
}

TEST(LatentFile, DamageBehindValidChecksumsIsRefused) {
  const Container good = parse_container(saved(true).bytes());
  expect_damage_refused(good, {"model"});
  const auto j = nlohmann::json::parse(good.metadata);
  const auto with = [&](const char* what, auto change) {
    Container bad = good;
    auto changed = j;
    change(changed);
    bad.metadata = changed.dump();
    expect_refused(bad, what);
  };
  with("a column twice", [](auto& c) { c["views"][0]["columns"] = {1, 0}; });
  with("a column that is not there", [](auto& c) { c["views"][0]["columns"] = {2, 9}; });
  with("a sequence beyond the rows", [](auto& c) { c["dynamics"]["sequences"] = {0, 70}; });
  with("another kernel", [](auto& c) { c["dynamics"]["kernel"] = "matern32(ard) + se"; });
  with("labels of other rows", [](auto& c) { c["row_labels"] = {"x"}; });
}

}  // namespace
}  // namespace covary
