#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "covary/inference/multi_latent.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/models/latent_options.hpp"
#include "covary/models/regression.hpp"

namespace covary {

struct GeneralisedOptions : LatentOptions {
  Inference method = Inference::laplace;  // or ep, vi
  double power = 1.0;                     // of power-EP
  // Starts of the optimiser; 0: three up to 300 rows, one beyond.
  Index starts = 0;
  std::function<void(const TrainingState&)> after_iteration = nullptr;

  void check() const;
};

// y_n ~ p(y | f(x_n)) with f ~ GP(m, k) and any likelihood: classification, counts, heavy tails, ….
// The posterior of f by Laplace, EP or the variational method, without inducing inputs.
//
//   GeneralisedOptions options;
//   options.method = Inference::ep;
//   GeneralisedFit fit = Generalised(X, y, options).fit();
//   Matrix p = fit.predict(Xnew).probabilities;
class Generalised {
 public:
  // X: N×D, finite. y: N, NaN where missing: such rows are left out.
  Generalised(ConstRows X, ConstVector y, GeneralisedOptions options = {});

  // kernel.…, likelihood.…, mean.weights; with separate kernels latent.0.kernel.…. In the units the
  // model sees.
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  const Scaling& input_scaling() const { return input_scaling_; }
  const Scaling& output_scaling() const { return output_scaling_; }
  const GeneralisedOptions& options() const { return options_; }
  Index rows() const { return model_.X.rows(); }
  double log_jacobian() const { return log_jacobian_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  std::string name() const;  // "laplace", "ep", "ep(0.5)", "vgp"

  // The evidence as the method has it at the current parameters, in the units of the data.
  double value() const;
  // −(evidence + log prior) of the free unconstrained vector, in model units.
  std::optional<double> objective(const Vector& u, Vector* gradient) const;

  // The next fit() goes on from a state that after_iteration was given.
  void resume(TrainingState state) { resume_ = std::move(state); }
  GeneralisedFit fit();

 private:
  struct Approximation {
    double value;
    FunctionPosterior posterior;
    int iterations;
  };
  MultiLatentParameters unpack(ConstVector values) const;
  Approximation approximate(ConstVector values, Vector* values_bar) const;
  LatentApproximation approximate_one(const LatentModel& model, const LatentParameters& at,
                                      LatentParameters* bar) const;
  Approximation approximate_each(const Likelihood& each, const MultiLatentParameters& at,
                                 MultiLatentParameters* bar) const;

  GeneralisedOptions options_;
  MultiLatentModel model_;  // the data as the model sees them
  Scaling input_scaling_, output_scaling_;
  std::optional<Pca> pca_;
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  Parameters parameters_;
  std::optional<TrainingState> resume_;
};

}  // namespace covary
