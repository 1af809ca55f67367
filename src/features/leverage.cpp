#include "features/leverage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "covary/data/split.hpp"
#include "covary/features/selection.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/linalg/spectrum.hpp"
#include "covary/random/random.hpp"
#include "features/greedy_variance.hpp"

namespace covary {
namespace {

constexpr Index width = 512;           // rows of a task
constexpr double least_ridge = 1e-10;  // of the largest eigenvalue: below it scores are rounding

// Σ e/(e + λ) = M, which falls with λ: by bisection of log λ.
double ridge_of_dimension(const Vector& values, double M) {
  const double largest = values.maxCoeff();
  double low = std::log(least_ridge * largest),
         high = std::log(largest * static_cast<double>(values.size()));
  const auto dimension = [&](double log_ridge) {
    return (values.array() / (values.array() + std::exp(log_ridge))).sum();
  };
  if (dimension(low) <= M) return std::exp(low);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (dimension(middle) > M ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

struct Pilots {
  std::vector<Index> rows;
  Vector share;  // the probability π of each
};

Pilots drawn_evenly(Index N, Index count, Random random) {
  Pilots out{sample_rows(N, count, random), {}};
  out.share = Vector::Constant(count, static_cast<double>(count) / static_cast<double>(N));
  return out;
}

// Each row by itself, so that its probability is known: in proportion to its score and at most one.
Pilots drawn_by(const Vector& scores, Index count, Random random) {
  const Vector share = (static_cast<double>(count) / scores.sum() * scores).cwiseMin(1.0);
  Pilots out;
  for (Index n = 0; n < share.size(); ++n)
    if (random.uniform() < share(n)) out.rows.push_back(n);
  out.share = share(out.rows);
  return out;
}

LeverageScores by_pilots(const Kernel& kernel, ConstVector theta, ConstRows X,
                         const Vector& diagonal, Index M, const Pilots& pilots) {
  const Index N = X.rows(), count = static_cast<Index>(pilots.rows.size());
  const RowMatrix P = take_rows(X, pilots.rows);
  // (K + λ·diag π)⁻¹ = D(DKD + λI)⁻¹D with D = diag π^−½, whose spectrum is that of all rows.
  const Vector D = pilots.share.cwiseSqrt().cwiseInverse();
  Matrix K = cross(kernel, theta, P, P);  // two tables: without white noise
  K = D.asDiagonal() * K * D.asDiagonal();
  LeverageScores out{Vector(N), 0.0, count};
  out.ridge = ridge_of_dimension(symmetric_eigen(K).values.cwiseMax(0.0),
                                 static_cast<double>(std::min(M, count)));
  K.diagonal().array() += out.ridge;
  const Cholesky factor = cholesky(std::move(K), "the pilot rows' Gram matrix");
  parallel_for((N + width - 1) / width, [&](Index task) {
    const Index first = task * width, n = std::min(width, N - first);
    Matrix k = cross(kernel, theta, P, X.middleRows(first, n));
    k = D.asDiagonal() * k;
    solve_lower(factor.L, k);
    out.scores.segment(first, n) =
        ((diagonal.segment(first, n) - k.colwise().squaredNorm().transpose()) / out.ridge)
            .cwiseMax(0.0)
            .cwiseMin(1.0);
  });
  return out;
}

}  // namespace

Index leverage_pilots(Index N, Index M) { return std::min(N, std::max<Index>(128, 2 * M)); }

LeverageScores leverage_scores(const Kernel& kernel, ConstVector theta, ConstRows X, Index M,
                               Index pilots, std::uint64_t seed) {
  const Index N = X.rows();
  const Vector diagonal = smooth_diagonal(kernel, theta, X);
  largest_smooth_variance(kernel, diagonal);
  LeverageScores out =
      by_pilots(kernel, theta, X, diagonal, M, drawn_evenly(N, pilots, Random(seed, 2)));
  if (pilots == N || !(out.scores.sum() > 0.0)) return out;
  return by_pilots(kernel, theta, X, diagonal, M, drawn_by(out.scores, pilots, Random(seed, 4)));
}

std::vector<Index> order_by_draws(const Vector& scores, std::uint64_t seed) {
  Random random(seed, 3);
  Vector key(scores.size());
  for (Index i = 0; i < scores.size(); ++i)
    key(i) = random.exponential() / std::max(scores(i), 1e-300);
  std::vector<Index> rows(static_cast<std::size_t>(scores.size()));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::stable_sort(rows.begin(), rows.end(), [&](Index a, Index b) { return key(a) < key(b); });
  return rows;
}

}  // namespace covary
