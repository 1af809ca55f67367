#pragma once

#include <vector>

#include "covary/inference/site_factor.hpp"

namespace covary {

// R = W(I + KW)⁻¹ for the curvature of softmax, so that (K⁻¹ + W)⁻¹ = K − K·R·K: K has a block K_c
// for each class and W = D − ΠΠᵀ/w couples the classes of a row, D and Π made of the probabilities
// π times the weight w of the row, which is their sum. With E_c = (K_c + D_c⁻¹)⁻¹
//
//   R_ck = δ_ck·E_c − E_c(Σ_j E_j)⁻¹E_k
//   log|I + KW| = Σ_c log|I + K_cD_c| + log|Σ_c E_c| − Σ_n log w_n
//
// (Rasmussen & Williams, 3.5): factors of N×N matrices, never of CN×CN ones.
class SoftmaxFactor {
 public:
  // The Gram matrix of each class, and w·π, N×C.
  void compute(const std::vector<const Matrix*>& K, const Matrix& pi);

  double log_determinant() const { return log_determinant_; }  // log|I + KW|
  Matrix apply(const Matrix& b) const;                         // R·b for an N×C block
  Matrix dense(Index c) const;                                 // R_cc, N×N
  // k_cᵀR_ck k_k of each column of the N×n blocks k_c: n×C², row by row of a C×C matrix
  Matrix reduction(const std::vector<const Matrix*>& k) const;
  // The whole blocks: k_cᵀR_ck k_k = δ_ck·own_c − shared_cᵀ·shared_k
  struct Blocks {
    std::vector<Matrix> own;     // n×n
    std::vector<Matrix> shared;  // N×n
  };
  Blocks blocks(const std::vector<const Matrix*>& k) const;

 private:
  std::vector<SiteFactor> E_;
  Matrix middle_;  // the lower factor of Σ E_c
  double log_determinant_ = 0.0;
};

}  // namespace covary
