#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "covary/data/scaling.hpp"
#include "covary/inference/exact_posterior.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "covary/models/fit.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/training/trainer.hpp"

namespace covary {

class ParameterPosterior;
struct ParameterDrawOptions;
struct ParameterDraws;

enum class Switch { automatic, on, off };

struct RegressionOptions {
  Kernel kernel = "se(ard)";
  Mean mean = {};  // zero
  // Inputs and outputs are scaled before the model sees them, and predictions are scaled back. With
  // noise given for each row, several outputs share one scale.
  ScaleMode scale_inputs = ScaleMode::columns;
  ScaleMode scale_outputs = ScaleMode::columns;
  double jitter = 0.0;  // absolute, in the units the model sees
  std::uint64_t seed = 0;
  // Starts: three up to 1000 rows, one beyond, where an evaluation is dear and the surface smooth.
  TrainingOptions training = {};
  // From the Hessian at the optimum, by differences of the gradient: two evaluations a parameter.
  // automatic: when that is below 2e11 flops in all.
  Switch standard_errors = Switch::automatic;

  void check() const;
};

// A trained model: the posterior with the units undone, and what training did. Immutable.
struct RegressionFit : FitNode {
  Posterior posterior;  // in the units the model saw
  Scaling input_scaling, output_scaling;
  Index data_rows = 0;  // with an observed output; 0: as many as the posterior knows of

  RegressionFit(Posterior q, Scaling inputs, Scaling outputs)
      : posterior(std::move(q)),
        input_scaling(std::move(inputs)),
        output_scaling(std::move(outputs)) {
    model = posterior.name();
  }

  std::string kind() const override { return "regression"; }
  Answer details() const override;
  void store(Archive& to) const override;
  Fit stripped() const override;
  NamedColumns predict(const Table& rows, TableQuestion& question) const override;
  Answer evaluate(const Table& rows, const TableQuestion& question) const override;
  NamedColumns sample(const Table& rows, const TableQuestion& question) const override;
  Fit update(const Table& rows, const TableQuestion& question) const override;
  Smaller compressed(const CompressOptions& options) const override;
  HeldOut held_out(const ModelData& rows) const override;
  double laplace_log_evidence() const override;
  Index lags() const override;

  // All in the units of the data.
  Prediction predict(ConstRows X) const;
  // At inputs x ~ N(X, diag(variance)), n×D each: the exact mean and variance, which are not all
  // there is to know, for y is then not Gaussian. The mean function must be zero.
  Prediction predict(ConstRows X, ConstRows variance) const;
  // Of one such row: the covariance of the outputs' functions, P×P, which share the input.
  Matrix output_covariance(ConstRows x, ConstRows variance) const;
  RowMatrix predict_mean(ConstRows X) const;  // alone, which is much quicker
  Matrix covariance(ConstRows X, Index output = 0) const;
  std::vector<ComponentPrediction> components(ConstRows X) const;
  PredictionGradient gradient(ConstRows X, Index output = 0) const;
  LeaveOneOut leave_one_out() const;
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const;
  std::vector<FunctionDraw> sample_functions(Index draws, std::uint64_t seed,
                                             Index features = 2000) const;
  // Conditioned on further rows with the parameters as they are, in O(N²).
  RegressionFit with(ConstRows X, ConstRows Y, ConstVector point_noise = Vector()) const;
};

// The fit without the outputs it was trained on, as stripped() has it, to be given away without
// them in plain sight. It predicts with the same bits; what needs the outputs is an InputError. It
// hides nothing: whoever has the inputs and can predict can nearly tell the outputs.
RegressionFit without_outputs(RegressionFit fit);

// Exact regression y = m(x) + f(x) + noise with Gaussian noise, P outputs sharing one kernel.
//
//   Regression model(X, Y, {.kernel = "matern52(ard)"});
//   RegressionFit fit = model.fit();
//   Prediction p = fit.predict(Xnew);
class Regression {
 public:
  // X: N×D, finite. Y: N×P, NaN where missing. point_noise: known noise variances of the rows in
  // the units of Y², added to the trained noise variance; or empty.
  Regression(ConstRows X, ConstRows Y, RegressionOptions options = {},
             ConstVector point_noise = Vector());

  // kernel.…, likelihood.variance, mean.weights; in the units the model sees.
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  const Scaling& input_scaling() const { return input_scaling_; }
  const Scaling& output_scaling() const { return output_scaling_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Σ log scale over the observed outputs: what is taken from a log density in model units.
  double log_jacobian() const { return log_jacobian_; }
  Index rows() const { return X_.rows(); }
  const RegressionOptions& options() const { return options_; }

  // At the current parameters, in the units of the data.
  double log_marginal_likelihood() const;
  // −(log evidence + log prior) as a function of the free unconstrained vector, in model units. The
  // jitter, and the workspace if given, carry from call to call.
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter,
                                  Matrix* workspace = nullptr) const;

  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state) { resume_ = std::move(state); }

  // Trains from the current parameters and returns the fit; the parameters become the best found.
  RegressionFit fit();

  // log ∫ p(Y|θ)p(θ)dθ by Laplace's method over the free parameters, after fit(). Positive
  // parameters are integrated in log θ. A parameter without a prior gets a wide one centred at its
  // data-scaled start: log θ ~ N(log start, 2²), or N(start, 10²) for real ones.
  double laplace_log_evidence() const;
  // Draws from that posterior, after fit(); see covary/models/parameter_draws.hpp.
  ParameterDraws sample_parameters(const ParameterDrawOptions& options) const;

 private:
  ParameterPosterior parameter_posterior() const;
  double evidence(ConstVector values, Jitter& jitter, Vector* values_bar,
                  Matrix* workspace = nullptr) const;
  Vector find_standard_errors(const Vector& u, Jitter jitter,
                              std::vector<std::string>& warnings) const;
  ExactPosterior posterior() const;

  RegressionOptions options_;
  RowMatrix X_, Y_;     // as the model sees them
  Vector point_noise_;  // likewise
  Scaling input_scaling_, output_scaling_;
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  Parameters parameters_, starts_;
  TrainingState resume_;
};

}  // namespace covary
