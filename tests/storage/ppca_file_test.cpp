#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "covary/storage/container.hpp"
#include "covary/storage/model_file.hpp"

namespace covary {
namespace {

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
  const auto refused = [&](const Container& bad, const std::string& what) {
    EXPECT_THROW(load_any_model_bytes(serialise_container(bad)), FileError) << what;
  };
  for (const auto& [name, tensor] : good.tensors) {
    Container bad = good;
    bad.tensors.erase(name);
    refused(bad, name);
    bad.put_vector(name, Vector::Constant(3, std::nan("")));
    refused(bad, name);
  }
  const auto j = nlohmann::json::parse(good.metadata);
  for (const auto& [key, value] : j.items()) {
    if (key.starts_with("sha256") || key == "format_version") continue;
    Container bad = good;
    auto changed = j;
    changed[key] = nlohmann::json::array({7, "x"});
    bad.metadata = changed.dump();
    refused(bad, key);
  }
  Container bad = good;
  bad.tensors.erase("noise_variance");
  bad.put_vector("noise_variance", Vector::Constant(1, 1e3));
  refused(bad, "more noise than signal");
}

}  // namespace
}  // namespace covary
