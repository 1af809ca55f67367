#pragma once

#include "covary/models/gplvm.hpp"

namespace covary {

class UserSettings;

struct MissingInputsOptions {
  Kernel kernel = "se(ard)";
  Index inducing = 0;  // at most a row each; 0: 50
  ScaleMode scale_inputs = ScaleMode::columns;
  ScaleMode scale_outputs = ScaleMode::columns;
  double jitter = 0.0;
  Index held_iterations = 100;  // before the inputs move, and again before the noise does
  std::uint64_t seed = 0;
  TrainingOptions training = {};  // starts: one; others shake the means of q
};

// A regression by VFE, and q of the inputs it was trained on, in the units of the data: where they
// were given the variance is zero.
struct MissingInputsFit {
  RegressionFit regression;
  RowMatrix mean, variance;  // N×D
};

// Regression with missing inputs (NaN in X), which are learned: semi-described learning (Damianou &
// Lawrence 2015, Algorithm 1). The complete rows train a sparse regression; by it the missing
// entries of the others are inferred from their outputs; from there q of the missing entries, with
// the prior N(0, I) in the units the model sees, is trained with the inducing inputs, and with the
// kernel and the noise too where there are fewer than two complete rows for each of their
// parameters. Y may be missing too, though not a whole row of it.
//
//   MissingInputsFit fit = MissingInputsRegression(X, Y, {.inducing = 30}).fit();
//   Prediction p = fit.regression.predict(Xnew);
class MissingInputsRegression {
 public:
  MissingInputsRegression(ConstRows X, ConstRows Y, MissingInputsOptions options = {});

  // kernel.…, likelihood.variance, features.Z; latent.mean and latent.variance of what is missing.
  // Flags, priors, bounds and ties hold in every part of training; a value that is set is where
  // it starts, others are chosen on the way.
  Parameters& parameters();
  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state) { resume_ = std::move(state); }
  MissingInputsFit fit() const;

 private:
  // As the model sees them.
  struct Scaled {
    RowMatrix X, Y;
    Scaling inputs, outputs;
    double log_jacobian = 0.0;
    std::vector<std::string> warnings;
    std::vector<Index> whole, holed;  // rows whose inputs are all known, or not
  };
  bool rows_tell_mapping(const RegressionFit& fit) const;
  LatentMarginals infer_missing(const RegressionFit& fit) const;
  Gplvm latent_model(const RowMatrix& means) const;
  Gplvm started_model(const UserSettings& user, Trainer& trainer) const;
  void start_at(Gplvm& model, const RegressionFit& fit, const LatentMarginals& q,
                const UserSettings& user) const;
  void train_mapping(Gplvm& model, Trainer& trainer) const;

  MissingInputsOptions options_;
  Scaled data_;
  Parameters parameters_, chosen_;  // made when they are asked for
  TrainingState resume_;
};

}  // namespace covary
