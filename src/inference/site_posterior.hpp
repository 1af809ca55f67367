#pragma once

#include <cstdint>
#include <vector>

#include "covary/inference/function_model.hpp"
#include "covary/inference/rows_posterior.hpp"
#include "inference/joint_posterior.hpp"

namespace covary {

// Through rows that are Gaussian sites, as Laplace, EP and VI make them: one FunctionPosterior for
// each function, independent of each other. It knows no likelihood.
class SitePosterior final : public RowsPosterior {
 public:
  explicit SitePosterior(std::vector<FunctionPosterior> of);
  explicit SitePosterior(FunctionPosterior of) : SitePosterior(std::vector{std::move(of)}) {}

  const std::vector<FunctionPosterior>& parts() const { return of_; }
  std::string name() const override { return "sites"; }
  bool can(Capability c) const override;
  Index functions() const override { return static_cast<Index>(of_.size()); }
  Index dims() const override { return of_.front().X.cols(); }
  const Kernel& kernel(Index function = 0) const override { return part(function).kernel; }
  const Vector& theta(Index function = 0) const override {
    return part(function).parameters.kernel;
  }
  const Mean& mean() const override { return of_.front().mean; }
  Index rows() const override { return of_.front().X.rows(); }
  const RowMatrix& training_inputs() const override { return of_.front().X; }

  FunctionMarginals marginals(ConstRows X) const override;
  Matrix covariance(ConstRows X, Index function = 0) const override;
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const override;
  UncertainInputs at_gaussians() const override;
  double stored_numbers() const override;
  void store(Archive& to) const override;

 private:
  const FunctionPosterior& part(Index function) const;
  std::vector<RowFunctions> by_rows() const override;
  Vector mean_weights(Index function) const override {
    return part(function).parameters.mean_weights;
  }

  std::vector<FunctionPosterior> of_;
};

// The classes' functions of softmax by Laplace, whose sites correlate them.
class SoftmaxPosterior final : public RowsPosterior {
 public:
  explicit SoftmaxPosterior(JointPosterior of) : of_(std::move(of)) {}

  const JointPosterior& parts() const { return of_; }
  std::string name() const override { return "softmax"; }
  bool can(Capability c) const override;
  Index functions() const override { return of_.alpha.cols(); }
  Index dims() const override { return of_.X.cols(); }
  const Kernel& kernel(Index function = 0) const override { return of_.kernels[part(function)]; }
  const Vector& theta(Index function = 0) const override {
    return of_.parameters.kernels[part(function)];
  }
  const Mean& mean() const override { return of_.mean; }
  Index rows() const override { return of_.X.rows(); }
  const RowMatrix& training_inputs() const override { return of_.X; }

  FunctionMarginals marginals(ConstRows X) const override;
  Matrix covariance(ConstRows X, Index function = 0) const override;
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const override;
  double sample_bytes(double n) const override {  // also what each function keeps
    return 24.0 * n * n +
           8.0 * static_cast<double>(functions()) * n * (n + static_cast<double>(rows()));
  }
  double stored_numbers() const override;
  void store(Archive& to) const override;

 private:
  std::size_t part(Index function) const;  // of the kernels
  std::vector<RowFunctions> by_rows() const override;
  Vector mean_weights(Index function) const override {
    return of_.parameters.mean_weights.col(function);
  }

  JointPosterior of_;
};

}  // namespace covary
