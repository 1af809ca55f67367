#pragma once

#include "covary/models/gplvm.hpp"

namespace covary {

struct UncertainInputsOptions {
  Kernel kernel = "se(ard)";
  Index inducing = 0;  // at most a row each; 0: 50
  // Σx, the variances of the errors of the inputs, in squared units of X: a row for each of X, or
  // one for all of them; zero where an input is known. Empty: one for each column, trained.
  RowMatrix input_variance = {};
  // A factor for each column of these variances is trained: one variance a column, where one row
  // was given.
  bool train_variance = false;
  // false: q(x) is N(z, Σx) as given, and the outputs do not move it.
  bool move_inputs = true;
  ScaleMode scale_inputs = ScaleMode::columns;
  ScaleMode scale_outputs = ScaleMode::columns;
  double jitter = 0.0;
  Index held_iterations = 100;  // before the noise moves
  std::uint64_t seed = 0;
  TrainingOptions training = {};  // starts: two

  void check() const;
};

// A regression by VFE, and q of the inputs it was trained on and Σx, in the units of the data.
struct UncertainInputsFit {
  RegressionFit regression;
  RowMatrix mean, variance;  // of q(X), N×D; zero variance where an input was known
  RowMatrix input_variance;  // Σx: 1×D, or N×D as it was given
};

// Regression whose inputs were observed with noise, z = x + ε: y = f(x) + noise with x ~ N(z, Σx)
// (Damianou 2015, section 4.2). The bound is that of VFE averaged over q(x), less KL(q(X)‖p(X)):
// inputs are found more precisely than they were observed, as far as the outputs tell. What it is
// conditioned on is f of the true inputs: new inputs are known, or Gaussian with
// predict(X, variance).
//
//   UncertainInputsRegression model(Z, Y, {.input_variance = RowMatrix::Constant(1, D, 0.04)});
//   UncertainInputsFit fit = model.fit();
//   Prediction p = fit.regression.predict(Xnew);
//
// Training starts from a sparse regression that takes the inputs as they were observed. What it
// takes for noise of the outputs may be noise of the inputs: a second start has a tenth of that
// noise, a third a hundredth, and so on; the best bound is kept.
class UncertainInputsRegression {
 public:
  // X: N×D, finite. Y: N×P, NaN where missing, though not a whole row of it.
  UncertainInputsRegression(ConstRows X, ConstRows Y, UncertainInputsOptions options = {});

  // kernel.…, likelihood.variance, features.Z; latent.mean and latent.variance of q(X);
  // inputs.variance, if it is trained. Flags, priors, bounds and ties hold in every part of
  // training; a value that is set is where it starts, others are chosen on the way.
  Parameters& parameters();
  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state) { resume_ = std::move(state); }
  UncertainInputsFit fit() const;

 private:
  Gplvm latent_model(Index inducing) const;
  void find_start(Gplvm& model, Trainer& trainer) const;

  UncertainInputsOptions options_;
  // As the model sees them: Σx is column_variance, D, times shares, N×D.
  RowMatrix X_, Y_, shares_;
  Vector column_variance_;
  Scaling inputs_, outputs_;
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  Parameters parameters_, chosen_;  // made when they are asked for
  TrainingState resume_;
};

}  // namespace covary
