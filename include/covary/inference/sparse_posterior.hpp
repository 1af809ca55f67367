#pragma once

#include <cstdint>
#include <vector>

#include "covary/inference/gaussian.hpp"
#include "covary/inference/posterior.hpp"
#include "covary/inference/sparse.hpp"

namespace covary {

// Everything a sparse posterior is made of, in the units the model saw. A noise of NaN is not
// known: the functions are all there is, and further rows bring their noise along. Its size depends
// on the number of inducing variables and not on the data, but for CGLB.
struct SparsePosteriorParts {
  Approximation approximation;
  Kernel kernel = "se";
  Mean mean;
  FeaturesPtr features;
  SparseValues values;
  Matrix Luu;  // factor of Kuu + jitter
  double jitter = 0.0;
  std::vector<SparseFactors> groups;
  // Of CGLB alone: the mean has the further term k(·, X)·v, and the factors are those of the
  // residuals that v leaves.
  RowMatrix X = {};
  Matrix v = {};
};

// The posterior f ~ GP(k_·u Kuu⁻¹μ, k − k_·u Kuu⁻¹(Kuu − Σ)Kuu⁻¹ k_u·), or for SoR its degenerate
// cousin. Immutable and thread-safe.
class SparsePosterior final : public PosteriorNode {
 public:
  explicit SparsePosterior(SparsePosteriorParts parts);

  const SparsePosteriorParts& parts() const { return parts_; }
  std::string name() const override { return parts_.approximation.print(); }
  bool can(Capability c) const override;
  Index functions() const override { return outputs_; }
  Index dims() const override { return dims_; }
  const Kernel& kernel(Index = 0) const override { return parts_.kernel; }
  const Vector& theta(Index = 0) const override { return parts_.values.theta; }
  const Mean& mean() const override { return parts_.mean; }
  double jitter() const override { return parts_.jitter; }
  Index rows() const override;
  double noise_variance() const override;
  double log_evidence() const override;  // or its bound, of all outputs
  double observations() const override;

  // In blocks by threads.
  FunctionMarginals marginals(ConstRows X) const override;
  Prediction predict(ConstRows X) const override;
  RowMatrix predict_mean(ConstRows X) const override;
  Matrix covariance(ConstRows X, Index output = 0) const override;
  std::vector<ComponentPrediction> components(ConstRows X) const override;
  PredictionGradient gradient(ConstRows X, Index output = 0) const override;
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const override;
  double sample_bytes(double n) const override { return 16.0 * n * n; }
  // A prior draw, corrected at the inducing inputs by a draw of q(u). Unsupported unless the
  // features are inducing points and the variance is that of a Gaussian process (neither "sor" nor
  // "cglb").
  std::vector<FunctionDraw> sample_functions(Index draws, std::uint64_t seed,
                                             Index features = 2000) const override;
  UncertainInputs at_gaussians() const override;
  CompressionTarget compression_target() const override;

  SplitPrediction split(ConstRows X) const override;

  // Conditioned on further rows, the inducing variables and parameters as they are, in O(M²) a row.
  SparsePosterior with(ConstRows X, ConstRows Y, ConstVector point_noise = Vector()) const;
  Posterior further(ConstRows X, ConstRows Y, ConstVector point_noise) const override {
    return with(X, Y, point_noise);
  }
  Posterior further(ConstRows mean, const std::vector<Matrix>& S, ConstRows Y) const override;

  InducingView inducing_variables(Index = 0) const override {
    return {parts_.kernel, parts_.values.theta, parts_.features, parts_.values.z, parts_.Luu};
  }
  WhitenedGaussian q_of_v() const override;
  // q(u) of one output: mean and covariance.
  Gaussian q_of_u(Index output = 0) const;

  double stored_numbers() const override;
  void store(Archive& to) const override;

 private:
  const SparseFactors& group_of(Index output, Index* column = nullptr) const;
  void check_inputs(ConstRows X) const;
  Prediction of_functions(ConstRows X) const;  // without variance_y
  RowMatrix mean_function(ConstRows X) const;
  void add_rows_share(const Kernel& kernel, ConstVector theta, ConstRows X, RowMatrix& out) const;

  // For each group: the weights Kuu⁻¹μ of k_u(x), and F with F·Fᵀ = L⁻ᵀ(I − B⁻¹)L⁻¹, so that a
  // variance is k − |Fᵀk_u|², one triangular product where two solves would do. F is empty where
  // Kuu is too ill-conditioned for it.
  struct Fast {
    Matrix weights, F;
  };
  void prepare();

  SparsePosteriorParts parts_;
  std::vector<Fast> fast_;
  Index dims_ = 0, outputs_ = 0;
};

}  // namespace covary
