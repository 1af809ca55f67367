#include "statistics/mixing.hpp"

#include "covary/linalg/blas.hpp"

namespace covary {

void Mixing::forward(const FunctionValues& f, FunctionValues& g) const {
  g.mean = product(f.mean, W, Op::none, Op::transpose);
  g.variance = product(f.variance, W.cwiseAbs2(), Op::none, Op::transpose);
}

void Mixing::pullback(FunctionValues& f, const FunctionValues& g, double* W_bar) const {
  f.mean_bar = product(g.mean_bar, W);
  f.variance_bar = product(g.variance_bar, W.cwiseAbs2());
  if (!W_bar) return;
  Eigen::Map<Matrix> to(W_bar, W.rows(), W.cols());
  gemm(1.0, g.mean_bar, Op::transpose, f.mean, Op::none, 1.0, to);
  to += 2.0 * W.cwiseProduct(product(g.variance_bar, f.variance, Op::transpose));
}

Matrix Mixing::couplings(const FunctionValues& g, Index L, Index F) const {
  const Index A = g.mean_bar.cols(), own = L * (L - 1) / 2;
  const auto weight = [&](Index a, Index f) {
    return is_identity() ? (a == f ? 1.0 : 0.0) : W(a, f);
  };
  Matrix out = Matrix::Zero(g.mean_bar.rows(), F * (F - 1) / 2);
  for (Index k = 0, pair = 0; k < F; ++k)
    for (Index l = k + 1; l < F; ++l, ++pair)
      for (Index a = 0; a < A; ++a) {
        if (const double w = weight(a, k) * weight(a, l); w != 0.0)
          out.col(pair) += 2.0 * w * g.variance_bar.col(a);
        if (own == 0) continue;
        // Argument b > a of the same datum.
        const Index first = a / L * L;
        Index at = a / L * own;
        for (Index i = 0; i < a - first; ++i) at += L - 1 - i;
        for (Index b = a + 1; b < first + L; ++b, ++at)
          if (const double w = weight(a, k) * weight(b, l) + weight(b, k) * weight(a, l); w != 0.0)
            out.col(pair) += w * g.coupling.col(at);
      }
  return out;
}

}  // namespace covary
