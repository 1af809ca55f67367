#include "covary/models/model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>

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
  options.training.starts = 1;
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

// An update extends the factor, whose bits differ from those of one formed at once: the file keeps
// how it came about.
TEST_F(ModelFile, RoundTripAfterUpdatesGivesTheSameBits) {
  SavedModel m = rich_model();
  const RowMatrix X = friedman_data(30, 2, 6).X;
  for (const Index n : {7, 1}) {
    const auto more = friedman_data(n, static_cast<std::uint64_t>(10 + n), 6);
    RowMatrix Y(n, 2);
    Y << more.y, more.f;
    if (n > 1) Y(2, 0) = Y(4, 1) = std::nan("");
    m.fit = m.fit.with(more.X, Y, Vector::Constant(n, 0.05));
  }
  EXPECT_EQ(m.fit.posterior.as<ExactPosterior>().parts().appended, (std::vector<Index>{7, 1}));
  for (const bool outputs : {true, false}) {
    if (!outputs) m.fit = without_outputs(m.fit);
    save_model(path(), m);
    const SavedModel after = load_model(path());
    const Prediction p = m.fit.predict(X), q = after.fit.predict(X);
    EXPECT_EQ(p.mean, q.mean);
    EXPECT_EQ(p.variance_f, q.variance_f);
    EXPECT_EQ(p.mean, after.fit.predict_mean(X));
    if (outputs) {
      EXPECT_EQ(m.fit.posterior.log_evidence(), after.fit.posterior.log_evidence());
    }
  }
}

// Where the covariance needs jitter, each pattern of missing outputs its own.
TEST_F(ModelFile, RoundTripWithJitterGivesTheSameBits) {
  RowMatrix X(12, 1), Y(12, 2);
  for (Index i = 0; i < 12; ++i) X(i, 0) = 0.1 * static_cast<double>(i / 2);  // each row twice
  Y.setOnes();
  for (Index i = 0; i < 12; i += 2) Y(i, 1) = std::nan("");
  ExactPosteriorParts parts;
  parts.kernel = "se";
  parts.theta = Vector::Ones(2);
  parts.X = X;
  parts.Y = Y;
  SavedModel m{Regression(X, Y).fit(), {}};
  m.fit.posterior = ExactPosterior(parts);
  ASSERT_GT(m.fit.posterior.jitter(), 0.0);
  m.inputs.columns = {{"x", {}}};
  m.fit.input_names = {"x"};
  m.fit.output_names = {"y", "z"};
  save_model(path(), m);
  const SavedModel after = load_model(path());
  const RowMatrix at = RowMatrix::Random(9, 1);
  EXPECT_EQ(m.fit.predict(at).mean, after.fit.predict(at).mean);
  EXPECT_EQ(m.fit.predict(at).variance_f, after.fit.predict(at).variance_f);
  EXPECT_EQ(m.fit.posterior.jitter(), after.fit.posterior.jitter());
}

TEST_F(ModelFile, WithoutOutputsItPredictsTheSameBits) {
  const SavedModel with = rich_model();
  SavedModel without{without_outputs(with.fit), with.inputs};
  save_model(path(), without);
  EXPECT_FALSE(read_container(path()).has("Y"));
  const SavedModel after = load_model(path());
  EXPECT_FALSE(after.fit.posterior.as<ExactPosterior>().has_outputs());
  const RowMatrix X = friedman_data(30, 2, 6).X;
  const Prediction p = with.fit.predict(X), q = after.fit.predict(X);
  EXPECT_EQ(p.mean, q.mean);
  EXPECT_EQ(p.variance_f, q.variance_f);
  EXPECT_EQ(p.variance_y, q.variance_y);
  EXPECT_EQ(with.fit.covariance(X, 1), after.fit.covariance(X, 1));
  EXPECT_EQ(with.fit.gradient(X).mean, after.fit.gradient(X).mean);
  EXPECT_EQ(with.fit.components(X)[1].mean, after.fit.components(X)[1].mean);
  EXPECT_EQ(with.fit.sample(X, 2, 1), after.fit.sample(X, 2, 1));
  EXPECT_EQ(with.fit.log_marginal_likelihood, after.fit.log_marginal_likelihood);
  EXPECT_EQ(with.fit.parameters.table(), after.fit.parameters.table());
  // and once more
  EXPECT_EQ(save_model_bytes(after),
            save_model_bytes(SavedModel{without_outputs(after.fit), after.inputs}));
}

TEST_F(ModelFile, WithoutOutputsWhatNeedsThemIsRefused) {
  const SavedModel m = rich_model();
  const RegressionFit fit = without_outputs(m.fit);
  const auto refused = [](const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "accepted";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("without its training outputs"), std::string::npos);
    }
  };
  refused([&] { fit.leave_one_out(); });
  refused([&] { fit.posterior.log_evidence(); });
  refused([&] { fit.posterior.as<ExactPosterior>().one_step_log_densities(); });
  refused([&] { fit.posterior.as<ExactPosterior>().training_outputs(); });
  refused([&] { fit.sample_functions(1, 1); });
  refused([&] { fit.with(RowMatrix::Zero(1, 6), RowMatrix::Zero(1, 2), Vector::Ones(1)); });
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
