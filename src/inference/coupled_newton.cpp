#include "inference/coupled_newton.hpp"

namespace covary {
namespace {

double inner(const Matrix& r, const Matrix& d) { return r.cwiseProduct(d.topRows(r.rows())).sum(); }

}  // namespace

Matrix coupled_step(Matrix r, const BlockMap& precondition, const BlockMap& apply) {
  constexpr int most = 100;
  constexpr double enough = 1e-6;  // of the squared length
  Matrix z = precondition(r), d = z, step = Matrix::Zero(z.rows(), z.cols());
  double length = inner(r, z);
  const double first = length;
  for (int i = 0; i < most && length > enough * first; ++i) {
    const Matrix Pd = apply(d);
    const double curvature = inner(Pd, d);
    if (!(curvature > 0.0)) return i == 0 ? z : step;
    const double far = length / curvature;
    step += far * d;
    r -= far * Pd;
    z = precondition(r);
    const double next = inner(r, z);
    d = z + (next / length) * d;
    length = next;
  }
  return step;
}

void add_coupled(const Matrix& coupling, const Matrix& d, double factor, Matrix& out) {
  const Index L = d.cols();
  for (Index k = 0, pair = 0; k < L; ++k)
    for (Index l = k + 1; l < L; ++l, ++pair) {
      out.col(k).array() += factor * coupling.col(pair).array() * d.col(l).array();
      out.col(l).array() += factor * coupling.col(pair).array() * d.col(k).array();
    }
}

}  // namespace covary
