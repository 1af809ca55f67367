#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/model_file.hpp"
#include "covary/random/random.hpp"
#include "covary/storage/container.hpp"
#include "damage.hpp"

namespace covary {
namespace {

using testing::expect_damage_refused, testing::expect_refused;

SavedPpca saved() {
  SavedPpca out{fit_ppca(Random(3).normal_matrix(12, 4), 2, ScaleMode::columns)};
  out.fit.row_labels = std::vector<std::string>(12, "x");
  return out;
}

TEST(PpcaFile, RoundTripKeepsTheBits) {
  const SavedPpca m = saved();
  const AnyModel back = load_any_model_bytes(save_model_bytes(m));
  const PpcaFit& fit = std::get<SavedPpca>(back).fit;
  RowMatrix Y = Random(4).normal_matrix(3, 4);
  Y(1, 2) = std::nan("");
  const auto a = m.fit.infer(Y), b = fit.infer(Y);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.outputs.variance_y, b.outputs.variance_y);
  EXPECT_EQ(a.log_density, b.log_density);
  EXPECT_EQ(fit.mean, m.fit.mean);
  EXPECT_EQ(fit.log_likelihood, m.fit.log_likelihood);
  EXPECT_EQ(fit.output_names, m.fit.output_names);
  EXPECT_EQ(fit.row_labels, m.fit.row_labels);
  EXPECT_THROW(load_model_bytes(save_model_bytes(m)), Unsupported);
}

TEST(PpcaFile, DamageBehindValidChecksumsIsRefused) {
  const Container good = parse_container(save_model_bytes(saved()));
  expect_damage_refused(good);
  Container bad = good;
  bad.tensors.erase("noise_variance");
  bad.put_vector("noise_variance", Vector::Constant(1, 1e3));
  expect_refused(bad, "more noise than signal");
}

}  // namespace
}  // namespace covary
