#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "covary/error.hpp"
#include "covary/models/checkpoint.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

RowMatrix curve() {
  Random random(5);
  RowMatrix Y(24, 3);
  for (Index i = 0; i < 24; ++i) {
    const double t = 3.0 * random.uniform() - 1.5;
    Y.row(i) << t, std::sin(2.0 * t), t * t;
    for (Index p = 0; p < 3; ++p) Y(i, p) += 0.05 * random.normal();
  }
  return Y;
}

GplvmOptions options() {
  GplvmOptions o;
  o.latent = 2;
  o.inducing = 6;
  o.training.starts = 2;
  o.held_iterations = 8;
  o.training.max_iterations = 15;
  return o;
}

// Taken up from any place, held or not, of the first start or the second, through a file, it ends
// with the same bits.
TEST(GplvmCheckpoint, ResumedTrainingHasTheSameBits) {
  const RowMatrix Y = curve();
  const std::string path =
      (std::filesystem::path(::testing::TempDir()) / "gplvm.checkpoint").string();
  GplvmOptions o = options();
  Index iterations = 0;
  o.training.after_iteration = [&](const TrainingProgress& p) { iterations += !p.over; };
  const GplvmFit whole = Gplvm(Y, o).fit();
  EXPECT_GT(iterations, 30);
  for (const Index at : {Index{1}, Index{5}, Index{12}, iterations / 2, iterations - 1}) {
    SCOPED_TRACE(at);
    Index seen = 0;
    o.training.after_iteration = [&](const TrainingProgress& p) {
      if (!p.over && ++seen == at) save_checkpoint(path, p.state(), "a problem");
    };
    Gplvm(Y, o).fit();
    o.training.after_iteration = nullptr;
    Gplvm again(Y, o);
    again.resume(load_checkpoint(path, "a problem"));
    const GplvmFit fit = again.fit();
    EXPECT_EQ(fit.value, whole.value);
    EXPECT_EQ(fit.mean, whole.mean);
    EXPECT_EQ(fit.variance, whole.variance);
    EXPECT_EQ(fit.parameters.values(), whole.parameters.values());
    EXPECT_EQ(fit.summary.iterations, whole.summary.iterations);
    EXPECT_EQ(fit.summary.best_start, whole.summary.best_start);
    ASSERT_EQ(fit.summary.starts.size(), whole.summary.starts.size());
    for (std::size_t i = 0; i < fit.summary.starts.size(); ++i)
      EXPECT_EQ(fit.summary.starts[i].value, whole.summary.starts[i].value);
  }
  EXPECT_THROW(load_checkpoint(path, "another problem"), InputError);
}

// Steps to the fixed point are work that is kept, and end when the caller asks for it.
TEST(GplvmCheckpoint, StepsToTheFixedPointAreNotRepeated) {
  GplvmOptions o = options();
  o.fixed_point = 3;
  std::vector<TrainingState> states;
  o.training.after_iteration = [&](const TrainingProgress& p) { states.push_back(p.state()); };
  const GplvmFit whole = Gplvm(curve(), o).fit();
  const auto is_step = [](const TrainingState::Part& p) { return p.work == "fixed point"; };
  EXPECT_EQ(std::count_if(states.front().done.begin(), states.front().done.end(), is_step), 1);
  EXPECT_EQ(std::count_if(states.back().done.begin(), states.back().done.end(), is_step), 4);
  o.training.after_iteration = nullptr;
  for (const std::size_t i : {std::size_t{0}, states.size() / 2, states.size() - 1}) {
    Gplvm again(curve(), o);
    again.resume(states[i]);
    const GplvmFit fit = again.fit();
    EXPECT_EQ(fit.value, whole.value);
    EXPECT_EQ(fit.mean, whole.mean);
    EXPECT_EQ(fit.summary.evaluations, whole.summary.evaluations);
  }
  o.fixed_point = 1000000;
  int asked = 0;
  o.training.stop = [&] { return ++asked > 2; };
  EXPECT_EQ(Gplvm(curve(), o).fit().summary.stop, Stop::caller);
  EXPECT_LT(asked, 50);
}

}  // namespace
}  // namespace covary
