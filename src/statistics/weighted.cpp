#include "covary/statistics/weighted.hpp"

#include <algorithm>
#include <cmath>

#include "covary/linalg/blas.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

// The layout of a lane's sum: for each group of columns C, beta and the scalars.
constexpr Index scalars = 6;
Index group_size(Index M, Index P) { return M * M + M * P + scalars; }

}  // namespace

std::vector<WeightedStatistics> weighted_statistics(const SweepContext& c, const RowRule& rule,
                                                    const Sweep& sweep,
                                                    const std::vector<std::vector<Index>>& columns,
                                                    Forward forward) {
  const Index M = c.features->size();
  const auto groups = static_cast<Index>(columns.size());
  Index size = 0;
  for (const auto& group : columns) size += group_size(M, static_cast<Index>(group.size()));
  const bool solve = forward == Forward::solve;

  const Vector sums = sweep.sum(size, [&]() -> Sweep::Body {
    auto v = std::make_shared<BlockValues>(c, sweep);
    auto copy = std::make_shared<Matrix>();
    return [&, v, copy](const DataBlock& block, double* sum) {
      v->load(c, block);
      const Index n = v->n;
      auto A = v->Kuf();
      if (solve) solve_lower(c.Luu, A);
      Vector d = v->k;  // without the solve the difference is taken at the end
      if (solve) d = (v->k - A.colwise().squaredNorm().transpose()).cwiseMax(0.0);
      double* at = sum;
      for (Index g = 0; g < groups; ++g) {
        const auto& cols = columns[static_cast<std::size_t>(g)];
        const auto P = static_cast<Index>(cols.size());
        Eigen::Map<Matrix> C(at, M, M), beta(at + M * M, M, P);
        double* x = at + M * M + M * P;
        Vector root(n);
        Matrix wr(n, P);
        for (Index i = 0; i < n; ++i) {
          const bool seen = !std::isnan(v->r(i, cols.front()));
          const RowRule::Row row = rule(d(i), v->s(i));
          root(i) = seen ? std::sqrt(row.w) : 0.0;
          for (Index p = 0; p < P; ++p)
            wr(i, p) = seen ? root(i) * v->r(i, cols[static_cast<std::size_t>(p)]) : 0.0;
          if (!seen) continue;
          x[0] += 1.0;
          x[1] += wr.row(i).squaredNorm();
          x[2] += std::log(row.w);
          x[3] += row.e;
          x[4] += d(i);
          x[5] += d(i) / v->s(i);
        }
        if (root.minCoeff() == root.maxCoeff()) {  // one weight: no need to touch A
          syrk(root(0) * root(0), A, Op::none, 1.0, C);
          gemm(root(0), A, Op::none, wr, Op::none, 1.0, beta);
          at += group_size(M, P);
          continue;
        }
        if (g + 1 < groups) *copy = A;  // the last group may spoil A
        Eigen::Ref<Matrix> S = g + 1 < groups ? Eigen::Ref<Matrix>(*copy) : Eigen::Ref<Matrix>(A);
        scale_columns(S, root);
        syrk(1.0, S, Op::none, 1.0, C);
        gemm(1.0, S, Op::none, wr, Op::none, 1.0, beta);
        at += group_size(M, P);
      }
    };
  });

  std::vector<WeightedStatistics> out;
  const double* at = sums.data();
  for (const auto& cols : columns) {
    const auto P = static_cast<Index>(cols.size());
    const double* x = at + M * M + M * P;
    WeightedStatistics s;
    s.columns = cols;
    s.C = Eigen::Map<const Matrix>(at, M, M);
    s.beta = Eigen::Map<const Matrix>(at + M * M, M, P);
    s.rows = x[0];
    s.rr = x[1];
    s.log_w = x[2];
    s.term = x[3];
    s.trace = x[4];
    s.ratio = x[5];
    if (!solve) {  // one noise variance and a weight that is its inverse: s.ratio holds Σ k_nn/s
      mirror_lower(s.C);
      solve_lower(c.Luu, s.C);
      solve_lower_right(c.Luu, s.C, Op::transpose);
      solve_lower(c.Luu, s.beta);
      s.ratio = std::max(0.0, s.ratio - s.C.trace());
      s.trace = s.ratio * c.noise;
      s.term = rule.term == RowRule::Term::trace ? -0.5 * s.ratio : 0.0;
    }
    out.push_back(std::move(s));
    at += group_size(M, P);
  }
  return out;
}

}  // namespace covary
