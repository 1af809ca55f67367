#pragma once

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

// B̃ = I + Λ^½KΛ^½, whose eigenvalues are at least one: nothing here inverts K.
struct Site {
  Vector root;  // √λ
  Matrix L;     // of B̃
  Matrix V;     // L⁻¹Λ^½K, so that S = K − VᵀV
  Site(const Matrix& K, const Vector& lambda) : root(lambda.cwiseSqrt()) {
    Matrix B = root.asDiagonal() * K * root.asDiagonal();
    B.diagonal().array() += 1.0;
    L = cholesky(std::move(B), "I + Λ½KΛ½").L;
    V = root.asDiagonal() * K;
    solve_lower(L, V);
  }
  Vector variances(const Matrix& K) const {
    return (K.diagonal() - V.colwise().squaredNorm().transpose()).cwiseMax(0.0);
  }
  // tr B̃⁻¹ + log|B̃| − n, which is zero for λ = 0
  double divergence() const {
    Matrix inverse = L;
    invert_lower_in_place(inverse);
    return inverse.squaredNorm() + 2.0 * L.diagonal().array().log().sum() -
           static_cast<double>(L.rows());
  }
};

}  // namespace covary
