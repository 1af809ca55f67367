#pragma once

#include <string>
#include <variant>
#include <vector>

#include "covary/inference/posterior.hpp"
#include "covary/inference/sparse_posterior.hpp"

namespace covary {

// The posterior of a regression, whichever inference made it: what all of them can be asked.
// Immutable and thread-safe.
class RegressionPosterior {
 public:
  RegressionPosterior(ExactPosterior p) : any_(std::move(p)) {}   // NOLINT: either is one
  RegressionPosterior(SparsePosterior p) : any_(std::move(p)) {}  // NOLINT

  bool is_exact() const { return std::holds_alternative<ExactPosterior>(any_); }
  // What only one kind has; Unsupported, naming the model, for the other.
  const ExactPosterior& exact() const;
  const SparsePosterior& sparse() const;

  std::string model() const;  // "exact", "vfe", "pep(0.5)", …
  const Kernel& kernel() const;
  const Vector& theta() const;
  const Mean& mean() const;
  double noise_variance() const;
  Index rows() const;  // of the data; the most that any output was observed in
  Index outputs() const;
  Index dims() const;
  double jitter() const;
  double log_evidence() const;  // or its bound

  Prediction predict(ConstRows X) const;
  RowMatrix predict_mean(ConstRows X) const;
  Matrix covariance(ConstRows X, Index output = 0) const;
  std::vector<ComponentPrediction> components(ConstRows X) const;
  PredictionGradient gradient(ConstRows X, Index output = 0) const;
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const;
  RegressionPosterior with(ConstRows X, ConstRows Y, ConstVector point_noise = Vector()) const;

 private:
  std::variant<ExactPosterior, SparsePosterior> any_;
};

}  // namespace covary
