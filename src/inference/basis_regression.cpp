#include "covary/inference/basis_regression.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

constexpr double log_2pi = 1.83787706640934548356;

}  // namespace

BasisRegression::BasisRegression(ConstMatrix Phi, ConstVector y, double weight_variance,
                                 double noise_variance) {
  const Index N = Phi.rows(), M = Phi.cols();
  if (y.size() != N) throw InputError(fmt::format("the basis has {} rows, y has {}", N, y.size()));
  if (N == 0 || M == 0) throw InputError("basis regression needs data and basis functions");
  if (!(weight_variance > 0.0))
    throw InputError(fmt::format("the weight variance must be positive, got {}", weight_variance));
  if (!(noise_variance >= 0.0))
    throw InputError(
        fmt::format("the noise variance must not be negative, got {}", noise_variance));
  if (noise_variance == 0.0) {
    // w | f = N(Φᵀ(ΦΦᵀ)⁻¹f, σ_w²(I − Φᵀ(ΦΦᵀ)⁻¹Φ))
    const Cholesky G =
        cholesky(product(Phi, Phi, Op::none, Op::transpose), "the basis Gram matrix");
    Matrix V = Phi;  // L⁻¹Φ
    solve_lower(G.L, V);
    Matrix c = y;
    solve_lower(G.L, c);
    weights_.mean = multiply(V, c.col(0), Op::transpose);
    weights_.covariance = Matrix::Identity(M, M);
    syrk(-1.0, V, Op::transpose, 1.0, weights_.covariance);
    mirror_lower(weights_.covariance);
    weights_.covariance *= weight_variance;
    const double n = static_cast<double>(N);
    log_evidence_ = -0.5 * (c.squaredNorm() / weight_variance + G.log_determinant() +
                            n * std::log(weight_variance) + n * log_2pi);
    return;
  }
  // A = ΦᵀΦ/σ² + I/σ_w²; w | y = N(A⁻¹Φᵀy/σ², A⁻¹)
  Matrix A = Matrix::Identity(M, M) / weight_variance;
  syrk(1.0 / noise_variance, Phi, Op::transpose, 1.0, A);
  const Cholesky factor = cholesky(A, "the weight precision");
  const Vector b = multiply(Phi, y, Op::transpose) / noise_variance;
  weights_.mean = factor.solve(b);
  weights_.covariance = factor.inverse();
  const double n = static_cast<double>(N), m = static_cast<double>(M);
  log_evidence_ =
      -0.5 * (y.squaredNorm() / noise_variance - dot(b, weights_.mean) + factor.log_determinant() +
              m * std::log(weight_variance) + n * std::log(noise_variance) + n * log_2pi);
}

Gaussian BasisRegression::predict(ConstMatrix Phi) const {
  if (Phi.cols() != weights_.size())
    throw InputError(
        fmt::format("the basis has {} functions, the model {}", Phi.cols(), weights_.size()));
  return {multiply(Phi, weights_.mean),
          product(product(Phi, weights_.covariance), Phi, Op::none, Op::transpose)};
}

Matrix bump_basis(ConstVector x, ConstVector centres, double width, double height) {
  if (!(width > 0.0)) throw InputError(fmt::format("the width must be positive, got {}", width));
  Matrix Phi(x.size(), centres.size());
  for (Index m = 0; m < centres.size(); ++m)
    for (Index i = 0; i < x.size(); ++i) {
      const double r = (x(i) - centres(m)) / width;
      Phi(i, m) = height * std::exp(-0.5 * r * r);
    }
  return Phi;
}

Matrix polynomial_basis(ConstVector x, int degree) {
  if (degree < 0) throw InputError(fmt::format("the degree must not be negative, got {}", degree));
  Matrix Phi(x.size(), degree + 1);
  Phi.col(0).setOnes();
  for (int k = 1; k <= degree; ++k) Phi.col(k) = Phi.col(k - 1).cwiseProduct(x);
  return Phi;
}

}  // namespace covary
