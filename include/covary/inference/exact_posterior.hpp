#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/inference/exact.hpp"
#include "covary/inference/rows_posterior.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

// Everything a posterior is made of, in the units the model saw.
struct ExactPosteriorParts {
  Kernel kernel = "se";
  Vector theta;
  Mean mean;
  Matrix mean_weights;  // basis × P
  double noise_variance = 0.0;
  Vector point_noise;   // N or empty
  double jitter = 0.0;  // absolute, that was asked for; forming the factor adds what more it needs
  RowMatrix X;          // N×D
  RowMatrix Y;          // N×P, NaN where missing
  // K⁻¹(Y − m), NaN where missing, in place of Y; else empty. It predicts as Y does.
  RowMatrix alpha = {};  // N×P
  // The last rows, as with() added them one call after the other: a factor that was extended has
  // other bits than one formed at once.
  std::vector<Index> appended = {};
};

// The posterior of exact regression: immutable and thread-safe.
class ExactPosterior final : public RowsPosterior {
 public:
  explicit ExactPosterior(ExactPosteriorParts parts);

  const ExactPosteriorParts& parts() const { return parts_; }
  std::string name() const override { return "exact"; }
  bool can(Capability c) const override;
  Index functions() const override { return has_outputs() ? parts_.Y.cols() : parts_.alpha.cols(); }
  Index dims() const override { return parts_.X.cols(); }
  const Kernel& kernel(Index = 0) const override { return parts_.kernel; }
  const Vector& theta(Index = 0) const override { return parts_.theta; }
  const Mean& mean() const override { return parts_.mean; }
  double jitter() const override { return jitter_; }
  Index rows() const override { return parts_.X.rows(); }
  double noise_variance() const override { return parts_.noise_variance; }

  // Without them (see without_outputs) what needs them is an InputError: the evidence,
  // leave-one-out and one-step predictions, draws as functions, further rows.
  bool has_outputs() const { return parts_.alpha.size() == 0; }
  const RowMatrix& training_inputs() const override { return parts_.X; }
  const RowMatrix& training_outputs() const override;
  const Vector& point_noise() const override { return parts_.point_noise; }

  double observations() const override;
  FunctionMarginals marginals(ConstRows X) const override;
  Prediction predict(ConstRows X) const override;
  RowMatrix predict_mean(ConstRows X) const override;  // O(N) a row
  Matrix covariance(ConstRows X, Index output = 0) const override;
  UncertainInputs at_gaussians() const override;
  CompressionTarget compression_target() const override;

  double log_evidence() const override;
  // log p(y_n | y_1 … y_{n−1}) of each observed row, in order; their sum is the evidence (P1).
  Vector one_step_log_densities(Index output = 0) const override;
  LeaveOneOut leave_one_out() const override;

  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const override;
  double sample_bytes(double n) const override { return 16.0 * n * n; }
  // By pathwise conditioning (Wilson et al. 2021): a prior draw, corrected exactly at the data.
  std::vector<FunctionDraw> sample_functions(Index draws, std::uint64_t seed,
                                             Index features = 2000) const override;

  // In O(N²) (the factor is extended), when their missing pattern allows; otherwise it is formed
  // anew.
  ExactPosterior with(ConstRows X, ConstRows Y, ConstVector point_noise = Vector()) const;
  Posterior further(ConstRows X, ConstRows Y, ConstVector point_noise) const override {
    return with(X, Y, point_noise);
  }
  using PosteriorNode::further;

  // The same posterior without the outputs it was trained on. Predictions keep their bits.
  friend ExactPosterior without_outputs(ExactPosterior posterior);
  std::shared_ptr<const PosteriorNode> stripped() const override;

  double stored_numbers() const override;
  void store(Archive& to) const override;

 protected:
  std::vector<RowFunctions> by_rows() const override;
  Vector mean_weights(Index output) const override { return parts_.mean_weights.col(output); }

 private:
  friend class UncertainInputs;
  // Columns of Y with one pattern of missing rows share a factor.
  struct Group {
    Pattern pattern;
    RowMatrix X;      // observed rows
    Cholesky factor;  // of K + Σ
    Matrix alpha;     // K⁻¹(Y − m)
  };
  // Of parts that continue those of `before`, whose factors are extended; the patterns have the
  // columns of its groups.
  ExactPosterior(ExactPosteriorParts parts, const std::vector<Group>& before,
                 std::vector<Pattern> patterns);
  Cholesky factor_of(const std::vector<Index>& rows) const;
  Cholesky extended(const Cholesky& factor, const std::vector<Index>& rows,
                    const std::vector<Index>& fresh) const;
  void finish();  // alpha and jitter, once the factors are there
  Matrix residual(const Pattern& pattern) const;
  const Group& group_of(Index output) const;
  Matrix mean_at(ConstRows X) const;  // n×P, the mean function

  ExactPosteriorParts parts_;
  std::vector<Group> groups_;
  double jitter_ = 0.0;
};

// Joint draws from the prior GP(0, k) at the rows X: n×draws.
Matrix sample_prior(const Kernel& kernel, ConstVector theta, ConstRows X, Index draws,
                    std::uint64_t seed);
// Prior draws as functions, by random features.
FunctionDraw sample_prior_function(const Kernel& kernel, ConstVector theta, Index dims,
                                   std::uint64_t seed, Index features = 2000);

}  // namespace covary
