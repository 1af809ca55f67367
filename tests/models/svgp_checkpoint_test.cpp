// Training of an SVGP goes through a file and on, with the same bits.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "covary/error.hpp"
#include "covary/models/checkpointing.hpp"
#include "covary/models/svgp.hpp"
#include "covary/storage/container.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

class SvgpCheckpoint : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path); }

  std::string path = (std::filesystem::temp_directory_path() /
                      ("covary-svgp-checkpoint-" + std::to_string(::getpid())))
                         .string();
  const testing::SmallData data = testing::small_data(90, 2, 1, 3);
  const Vector labels = (data.Y.col(0).array() > 0.0).cast<double>();

  // Labels 0, 1, 2.
  Vector three() const { return labels + (data.X.col(0).array() > 0.5).cast<double>().matrix(); }
};

void expect_same(const GeneralisedFit& a, const GeneralisedFit& b, const RowMatrix& X) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.parameters.values(), b.parameters.values());
  EXPECT_EQ(a.predict_f(X).mean, b.predict_f(X).mean);
  EXPECT_EQ(a.predict_f(X).variance, b.predict_f(X).variance);
  EXPECT_EQ(a.summary.iterations, b.summary.iterations);
  EXPECT_EQ(a.summary.evaluations, b.summary.evaluations);
  EXPECT_EQ(a.summary.initial_value, b.summary.initial_value);
  EXPECT_EQ(a.summary.reason, b.summary.reason);
  EXPECT_EQ(a.summary.trace.size(), b.summary.trace.size());
}

TEST_F(SvgpCheckpoint, TrainingGoesOnWithTheSameBits) {
  struct Case {
    const char* name;
    const char* likelihood;
    const char* covariance;
    Index batch, adam_every, starts;
  };
  for (const Case& c : {Case{"all rows", "bernoulli(logit)", "full", 0, 1, 1},
                        {"all rows, conjugate", "gaussian", "full", 0, 1, 1},
                        {"all rows, starts", "bernoulli(logit)", "full", 0, 1, 3},
                        {"batches", "bernoulli(probit)", "full", 32, 1, 1},
                        {"batches, starts", "bernoulli(probit)", "full", 32, 1, 2},
                        {"batches of three functions", "robust_max(3)", "blocks(3)", 40, 3, 1}}) {
    SCOPED_TRACE(c.name);
    const bool real = std::string(c.likelihood) == "gaussian";
    const Vector y = real ? Vector(data.Y.col(0)) : c.adam_every == 3 ? three() : labels;
    SvgpOptions o;
    o.likelihood = c.likelihood;
    o.covariance = c.covariance;
    o.inducing = 7;
    o.training.batch = c.batch;
    o.training.steps = 60;
    o.training.natural_ramp = 4;
    o.training.adam_every = c.adam_every;
    o.training.final_sweeps = 2;
    o.training.max_iterations = 12;
    o.training.starts = c.starts;
    std::vector<TrainingState> states;
    o.training.after_iteration = [&](const TrainingProgress& p) { states.push_back(p.state()); };
    const GeneralisedFit whole = Svgp(data.X, y, o).fit();
    o.training.after_iteration = nullptr;
    ASSERT_GT(states.size(), 6u);
    EXPECT_EQ(whole.summary.starts.size(), c.starts > 1 ? static_cast<std::size_t>(c.starts) : 0u);
    for (const std::size_t i : {std::size_t{0}, states.size() / 3, states.size() - 2}) {
      save_checkpoint(path, states[i], "this problem");
      Svgp model(data.X, y, o);
      model.resume(load_checkpoint(path, "this problem"));
      expect_same(model.fit(), whole, data.X);
    }
  }
}

TEST_F(SvgpCheckpoint, TheFileIsWrittenOnTheWayAndAtTheEnd) {
  SvgpOptions o;
  o.likelihood = "bernoulli(logit)";
  o.inducing = 6;
  o.training.batch = 30;
  o.training.steps = 25;
  Checkpointing checkpointing(path);
  checkpointing.problem = "p";
  EXPECT_FALSE(checkpointing.saved());  // nothing was kept yet
  Index seen = 0;
  o.training.after_iteration = [&](const TrainingProgress& now) {
    checkpointing.keep(now);
    seen += !now.over;
    if (seen == 1) {
      EXPECT_EQ(load_checkpoint(path, "p").minibatches->step, 1);
    }
  };
  Svgp(data.X, labels, o).fit();
  EXPECT_TRUE(checkpointing.saved());
  const TrainingState last = load_checkpoint(path, "p");
  EXPECT_EQ(last.minibatches->step, 25);
  EXPECT_GT(last.seconds, 0.0);
  EXPECT_EQ(seen, 25);
}

TEST_F(SvgpCheckpoint, WhatIsNoCheckpointOfThisModelIsRefused) {
  SvgpOptions o;
  o.likelihood = "bernoulli(logit)";
  o.inducing = 6;
  o.training.batch = 30;
  o.training.steps = 3;
  TrainingState state;
  EXPECT_THROW(save_checkpoint(path, state, "p"), InputError);  // no iteration yet
  o.training.after_iteration = [&](const TrainingProgress& p) { state = p.state(); };
  Svgp(data.X, labels, o).fit();
  save_checkpoint(path, state, "p");
  EXPECT_THROW(load_checkpoint(path, "q"), InputError);
  // A precision that is none.
  Container c = read_container(path);
  c.tensors.erase("blocks.1");
  c.put_matrix("blocks.1", -Matrix::Identity(6, 6));
  write_container(path, c);
  {
    SvgpOptions same = o;
    same.training.after_iteration = nullptr;
    same.training.steps = 5;
    Svgp model(data.X, labels, same);
    model.resume(load_checkpoint(path, "p"));
    EXPECT_THROW(model.fit(), InputError);
  }
  // Other models than the state's.
  o.training.after_iteration = nullptr;
  for (const Index M : {Index{5}, Index{6}}) {
    SvgpOptions other = o;
    other.inducing = M;
    if (M == 6) other.training.batch = 0;
    Svgp model(data.X, labels, other);
    model.resume(state);
    EXPECT_THROW(model.fit(), InputError);
  }
}

}  // namespace
}  // namespace covary
