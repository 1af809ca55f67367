#include <cmath>

#include "covary/linalg/blas.hpp"
#include "inference/collapsed.hpp"
#include "inference/upper_bound.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

// α = (Qff + S + cI)⁻¹r at the rows of a block, zero where nothing was observed: n×P.
Matrix weighted_residual(const BlockValues& v, ConstMatrix A, const std::vector<Index>& columns,
                         ConstMatrix b, double constant) {
  Matrix alpha(v.n, b.cols());
  gemm(-1.0, A, Op::transpose, b, Op::none, 0.0, alpha);
  for (Index p = 0; p < b.cols(); ++p)
    for (Index i = 0; i < v.n; ++i) {
      const double r = v.r(i, columns[static_cast<std::size_t>(p)]);
      alpha(i, p) = std::isnan(r) ? 0.0 : (alpha(i, p) + r) / (v.s(i) + constant);
    }
  return alpha;
}

// ∂U/∂c = ½|α|² of each group. It weighs the trace, so it must be known before the main sweep.
Vector constants_bar(const SparseProblem& p, const SweepContext& c, const Vector& constants,
                     const std::vector<Matrix>& b) {
  return p.sweep->sum(constants.size(), [&]() -> Sweep::Body {
    auto v = std::make_shared<BlockValues>(c, *p.sweep);
    return [&, v](const DataBlock& block, double* sum) {
      v->load(c, block);
      auto A = v->Kuf();
      solve_lower(c.Luu, A);
      for (std::size_t g = 0; g < b.size(); ++g) {
        const double constant = constants(static_cast<Index>(g));
        sum[g] += 0.5 * weighted_residual(*v, A, p.columns[g], b[g], constant).squaredNorm();
      }
    };
  });
}

}  // namespace

// With a_n = L⁻¹k_n, w = 1/s, B = I + Σ w a aᵀ and c̄ = ∂U/∂c, a group of P columns gives
//   ā_n = −P·w·B⁻¹a_n + bα_n − 2c̄·a_n,   k̄_nn = c̄,   r̄ = −α,   s̄ = −½P(w − w²·aᵀB⁻¹a) + ½|α_n|².
void trace_upper_bound_pullback(const SparseProblem& p, const SparseValues& v,
                                const UpperBoundBase& base, const Vector& constants,
                                const std::vector<Matrix>& b, SweepGradient& out) {
  const SweepContext& c = base.context;
  const Index M = c.features->size(), T = v.theta.size(), Z = v.z.size();
  const Index basis = c.mean_weights.rows(), P = p.sweep->rows().outputs();
  const Vector c_bar = constants_bar(p, c, constants, b);
  start_gradient(v, out);
  if (out.want_point_noise) out.point_noise_bar.resize(p.sweep->rows().rows());

  const Vector sums = p.sweep->sum(T + Z + 1 + basis * P + M * M, [&]() -> Sweep::Body {
    auto values = std::make_shared<BlockValues>(c, *p.sweep);
    auto A_bar = std::make_shared<Matrix>(M, p.sweep->widest());
    auto scratch = std::make_shared<Matrix>();
    return [&, values, A_bar, scratch](const DataBlock& block, double* sum) {
      values->load(c, block);
      const Index n = values->n;
      auto A = values->Kuf();
      solve_lower(c.Luu, A);
      auto bar = A_bar->leftCols(n);
      bar.setZero();
      Vector s_bar = Vector::Zero(n), k_bar = Vector::Zero(n);
      Matrix alphas = Matrix::Zero(n, P);
      for (std::size_t g = 0; g < b.size(); ++g) {
        const auto& columns = p.columns[g];
        const double of_trace = c_bar(static_cast<Index>(g));
        const Matrix alpha =
            weighted_residual(*values, A, columns, b[g], constants(static_cast<Index>(g)));
        for (std::size_t q = 0; q < columns.size(); ++q)
          alphas.col(columns[q]) = alpha.col(static_cast<Index>(q));
        *scratch = A;  // LB⁻¹A, then B⁻¹A
        solve_lower(base.LB[g], *scratch);
        const Vector quadratic = scratch->colwise().squaredNorm();
        solve_lower(base.LB[g], *scratch, Op::transpose);
        const auto outputs = static_cast<double>(columns.size());
        for (Index i = 0; i < n; ++i) {
          if (std::isnan(values->r(i, columns.front()))) continue;
          const double w = 1.0 / values->s(i);
          s_bar(i) +=
              -0.5 * outputs * w * (1.0 - w * quadratic(i)) + 0.5 * alpha.row(i).squaredNorm();
          k_bar(i) += of_trace;
          bar.col(i) -= outputs * w * scratch->col(i) + 2.0 * of_trace * A.col(i);
        }
        gemm(1.0, b[g], Op::none, alpha, Op::transpose, 1.0, bar);
      }
      double* at = sum + T + Z;
      at[0] += s_bar.sum();
      if (out.want_point_noise)
        std::copy_n(s_bar.data(), n, out.point_noise_bar.data() + block.x.first);
      if (basis > 0) {
        Eigen::Map<Matrix> weights_bar(at + 1, basis, P);
        gemm(1.0, values->basis, Op::transpose, alphas, Op::none, 1.0, weights_bar);
      }
      Eigen::Map<Matrix> S(at + 1 + basis * P, M, M);
      gemm(1.0, bar, Op::none, A, Op::transpose, 1.0, S);
      solve_lower(c.Luu, bar, Op::transpose);
      c.features->Kuf_pullback(c.theta, c.z, block.x, nullptr, bar.data(), sum, sum + T, nullptr);
      c.kernel->diagonal_pullback(c.theta, block.x, k_bar.data(), sum, nullptr);
    };
  });

  out.theta_bar += sums.head(T);
  out.z_bar += sums.segment(T, Z);
  out.noise_bar += sums(T + Z);
  if (basis > 0) out.mean_bar += Eigen::Map<const Matrix>(sums.data() + T + Z + 1, basis, P);
  add_Kuu_gradient(*p.features, v, c.Luu,
                   Eigen::Map<const Matrix>(sums.data() + T + Z + 1 + basis * P, M, M), out);
}

}  // namespace covary
