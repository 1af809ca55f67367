#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/inference/multi_function_model.hpp"
#include "covary/models/generalised.hpp"

namespace covary {

// The model and its training; public functions are those of the class.
struct Generalised::Impl {
  Impl(ConstRows X, ConstVector y, GeneralisedOptions options);

  Index rows() const { return model_.X.rows(); }
  Index inducing() const { return features_ ? features_->size() : 0; }
  Index starts() const;
  std::string name() const;
  double value() const;
  GeneralisedFit fit();

  struct Approximation {
    double value;
    Posterior posterior;
    int iterations;
  };
  struct Values {
    MultiFunctionParameters functions;
    Vector z;  // of the features, where there are any
  };
  Values unpack(ConstVector values) const;
  Vector pack(const Values& v) const;
  FunctionModel one_function() const;
  // `guard`: Z is being trained, as in SparseProblem.
  Approximation approximate(ConstVector values, Vector* values_bar, Jitter& jitter,
                            bool guard) const;
  Approximation approximate_one(const Values& at, Values* bar, Jitter& jitter, bool guard) const;
  Approximation approximate_each(const Likelihood& each, const MultiFunctionParameters& at,
                                 MultiFunctionParameters* bar) const;
  // Without inducing inputs.
  FunctionApproximation by_method(const FunctionModel& model, const FunctionParameters& at,
                                  FunctionParameters* bar) const;
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) const;
  void see(InputMap map);
  void take_latent_space(const FitNode& from);
  void begin_inducing();
  FeaturesPtr start_features(Index M) const;
  bool trains_features() const;
  Problem problem(Jitter& jitter);
  std::optional<Summary> settle_features(Trainer& trainer, Jitter& jitter);

  GeneralisedOptions options_;
  MultiFunctionModel model_;  // the data as the model sees them
  Scaling input_scaling_, output_scaling_;
  InputMap input_map_;
  std::shared_ptr<const UntrainedMap> untrained_;  // or none
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  FeaturesPtr features_;  // or none
  Parameters chosen_;     // those of the features, as the model chose them
  Parameters parameters_;
  TrainingState resume_;
};

}  // namespace covary
