#include "inference/pitc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "covary/data/kmeans.hpp"
#include "covary/error.hpp"
#include "inference/collapsed.hpp"

namespace covary {

SparseEvaluation evaluate_pitc(const SparseProblem& p, const std::vector<Index>& group_starts,
                               const SparseValues& v, Jitter& jitter, SweepGradient* gradient) {
  if (!(v.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", v.noise));
  SparseEvaluation out;
  Cholesky factor = factor_Kuu(*p.features, v.theta, v.z, jitter, p.guard_eigenvalue,
                               &out.terms.smallest_eigenvalue);
  out.jitter = factor.jitter;
  out.terms.route = Route::stable;
  SweepContext c{p.features, &p.kernel->node(), v.theta.data(),     v.z.data(), v.noise,
                 p.mean,     v.mean_weights,    std::move(factor.L)};
  out.terms.rho = rounding_ratio(c, *p.sweep, out.terms.smallest_eigenvalue);

  const auto statistics = group_statistics(c, group_starts, *p.sweep, p.columns);
  std::vector<WeightedAdjoint> adjoints;
  Matrix S = collapsed_bounds(statistics, RowRule::Term::none, out, gradient ? &adjoints : nullptr);
  if (gradient) {
    start_gradient(v, *gradient);
    group_adjoint(c, group_starts, *p.sweep, adjoints, *gradient);
    S -= 2.0 * gradient->residual;
    add_Kuu_gradient(*p.features, v, c.Luu, S, *gradient);
  }
  out.Luu = std::move(c.Luu);
  return out;
}

std::vector<Index> order_by_cluster(ConstRows X, Index groups, std::uint64_t seed,
                                    std::vector<Index>& starts) {
  const Index N = X.rows();
  if (groups < 1 || groups > N)
    throw InputError(
        fmt::format("{} groups were asked for {} rows; ask for 1 to {}", groups, N, N));
  // Plain k-means costs N·groups an iteration; many groups are split off one by one instead.
  const std::vector<Index> cluster =
      (groups <= 64 ? kmeans(X, groups, seed) : hierarchical_kmeans(X, groups, seed)).label;
  std::vector<Index> order(static_cast<std::size_t>(N));
  std::iota(order.begin(), order.end(), Index{0});
  const auto of = [&](Index row) { return cluster[static_cast<std::size_t>(row)]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return of(a) < of(b); });
  starts.clear();
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i == 0 || of(order[i]) != of(order[i - 1])) starts.push_back(static_cast<Index>(i));
  return order;
}

}  // namespace covary
