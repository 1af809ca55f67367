#include "kernels/se_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/vector_math.hpp"

namespace covary {
namespace {

// Exponents of this size lose 3e-13 of the value.
constexpr double largest_exponent = 700.0;
// Doubles of a tile of values: half a second-level cache.
constexpr Index tile = 1 << 16;

}  // namespace

SePairs::SePairs(const TermValues& term, const RowBlock& Z)
    : term_(term),
      Z_(Z),
      D_(Z.dims),
      M_(Z.n),
      pairs_(Z.n * (Z.n + 1) / 2),
      width_(std::clamp<Index>(tile / std::max<Index>(1, pairs_), 4, 64)),
      centre_(Vector::Zero(Z.dims)),
      of_pairs_(pairs_, 2 * Z.dims + 2),
      of_rows_(2 * Z.dims + 2, width_),
      values_(pairs_, width_) {
  for (Index k = 0; k < M_; ++k)
    for (Index d = 0; d < D_; ++d) centre_(d) += Z.row(k)[d] / static_cast<double>(M_);
  spread_ = 0.0;
  for (Index k = 0; k < M_; ++k) {
    double sum = 0.0;
    for (Index d = 0; d < D_; ++d) sum += term.w(d) * std::pow(Z.row(k)[d] - centre_(d), 2);
    spread_ = std::max(spread_, sum);
  }
  Index p = 0;
  for (Index j = 0; j < M_; ++j)
    for (Index k = j; k < M_; ++k, ++p) {
      double apart = 0.0;
      for (Index d = 0; d < D_; ++d) {
        const double a = Z.row(k)[d], b = Z.row(j)[d], middle = 0.5 * (a + b) - centre_(d);
        of_pairs_(p, d) = middle;
        of_pairs_(p, D_ + d) = middle * middle;
        apart += term.w(d) * (a - b) * (a - b);
      }
      of_pairs_(p, 2 * D_) = 1.0;
      of_pairs_(p, 2 * D_ + 1) = -0.25 * apart;
    }
}

bool SePairs::holds(const GaussianBlock& x) const {
  if (spread_ > largest_exponent) return false;
  for (Index i = 0; i < x.mean.n; ++i) {
    double sum = 0.0;
    for (Index d = 0; d < D_; ++d) {
      const double C = 1.0 + 2.0 * term_.w(d) * x.variance[i * D_ + d];
      sum += term_.w(d) / C * std::pow(x.mean.row(i)[d] - centre_(d), 2);
    }
    if (!(sum <= largest_exponent)) return false;
  }
  return true;
}

void SePairs::evaluate(const GaussianBlock& x, Index first, Index n) {
  for (Index i = 0; i < n; ++i) {
    double constant = 0.0, determinant = 1.0;
    for (Index d = 0; d < D_; ++d) {
      const double C = 1.0 + 2.0 * term_.w(d) * x.variance[(first + i) * D_ + d];
      const double a = term_.w(d) / C, mean = x.mean.row(first + i)[d] - centre_(d);
      of_rows_(d, i) = 2.0 * a * mean;
      of_rows_(D_ + d, i) = -a;
      constant -= a * mean * mean;
      determinant *= C;
    }
    of_rows_(2 * D_, i) = constant - 0.5 * std::log(determinant);
    of_rows_(2 * D_ + 1, i) = 1.0;
  }
  gemm(1.0, of_pairs_, Op::none, of_rows_.leftCols(n), Op::none, 0.0, values_.leftCols(n));
  vector_exp(values_.data(), values_.data(), pairs_ * n, 1.0, term_.variance * term_.variance);
}

void SePairs::psi2(const GaussianBlock& x, MatrixOut sum) {
  Vector total = Vector::Zero(pairs_);
  for (Index first = 0; first < x.mean.n; first += width_) {
    const Index n = std::min(width_, x.mean.n - first);
    evaluate(x, first, n);
    for (Index i = 0; i < n; ++i) total += values_.col(i);
  }
  Index p = 0;
  for (Index j = 0; j < M_; ++j)
    for (Index k = j; k < M_; ++k) sum(k, j) += total(p++);
}

void SePairs::pullback(const GaussianBlock& x, ConstMatrix bar, TermBars& term_bar,
                       const GaussianBars& to) {
  Vector weight(pairs_);  // a pair off the diagonal stands for two entries
  Index p = 0;
  for (Index j = 0; j < M_; ++j)
    for (Index k = j; k < M_; ++k) weight(p++) = k == j ? bar(k, k) : 2.0 * bar(k, j);

  // Of G = ∂/∂log Ψ2, pairs × rows, only the products with what pairs and rows have are needed.
  Matrix by_rows(2 * D_ + 1, width_), by_pairs = Matrix::Zero(pairs_, 2 * D_ + 1);
  for (Index first = 0; first < x.mean.n; first += width_) {
    const Index n = std::min(width_, x.mean.n - first);
    evaluate(x, first, n);
    for (Index i = 0; i < n; ++i)
      vector_product(1.0, values_.col(i).data(), weight.data(), values_.col(i).data(), pairs_);
    gemm(1.0, of_pairs_.leftCols(2 * D_ + 1), Op::transpose, values_.leftCols(n), Op::none, 0.0,
         by_rows.leftCols(n));
    for (Index i = 0; i < n; ++i) {
      const double total = by_rows(2 * D_, i);
      term_bar.log_variance += 2.0 * total;
      for (Index d = 0; d < D_; ++d) {
        const double w = term_.w(d), S = x.variance[(first + i) * D_ + d], C = 1.0 + 2.0 * w * S;
        const double mean = x.mean.row(first + i)[d] - centre_(d), along = by_rows(d, i);
        const double squares =  // ΣG(μ − z̄)²
            mean * mean * total - 2.0 * mean * along + by_rows(D_ + d, i);
        const Index at = (first + i) * D_ + d;
        to.mean[at] += 2.0 * w / C * (along - mean * total);
        to.variance[at] += w / C * (2.0 * w / C * squares - total);
        term_bar.w(d) -= squares / (C * C) + S / C * total;
      }
    }
    // 2aμ, −a and 1 are what the pairs see; the row of constants is not one of them.
    of_rows_.row(2 * D_).setOnes();
    gemm(1.0, values_.leftCols(n), Op::none, of_rows_.topLeftCorner(2 * D_ + 1, n), Op::transpose,
         1.0, by_pairs);
  }
  p = 0;
  for (Index j = 0; j < M_; ++j)
    for (Index k = j; k < M_; ++k, ++p) {
      const double total = by_pairs(p, 2 * D_);
      for (Index d = 0; d < D_; ++d) {
        const double apart = Z_.row(k)[d] - Z_.row(j)[d];
        const double middle_bar = by_pairs(p, d) + 2.0 * by_pairs(p, D_ + d) * of_pairs_(p, d);
        const double apart_bar = -0.5 * term_.w(d) * apart * total;
        to.z[k * D_ + d] += 0.5 * middle_bar + apart_bar;
        to.z[j * D_ + d] += 0.5 * middle_bar - apart_bar;
        term_bar.w(d) -= 0.25 * apart * apart * total;
      }
    }
}

}  // namespace covary
