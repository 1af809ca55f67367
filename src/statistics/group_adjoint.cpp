#include "covary/linalg/blas.hpp"
#include "statistics/group_block.hpp"

namespace covary {
namespace {

// X ← D⁻¹XD⁻¹ by the factor of D.
void solve_both(const Matrix& LD, Matrix& X) {
  solve_lower(LD, X);
  solve_lower(LD, X, Op::transpose);
  solve_lower_right(LD, X, Op::transpose);
  solve_lower_right(LD, X);
}

}  // namespace

// With W = D⁻¹ a group adds ½P·log|W| − ½tr(rᵀWr) to F and AWAᵀ, AWr to C and beta. So
//   W̄ = ½AᵀQA + ½(r(Aᵀb)ᵀ + (Aᵀb)rᵀ) + ½P·D − ½rrᵀ,   D̄ = −WW̄W,   Ā = QAW + b(Wr)ᵀ − 2AD̄.
void group_adjoint(const SweepContext& c, const std::vector<Index>& starts, const Sweep& sweep,
                   const std::vector<WeightedAdjoint>& adjoints, SweepGradient& out) {
  const Index M = c.features->size(), T = out.theta_bar.size(), Z = out.z_bar.size();
  const Index N = sweep.rows().rows(), B = c.mean_weights.rows(), P = sweep.rows().outputs();
  if (out.want_point_noise) out.point_noise_bar.resize(N);

  const Vector sums = sweep.sum(T + Z + 1 + B * P + M * M, [&]() -> Sweep::Body {
    auto v = std::make_shared<BlockValues>(c, sweep);
    auto K_bar = std::make_shared<Matrix>(M, sweep.widest());
    return [&, v, K_bar](const DataBlock& block, double* sum) {
      v->load(c, block);
      auto all = v->Kuf();
      solve_lower(c.Luu, all);
      auto bars = K_bar->leftCols(v->n);
      bars.setZero();
      RowMatrix r_bar = RowMatrix::Zero(v->n, P);
      double* tail = sum + T + Z;
      Eigen::Map<Matrix> residual(tail + 1 + B * P, M, M);
      for_groups(starts, N, block, [&](const GroupRows& group) {
        const Index n = group.x.n;
        const auto A = all.middleCols(group.at, n);
        auto A_bar = bars.middleCols(group.at, n);
        const Matrix D = residual_block(c, group.x, A, v->s.segment(group.at, n));
        Matrix D_bar = Matrix::Zero(n, n);
        for (const auto& adjoint : adjoints) {
          const auto& cols = adjoint.columns;
          const SeenGroup seen(A, v->r.middleRows(group.at, n), D, cols, group.x.first);
          Matrix QA = product(adjoint.Q, seen.A);
          Matrix fit = product(seen.A, adjoint.b, Op::transpose);  // what the features predict
          const Matrix h = fit - 0.5 * seen.r;
          Matrix X = product(seen.A, QA, Op::transpose);  // W̄ without the term of D, twice
          gemm(1.0, seen.r, Op::none, h, Op::transpose, 1.0, X);
          gemm(1.0, h, Op::none, seen.r, Op::transpose, 1.0, X);
          solve_both(seen.LD, X);
          X += static_cast<double>(cols.size()) * Cholesky{seen.LD}.inverse();
          for (const Index i : seen.missing) {
            X.row(i).setZero();
            X.col(i).setZero();
          }
          D_bar -= 0.25 * (X + X.transpose());

          Matrix Wr = seen.r;
          solve_lower(seen.LD, Wr);
          solve_lower(seen.LD, Wr, Op::transpose);
          solve_lower_right(seen.LD, QA, Op::transpose);
          solve_lower_right(seen.LD, QA);
          A_bar += QA;
          gemm(1.0, adjoint.b, Op::none, Wr, Op::transpose, 1.0, A_bar);
          solve_lower(seen.LD, fit);
          solve_lower(seen.LD, fit, Op::transpose);
          r_bar.middleRows(group.at, n)(Eigen::all, cols) = fit - Wr;
        }
        const Matrix AD = product(A, D_bar);
        gemm(1.0, AD, Op::none, A, Op::transpose, 1.0, residual);
        A_bar -= 2.0 * AD;
        c.kernel->pullback(c.theta, {group.x, group.x, true}, D_bar.data(), sum, nullptr, nullptr);
        tail[0] += D_bar.trace();
        if (out.want_point_noise) out.point_noise_bar.segment(group.x.first, n) = D_bar.diagonal();
      });
      if (B > 0) {
        Eigen::Map<Matrix> W_bar(tail + 1, B, P);
        gemm(-1.0, v->basis, Op::transpose, Matrix(r_bar), Op::none, 1.0, W_bar);
      }
      solve_lower(c.Luu, bars, Op::transpose);
      c.features->Kuf_pullback(c.theta, c.z, block.x, nullptr, bars.data(), sum, sum + T, nullptr);
    };
  });

  const double* tail = sums.data() + T + Z;
  out.theta_bar += sums.head(T);
  out.z_bar += sums.segment(T, Z);
  out.noise_bar += tail[0];
  if (B > 0) {
    if (out.mean_bar.size() == 0) out.mean_bar = Matrix::Zero(B, P);
    out.mean_bar += Eigen::Map<const Matrix>(tail + 1, B, P);
  }
  out.residual = Eigen::Map<const Matrix>(tail + 1 + B * P, M, M);
}

}  // namespace covary
