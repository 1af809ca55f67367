#include "covary/models/checkpoint.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "covary/error.hpp"
#include "covary/models/regression.hpp"
#include "covary/storage/container.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("covary-checkpoint-" + std::to_string(::getpid())))
          .string();
  ~File() { std::filesystem::remove(path); }
};

// Each state of a training goes through the file; what goes on from it ends with the same bits.
TEST(Checkpoint, TrainingGoesOnWithTheSameBits) {
  const auto data = testing::small_data(25, 2, 1, 3);
  const File file;
  std::vector<TrainingState> states;
  RegressionOptions options;
  options.training.after_iteration = [&](const TrainingProgress& p) {
    states.push_back(p.state());
  };
  const RegressionFit whole = Regression(data.X, data.Y, options).fit();
  options.training.after_iteration = nullptr;
  ASSERT_GT(states.size(), 20u);
  for (std::size_t i = 0; i < states.size(); i += 6) {
    save_checkpoint(file.path, states[i], "this problem");
    Regression model(data.X, data.Y, options);
    model.resume(load_checkpoint(file.path, "this problem"));
    const RegressionFit fit = model.fit();
    EXPECT_EQ(fit.parameters.values(), whole.parameters.values());
    EXPECT_EQ(fit.value, whole.value);
    EXPECT_EQ(fit.standard_errors.array().isNaN().any() ? Vector() : fit.standard_errors,
              whole.standard_errors.array().isNaN().any() ? Vector() : whole.standard_errors);
    EXPECT_EQ(fit.summary.evaluations, whole.summary.evaluations);
    EXPECT_EQ(fit.summary.iterations, whole.summary.iterations);
    EXPECT_EQ(fit.summary.reason, whole.summary.reason);
    EXPECT_EQ(fit.summary.gradient_norm, whole.summary.gradient_norm);
    EXPECT_EQ(fit.summary.trace.size(), whole.summary.trace.size());
  }
}

TEST(Checkpoint, KeepsTheJitter) {
  const File file;
  TrainingState state;
  state.run.emplace();
  state.run->u = state.run->gradient = Vector::Ones(2);
  state.run->value = 1.0;
  state.jitter = {1e-9, 1e-8, 3e-8, false};
  save_checkpoint(file.path, state, "p");
  const TrainingState back = load_checkpoint(file.path, "p");
  EXPECT_EQ(back.jitter.asked, 1e-9);
  EXPECT_EQ(back.jitter.rung, 1e-8);
  EXPECT_EQ(back.jitter.added, 3e-8);
}

TEST(Checkpoint, WhatIsNoCheckpointOfThisProblemIsRefused) {
  const File file;
  TrainingState state;
  EXPECT_THROW(save_checkpoint(file.path, state, "p"), InputError);  // no iteration yet
  state.run.emplace();
  state.run->u = state.run->gradient = Vector::Ones(2);
  state.run->value = 1.0;
  save_checkpoint(file.path, state, "p");
  EXPECT_THROW(load_checkpoint(file.path, "q"), InputError);
  Container other;
  other.metadata = R"({"model":"exact"})";
  write_container(file.path, other);
  EXPECT_THROW(load_checkpoint(file.path, "p"), FileError);
  other.metadata = R"({"model":"checkpoint","problem":"p"})";  // nothing in it
  write_container(file.path, other);
  EXPECT_THROW(load_checkpoint(file.path, "p"), FileError);
}

}  // namespace
}  // namespace covary
