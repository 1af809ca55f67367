#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/features/choice.hpp"
#include "covary/features/selection.hpp"
#include "covary/inference/multi_function_model.hpp"
#include "covary/models/function_options.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/models/regression.hpp"

namespace covary {

struct UntrainedMap;

struct GeneralisedOptions {
  Inference method = Inference::laplace;  // or ep, vi, sparse_ep
  double power = 1.0;                     // of power-EP
  Kernel kernel = "se(ard)";
  Likelihood likelihood = "bernoulli";
  Mean mean = {};  // zero
  // With several functions: a kernel of its own for each.
  bool separate_kernels = false;
  // Of sparse_ep: the inducing inputs, as in SvgpOptions, and the jitter of Kuu, absolute and in
  // the units the model sees.
  Index inducing = 0;
  Selection selection = Selection::greedy_variance;
  FeatureChoice features = {};
  RowMatrix Z = {};
  double jitter = 0.0;
  // Beside y: exposure, trials or noise variances, and the weights of the rows; N, or empty.
  Vector aux = {}, weights = {};
  std::vector<std::string> classes = {};  // names of labels 0, 1, …, for the fit to keep
  ScaleMode scale_inputs = ScaleMode::columns;
  ScaleMode scale_outputs = ScaleMode::columns;  // only where targets are any real number
  Index pca = 0, gplvm = 0;                      // as in FunctionOptions
  InputMap input_map = {};
  std::uint64_t seed = 0;
  TrainingOptions training = {};

  void check() const;
};

// y_n ~ p(y | f(x_n)) with f ~ GP(m, k) and any likelihood: classification, counts, heavy tails, ….
// The posterior of f by Laplace, EP or the variational method, without inducing inputs; or by
// sparse power-EP through them, which for power 1 is the generalised FITC.
//
//   GeneralisedFit fit = Generalised(X, y, {.method = Inference::ep, .kernel = "matern52"}).fit();
//   Matrix p = fit.predict(Xnew).probabilities;
class Generalised {
 public:
  // X: N×D, finite. y: N, NaN where missing: such rows are left out.
  Generalised(ConstRows X, ConstVector y, GeneralisedOptions options = {});

  // kernel.…, likelihood.…, mean.weights, features.… where there are inducing variables; with
  // separate kernels function.0.kernel.…. In the units the model sees.
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  // Those of another model of these data.
  void start_from(const Generalised& other);
  const Scaling& input_scaling() const { return input_scaling_; }
  const InputMap& input_map() const { return input_map_; }  // a GP-LVM is trained by fit()
  const Scaling& output_scaling() const { return output_scaling_; }
  const GeneralisedOptions& options() const { return options_; }
  Index rows() const { return model_.X.rows(); }
  double log_jacobian() const { return log_jacobian_; }
  Index inducing() const { return features_ ? features_->size() : 0; }
  Index starts() const;  // of training: three up to 300 rows, one beyond and with inducing inputs
  const std::vector<std::string>& warnings() const { return warnings_; }
  std::string name() const;  // "laplace", "ep", "ep(0.5)", "vgp", "fitc", "pep(0.5)"

  // The evidence as the method has it at the current parameters, in the units of the data.
  double value() const;
  // −(evidence + log prior) of the free unconstrained vector, in model units.
  std::optional<double> objective(const Vector& u, Vector* gradient) const;

  // With a GP-LVM of the inputs: that of another fit, if it is of these rows, so that it is not
  // trained again.
  void take_latent_space(const FitNode& from);
  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state) { resume_ = std::move(state); }
  // A GP-LVM of the inputs comes first, in the same training.
  GeneralisedFit fit();

 private:
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
