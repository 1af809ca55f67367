#include "statistics/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "statistics/group_block.hpp"

namespace covary {

Sweep group_sweep(const RowSource& rows, const std::vector<Index>& starts, Index M) {
  const Index N = rows.rows(), width = Sweep::for_features(rows, M).widest();
  if (starts.empty() || starts.front() != 0)
    throw InputError("the first group must start at row 0");
  std::vector<Index> firsts;
  for (std::size_t g = 0; g < starts.size(); ++g) {
    const Index end = g + 1 < starts.size() ? starts[g + 1] : N;
    if (end <= starts[g])
      throw InputError(fmt::format(
          "group {} starts at row {} and ends before row {} of {}; groups need a row each and "
          "come in the order of the rows",
          g, starts[g], end, N));
    if (firsts.empty() || end - firsts.back() > width) firsts.push_back(starts[g]);
  }
  return {rows, std::move(firsts)};
}

void for_groups(const std::vector<Index>& starts, Index rows, const DataBlock& block,
                const std::function<void(const GroupRows&)>& body) {
  const Index first = block.x.first, end = first + block.x.n;
  auto group = std::lower_bound(starts.begin(), starts.end(), first);
  Index at = first;
  while (at < end) {
    const bool known = group != starts.end() && *group == at;
    const Index next = known && group + 1 != starts.end() ? *(group + 1) : rows;
    if (!known || next <= at || next > end)
      throw InputError(fmt::format(
          "rows {} to {} are a block of the sweep, but not whole groups; use group_sweep()", first,
          end - 1));
    const Index offset = at - first;
    body({{block.x.row(offset), next - at, block.x.dims, block.x.stride, at}, offset});
    at = next;
    ++group;
  }
}

Matrix residual_block(const SweepContext& c, const RowBlock& x, ConstMatrix A, ConstVector s) {
  Matrix D(x.n, x.n);
  c.kernel->evaluate(c.theta, {x, x, true}, D.data());
  syrk(-1.0, A, Op::transpose, 1.0, D);
  D.diagonal() = D.diagonal().cwiseMax(0.0) + s;
  mirror_lower(D);
  return D;
}

SeenGroup::SeenGroup(ConstMatrix whole_A, ConstRows whole_r, const Matrix& whole_D,
                     const std::vector<Index>& columns, Index first_row)
    : A(whole_A), r(whole_r(Eigen::all, columns)), D(whole_D) {
  for (Index i = 0; i < r.rows(); ++i)
    if (std::isnan(r(i, 0))) missing.push_back(i);
  for (const Index i : missing) {
    A.col(i).setZero();
    r.row(i).setZero();
    D.row(i).setZero();
    D.col(i).setZero();
    D(i, i) = 1.0;
  }
  LD = cholesky(D, fmt::format("the residual covariance of the group at row {}", first_row)).L;
}

std::vector<WeightedStatistics> group_statistics(const SweepContext& c,
                                                 const std::vector<Index>& starts,
                                                 const Sweep& sweep,
                                                 const std::vector<std::vector<Index>>& columns) {
  const Index M = c.features->size(), N = sweep.rows().rows();
  Index size = 0;
  for (const auto& cols : columns) size += LaneSums::size(M, cols);

  const Vector sums = sweep.sum(size, [&]() -> Sweep::Body {
    auto v = std::make_shared<BlockValues>(c, sweep);
    return [&, v](const DataBlock& block, double* sum) {
      v->load(c, block);
      auto all = v->Kuf();
      solve_lower(c.Luu, all);
      for_groups(starts, N, block, [&](const GroupRows& group) {
        const Index n = group.x.n;
        const auto s = v->s.segment(group.at, n);
        const auto A = all.middleCols(group.at, n);
        const Matrix D = residual_block(c, group.x, A, s);
        double* at = sum;
        for (const auto& cols : columns) {
          LaneSums to(at, M, static_cast<Index>(cols.size()));
          SeenGroup seen(A, v->r.middleRows(group.at, n), D, cols, group.x.first);
          solve_lower_right(seen.LD, seen.A, Op::transpose);
          solve_lower(seen.LD, seen.r);
          syrk(1.0, seen.A, Op::none, 1.0, to.C);
          gemm(1.0, seen.A, Op::none, seen.r, Op::none, 1.0, to.beta);
          to.x[0] += static_cast<double>(n - static_cast<Index>(seen.missing.size()));
          to.x[1] += seen.r.squaredNorm();
          to.x[2] -= log_determinant_of_factor(seen.LD);
          for (Index i = 0; i < n; ++i) {
            if (std::binary_search(seen.missing.begin(), seen.missing.end(), i)) continue;
            to.x[4] += D(i, i) - s(i);
            to.x[5] += (D(i, i) - s(i)) / s(i);
          }
          at += LaneSums::size(M, cols);
        }
      });
    };
  });

  return unpack(sums, M, columns);
}

}  // namespace covary
