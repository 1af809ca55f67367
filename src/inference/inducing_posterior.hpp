#pragma once

#include <vector>

#include "covary/inference/sparse_posterior.hpp"
#include "covary/statistics/row_terms.hpp"

namespace covary {

// A kernel with its inducing variables, at their values.
struct InducingPart {
  Kernel kernel = "se";
  Vector theta;
  FeaturesPtr features;
  Vector z;
  Matrix Luu;  // factor of Kuu + jitter
  double jitter = 0.0;
};

struct InducingPosteriorParts {
  std::vector<InducingPart> parts;  // one for all latent functions, or one for each
  Mean mean;
  Matrix mean_weights;               // basis × L, when the mean is not zero
  WhitenedGaussian q;                // M×L
  Approximation approximation = {};  // by which further rows of Gaussian noise join
  // W of g = W·f + m(x), outputs × L: the posterior is of g then, and the mean has a column for
  // each output. Empty: the identity.
  Matrix mixing = {};
};

// The posterior of L functions through q(u): f has the mean m(x) + aᵀm and the variance
// k(x, x) − |a|² + |Lsᵀa|² with a = Luu⁻¹k_u(x). Its size does not depend on the data. Immutable
// and thread-safe. It knows no likelihood; what needs noise takes it with the rows.
//
// Of mixtures g = W·f + m(x): functions() counts these, and so do marginals, draws, terms and
// gradients; kernel(), theta() and inducing() are of the L functions behind them.
class InducingPosterior final : public PosteriorNode {
 public:
  explicit InducingPosterior(InducingPosteriorParts parts);

  const InducingPosteriorParts& parts() const { return parts_; }
  std::string name() const override { return "inducing"; }
  bool can(Capability c) const override;
  Index functions() const override { return is_mixed() ? parts_.mixing.rows() : parts_.q.m.cols(); }
  bool is_mixed() const { return parts_.mixing.size() > 0; }
  Index dims() const override { return parts_.parts.front().features->dims(); }
  const Kernel& kernel(Index function = 0) const override { return part(function).kernel; }
  const Vector& theta(Index function = 0) const override { return part(function).theta; }
  const Mean& mean() const override { return parts_.mean; }
  double jitter() const override { return parts_.parts.front().jitter; }
  // Of q(u) alone, up to what does not depend on it: further rows change it as they change the
  // bound.
  double log_evidence() const override;

  // In blocks by threads: memory does not grow with the rows beyond the result.
  FunctionMarginals marginals(ConstRows X) const override;
  Matrix covariance(ConstRows X, Index function = 0) const override;
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const override;
  std::vector<ComponentPrediction> components(ConstRows X) const override;
  PredictionGradient gradient(ConstRows X, Index function = 0) const override;
  // What follows needs one kernel for all functions, and no mixing.
  std::vector<FunctionDraw> sample_functions(Index draws, std::uint64_t seed,
                                             Index features = 2000) const override;
  UncertainInputs at_gaussians() const override;
  Posterior further(ConstRows X, ConstRows Y, ConstVector point_noise) const override;
  using PosteriorNode::further;
  CompressionTarget compression_target() const override;

  InducingView inducing_variables(Index function = 0) const override {
    const InducingPart& p = part(function);
    return {p.kernel, p.theta, p.features, p.z, p.Luu};
  }
  WhitenedGaussian q_of_v() const override { return parts_.q; }
  double stored_numbers() const override;
  void store(Archive& to) const override;

 private:
  const InducingPart& part(Index function) const;
  void check_inputs(ConstRows X) const;
  Index own_functions() const { return parts_.q.m.cols(); }
  void check_function(Index function) const;
  Matrix own_covariance(ConstRows X, Index function) const;  // of one behind the mixtures
  // The same q(u) by its precision, B = (Ls·Lsᵀ)⁻¹ = LB·LBᵀ and c = LBᵀm, as a collapsed bound has
  // it: of the functions with this part's kernel.
  SparsePosterior by_precision(Index part) const;
  SparsePosterior by_precision() const;  // of all, which must share it

  InducingPosteriorParts parts_;
};

}  // namespace covary
