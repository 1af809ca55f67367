#include "models/sampled_rows.hpp"

#include <cmath>

#include "covary/random/random.hpp"

namespace covary {

RowMatrix row_deviates(std::span<const Index> rows, Index Q, Index draws, std::uint64_t seed) {
  RowMatrix out(static_cast<Index>(rows.size()) * draws, Q);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Random random(seed, 0x5a3d00000000u + static_cast<std::uint64_t>(rows[i]));
    for (Index s = 0; s < draws; ++s)
      for (Index q = 0; q < Q; ++q) {
        const Index at = static_cast<Index>(i) * draws + s;
        out(at, q) = s % 2 ? -out(at - 1, q) : random.normal();
      }
  }
  return out;
}

RowTermSums sampled_row_terms(std::span<const SweepContext> contexts,
                              const RowLikelihood& likelihood, const WhitenedGaussian& q,
                              const SampledRows& of, RowAdjoints adjoints,
                              GaussianRowGradient* rows) {
  const Index n = of.mean.rows(), Q = of.mean.cols(), S = of.deviates.rows() / n;
  RowMatrix X(n * S, Q), Y(n * S, of.Y.cols());
  for (Index i = 0; i < n; ++i)
    for (Index s = 0; s < S; ++s) {
      const Index at = i * S + s;
      X.row(at).array() =
          of.mean.row(i).array() + of.variance.row(i).array().sqrt() * of.deviates.row(at).array();
      Y.row(at) = of.Y.row(i);
    }
  const Vector weights = Vector::Constant(n * S, 1.0 / static_cast<double>(S));
  const MemoryRows source(X, Y, Vector(), weights);
  const Sweep sweep = Sweep::for_features(source, q.m.rows());
  RowMatrix x_bar;
  const bool wanted = rows && adjoints == RowAdjoints::all;
  RowTermSums out = row_terms(contexts, likelihood, q, sweep, adjoints, wanted ? &x_bar : nullptr);
  if (!wanted) return out;
  rows->mean_bar = RowMatrix::Zero(n, Q);
  rows->variance_bar = rows->mean_bar;
  for (Index i = 0; i < n; ++i)
    for (Index s = 0; s < S; ++s)
      for (Index d = 0; d < Q; ++d) {
        const double bar = x_bar(i * S + s, d), e = of.deviates(i * S + s, d);
        rows->mean_bar(i, d) += bar;
        rows->variance_bar(i, d) += 0.5 * bar * e / std::sqrt(of.variance(i, d));
      }
  return out;
}

}  // namespace covary
