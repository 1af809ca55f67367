#include "covary/storage/model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "covary/data/generators.hpp"
#include "covary/error.hpp"
#include "covary/storage/container.hpp"

namespace covary {
namespace {

class ModelFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/model.cov"; }

  const std::string folder_ =
      ::testing::TempDir() + "covary_model_file_" + std::to_string(::getpid());
};

SavedModel rich_model() {
  auto d = friedman_data(40, 1, 6);
  RowMatrix Y(40, 2);
  Y << d.y, d.f;
  Y(3, 1) = std::nan("");
  RegressionOptions options;
  options.kernel = "se(ard) + matern32@0,2 * periodic@1 + white";
  options.mean = "linear";
  options.starts = 1;
  options.training.max_iterations = 20;
  Regression model(d.X, Y, options, Vector::LinSpaced(40, 0.0, 0.1));
  model.parameters().set_prior("kernel.0.lengthscales", Prior::gamma(2, 0.5));
  model.parameters().set_bounds("kernel.1.1.period", 0.2, 5.0);
  model.parameters().tie("kernel.2.variance", "likelihood.variance", 0.25);
  SavedModel saved{model.fit(), {}};
  for (const auto& name : d.inputs) saved.inputs.columns.push_back({name, {}});
  saved.fit.input_names = saved.inputs.names();
  saved.fit.output_names = {"y", "f"};
  return saved;
}

TEST_F(ModelFile, RoundTripGivesTheSameBits) {
  const SavedModel before = rich_model();
  save_model(path(), before);
  const SavedModel after = load_model(path());
  const RowMatrix X = friedman_data(30, 2, 6).X;
  const Prediction p = before.fit.predict(X), q = after.fit.predict(X);
  EXPECT_EQ(p.mean, q.mean);
  EXPECT_EQ(p.variance_f, q.variance_f);
  EXPECT_EQ(p.variance_y, q.variance_y);
  EXPECT_EQ(before.fit.parameters.values(), after.fit.parameters.values());
  EXPECT_EQ(before.fit.parameters.table(), after.fit.parameters.table());
  EXPECT_EQ(before.fit.summary.full(), after.fit.summary.full());
  EXPECT_EQ(before.fit.log_marginal_likelihood, after.fit.log_marginal_likelihood);
  // and once more: what was read is written as it was
  save_model(path() + "2", after);
  EXPECT_EQ(serialise_container(read_container(path())),
            serialise_container(read_container(path() + "2")));
}

TEST_F(ModelFile, KeepsTheLevelsOfTextColumns) {
  SavedModel m = rich_model();
  m.inputs.columns.resize(4);
  m.inputs.columns[3].levels = {"blue", "green", "red"};
  save_model(path(), m);
  EXPECT_EQ(load_model(path()).inputs.columns[3].levels, m.inputs.columns[3].levels);
}

// A well-formed container whose content makes no sense is refused, never a crash.
TEST_F(ModelFile, RefusesContentThatMakesNoSense) {
  save_model(path(), rich_model());
  const Container good = read_container(path());
  const auto refused = [&](const std::function<void(Container&)>& spoil) {
    Container bad = good;
    spoil(bad);
    write_container(path(), bad);
    EXPECT_THROW(load_model(path()), FileError);
  };
  refused([](Container& c) { c.tensors.erase("X"); });
  refused([](Container& c) {
    c.tensors.erase("theta");
    c.put_vector("theta", Vector::Ones(2));
  });
  refused([](Container& c) {
    c.tensors.erase("theta");
    c.put_vector("theta", Vector::Constant(14, std::nan("")));
  });
  refused([](Container& c) {
    c.tensors.erase("inputs.scale");
    c.put_vector("inputs.scale", Vector::Zero(6));
  });
  refused([](Container& c) {
    c.tensors.erase("Y");
    c.put_rows("Y", RowMatrix::Zero(39, 2));
  });
  refused([](Container& c) { c.metadata = "{}"; });
  refused([](Container& c) { c.metadata.replace(c.metadata.find("se(ard)"), 7, "se(are)"); });
  refused([](Container& c) { c.metadata.replace(c.metadata.find("\"exact\""), 7, "\"magic\""); });
  EXPECT_THROW(load_model(folder_ + "/none.cov"), FileError);
}

}  // namespace
}  // namespace covary
