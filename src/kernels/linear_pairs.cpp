#include "kernels/linear_pairs.hpp"

#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

Matrix weighted_inputs(const TermValues& term, const RowBlock& Z) {
  Matrix V(Z.n, Z.dims);
  for (Index k = 0; k < Z.n; ++k)
    for (Index d = 0; d < Z.dims; ++d) V(k, d) = term.c(d) * Z.row(k)[d];
  return V;
}

Matrix second_moments(const GaussianBlock& x) {
  const Index D = x.mean.dims;
  Matrix T = Matrix::Zero(D, D);
  for (Index i = 0; i < x.mean.n; ++i)
    for (Index d = 0; d < D; ++d) {
      for (Index e = 0; e < D; ++e) T(e, d) += x.mean.row(i)[e] * x.mean.row(i)[d];
      T(d, d) += x.variance[i * D + d];
    }
  return T;
}

}  // namespace

void linear_psi2(const TermValues& term, const RowBlock& Z, const GaussianBlock& x, MatrixOut sum) {
  const Matrix V = weighted_inputs(term, Z);
  const Matrix all = product(product(V, second_moments(x)), V, Op::none, Op::transpose);
  const double factor = term.variance * term.variance;
  for (Index j = 0; j < Z.n; ++j)
    for (Index k = j; k < Z.n; ++k) sum(k, j) += factor * all(k, j);
}

void linear_psi2_pullback(const TermValues& term, const RowBlock& Z, const GaussianBlock& x,
                          ConstMatrix bar, TermBars& term_bar, const GaussianBars& to) {
  const Index D = Z.dims;
  const double factor = term.variance * term.variance;
  const Matrix V = weighted_inputs(term, Z), T = second_moments(x);
  const Matrix along = factor * product(bar, V);  // σ⁴·bar·V
  const Matrix T_bar = product(V, along, Op::transpose), V_bar = 2.0 * product(along, T);
  term_bar.log_variance += 2.0 * frobenius(T_bar, T);
  for (Index k = 0; k < Z.n; ++k)
    for (Index d = 0; d < D; ++d) {
      term_bar.c(d) += V_bar(k, d) * Z.row(k)[d];
      to.z[k * D + d] += V_bar(k, d) * term.c(d);
    }
  for (Index i = 0; i < x.mean.n; ++i)
    for (Index d = 0; d < D; ++d) {
      double slope = 0.0;
      for (Index e = 0; e < D; ++e) slope += T_bar(e, d) * x.mean.row(i)[e];
      to.mean[i * D + d] += 2.0 * slope;
      to.variance[i * D + d] += T_bar(d, d);
    }
}

}  // namespace covary
