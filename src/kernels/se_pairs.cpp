#include "kernels/se_pairs.hpp"

#include <algorithm>

namespace covary {
namespace {

constexpr Index group = simd::pair_rows;
// Doubles of a chunk: its features, those weighted and the sums beside them, in the nearest cache.
constexpr Index chunk_doubles = 3328;
constexpr double nothing = -1e4;  // whose exponential is zero

Index whole(Index n, Index unit) { return (n + unit - 1) / unit * unit; }

Index capacity(Index dims) {
  return std::clamp<Index>(whole(chunk_doubles / (2 * dims + 6), simd::pair_tile), 32, 256);
}

}  // namespace

SePairs::SePairs(const TermValues& term, const RowBlock& Z)
    : loops_(pair_loops()), term_(term), rows_(term, Z, 2.0), D_(Z.dims) {
  pairs_.reserve(static_cast<std::size_t>(whole(Z.n * (Z.n + 1) / 2, simd::pair_tile)));
  for (Index j = 0; j < Z.n; ++j)
    for (Index k = j; k < Z.n; ++k) pairs_.push_back({k, j});
  const auto count = static_cast<Index>(pairs_.size());
  pairs_.resize(static_cast<std::size_t>(whole(count, simd::pair_tile)));
  features_ = AlignedDoubles(row_values() * D_);
  offset_ = AlignedDoubles(row_values());
  std::fill_n(offset_.data(), row_values(), nothing);
  const RowMatrix& z = rows_.points();
  for (Index p = 0; p < row_values(); ++p) {
    const auto [k, j] = pairs_[static_cast<std::size_t>(p)];
    double apart = 0.0;
    for (Index d = 0; d < D_; ++d) {
      features_.data()[p * D_ + d] = -0.5 * z(k, d) * z(j, d);
      apart += term.w(d) * (z(k, d) - z(j, d)) * (z(k, d) - z(j, d));
    }
    if (p < count) offset_.data()[p] = -0.25 * apart;
  }
  const Index most = std::min(capacity(D_), row_values());
  weight_ = AlignedDoubles(most);
  weighted_ = AlignedDoubles(most * D_);
  sums_ = AlignedDoubles(most * D_);
  total_ = AlignedDoubles(most);
}

simd::PairChunk SePairs::chunk(Index first) const {
  return {std::min(capacity(D_), row_values() - first), D_, pairs_.data() + first,
          features_.data() + first * D_, offset_.data() + first};
}

void SePairs::weigh(const simd::PairChunk& c, ConstMatrix bar) {
  const double scale = term_.variance * term_.variance;
  for (Index p = 0; p < c.n; ++p) {
    const auto [k, j] = c.pairs[p];
    const double weight = scale * (k == j ? bar(k, k) : 2.0 * bar(k, j));
    weight_.data()[p] = weight;
    for (Index d = 0; d < D_; ++d) weighted_.data()[p * D_ + d] = weight * c.features[p * D_ + d];
  }
}

void SePairs::psi2(const GaussianBlock& x, MatrixOut sum, double* keep) {
  const Index groups = SeRows::groups(x), full = x.mean.n / group, points = rows_.padded_points();
  rows_.evaluate(x);
  values_.reserve(capacity(D_) * group);
  const double scale = term_.variance * term_.variance;
  for (Index first = 0; first < row_values(); first += capacity(D_)) {
    const simd::PairChunk c = chunk(first);
    std::fill_n(total_.data(), c.n, 0.0);
    const auto add = [&](Index from, const simd::PairValues& to) {
      loops_.pair_values(c, rows_.slopes() + from * group * D_,
                         rows_.exponents() + from * group * points, points, to, total_.data());
    };
    // What is not kept goes over each other. The rest by itself either way, for the same bits.
    if (keep)
      add(0, {full, row_values() * group, keep + first * group});
    else
      add(0, {full, 0, values_.data()});
    if (full < groups) add(full, {1, 0, values_.data()});
    for (Index p = 0; p < c.n; ++p) sum(c.pairs[p].k, c.pairs[p].j) += scale * total_.data()[p];
  }
}

void SePairs::pullback(const GaussianBlock& x, ConstMatrix bar, TermBars& term_bar,
                       const GaussianBars& to, const double* kept) {
  const Index groups = SeRows::groups(x), full = x.mean.n / group, points = rows_.padded_points();
  rows_.evaluate(x, kept ? full : 0);
  values_.reserve((kept ? 1 : full + 1) * capacity(D_) * group);
  ends_bar_.reserve(groups * group * points);
  slopes_bar_.reserve(groups * group * D_);
  std::fill_n(ends_bar_.data(), groups * group * points, 0.0);
  std::fill_n(slopes_bar_.data(), groups * group * D_, 0.0);
  for (Index first = 0; first < row_values(); first += capacity(D_)) {
    const simd::PairChunk c = chunk(first);
    weigh(c, bar);
    simd::PairChunk weighted = c;
    weighted.features = weighted_.data();
    std::fill_n(sums_.data(), c.n * D_, 0.0);
    std::fill_n(total_.data(), c.n, 0.0);
    const auto pull = [&](Index from, const simd::PairValues& values) {
      loops_.pair_pullback(weighted, weight_.data(), values, slopes_bar_.data() + from * group * D_,
                           ends_bar_.data() + from * group * points, points);
      loops_.pair_sums(c, values, rows_.slopes() + from * group * D_, sums_.data(), total_.data());
    };
    const auto pull_anew = [&](Index from, Index count) {
      const simd::PairValues values{count, capacity(D_) * group, values_.data()};
      loops_.pair_values(c, rows_.slopes() + from * group * D_,
                         rows_.exponents() + from * group * points, points, values, nullptr);
      pull(from, values);
    };
    if (kept)  // it is only read
      pull(0, {full, row_values() * group, const_cast<double*>(kept) + first * group});
    else
      pull_anew(0, full);
    if (full < groups) pull_anew(full, 1);
    loops_.pair_points_pullback(c, rows_.points().data(), term_.w.data(), weight_.data(),
                                sums_.data(), total_.data(), to.z, term_bar.w.data());
  }
  rows_.pullback(x, ends_bar_.data(), slopes_bar_.data(), term_bar, to);
}

}  // namespace covary
