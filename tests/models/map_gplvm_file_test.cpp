#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/map_gplvm.hpp"
#include "covary/random/random.hpp"
#include "covary/storage/container.hpp"
#include "damage.hpp"

namespace covary {
namespace {

using testing::expect_damage_refused, testing::expect_refused;

// Two views over time, by a back constraint or with a missing cell, with labels.
MapGplvmFit saved(const std::string& form) {
  RowMatrix Y = Random(3).normal_matrix(12, 4);
  MapGplvmOptions o;
  o.views = {{"a", {2, 0}}, {"b", {1, 3}}};
  o.training.max_iterations = 5;
  o.times = Vector::LinSpaced(12, 0.0, 1.0);
  o.sequences = {0, 7};
  if (form.empty())
    Y(2, 1) = std::nan("");
  else
    o.back_constraint = RecognitionOptions{.form = form, .hidden = 3, .seed = 4};
  MapGplvmFit out = MapGplvm(Y, o).fit();
  out.output_names = {"p", "q", "r", "s"};
  out.row_labels = std::vector<std::string>(12, "x");
  out.time_names = {"t"};
  return out;
}

TEST(MapGplvmFile, RoundTripKeepsTheBits) {
  for (const char* form : {"", "kernel", "network"}) {
    const MapGplvmFit m = saved(form);
    const Fit back = load_bytes(m.bytes());
    const MapGplvmFit& fit = back.as<MapGplvmFit>();
    EXPECT_EQ(fit.X, m.X);
    EXPECT_EQ(fit.value, m.value);
    EXPECT_EQ(fit.log_prior, m.log_prior);
    EXPECT_EQ(fit.output_names, m.output_names);
    EXPECT_EQ(fit.row_labels, m.row_labels);
    EXPECT_EQ(fit.time_names, m.time_names);
    EXPECT_EQ(fit.decode(fit.X).variance_y, m.decode(m.X).variance_y);
    RowMatrix rows = Random(5).normal_matrix(3, 4);
    rows(1, 2) = std::nan("");
    EXPECT_EQ(fit.place(rows).X, m.place(rows).X);
    const RowMatrix next = RowMatrix::Constant(1, 1, 1.1);
    EXPECT_EQ(fit.forecast(next, 1).mean, m.forecast(next, 1).mean);
    EXPECT_THROW(load_bytes(m.bytes()).as<RegressionFit>(), Unsupported);
  }
}

TEST(MapGplvmFile, DamageBehindValidChecksumsIsRefused) {
  const Container good = parse_container(saved("kernel").bytes());
  expect_damage_refused(good);
  const auto j = nlohmann::json::parse(good.metadata);
  const auto with = [&](const char* what, auto change) {
    Container bad = good;
    auto changed = j;
    change(changed);
    bad.metadata = changed.dump();
    expect_refused(bad, what);
  };
  with("a column twice", [](auto& c) { c["views"][0]["columns"] = {1, 0}; });
  with("a sequence beyond the rows", [](auto& c) { c["dynamics"]["sequences"] = {0, 70}; });
  with("another back constraint", [](auto& c) { c["back_constraint"]["form"] = "network"; });
  with("labels of other rows", [](auto& c) { c["row_labels"] = {"x"}; });
  Container bad = good;
  RowMatrix X = good.rows("view1.X");
  X(0, 0) += 1.0;
  bad.tensors.erase("view1.X");
  bad.put_rows("view1.X", X);
  expect_refused(bad, "views with other inputs");
}

}  // namespace
}  // namespace covary
