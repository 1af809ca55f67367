#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "covary/inference/exact.hpp"
#include "covary/kernels/kernel.hpp"
#include "covary/kernels/mean.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

// Marginal predictions at n rows for P outputs.
struct Prediction {
  RowMatrix mean;        // n×P
  RowMatrix variance_f;  // of the function; never negative
  RowMatrix variance_y;  // with the noise
};

struct ComponentPrediction {
  std::string name;  // the term's expression
  RowMatrix mean, variance;
};

// Gradients of the predictions of one output by the inputs, row by row.
struct PredictionGradient {
  RowMatrix mean, variance;  // n×D
};

// Closed-form leave-one-out predictions (Rasmussen & Williams, 5.10–5.12); NaN where y is missing.
struct LeaveOneOut {
  RowMatrix mean, variance;  // of y: N×P
  double log_density = 0.0;  // Σ log p(y_n | y_−n)
};

// One draw of the function that can be evaluated anywhere: n×P values at n rows.
using FunctionDraw = std::function<RowMatrix(ConstRows)>;

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
class ExactPosterior {
 public:
  explicit ExactPosterior(ExactPosteriorParts parts);

  const ExactPosteriorParts& parts() const { return parts_; }
  Index outputs() const { return has_outputs() ? parts_.Y.cols() : parts_.alpha.cols(); }
  Index dims() const { return parts_.X.cols(); }
  double jitter() const { return jitter_; }

  // Without them (see without_outputs) what needs them is an InputError: the evidence,
  // leave-one-out and one-step predictions, draws as functions, further rows.
  bool has_outputs() const { return parts_.alpha.size() == 0; }
  const RowMatrix& training_outputs() const;

  // In blocks: memory does not grow with the rows beyond the result.
  Prediction predict(ConstRows X) const;
  // The mean alone, in O(N) a row.
  RowMatrix predict_mean(ConstRows X) const;
  // Covariance of f at n rows for one output, white noise included.
  Matrix covariance(ConstRows X, Index output = 0) const;
  std::vector<ComponentPrediction> components(ConstRows X) const;
  PredictionGradient gradient(ConstRows X, Index output = 0) const;

  double log_evidence() const;
  // log p(y_n | y_1 … y_{n−1}) of each observed row, in order; their sum is the evidence (P1).
  Vector one_step_log_densities(Index output = 0) const;
  LeaveOneOut leave_one_out() const;

  // Joint draws of f at the rows X: one n×P matrix for each draw.
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const;
  // Draws as functions by pathwise conditioning (Wilson et al. 2021): a prior draw of `features`
  // random features, corrected exactly at the data. White noise in the kernel counts as noise here.
  std::vector<FunctionDraw> sample_functions(Index draws, std::uint64_t seed,
                                             Index features = 2000) const;

  // The posterior after further rows in O(N²) (the factor is extended), when their missing pattern
  // allows; otherwise it is formed anew.
  ExactPosterior with(ConstRows X, ConstRows Y, ConstVector point_noise = Vector()) const;

  // The same posterior without the outputs it was trained on. Predictions keep their bits.
  friend ExactPosterior without_outputs(ExactPosterior posterior);

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
