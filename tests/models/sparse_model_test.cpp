#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/storage/container.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

RegressionFit saved_model(const char* approximation, const char* features = "points") {
  auto d = testing::small_data(90, 2, 2, 3);
  d.Y(4, 1) = std::nan("");
  SparseRegressionOptions options{
      .mean = "linear", .approximation = approximation, .features = features, .inducing = 40};
  options.training.max_iterations = 10;
  RegressionFit out = SparseRegression(d.X, d.Y, options).fit();
  out.input_columns.columns = {{"a", {}}, {"b", {}}};
  out.output_names = {"y", "z"};
  return out;
}

TEST(SparseModelFile, OtherFeaturesKeepTheBits) {
  const RowMatrix X = testing::small_data(30, 2, 1, 8).X;
  for (const char* kind : {"multiscale", "multiscale(2)", "frequency", "timefrequency", "basis(2)",
                           "eigen", "empirical", "rff", "hilbert", "bumps"}) {
    const RegressionFit m = saved_model(FeatureChoice(kind).is_parametric() ? "sor" : "vfe", kind),
                        back = load_bytes(m.bytes()).as<RegressionFit>();
    EXPECT_EQ(m.predict(X).mean, back.predict(X).mean) << kind;
    EXPECT_EQ(m.predict(X).variance_f, back.predict(X).variance_f) << kind;
  }
}

TEST(SparseModelFile, FeaturesOfOneColumnKeepTheBits) {
  const auto d = testing::small_data(60, 1, 1, 4);
  for (const auto& [kind, kernel] :
       {std::pair{"fourier", "matern32"}, std::pair{"fourier(l2)", "matern12"},
        std::pair{"eigen", "matern12"}, std::pair{"orthogonal", "matern52"}}) {
    SparseRegressionOptions options{.kernel = kernel, .features = kind, .inducing = 11};
    options.training.max_iterations = 10;
    RegressionFit m = SparseRegression(d.X, d.Y, options).fit();
    m.input_columns.columns = {{"a", {}}};
    m.output_names = {"y"};
    const RegressionFit back = load_bytes(m.bytes()).as<RegressionFit>();
    EXPECT_EQ(m.predict(d.X).mean, back.predict(d.X).mean) << kind;
    EXPECT_EQ(back.posterior.as<SparsePosterior>().parts().features->name(), kind);
  }
}

TEST(SparseModelFile, ProductsOfFourierFeaturesKeepTheBits) {
  const auto d = testing::small_data(60, 2, 1, 4);
  SparseRegressionOptions options{
      .kernel = "matern32@0 * matern12@1 + white", .features = "fourier", .inducing = 30};
  options.training.max_iterations = 5;
  RegressionFit m = SparseRegression(d.X, d.Y, options).fit();
  m.input_columns.columns = {{"a", {}}, {"b", {}}};
  m.output_names = {"y"};
  const auto bytes = m.bytes();
  const RegressionFit back = load_bytes(bytes).as<RegressionFit>();
  EXPECT_EQ(m.predict(d.X).mean, back.predict(d.X).mean);
  Container bad = parse_container(bytes);
  bad.tensors.erase("degrees");
  EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError);
  bad.put_integers("degrees", std::vector<std::int64_t>(60, 1 << 20));
  EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError);
}

TEST(SparseModelFile, StackedFeaturesKeepTheBits) {
  const auto d = testing::small_data(60, 2, 1, 4);
  for (const char* kind : {"stacked(eigen)", "stacked(points)", "stacked(basis(2))"}) {
    SparseRegressionOptions options{
        .kernel = "se@0 + white + additive(se)", .features = kind, .inducing = 14};
    options.training.max_iterations = 5;
    RegressionFit m = SparseRegression(d.X, d.Y, options).fit();
    m.input_columns.columns = {{"a", {}}, {"b", {}}};
    m.output_names = {"y"};
    const auto bytes = m.bytes();
    const RegressionFit back = load_bytes(bytes).as<RegressionFit>();
    EXPECT_EQ(m.predict(d.X).mean, back.predict(d.X).mean) << kind;
    EXPECT_EQ(m.predict(d.X).variance_f, back.predict(d.X).variance_f) << kind;
    EXPECT_EQ(m.posterior.as<SparsePosterior>().components(d.X)[2].mean,
              back.posterior.as<SparsePosterior>().components(d.X)[2].mean);

    const Container good = parse_container(bytes);
    for (const auto& [name, tensor] : good.tensors) {
      if (name.find('.') == std::string::npos) continue;
      Container bad = good;
      bad.tensors.erase(name);
      EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError) << name;
      bad.put_vector(name, Vector::Constant(3, std::nan("")));
      EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError) << name;
    }
    const auto metadata = nlohmann::json::parse(good.metadata);
    const auto refuse = [&](const char* what, const std::function<void(nlohmann::json&)>& damage) {
      nlohmann::json changed = metadata;
      for (auto& [key, value] : changed.items())
        if (value.is_object() && value.contains("feature_parts")) damage(value);
      if (changed.contains("feature_parts")) damage(changed);
      ASSERT_NE(changed, metadata) << what;
      Container bad = good;
      bad.metadata = changed.dump();
      EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError) << what;
    };
    refuse("fewer parts", [](auto& j) { j["feature_parts"].erase(0); });
    refuse("no list", [](auto& j) { j["feature_parts"] = 7; });
    refuse("columns", [](auto& j) { j["feature_dims"] = 3; });
    refuse("many columns", [](auto& j) { j["feature_dims"] = 1L << 40; });
    refuse("a stack in a stack", [](auto& j) { j["feature_parts"][0] = j; });
  }
}

TEST(SparseModelFile, RoundTripKeepsTheBits) {
  const RowMatrix X = testing::small_data(30, 2, 1, 8).X;
  for (const char* a : {"vfe", "fitc", "pep(0.5)", "sor", "pitc", "cglb"}) {
    const RegressionFit m = saved_model(a), back = load_bytes(m.bytes()).as<RegressionFit>();
    const Prediction p = m.predict(X), q = back.predict(X);
    EXPECT_EQ(p.mean, q.mean) << a;
    EXPECT_EQ(p.variance_f, q.variance_f) << a;
    EXPECT_EQ(back.posterior.name(), a);
    EXPECT_EQ(back.parameters.values(), m.parameters.values());
    EXPECT_EQ(back.diagnostics, m.diagnostics);
    EXPECT_EQ(back.summary.upper_bound, m.summary.upper_bound);
    if (std::string(a) == "cglb") continue;  // takes no further rows
    const auto more = testing::small_data(10, 2, 2, 9);
    EXPECT_EQ(m.with(more.X, more.Y).value, back.with(more.X, more.Y).value);
  }
}

TEST(SparseModelFile, DamageToTheRowsOfCglbIsRefused) {
  const Container good = parse_container(saved_model("cglb").bytes());
  for (const char* name : {"X", "v"}) {
    Container bad = good;
    bad.tensors.erase(name);
    EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError) << name;
    bad.put_rows(name, RowMatrix::Ones(90, 5));
    EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError) << name;
  }
  Container bad = good;
  bad.tensors.erase("v");
  bad.put_matrix("v", Matrix::Constant(90, 2, std::nan("")));
  EXPECT_THROW(load_bytes(serialise_container(bad)).as<RegressionFit>(), FileError);
}

TEST(SparseModelFile, DamageBehindValidChecksumsIsRefused) {
  const Container good = parse_container(saved_model("vfe").bytes());
  const auto refused = [&](const std::function<void(Container&)>& damage) {
    Container bad = good;
    damage(bad);
    const auto bytes = serialise_container(bad);
    EXPECT_THROW(load_bytes(bytes).as<RegressionFit>(), FileError);
  };
  for (const char* name : {"Z", "Luu", "theta", "noise_variance", "group0.LB", "group0.c",
                           "group0.columns", "group1.sums", "mean_weights"})
    refused([&](Container& c) { c.tensors.erase(name); });
  refused([&](Container& c) {
    c.tensors.erase("Luu");
    c.put_matrix("Luu", Matrix::Zero(40, 40));
  });
  refused([&](Container& c) {
    c.tensors.erase("group0.columns");
    c.put_integers("group0.columns", std::vector<std::int64_t>{1});
  });
  refused([&](Container& c) {
    c.tensors.erase("group0.sums");
    c.put_vector("group0.sums", Vector::Constant(4, std::nan("")));
  });
  refused([&](Container& c) {
    const auto at = c.metadata.find("\"groups\":2");
    c.metadata.replace(at, 10, "\"groups\":9");
  });
  refused([&](Container& c) {
    const auto at = c.metadata.find("\"points\"");
    c.metadata.replace(at, 8, "\"pointy\"");
  });
}

}  // namespace
}  // namespace covary
