#include "inference/upper_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/collapsed.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

constexpr RowRule plain{RowRule::Term::none, 0.0};

Vector traces(const UpperBoundBase& base) {
  Vector c(static_cast<Index>(base.statistics.size()));
  for (Index g = 0; g < c.size(); ++g) c(g) = base.statistics[static_cast<std::size_t>(g)].trace;
  return c;
}

// Rows are taken by panels: A of a panel is kept while those of the others pass by.
constexpr Index panel_width = 2048;

// For each group of columns the largest Σ_j |k_ij − a_iᵀa_j| over the rows observed in it.
Vector largest_row_sums(const SparseProblem& p, const SweepContext& c) {
  const Index N = p.sweep->rows().rows(), D = p.sweep->rows().dims(), M = c.features->size();
  const auto groups = static_cast<Index>(p.columns.size());
  const auto seen = [&](const DataBlock& block, Index i, Index g) {
    return !std::isnan(block.y[i * block.outputs + p.columns[static_cast<std::size_t>(g)].front()]);
  };
  Vector largest = Vector::Zero(groups);
  for (Index first = 0; first < N; first += panel_width) {
    const Index n = std::min(panel_width, N - first);
    std::vector<Index> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), first);
    const Sweep::Rows rows = p.sweep->gather(numbers);
    const DataBlock panel{{rows.X.data(), n, D, D, first}, rows.Y.data(), rows.Y.cols()};
    Matrix A(M, n);
    c.features->Kuf(c.theta, c.z, panel.x, A.data());
    solve_lower(c.Luu, A);
    const Vector sums = p.sweep->sum(n * groups, [&]() -> Sweep::Body {
      auto v = std::make_shared<BlockValues>(c, *p.sweep);
      auto R = std::make_shared<Matrix>();
      return [&, v, R](const DataBlock& block, double* sum) {
        v->load(c, block);
        auto B = v->Kuf();
        solve_lower(c.Luu, B);
        R->resize(n, v->n);
        c.kernel->evaluate(c.theta, {panel.x, block.x, true}, R->data());
        gemm(-1.0, A, Op::transpose, B, Op::none, 1.0, *R);
        Eigen::Map<Matrix> total(sum, n, groups);
        for (Index j = 0; j < v->n; ++j)
          for (Index g = 0; g < groups; ++g)
            if (seen(block, j, g)) total.col(g) += R->col(j).cwiseAbs();
      };
    });
    for (Index g = 0; g < groups; ++g)
      for (Index i = 0; i < n; ++i)
        if (seen(panel, i, g)) largest(g) = std::max(largest(g), sums(i + g * n));
  }
  return largest;
}

}  // namespace

UpperBoundBase upper_bound_base(const SparseProblem& p, const SparseValues& v, Jitter& jitter) {
  if (!(v.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", v.noise));
  UpperBoundBase base;
  Cholesky factor = factor_Kuu(*p.features, v.theta, v.z, jitter, p.guard_eigenvalue);
  base.context = {p.features, &p.kernel->node(), v.theta.data(),     v.z.data(), v.noise,
                  p.mean,     v.mean_weights,    std::move(factor.L)};
  base.statistics = weighted_statistics(base.context, plain, *p.sweep, p.columns);
  SparseEvaluation terms;
  for (const auto& s : base.statistics)
    base.LB.push_back(collapsed_bound(s, plain.term, false, terms).factors.LB);
  base.log_determinants = -terms.terms.complexity;
  return base;
}

double upper_bound_at(const SparseProblem& p, const UpperBoundBase& base, const Vector& constants,
                      std::vector<Matrix>* b) {
  double value = base.log_determinants;
  SweepContext c = base.context;
  for (std::size_t g = 0; g < p.columns.size(); ++g) {
    c.noise = base.context.noise + constants(static_cast<Index>(g));
    const auto s = weighted_statistics(c, plain, *p.sweep, {p.columns[g]});
    SparseEvaluation terms;
    CollapsedBound bound = collapsed_bound(s.front(), plain.term, b != nullptr, terms);
    value -= bound.factors.fit();
    if (b) b->push_back(std::move(bound.adjoint.b));
  }
  return value;
}

double trace_upper_bound(const SparseProblem& p, const SparseValues& v, Jitter& jitter,
                         SweepGradient* gradient) {
  const UpperBoundBase base = upper_bound_base(p, v, jitter);
  const Vector constants = traces(base);
  std::vector<Matrix> b;
  const double value = upper_bound_at(p, base, constants, gradient ? &b : nullptr);
  if (gradient) trace_upper_bound_pullback(p, v, base, constants, b, *gradient);
  return value;
}

double row_sum_upper_bound(const SparseProblem& p, const SparseValues& v, Jitter& jitter) {
  const UpperBoundBase base = upper_bound_base(p, v, jitter);
  return upper_bound_at(p, base, largest_row_sums(p, base.context));
}

double row_sum_flops(const SparseProblem& p) {
  const auto N = static_cast<double>(p.sweep->rows().rows());
  const auto M = static_cast<double>(p.features->size());
  const double panels = std::ceil(N / static_cast<double>(panel_width));
  return 2.0 * N * N * M + panels * N * M * M;
}

double upper_bound(const SparseProblem& p, const SparseValues& v, Jitter& jitter,
                   double max_flops) {
  const UpperBoundBase base = upper_bound_base(p, v, jitter);
  Vector constants = traces(base);
  if (row_sum_flops(p) <= max_flops)  // each group has the better of its two
    constants = constants.cwiseMin(largest_row_sums(p, base.context));
  return upper_bound_at(p, base, constants);
}

}  // namespace covary
