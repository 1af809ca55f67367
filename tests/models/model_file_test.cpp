#include "covary/models/regression.hpp"

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

RegressionFit rich_model() {
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
  RegressionFit saved = model.fit();
  for (const auto& name : d.inputs) saved.input_columns.columns.push_back({name, {}});
  saved.output_names = {"y", "f"};
  return saved;
}

TEST_F(ModelFile, AFitOfArraysNeedsNoNames) {
  RegressionFit before = rich_model();
  before.input_columns = {};
  before.output_names = {};
  before.save(path());
  const Fit after = load(path());
  const RowMatrix X = friedman_data(30, 2, 6).X;
  EXPECT_EQ(before.predict(X).mean, after.as<RegressionFit>().predict(X).mean);
  EXPECT_EQ(after->input_names(), (std::vector<std::string>{"c0", "c1", "c2", "c3", "c4", "c5"}));
  EXPECT_EQ(after->output_names, (std::vector<std::string>{"c6", "c7"}));
}

TEST_F(ModelFile, RoundTripGivesTheSameBits) {
  const RegressionFit before = rich_model();
  before.save(path());
  const RegressionFit after = load(path()).as<RegressionFit>();
  const RowMatrix X = friedman_data(30, 2, 6).X;
  const Prediction p = before.predict(X), q = after.predict(X);
  EXPECT_EQ(p.mean, q.mean);
  EXPECT_EQ(p.variance_f, q.variance_f);
  EXPECT_EQ(p.variance_y, q.variance_y);
  EXPECT_EQ(before.parameters.values(), after.parameters.values());
  EXPECT_EQ(before.parameters.table(), after.parameters.table());
  EXPECT_EQ(before.summary.full(), after.summary.full());
  EXPECT_EQ(before.value, after.value);
  // and once more: what was read is written as it was
  after.save(path() + "2");
  EXPECT_EQ(serialise_container(read_container(path())),
            serialise_container(read_container(path() + "2")));
}

TEST_F(ModelFile, KeepsTheLevelsOfTextColumns) {
  RegressionFit m = rich_model();
  m.input_columns.columns.resize(4);
  m.input_columns.columns[3].levels = {"blue", "green", "red"};
  m.save(path());
  EXPECT_EQ(load(path()).as<RegressionFit>().input_columns.columns[3].levels,
            m.input_columns.columns[3].levels);
}

// An update extends the factor, whose bits differ from those of one formed at once: the file keeps
// how it came about.
TEST_F(ModelFile, RoundTripAfterUpdatesGivesTheSameBits) {
  RegressionFit m = rich_model();
  const RowMatrix X = friedman_data(30, 2, 6).X;
  for (const Index n : {7, 1}) {
    const auto more = friedman_data(n, static_cast<std::uint64_t>(10 + n), 6);
    RowMatrix Y(n, 2);
    Y << more.y, more.f;
    if (n > 1) Y(2, 0) = Y(4, 1) = std::nan("");
    m = m.with(more.X, Y, Vector::Constant(n, 0.05));
  }
  EXPECT_EQ(m.posterior.as<ExactPosterior>().parts().appended, (std::vector<Index>{7, 1}));
  for (const bool outputs : {true, false}) {
    if (!outputs) m = without_outputs(m);
    m.save(path());
    const RegressionFit after = load(path()).as<RegressionFit>();
    const Prediction p = m.predict(X), q = after.predict(X);
    EXPECT_EQ(p.mean, q.mean);
    EXPECT_EQ(p.variance_f, q.variance_f);
    EXPECT_EQ(p.mean, after.predict_mean(X));
    if (outputs) {
      EXPECT_EQ(m.posterior.log_evidence(), after.posterior.log_evidence());
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
  RegressionFit m = Regression(X, Y).fit();
  m.posterior = ExactPosterior(parts);
  ASSERT_GT(m.posterior.jitter(), 0.0);
  m.input_columns.columns = {{"x", {}}};
  m.output_names = {"y", "z"};
  m.save(path());
  const RegressionFit after = load(path()).as<RegressionFit>();
  const RowMatrix at = RowMatrix::Random(9, 1);
  EXPECT_EQ(m.predict(at).mean, after.predict(at).mean);
  EXPECT_EQ(m.predict(at).variance_f, after.predict(at).variance_f);
  EXPECT_EQ(m.posterior.jitter(), after.posterior.jitter());
}

TEST_F(ModelFile, WithoutOutputsItPredictsTheSameBits) {
  const RegressionFit with = rich_model();
  RegressionFit without = without_outputs(with);
  without.save(path());
  EXPECT_FALSE(read_container(path()).has("Y"));
  const RegressionFit after = load(path()).as<RegressionFit>();
  EXPECT_FALSE(after.posterior.as<ExactPosterior>().has_outputs());
  const RowMatrix X = friedman_data(30, 2, 6).X;
  const Prediction p = with.predict(X), q = after.predict(X);
  EXPECT_EQ(p.mean, q.mean);
  EXPECT_EQ(p.variance_f, q.variance_f);
  EXPECT_EQ(p.variance_y, q.variance_y);
  EXPECT_EQ(with.covariance(X, 1), after.covariance(X, 1));
  EXPECT_EQ(with.gradient(X).mean, after.gradient(X).mean);
  EXPECT_EQ(with.components(X)[1].mean, after.components(X)[1].mean);
  EXPECT_EQ(with.sample(X, 2, 1), after.sample(X, 2, 1));
  EXPECT_EQ(with.value, after.value);
  EXPECT_EQ(with.parameters.table(), after.parameters.table());
  // and once more
  EXPECT_EQ(after.bytes(), without_outputs(after).bytes());
}

TEST_F(ModelFile, WithoutOutputsWhatNeedsThemIsRefused) {
  const RegressionFit m = rich_model();
  const RegressionFit fit = without_outputs(m);
  const auto refused = [](const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "accepted";
    } catch (const Unsupported& e) {
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
  rich_model().save(path());
  const Container good = read_container(path());
  const auto refused = [&](const std::function<void(Container&)>& spoil) {
    Container bad = good;
    spoil(bad);
    write_container(path(), bad);
    EXPECT_THROW(load(path()).as<RegressionFit>(), FileError);
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
  EXPECT_THROW(load(folder_ + "/none.cov").as<RegressionFit>(), FileError);
}

}  // namespace
}  // namespace covary
