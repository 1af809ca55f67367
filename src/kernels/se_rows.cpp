#include "kernels/se_rows.hpp"

#include <algorithm>
#include <cmath>

#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

// Exponents of this size lose 3e-13 of the value.
constexpr double largest_exponent = 700.0;
// A product of many factors goes through the logarithm before it overflows.
constexpr double large_product = 1e200;

}  // namespace

SeRows::SeRows(const TermValues& term, const RowBlock& Z, double kappa)
    : term_(term),
      kappa_(kappa),
      D_(Z.dims),
      M_(Z.n),
      centre_(Vector::Zero(Z.dims)),
      spread_(0.0),
      points_(Z.n, Z.dims),
      of_points_(Z.n, 2 * Z.dims + 1) {
  for (Index k = 0; k < M_; ++k)
    for (Index d = 0; d < D_; ++d) centre_(d) += Z.row(k)[d] / static_cast<double>(M_);
  for (Index k = 0; k < M_; ++k) {
    double sum = 0.0;
    for (Index d = 0; d < D_; ++d) {
      const double z = Z.row(k)[d] - centre_(d), scaled = z / kappa_;
      points_(k, d) = z;
      of_points_(k, d) = scaled;
      of_points_(k, D_ + d) = scaled * scaled;
      sum += term.w(d) * z * z;
    }
    of_points_(k, 2 * D_) = 1.0;
    spread_ = std::max(spread_, sum);
  }
}

bool SeRows::holds(const GaussianBlock& x) const {
  if (!(spread_ <= largest_exponent)) return false;
  for (Index i = 0; i < x.mean.n; ++i) {
    double sum = 0.0;
    for (Index d = 0; d < D_; ++d) {
      const double C = 1.0 + kappa_ * term_.w(d) * x.variance[i * D_ + d];
      const double mean = x.mean.row(i)[d] - centre_(d);
      sum += term_.w(d) / C * mean * mean;
    }
    if (!(sum <= largest_exponent)) return false;
  }
  return true;
}

void SeRows::evaluate(const GaussianBlock& x) {
  const Index n = x.mean.n;
  of_rows_.resize(2 * D_ + 1, n);
  slopes_.resize(D_, n);
  exponents_.resize(M_, n);
  for (Index i = 0; i < n; ++i) {
    double constant = 0.0, determinant = 1.0;
    for (Index d = 0; d < D_; ++d) {
      const double C = 1.0 + kappa_ * term_.w(d) * x.variance[i * D_ + d];
      const double a = 0.5 * kappa_ * term_.w(d) / C, mean = x.mean.row(i)[d] - centre_(d);
      slopes_(d, i) = a;
      of_rows_(d, i) = 2.0 * a * mean;
      of_rows_(D_ + d, i) = -a;
      constant -= a * mean * mean;
      determinant *= C;
      if (determinant > large_product) {
        constant -= 0.5 * std::log(determinant);
        determinant = 1.0;
      }
    }
    of_rows_(2 * D_, i) = (constant - 0.5 * std::log(determinant)) / kappa_;
  }
  gemm(1.0, of_points_, Op::none, of_rows_, Op::none, 0.0, exponents_);
}

void SeRows::pullback(const GaussianBlock& x, ConstMatrix exponents_bar, const Matrix* slopes_bar,
                      TermBars& term_bar, const GaussianBars& to) {
  const Matrix by_rows = product(of_points_, exponents_bar, Op::transpose);
  for (Index i = 0; i < x.mean.n; ++i) {
    const double total = by_rows(2 * D_, i) / kappa_;  // by c
    term_bar.log_variance += kappa_ * total;
    for (Index d = 0; d < D_; ++d) {
      const Index at = i * D_ + d;
      const double w = term_.w(d), S = x.variance[at], C = 1.0 + kappa_ * w * S, a = slopes_(d, i);
      const double mean = x.mean.row(i)[d] - centre_(d), along = by_rows(d, i);
      const double a_bar = 2.0 * mean * along - by_rows(D_ + d, i) - mean * mean * total +
                           (slopes_bar ? (*slopes_bar)(d, i) : 0.0);
      to.mean[at] += 2.0 * a * (along - mean * total);
      to.variance[at] -= kappa_ * w / C * (a * a_bar + 0.5 * total);
      term_bar.w(d) += 0.5 * kappa_ / C * (a_bar / C - S * total);
    }
  }
  const Matrix by_points =
      product(exponents_bar, of_rows_.topRows(2 * D_), Op::none, Op::transpose);
  for (Index k = 0; k < M_; ++k)
    for (Index d = 0; d < D_; ++d)
      to.z[k * D_ + d] +=
          (by_points(k, d) + 2.0 * by_points(k, D_ + d) * of_points_(k, d)) / kappa_;
}

}  // namespace covary
