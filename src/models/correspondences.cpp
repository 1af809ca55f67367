#include "covary/models/correspondences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

// Which views a row shows.
std::vector<bool> seen_views(const GplvmFit& fit, ConstRows Y, Index row) {
  std::vector<bool> out;
  out.reserve(fit.mappings.size());
  for (const auto& m : fit.mappings)
    out.push_back(std::any_of(m.view.columns.begin(), m.view.columns.end(),
                              [&](Index p) { return !std::isnan(Y(row, p)); }));
  const auto count = std::count(out.begin(), out.end(), true);
  if (count == 0 || count == static_cast<std::ptrdiff_t>(out.size()))
    throw InputError(fmt::format(
        "row {} shows {} of {} views; correspondences need one view seen and one with no output",
        row, count, out.size()));
  return out;
}

// The dimensions that both kinds of views use, and those that the unseen use alone.
struct Dimensions {
  std::vector<Index> shared, theirs;

  Dimensions(const Matrix& relevance, const std::vector<bool>& seen, double above) {
    for (Index q = 0; q < relevance.cols(); ++q) {
      bool by_seen = false, by_unseen = false;
      for (Index v = 0; v < relevance.rows(); ++v)
        if (relevance(v, q) > above)
          (seen[static_cast<std::size_t>(v)] ? by_seen : by_unseen) = true;
      if (by_seen && by_unseen) shared.push_back(q);
      if (by_unseen && !by_seen) theirs.push_back(q);
    }
  }
};

}  // namespace

Correspondences correspondences(const GplvmFit& fit, ConstRows Y,
                                const CorrespondenceOptions& options) {
  const Index n = Y.rows(), N = fit.mean.rows(), K = options.neighbours;
  if (fit.mappings.size() < 2)
    throw Unsupported("correspondences are between views; the model has one");
  if (Y.cols() != fit.outputs())
    throw InputError(
        fmt::format("the rows have {} outputs, the model {}", Y.cols(), fit.outputs()));
  if (K < 1 || K > N)
    throw InputError(fmt::format("neighbours must be 1 to {1} (the training rows), got {0}", K, N));
  const Matrix relevance = fit.relevance();
  std::vector<Dimensions> of_rows;
  of_rows.reserve(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    of_rows.emplace_back(relevance, seen_views(fit, Y, i), options.relevance);
    if (of_rows.back().shared.empty())
      throw InputError(fmt::format(
          "the views that row {} shows share no dimension with the others above a relevance of {}; "
          "lower it, or train with more latent dimensions",
          i, options.relevance));
  }
  const RowMatrix own = fit.infer(Y, options.iterations, options.starts).mean;
  const RowMatrix scaled = fit.scaled_mean();
  const Vector scale = relevance.colwise().maxCoeff().cwiseSqrt();
  Correspondences out{
      {}, RowMatrix(n, K), std::vector<RowMatrix>(static_cast<std::size_t>(K), own)};
  for (Index i = 0; i < n; ++i) {
    const Dimensions& dims = of_rows[static_cast<std::size_t>(i)];
    std::vector<std::pair<double, Index>> near;
    near.reserve(static_cast<std::size_t>(N));
    for (Index r = 0; r < N; ++r) {
      double sum = 0.0;
      for (const Index q : dims.shared) sum += std::pow(scaled(r, q) - scale(q) * own(i, q), 2);
      near.emplace_back(sum, r);
    }
    std::partial_sort(near.begin(), near.begin() + K, near.end());
    std::vector<Index> rows;
    rows.reserve(static_cast<std::size_t>(K));
    for (Index k = 0; k < K; ++k) {
      const auto& [distance, r] = near[static_cast<std::size_t>(k)];
      rows.push_back(r);
      out.distances(i, k) = std::sqrt(distance);
      for (const Index q : dims.theirs)
        out.latent[static_cast<std::size_t>(k)](i, q) = fit.mean(r, q);
    }
    out.rows.push_back(std::move(rows));
  }
  return out;
}

}  // namespace covary
