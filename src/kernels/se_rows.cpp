#include "kernels/se_rows.hpp"

#include <algorithm>
#include <cmath>

namespace covary {
namespace {

// A row whose square is of this size loses 3e-13 of a value. One of a point may be larger: where it
// costs more digits the point is so far from such a row that the value is less than 1e-50. Only its
// square must be a number.
constexpr double largest_exponent = 700.0, largest_point = 1e100;
// A product of many factors goes through the logarithm before it overflows.
constexpr double large_product = 1e200;
constexpr double nothing = -1e4;  // whose exponential is zero

double square(double x) { return x * x; }

// Σ w (z − centre)² of the furthest; not a number if one is not.
double furthest(const RowBlock& Z, const Vector& w, const Vector& centre) {
  double out = 0.0;
  for (Index k = 0; k < Z.n; ++k) {
    double sum = 0.0;
    for (Index d = 0; d < Z.dims; ++d) sum += w(d) * square(Z.row(k)[d] - centre(d));
    if (std::isnan(sum)) return sum;
    out = std::max(out, sum);
  }
  return out;
}

// The mean, unless it has been drawn away by inducing inputs that training has lost: the medians.
Vector middle(const RowBlock& Z, const Vector& w) {
  Vector out = Vector::Zero(Z.dims);
  for (Index k = 0; k < Z.n; ++k)
    for (Index d = 0; d < Z.dims; ++d) out(d) += Z.row(k)[d] / static_cast<double>(Z.n);
  if (!(furthest(Z, w, out) > largest_exponent))
    return out;  // nor is there a median of what is
                 // not a number
  Vector column(Z.n);
  for (Index d = 0; d < Z.dims; ++d) {
    for (Index k = 0; k < Z.n; ++k) column(k) = Z.row(k)[d];
    std::nth_element(column.begin(), column.begin() + Z.n / 2, column.end());
    out(d) = column(Z.n / 2);
  }
  return out;
}

}  // namespace

SeRows::SeRows(const TermValues& term, const RowBlock& Z, double kappa)
    : loops_(pair_loops()),
      term_(term),
      kappa_(kappa),
      D_(Z.dims),
      M_(Z.n),
      padded_((Z.n + simd::pair_tile - 1) / simd::pair_tile * simd::pair_tile),
      centre_(middle(Z, term.w)),
      spread_(furthest(Z, term.w, centre_)),
      points_(Z.n, Z.dims),
      of_points_(RowMatrix::Zero(padded_, 2 * Z.dims + 1)) {
  for (Index k = 0; k < M_; ++k) {
    for (Index d = 0; d < D_; ++d) {
      const double z = Z.row(k)[d] - centre_(d), scaled = z / kappa_;
      points_(k, d) = z;
      of_points_(k, d) = scaled;
      of_points_(k, D_ + d) = scaled * scaled;
    }
    of_points_(k, 2 * D_) = 1.0;
  }
}

bool SeRows::holds(const GaussianBlock& x) const {
  if (!(spread_ <= largest_point)) return false;
  for (Index i = 0; i < x.mean.n; ++i) {
    double most = 0.0, sum = 0.0;  // without the division by C ≥ 1, which seldom decides, and with
    for (Index d = 0; d < D_; ++d) most += term_.w(d) * square(x.mean.row(i)[d] - centre_(d));
    if (most <= largest_exponent) continue;
    for (Index d = 0; d < D_; ++d)
      sum += term_.w(d) * square(x.mean.row(i)[d] - centre_(d)) /
             (1.0 + kappa_ * term_.w(d) * x.variance[i * D_ + d]);
    if (!(sum <= largest_exponent)) return false;
  }
  return true;
}

Index SeRows::groups(const GaussianBlock& x) {
  return (x.mean.n + simd::pair_rows - 1) / simd::pair_rows;
}

void SeRows::evaluate(const GaussianBlock& x, Index first_group) {
  const Index n = x.mean.n, K = 2 * D_ + 1, all = groups(x), rows = all * simd::pair_rows;
  of_rows_.reserve(rows * K);
  slopes_.reserve(rows * D_);
  exponents_.reserve(rows * padded_);
  for (Index i = n; i < rows; ++i) {
    for (Index d = 0; d < D_; ++d) slopes_.data()[at(i, d, D_)] = 0.0;
    for (Index q = 0; q < K; ++q) of_rows_.data()[at(i, q, K)] = q < 2 * D_ ? 0.0 : nothing;
  }
  for (Index i = 0; i < n; ++i) {
    double constant = 0.0, determinant = 1.0;
    double* of_row = of_rows_.data() + at(i, 0, K);
    for (Index d = 0; d < D_; ++d) {
      const double C = 1.0 + kappa_ * term_.w(d) * x.variance[i * D_ + d];
      const double a = 0.5 * kappa_ * term_.w(d) / C, mean = x.mean.row(i)[d] - centre_(d);
      slopes_.data()[at(i, d, D_)] = a;
      of_row[d * simd::pair_rows] = 2.0 * a * mean;
      of_row[(D_ + d) * simd::pair_rows] = -a;
      constant -= a * mean * mean;
      determinant *= C;
      if (determinant > large_product) {
        constant -= 0.5 * std::log(determinant);
        determinant = 1.0;
      }
    }
    of_row[2 * D_ * simd::pair_rows] = (constant - 0.5 * std::log(determinant)) / kappa_;
  }
  const Index first = first_group * simd::pair_rows;
  loops_.point_products(
      chunk(), of_rows_.data() + first * K,
      {all - first_group, padded_ * simd::pair_rows, exponents_.data() + first * padded_});
}

void SeRows::pullback(const GaussianBlock& x, const double* exponents_bar, const double* slopes_bar,
                      TermBars& term_bar, const GaussianBars& to) {
  const Index K = 2 * D_ + 1, all = groups(x);
  by_rows_.reserve(all * simd::pair_rows * K);
  std::fill_n(by_rows_.data(), all * simd::pair_rows * K, 0.0);
  RowMatrix by_points = RowMatrix::Zero(padded_, K);
  loops_.point_pullback(chunk(),
                        {all, padded_ * simd::pair_rows, const_cast<double*>(exponents_bar)},
                        of_rows_.data(), by_rows_.data(), by_points.data());
  for (Index i = 0; i < x.mean.n; ++i) {
    const double* of_row = by_rows_.data() + at(i, 0, K);
    const double total = of_row[2 * D_ * simd::pair_rows] / kappa_;  // by c
    term_bar.log_variance += kappa_ * total;
    for (Index d = 0; d < D_; ++d) {
      const Index entry = i * D_ + d;
      const double S = x.variance[entry], a = slopes_.data()[at(i, d, D_)],
                   inverse = 1.0 / (1.0 + kappa_ * term_.w(d) * S);  // a = ½κw·inverse
      const double mean = x.mean.row(i)[d] - centre_(d), along = of_row[d * simd::pair_rows];
      const double a_bar = 2.0 * mean * along - of_row[(D_ + d) * simd::pair_rows] -
                           mean * mean * total + (slopes_bar ? slopes_bar[at(i, d, D_)] : 0.0);
      to.mean[entry] += 2.0 * a * (along - mean * total);
      to.variance[entry] -= a * (2.0 * a * a_bar + total);
      term_bar.w(d) += 0.5 * kappa_ * inverse * (a_bar * inverse - S * total);
    }
  }
  for (Index k = 0; k < M_; ++k)
    for (Index d = 0; d < D_; ++d)
      to.z[k * D_ + d] +=
          (by_points(k, d) + 2.0 * by_points(k, D_ + d) * of_points_(k, d)) / kappa_;
}

}  // namespace covary
