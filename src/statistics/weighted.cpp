#include "covary/statistics/weighted.hpp"

#include <algorithm>
#include <cmath>

#include "features/blocks.hpp"
#include "statistics/block.hpp"

namespace covary {

std::vector<WeightedStatistics> weighted_statistics(const SweepContext& c, const RowRule& rule,
                                                    const Sweep& sweep,
                                                    const std::vector<std::vector<Index>>& columns,
                                                    Forward forward) {
  const Index M = c.features->size();
  const auto groups = static_cast<Index>(columns.size());
  Index size = 0;
  for (const auto& group : columns) size += LaneSums::size(M, group);
  const bool solve = forward == Forward::solve;

  const Vector sums = sweep.sum(size, [&]() -> Sweep::Body {
    auto v = std::make_shared<BlockValues>(c, sweep);
    auto copy = std::make_shared<Matrix>();
    return [&, v, copy](const DataBlock& block, double* sum) {
      v->load(c, block);
      const Index n = v->n;
      auto A = v->Kuf();
      if (solve) solve_Luu(*c.features, c.Luu, A);
      Vector d = v->k;  // without the solve the difference is taken at the end
      if (solve) d = (v->k - A.colwise().squaredNorm().transpose()).cwiseMax(0.0);
      double* at = sum;
      for (Index g = 0; g < groups; ++g) {
        const auto& cols = columns[static_cast<std::size_t>(g)];
        const auto P = static_cast<Index>(cols.size());
        LaneSums to(at, M, P);
        Vector root(n);
        Matrix wr(n, P);
        for (Index i = 0; i < n; ++i) {
          const bool seen = !std::isnan(v->r(i, cols.front()));
          const RowRule::Row row = rule(d(i), v->s(i));
          root(i) = seen ? std::sqrt(row.w) : 0.0;
          for (Index p = 0; p < P; ++p)
            wr(i, p) = seen ? root(i) * v->r(i, cols[static_cast<std::size_t>(p)]) : 0.0;
          if (!seen) continue;
          to.x[0] += 1.0;
          to.x[1] += wr.row(i).squaredNorm();
          to.x[2] += std::log(row.w);
          to.x[3] += row.e;
          to.x[4] += d(i);
          to.x[5] += d(i) / v->s(i);
        }
        if (root.minCoeff() == root.maxCoeff()) {  // one weight: no need to touch A
          syrk(root(0) * root(0), A, Op::none, 1.0, to.C);
          gemm(root(0), A, Op::none, wr, Op::none, 1.0, to.beta);
          at += LaneSums::size(M, cols);
          continue;
        }
        if (g + 1 < groups) *copy = A;  // the last group may spoil A
        Eigen::Ref<Matrix> S = g + 1 < groups ? Eigen::Ref<Matrix>(*copy) : Eigen::Ref<Matrix>(A);
        scale_columns(S, root);
        syrk(1.0, S, Op::none, 1.0, to.C);
        gemm(1.0, S, Op::none, wr, Op::none, 1.0, to.beta);
        at += LaneSums::size(M, cols);
      }
    };
  });

  std::vector<WeightedStatistics> out = unpack(sums, M, columns);
  if (solve) return out;
  for (WeightedStatistics& s : out) {  // one noise variance, whose inverse is the weight
    mirror_lower(s.C);
    solve_Luu(*c.features, c.Luu, s.C);
    solve_Luu_right(*c.features, c.Luu, s.C, Op::transpose);
    solve_Luu(*c.features, c.Luu, s.beta);
    s.ratio = std::max(0.0, s.ratio - s.C.trace());  // it held Σ k_nn/s
    s.trace = s.ratio * c.noise;
    s.term = rule.term == RowRule::Term::trace ? -0.5 * s.ratio : 0.0;
  }
  return out;
}

}  // namespace covary
