#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/ppca.hpp"
#include "covary/models/regression.hpp"
#include "covary/random/random.hpp"
#include "covary/storage/container.hpp"
#include "damage.hpp"

namespace covary {
namespace {

using testing::expect_damage_refused, testing::expect_refused;

PpcaFit saved() {
  PpcaFit out = fit_ppca(Random(3).normal_matrix(12, 4), 2, ScaleMode::columns);
  out.row_labels = std::vector<std::string>(12, "x");
  return out;
}

TEST(PpcaFile, RoundTripKeepsTheBits) {
  const PpcaFit m = saved();
  const Fit back = load_bytes(m.bytes());
  const PpcaFit& fit = back.as<PpcaFit>();
  RowMatrix Y = Random(4).normal_matrix(3, 4);
  Y(1, 2) = std::nan("");
  const auto a = m.infer(Y), b = fit.infer(Y);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.outputs.variance_y, b.outputs.variance_y);
  EXPECT_EQ(a.log_density, b.log_density);
  EXPECT_EQ(fit.mean, m.mean);
  EXPECT_EQ(fit.value, m.value);
  EXPECT_EQ(fit.output_names, m.output_names);
  EXPECT_EQ(fit.row_labels, m.row_labels);
  EXPECT_THROW(load_bytes(m.bytes()).as<RegressionFit>(), Unsupported);
}

TEST(PpcaFile, DamageBehindValidChecksumsIsRefused) {
  const Container good = parse_container(saved().bytes());
  expect_damage_refused(good);
  Container bad = good;
  bad.tensors.erase("noise_variance");
  bad.put_vector("noise_variance", Vector::Constant(1, 1e3));
  expect_refused(bad, "more noise than signal");
}

}  // namespace
}  // namespace covary
