#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "covary/models/stochastic_gplvm.hpp"
#include "statistics/expectations.hpp"

namespace covary {

// The model and its training; public functions are those of the class.
struct StochasticGplvm::Impl {
  Impl(ConstRows Y, StochasticGplvmOptions options);

  Index rows() const { return Y_.rows(); }
  Index batch() const { return options_.gplvm.training.batch; }
  NaturalGaussian prior() const { return {features_->size(), Y_.cols()}; }
  double evaluate(std::span<const Index> rows, const WhitenedGaussian& q, Jitter& jitter,
                  Gradient* gradient) const;
  GplvmFit fit();

  // Some rows: q(x) and the outputs, and what their expectations are made with.
  struct Batch {
    RowMatrix mean, variance, Y;
    RowMatrix deviates;  // of a likelihood that is not Gaussian
    // The rows as the bound sees them; views of the above, which may move and must not change.
    std::unique_ptr<const RowSource> source;
    std::unique_ptr<const Sweep> sweep;
  };
  struct State;
  bool is_gaussian() const { return options_.likelihood.node().conjugate(); }
  RowMatrix working_outputs(ConstRows Y) const;
  Batch batch_of(std::span<const Index> rows, const RowMatrix& mean,
                 const RowMatrix& variance) const;
  UncollapsedProblem problem(const Batch& batch, ConstVector values) const;
  UncollapsedValues unpack(ConstVector values, WhitenedGaussian q) const;
  double evaluate(const Batch& batch, ConstVector values, const WhitenedGaussian& q, Jitter& jitter,
                  Gradient* gradient) const;
  QOptimum best_q(NaturalGaussian& q, Jitter& jitter, Index sweeps) const;
  Parameters of_all() const;  // what all rows share
  void start_at(Index start);
  Summary train_from_starts(NaturalGaussian& q, Jitter& jitter, Trainer& trainer);
  Minimum train(NaturalGaussian& q, Jitter& jitter, Trainer& trainer);
  std::optional<double> step(State& state, std::span<const Index> rows, ConstVector values,
                             Vector* values_bar) const;
  GplvmFit finished(NaturalGaussian q, Jitter jitter, Summary summary);
  void say(const std::string& text) const { options_.gplvm.training.say(text); }

  StochasticGplvmOptions options_;
  RowMatrix Y_;  // as the model sees them
  Gplvm gplvm_;  // where training starts, and with Gaussian noise the model at its end
  FeaturesPtr features_;
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  Parameters parameters_;
  TrainingState resume_;
};

}  // namespace covary
