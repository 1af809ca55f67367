#pragma once

#include <string>
#include <vector>

#include "covary/data/pca.hpp"
#include "covary/data/scaling.hpp"
#include "covary/inference/exact_posterior.hpp"
#include "covary/models/fit.hpp"

namespace covary {

// Probabilistic principal components (Tipping & Bishop 1999): y = W·x + μ + ε with x ~ N(0, I) and
// ε ~ N(0, σ²I), so that y ~ N(μ, WWᵀ + σ²I), at the maximum of the likelihood:
// W = U_Q(Λ_Q − σ²I)^½ of the first Q eigenpairs of the covariance of the rows, and σ² is the mean
// of the eigenvalues that are left. Immutable.
struct PpcaFit : FitNode {
  Scaling scaling;              // of the outputs; the rest is in the units the model saw
  Pca pca;                      // Q components of the scaled outputs
  double noise_variance = 0.0;  // σ²
  RowMatrix mean;               // of x given the rows of the fit, N×Q
  std::vector<std::string> row_labels = {};  // of the rows, for pictures and scores; or none

  PpcaFit() { model = "ppca"; }
  std::string kind() const override { return "ppca"; }
  Answer details() const override;
  void store(Archive& to) const override;
  NamedColumns predict(const Table& rows, TableQuestion& question) const override;
  Answer evaluate(const Table& rows, const TableQuestion& question) const override;

  Index latent() const { return pca.size(); }
  Index outputs() const { return pca.inputs(); }
  Matrix W() const;  // P×Q

  // What rows say, NaN where a cell is not observed: x is then Gaussian, and so are the cells.
  struct Inferred {
    RowMatrix mean, variance;  // of x, n×Q; of a whole row the variance is σ²/λ
    Prediction outputs;        // n×P, in the units of the data
    Vector log_density;        // log p(observed cells), n
  };
  Inferred infer(ConstRows Y) const;
  Prediction decode(ConstRows X) const;  // the outputs at points of the latent space
};

// Y: N×P, whole rows. InputError unless the rows vary along more than `latent` directions: without
// a direction left over there is no noise and the likelihood has no maximum.
PpcaFit fit_ppca(ConstRows Y, Index latent, ScaleMode scale_outputs = ScaleMode::global);

// The dual (Lawrence 2005): the weights are integrated out and the inputs X found,
// Y_p ~ N(0, XXᵀ + σ²I) for each column of the centred Y. At the maximum of the likelihood
// X = U_Q(Λ_Q − σ²I)^½ of the first Q eigenpairs of YYᵀ/P, and σ² is the mean of the N − Q others.
// It is what a GP-LVM with a linear kernel of variance 1 comes to when X has no prior.
struct DualPpca {
  RowMatrix X;  // N×Q, up to a rotation
  double noise_variance;
  double log_likelihood;  // in the units of the data
};
DualPpca fit_dual_ppca(ConstRows Y, Index latent);

}  // namespace covary
