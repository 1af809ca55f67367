#pragma once

#include <cstdint>
#include <vector>

#include "covary/inference/gaussian.hpp"
#include "covary/inference/posterior.hpp"
#include "covary/inference/sparse.hpp"

namespace covary {

// Everything a sparse posterior is made of, in the units the model saw. Its size depends on the
// number of inducing variables and not on the data, but for CGLB.
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
class SparsePosterior {
 public:
  explicit SparsePosterior(SparsePosteriorParts parts);

  const SparsePosteriorParts& parts() const { return parts_; }
  Index outputs() const { return outputs_; }
  Index dims() const { return dims_; }
  double value() const;  // log evidence or its bound, of all outputs

  // In blocks by threads: memory does not grow with the rows beyond the result.
  Prediction predict(ConstRows X) const;
  RowMatrix predict_mean(ConstRows X) const;
  Matrix covariance(ConstRows X, Index output = 0) const;
  std::vector<ComponentPrediction> components(ConstRows X) const;
  PredictionGradient gradient(ConstRows X, Index output = 0) const;
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const;

  // f = g + h: what data can change, and what they cannot because u does not reach it (zero at the
  // inducing inputs). The latter is also FITC's heteroscedastic diagonal, less the noise.
  struct Split {
    RowMatrix g_mean, g_variance;  // n×P
    Vector h_variance;             // n, white noise included
  };
  Split split(ConstRows X) const;

  // Conditioned on further rows, the inducing variables and parameters as they are, in O(M²) a row.
  SparsePosterior with(ConstRows X, ConstRows Y, ConstVector point_noise = Vector()) const;

  // q(u) of one output: mean and covariance.
  Gaussian inducing(Index output = 0) const;

 private:
  const SparseFactors& group_of(Index output, Index* column = nullptr) const;
  void check_inputs(ConstRows X) const;
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
