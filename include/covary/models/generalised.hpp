#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/features/choice.hpp"
#include "covary/features/selection.hpp"
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
  Generalised(const Generalised&);
  Generalised(Generalised&&) noexcept;
  Generalised& operator=(Generalised&&) noexcept;
  ~Generalised();

  // kernel.…, likelihood.…, mean.weights, features.… where there are inducing variables; with
  // separate kernels function.0.kernel.…. In the units the model sees.
  Parameters& parameters();
  const Parameters& parameters() const;
  // Those of another model of these data.
  void start_from(const Generalised& other);
  const Scaling& input_scaling() const;
  const InputMap& input_map() const;  // a GP-LVM is trained by fit()
  const Scaling& output_scaling() const;
  const GeneralisedOptions& options() const;
  Index rows() const;
  double log_jacobian() const;
  Index inducing() const;
  Index starts() const;  // of training: three up to 300 rows, one beyond and with inducing inputs
  const std::vector<std::string>& warnings() const;
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
  void resume(TrainingState state);
  // A GP-LVM of the inputs comes first, in the same training.
  GeneralisedFit fit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covary
