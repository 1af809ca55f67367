#pragma once

#include "covary/models/gplvm.hpp"

namespace covary {

struct WarpedRegressionOptions {
  Index latent = 1;                  // columns of h
  Kernel inner = "se(ard) + white";  // of h, over the inputs
  Kernel kernel = "se(ard)";         // of g
  Index inducing = 0;                // of g, at most a row each; 0: 50
  ScaleMode scale_outputs = ScaleMode::columns;
  double jitter = 0.0;
  Index held_iterations = 100;
  std::uint64_t seed = 0;
  TrainingOptions training = {};  // starts: one

  void check() const;
};

// What is trained: a latent-variable model whose dynamics run over the inputs of the regression.
struct WarpedRegressionFit : FitNode {
  GplvmFit layers;

  explicit WarpedRegressionFit(GplvmFit of);
  std::string kind() const override { return "warped"; }
  Answer details() const override;
  void store(Archive& to) const override;
  NamedColumns predict(const Table& rows, TableQuestion& question) const override;
  Answer evaluate(const Table& rows, const TableQuestion& question) const override;
  HeldOut held_out(const ModelData& rows) const override;

  // The mean and variance of y at further inputs, through the Gaussian that h has there. Their
  // distribution is not Gaussian.
  Prediction predict(ConstRows X) const;
  LatentMarginals inner(ConstRows X) const;  // h itself
};

// Regression through a warp: y = g(h(x)) + noise, where the columns of h are Gaussian processes
// over the inputs, as many as are asked for, and g is one over h: the supervised model of two
// layers (Damianou 2015, section 3.3.6). For functions that a stationary kernel suits badly: steps,
// regions that vary faster than others, outputs that keep to a few levels.
//
//   WarpedRegressionFit fit = WarpedRegression(X, Y).fit();
//   Prediction p = fit.predict(Xnew);
//
// h starts at the means of a sparse regression, scaled to unit variance (their principal
// components, if there are more than `latent`; what is left starts at the inputs), so that g begins
// near the identity. The bound may be compared with that of SparseRegression by vfe: it is one of
// log p(Y | X), too. O(N³·latent) an evaluation: for at most some thousands of rows.
class WarpedRegression {
 public:
  // X: N×D, finite. Y: N×P, NaN where missing, though not a whole row of it.
  WarpedRegression(ConstRows X, ConstRows Y, WarpedRegressionOptions options = {});

  // Of g kernel.…, likelihood.variance and features.Z; of h latent.… and dynamics.… (its kernel).
  // What is not set of latent.… and dynamics.… starts from the sparse regression.
  Parameters& parameters();
  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state) { resume_ = std::move(state); }
  WarpedRegressionFit fit() const;

 private:
  Gplvm latent_model(const RowMatrix& smooth) const;
  RowMatrix start_means(const RowMatrix& smooth) const;

  WarpedRegressionOptions options_;
  RowMatrix X_, Y_;
  Parameters parameters_, chosen_;  // made when they are asked for
  TrainingState resume_;
};

}  // namespace covary
