#include "covary/kernels/expectations.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/vector_math.hpp"
#include "kernels/se.hpp"

namespace covary {
namespace {

// −¼ Σ_d w_d (z_k − z_j)²: the part of log Ψ2 that is the same for every row, lower triangle.
Matrix pair_exponents(const Vector& w, const RowBlock& Z) {
  Matrix base(Z.n, Z.n);
  for (Index j = 0; j < Z.n; ++j)
    for (Index k = j; k < Z.n; ++k) {
      double sum = 0.0;
      for (Index d = 0; d < Z.dims; ++d) {
        const double e = Z.row(k)[d] - Z.row(j)[d];
        sum += w(d) * e * e;
      }
      base(k, j) = -0.25 * sum;
    }
  return base;
}

}  // namespace

GaussianExpectations::GaussianExpectations(const Kernel& kernel, Index dims) : dims_(dims) {
  int found = 0;
  for (const auto& term : kernel.terms(dims)) {
    if (term.node->is_white()) {
      white_.push_back(term.offset);
    } else if (dynamic_cast<const SquaredExponential*>(term.node.get())) {
      ++found;
      variance_ = term.offset;
      lengths_ = term.offset + 1;
      ard_ = term.node->parameter_count(2) == 3;
    } else {
      found = 2;
    }
  }
  if (found != 1)
    throw Unsupported(fmt::format(
        "{} has no closed expectations under Gaussian inputs here; se and se(ard) have, alone or "
        "with white added",
        kernel.print()));
}

Vector GaussianExpectations::inverse_squares(const double* theta) const {
  Vector w(dims_);
  for (Index d = 0; d < dims_; ++d) {
    const double length = theta[lengths_ + (ard_ ? d : 0)];
    w(d) = 1.0 / (length * length);
  }
  return w;
}

void GaussianExpectations::add_lengths(const double* theta, const Vector& w_bar,
                                       double* theta_bar) const {
  for (Index d = 0; d < dims_; ++d) {
    const Index at = lengths_ + (ard_ ? d : 0);
    theta_bar[at] -= 2.0 * w_bar(d) / (theta[at] * theta[at] * theta[at]);
  }
}

double GaussianExpectations::psi0(const double* theta) const {
  double sum = theta[variance_];
  for (const Index at : white_) sum += theta[at];
  return sum;
}

void GaussianExpectations::psi0_pullback(double bar, double* theta_bar) const {
  theta_bar[variance_] += bar;
  for (const Index at : white_) theta_bar[at] += bar;
}

// ψ1 = σ² Π_d c^−½ exp(−½ w (μ − z)²/c), c = wS + 1
void GaussianExpectations::psi1(const double* theta, const RowBlock& Z, const GaussianBlock& x,
                                double* out) const {
  const Vector w = inverse_squares(theta);
  Vector slope(dims_);
  for (Index i = 0; i < x.mean.n; ++i) {
    double* column = out + i * Z.n;
    double factor = theta[variance_];
    for (Index d = 0; d < dims_; ++d) {
      const double c = w(d) * x.variance[i * dims_ + d] + 1.0;
      factor /= std::sqrt(c);
      slope(d) = -0.5 * w(d) / c;
    }
    for (Index k = 0; k < Z.n; ++k) {
      column[k] = 0.0;
      for (Index d = 0; d < dims_; ++d) {
        const double e = x.mean.row(i)[d] - Z.row(k)[d];
        column[k] += slope(d) * e * e;
      }
    }
    vector_exp(column, column, Z.n);
    for (Index k = 0; k < Z.n; ++k) column[k] *= factor;
  }
}

void GaussianExpectations::psi1_pullback(const double* theta, const RowBlock& Z,
                                         const GaussianBlock& x, const double* bar,
                                         const GaussianBars& to) const {
  const Vector w = inverse_squares(theta);
  Vector w_bar = Vector::Zero(dims_);
  Matrix P(Z.n, x.mean.n);
  psi1(theta, Z, x, P.data());
  for (Index i = 0; i < x.mean.n; ++i) {
    const double* mean = x.mean.row(i);
    for (Index k = 0; k < Z.n; ++k) {
      const double g = bar[i * Z.n + k] * P(k, i);  // by log ψ1
      to.theta[variance_] += g / theta[variance_];
      for (Index d = 0; d < dims_; ++d) {
        const double S = x.variance[i * dims_ + d], c = w(d) * S + 1.0;
        const double e = (mean[d] - Z.row(k)[d]) / c;
        to.mean[i * dims_ + d] -= g * w(d) * e;
        to.z[k * dims_ + d] += g * w(d) * e;
        to.variance[i * dims_ + d] += 0.5 * g * w(d) * (w(d) * e * e - 1.0 / c);
        w_bar(d) -= 0.5 * g * (e * e + S / c);
      }
    }
  }
  add_lengths(theta, w_bar, to.theta);
}

// Ψ2 = σ⁴ Π_d c^−½ exp(−¼w(z − z')² − w(μ − ½(z + z'))²/c), c = 2wS + 1
void GaussianExpectations::one_psi2(const double* theta, const Vector& w, const Matrix& base,
                                    const RowBlock& Z, const GaussianBlock& x, Index i,
                                    Matrix& scratch, Matrix& out) const {
  const Index M = Z.n;
  scratch.resize(M, dims_);  // √(w/4c)·(μ − z): the exponent is a square of sums of two of these
  double factor = theta[variance_] * theta[variance_];
  for (Index d = 0; d < dims_; ++d) {
    const double c = 2.0 * w(d) * x.variance[i * dims_ + d] + 1.0;
    const double root = std::sqrt(0.25 * w(d) / c), mean = x.mean.row(i)[d];
    factor /= std::sqrt(c);
    for (Index k = 0; k < M; ++k) scratch(k, d) = root * (mean - Z.row(k)[d]);
  }
  out.resize(M, M);
  for (Index j = 0; j < M; ++j) {
    double* to = out.data() + j * M;
    std::copy_n(base.data() + j * M + j, M - j, to + j);
    for (Index d = 0; d < dims_; ++d) {
      const double* e = scratch.data() + d * M;
      const double own = e[j];
      for (Index k = j; k < M; ++k) to[k] -= (e[k] + own) * (e[k] + own);
    }
    vector_exp(to + j, to + j, M - j);
    for (Index k = j; k < M; ++k) to[k] *= factor;
  }
}

void GaussianExpectations::psi2(const double* theta, const RowBlock& Z, const GaussianBlock& x,
                                const std::vector<char>& use, MatrixOut sum) const {
  const Vector w = inverse_squares(theta);
  const Matrix base = pair_exponents(w, Z);
  Matrix one, scratch;
  for (Index i = 0; i < x.mean.n; ++i) {
    if (!use[static_cast<std::size_t>(i)]) continue;
    one_psi2(theta, w, base, Z, x, i, scratch, one);
    for (Index j = 0; j < Z.n; ++j)
      for (Index k = j; k < Z.n; ++k) sum(k, j) += one(k, j);
  }
}

void GaussianExpectations::psi2_pullback(const double* theta, const RowBlock& Z,
                                         const GaussianBlock& x, const std::vector<char>& use,
                                         ConstMatrix bar, const GaussianBars& to) const {
  const Index M = Z.n;
  const Vector w = inverse_squares(theta);
  const Matrix base = pair_exponents(w, Z);
  Vector w_bar = Vector::Zero(dims_);
  Matrix G, scratch, with(M, dims_ + 1), sums(M, dims_ + 1);
  for (Index i = 0; i < x.mean.n; ++i) {
    if (!use[static_cast<std::size_t>(i)]) continue;
    one_psi2(theta, w, base, Z, x, i, scratch, G);
    for (Index j = 0; j < M; ++j)
      for (Index k = j; k < M; ++k) G(k, j) = G(j, k) = G(k, j) * bar(k, j);  // by log Ψ2
    // All that is asked of G are its products with one and with e_kd = μ_d − z_kd.
    for (Index d = 0; d < dims_; ++d)
      for (Index k = 0; k < M; ++k) with(k, d) = x.mean.row(i)[d] - Z.row(k)[d];
    with.col(dims_).setOnes();
    gemm(1.0, G, Op::none, with, Op::none, 0.0, sums);
    const auto h = sums.col(dims_);
    const double total = h.sum();
    to.theta[variance_] += 2.0 * total / theta[variance_];
    for (Index d = 0; d < dims_; ++d) {
      const double S = x.variance[i * dims_ + d], c = 2.0 * w(d) * S + 1.0;
      double first = 0.0, own = 0.0, cross = 0.0;  // Σ h e, Σ h e², eᵀGe
      for (Index k = 0; k < M; ++k) {
        const double e = with(k, d), he = h(k) * e, Ge = sums(k, d);
        first += he;
        own += he * e;
        cross += Ge * e;
        to.z[k * dims_ + d] += w(d) * ((he - Ge) + (he + Ge) / c);
      }
      const double middle =
          0.5 * (own + cross);  // ΣG(μ − ½(z + z'))²; ΣG(z − z')² = 2(own − cross)
      to.mean[i * dims_ + d] -= 2.0 * w(d) / c * first;
      to.variance[i * dims_ + d] += w(d) / c * (2.0 * w(d) / c * middle - total);
      w_bar(d) -= 0.5 * (own - cross) + middle / (c * c) + S / c * total;
    }
  }
  add_lengths(theta, w_bar, to.theta);
}

}  // namespace covary
