#pragma once

#include <memory>
#include <optional>

#include "covary/inference/sparse.hpp"

namespace covary {

// How far VFE's posterior is from the exact one before any output is seen: the mean of
// KL(q(f) ‖ p(f | y)) over outputs y ~ N(0, K + Σ) of the model itself, in nats for one output,
//   ½(log|Qff + Σ| − log|K + Σ| + tr[(Qff + Σ)⁻¹(K + Σ)] − N + tr[(K − Qff)Σ⁻¹])
// (Burt 2018, equation 3.19), Σ = noise·I + diag(point_noise). Only the features vary; the
// parameters of the kernel and the noise are given, and K is factored once, in O(N³). An evaluation
// costs O(N²·M), and there are N² numbers: for some thousands of rows.
class ExpectedKl {
 public:
  ExpectedKl(const Kernel& kernel, Vector theta, RowMatrix X, double noise,
             Vector point_noise = Vector());
  ExpectedKl(const ExpectedKl&) = delete;
  ExpectedKl& operator=(const ExpectedKl&) = delete;

  // With the gradient by the parameters z of the features, if wanted; then the smallest eigenvalue
  // of Kuu is guarded as in training.
  struct Value {
    double kl = 0.0;
    double trace = 0.0;  // tr[(K − Qff)Σ⁻¹]: kl is between a half of it and all of it
    double jitter = 0.0;
  };
  Value operator()(const Features& features, ConstVector z, Jitter& jitter,
                   Vector* z_bar = nullptr) const;
  Index rows() const { return X_.rows(); }

 private:
  Kernel kernel_;
  Vector theta_;
  RowMatrix X_;
  double noise_;
  Vector point_noise_;
  RowMatrix outputs_;  // √N·L with LLᵀ = K + Σ: as N outputs they have these second moments
  double mean_log_evidence_;  // of y, E log p(y)
  std::optional<MemoryRows> rows_;
};

}  // namespace covary
