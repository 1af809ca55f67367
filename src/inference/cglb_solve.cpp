#include <cmath>

#include "covary/linalg/blas.hpp"
#include "inference/cglb.hpp"
#include "inference/kernel_product.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

SweepContext context(const CglbSystem& system) {
  SweepContext c;
  c.features = system.problem.features;
  c.kernel = &system.problem.kernel->node();
  c.theta = system.values.theta.data();
  c.z = system.values.z.data();
  c.noise = system.values.noise;
  c.mean = system.problem.mean;
  c.mean_weights = system.values.mean_weights;
  return c;
}

Eigen::RowVectorXd column_dots(const Matrix& A, const Matrix& B) {
  return A.cwiseProduct(B).colwise().sum();
}

}  // namespace

CglbSystem::CglbSystem(const SparseProblem& p, const SparseValues& v) : problem(p), values(v) {
  const Index N = p.sweep->rows().rows(), P = p.sweep->rows().outputs();
  const SweepContext c = context(*this);
  // Each block writes its own rows of a sum that is zero elsewhere.
  const Vector sums = p.sweep->sum(N * (P + 1), [&]() -> Sweep::Body {
    auto block_values = std::make_shared<BlockValues>(c, *p.sweep);
    return [&, block_values](const DataBlock& block, double* sum) {
      block_values->load(c, block);
      Eigen::Map<Matrix> all(sum, N, P + 1);
      all.block(block.x.first, 0, block.x.n, P) = block_values->r;
      all.block(block.x.first, P, block.x.n, 1) = block_values->s;
    };
  });
  const Eigen::Map<const Matrix> all(sums.data(), N, P + 1);
  y = all.leftCols(P);
  s = all.col(P);
  seen = y.unaryExpr([](double x) { return std::isnan(x) ? 0.0 : 1.0; });
}

Matrix CglbSystem::multiply(ConstMatrix V) const {
  Matrix out = kernel_product(problem.kernel->node(), values.theta.data(), *problem.sweep, V);
  for (Index p = 0; p < V.cols(); ++p) out.col(p) += s.cwiseProduct(V.col(p));
  return out.cwiseProduct(seen);
}

Matrix CglbSystem::outputs() const {
  return y.unaryExpr([](double x) { return std::isnan(x) ? 0.0 : x; });
}

// (Qff + S)⁻¹R = S⁻¹(R − Kfu·H), H = L⁻ᵀB⁻¹L⁻¹·Kuf·S⁻¹R. The solves with L are on M×P alone; they
// lose what cond(L) loses, the root of cond(Kuu).
Matrix solve_sparse(const CglbSystem& system, const SparseEvaluation& factors, ConstMatrix R) {
  const Sweep& sweep = *system.problem.sweep;
  const Features& features = *system.problem.features;
  const Index N = R.rows(), P = R.cols(), M = features.size();
  const double* theta = system.values.theta.data();
  const double* z = system.values.z.data();
  Matrix WR = R.cwiseProduct(system.seen);
  for (Index p = 0; p < P; ++p) WR.col(p).array() /= system.s.array();

  const Vector projected = sweep.sum(M * P, [&]() -> Sweep::Body {
    auto K = std::make_shared<Matrix>(M, sweep.widest());
    return [&, K](const DataBlock& block, double* sum) {
      features.Kuf(theta, z, block.x, K->data());
      Eigen::Map<Matrix> T(sum, M, P);
      gemm(1.0, K->leftCols(block.x.n), Op::none, WR.middleRows(block.x.first, block.x.n), Op::none,
           1.0, T);
    };
  });
  Matrix H = Eigen::Map<const Matrix>(projected.data(), M, P);
  solve_lower(factors.Luu, H);
  for (const SparseFactors& group : factors.factors)
    for (const Index p : group.columns) {
      solve_lower(group.LB, H.col(p));
      solve_lower(group.LB, H.col(p), Op::transpose);
    }
  solve_lower(factors.Luu, H, Op::transpose);

  const Vector fitted = sweep.sum(N * P, [&]() -> Sweep::Body {
    auto K = std::make_shared<Matrix>(M, sweep.widest());
    return [&, K](const DataBlock& block, double* sum) {
      features.Kuf(theta, z, block.x, K->data());
      Eigen::Map<Matrix> F(sum, N, P);
      gemm(1.0, K->leftCols(block.x.n), Op::transpose, H, Op::none, 0.0,
           F.middleRows(block.x.first, block.x.n));
    };
  });
  Matrix out = Eigen::Map<const Matrix>(fitted.data(), N, P);
  for (Index p = 0; p < P; ++p) out.col(p).array() /= system.s.array();
  return (WR - out).cwiseProduct(system.seen);
}

ConjugateGradientResult conjugate_gradients(const CglbSystem& system,
                                            const SparseEvaluation& factors, Matrix& v,
                                            const ConjugateGradientOptions& options) {
  Matrix r = system.outputs();
  if (!v.isZero(0.0)) r -= system.multiply(v);
  Matrix d = solve_sparse(system, factors, r);
  Eigen::RowVectorXd rz = column_dots(r, d);
  ConjugateGradientResult out;
  for (;;) {
    out.solve_gap = 0.5 * rz.sum();
    if (!(out.solve_gap > options.tolerance) || out.iterations == options.max_iterations)
      return out;
    const Matrix Ad = system.multiply(d);
    const Eigen::RowVectorXd curvature = column_dots(d, Ad);
    // A column that has arrived, up to rounding, stays where it is.
    const auto step = [&](Index p) { return rz(p) > 0.0 && curvature(p) > 0.0; };
    for (Index p = 0; p < v.cols(); ++p) {
      if (!step(p)) continue;
      v.col(p) += rz(p) / curvature(p) * d.col(p);
      r.col(p) -= rz(p) / curvature(p) * Ad.col(p);
    }
    ++out.iterations;
    const Matrix preconditioned = solve_sparse(system, factors, r);
    const Eigen::RowVectorXd next = column_dots(r, preconditioned);
    for (Index p = 0; p < v.cols(); ++p)
      d.col(p) = preconditioned.col(p) + (step(p) ? next(p) / rz(p) : 0.0) * d.col(p);
    rz = next;
  }
}

}  // namespace covary
