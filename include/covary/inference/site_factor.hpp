#pragma once

#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// R = (K + Λ⁻¹)⁻¹ for a diagonal Λ of either sign, so that (K⁻¹ + Λ)⁻¹ = K − K·R·K: what every
// Gaussian approximation of the posterior of f needs. Neither K nor Λ is inverted. The entries
// Λ₊ ≥ 0 go by B = I + Λ₊^½KΛ₊^½, whose eigenvalues are at least one; negative ones, which only
// likelihoods that are not log-concave have, are a low-rank correction:
//
//   R = Λ₊^½B⁻¹Λ₊^½ − V·Vᵀ,   V = (I − R₊K)·D^½·C^−½,   C = I − D^½(K − KR₊K)D^½,   D = Λ₋
class SiteFactor {
 public:
  // False, and nothing to be used, where K⁻¹ + Λ is not positive definite.
  bool compute(ConstMatrix K, ConstVector lambda);

  double log_determinant() const { return log_determinant_; }  // log|I + KΛ|
  Vector apply(ConstVector b) const;                           // R·b
  Matrix dense() const;                                        // R, N×N
  // kᵀRk of each column of an N×n block
  Vector reduction(Matrix k) const;
  // The diagonal of (K⁻¹ + Λ)⁻¹, K that of compute(); cheaper where R = dense() is known.
  Vector variances(ConstMatrix K, const Matrix* R = nullptr) const;

 private:
  Vector root_;  // Λ₊^½
  Matrix L_;     // of B, lower
  Matrix V_;     // N × number of negative entries
  double log_determinant_ = 0.0;
};

}  // namespace covary
