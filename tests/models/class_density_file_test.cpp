#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/class_density.hpp"
#include "covary/random/random.hpp"
#include "covary/storage/container.hpp"
#include "damage.hpp"

namespace covary {
namespace {

using testing::expect_damage_refused, testing::expect_refused;

ClassDensityFit saved() {
  ClassDensityOptions o;
  o.classes = {"a", "b"};
  o.gplvm.latent = 2;
  o.gplvm.inducing = 4;
  o.gplvm.training.starts = 1;
  o.gplvm.held_iterations = 2;
  o.gplvm.training.max_iterations = 4;
  const Vector labels = (Vector(10) << 0, 0, 0, 0, 1, 1, 1, 1, 1, 1).finished();
  ClassDensityFit out = fit_class_density(Random(3).normal_matrix(10, 3), labels, o);
  out.input_columns.columns = {{"p", {}}, {"q", {}}, {"r", {}}};
  out.output_names = {"kind"};
  return out;
}

TEST(ClassDensityFile, RoundTripKeepsTheBits) {
  const ClassDensityFit m = saved();
  const Fit back = load_bytes(m.bytes());
  const ClassDensityFit& fit = back.as<ClassDensityFit>();
  RowMatrix X = Random(4).normal_matrix(3, 3);
  X(1, 2) = std::nan("");
  EXPECT_EQ(fit.log_joint(X), m.log_joint(X));
  EXPECT_EQ(fit.predict(X), m.predict(X));
  EXPECT_EQ(fit.classes, m.classes);
  EXPECT_EQ(fit.target(), "kind");
  EXPECT_THROW(load_bytes(m.bytes()).as<RegressionFit>(), Unsupported);
}

TEST(ClassDensityFile, DamageBehindValidChecksumsIsRefused) {
  const Container good = parse_container(saved().bytes());
  expect_damage_refused(good, {"model"});
  const auto j = nlohmann::json::parse(good.metadata);
  Container bad = good;
  auto one = j;
  one["class_densities"].erase(1);
  bad.metadata = one.dump();
  expect_refused(bad, "one class");
  bad = good;
  bad.tensors.erase("log_prior");
  bad.put_vector("log_prior", Vector::Zero(2));
  expect_refused(bad, "does not sum to one");
}

}  // namespace
}  // namespace covary
