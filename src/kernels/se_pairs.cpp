#include "kernels/se_pairs.hpp"

#include <algorithm>

#include "covary/linalg/vector_math.hpp"

namespace covary {

struct SePairs::Loops {
  decltype(&simd::baseline::pair_exponents) exponents;
  decltype(&simd::baseline::pair_pullback) pullback;
  decltype(&simd::baseline::pair_sums) sums;
  decltype(&simd::baseline::pair_points_pullback) points_pullback;
};

const SePairs::Loops& SePairs::loops() {
  static constexpr Loops baseline{simd::baseline::pair_exponents, simd::baseline::pair_pullback,
                                  simd::baseline::pair_sums, simd::baseline::pair_points_pullback};
#ifdef __x86_64__
  static constexpr Loops avx2{simd::avx2::pair_exponents, simd::avx2::pair_pullback,
                              simd::avx2::pair_sums, simd::avx2::pair_points_pullback};
  if (simd_level() == "avx2") return avx2;
#endif
  return baseline;
}

namespace {

constexpr Index together = simd::pair_rows;
// Doubles of a chunk: its features, the sums beside them and the values of the rows, in the nearest
// cache.
constexpr Index chunk_doubles = 3328;

}  // namespace

SePairs::SePairs(const TermValues& term, const RowBlock& Z)
    : loops_(loops()),
      term_(term),
      rows_(term, Z, 2.0),
      D_(Z.dims),
      M_(Z.n),
      capacity_(std::clamp<Index>(chunk_doubles / (2 * Z.dims + 6) / 8 * 8, 32, 256)) {
  for (Index j = 0, p = 0; j < M_; ++j)
    for (Index k = j; k < M_;) {
      if (chunks_.empty() || chunks_.back().n == capacity_)
        chunks_.push_back({p, 0, runs_.size(), 0});
      Chunk& chunk = chunks_.back();
      const Index n = std::min(M_ - k, capacity_ - chunk.n);
      runs_.push_back({j, k, n});
      ++chunk.runs;
      chunk.n += n;
      k += n;
      p += n;
    }
  const auto count = static_cast<Index>(chunks_.size());
  features_ = Matrix::Zero(capacity_, D_ * count);
  offsets_ = Matrix::Zero(capacity_, count);
  values_.resize(capacity_, together);
  slopes_ = Matrix::Zero(together, D_);
  const Matrix& z = rows_.points();
  for (Index c = 0; c < count; ++c) {
    const Chunk& chunk = chunks_[static_cast<std::size_t>(c)];
    padded_ += view(static_cast<std::size_t>(c)).padded;
    Index p = 0;
    for (std::size_t r = chunk.run; r < chunk.run + chunk.runs; ++r)
      for (Index k = runs_[r].k; k < runs_[r].k + runs_[r].n; ++k, ++p)
        for (Index d = 0; d < D_; ++d) {
          const double of_k = z(k, d), of_j = z(runs_[r].j, d), apart = of_k - of_j;
          features_(p, c * D_ + d) = -0.5 * of_k * of_j;
          offsets_(p, c) -= 0.25 * term.w(d) * apart * apart;
        }
  }
}

simd::PairChunk SePairs::view(std::size_t chunk) const {
  const Chunk& c = chunks_[chunk];
  const auto at = static_cast<Index>(chunk);
  return {c.n,
          (c.n + simd::pair_vector - 1) / simd::pair_vector * simd::pair_vector,
          D_,
          capacity_,
          features_.data() + at * D_ * capacity_,
          offsets_.data() + at * capacity_,
          runs_.data() + c.run,
          static_cast<Index>(c.runs)};
}

Index SePairs::slopes_of(Index first_row) {
  const Index n = std::min(together, rows_.slopes().cols() - first_row);
  slopes_.topRows(n) = rows_.slopes().middleCols(first_row, n).transpose();
  return n;
}

Index SePairs::kept_values(const simd::PairChunk& chunk, Index first_row, const double* kept) {
  const Index n = slopes_of(first_row);
  for (Index i = 0; i < n; ++i)
    std::copy_n(kept + (first_row + i) * chunk.padded, chunk.padded, values_.col(i).data());
  values_.rightCols(together - n).setZero();
  return n;
}

Index SePairs::values_of(const simd::PairChunk& chunk, Index first_row) {
  const Index n = slopes_of(first_row);
  loops_.exponents(chunk, n, slopes_.data(), rows_.exponents().col(first_row).data(), M_,
                   values_.data());
  for (Index i = 0; i < n; ++i)
    vector_exp(values_.col(i).data(), values_.col(i).data(), chunk.padded, 1.0,
               term_.variance * term_.variance);
  values_.rightCols(together - n).setZero();
  return n;
}

void SePairs::psi2(const GaussianBlock& x, MatrixOut sum, double* keep) {
  rows_.evaluate(x);
  Vector total(capacity_);
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    const simd::PairChunk chunk = view(c);
    simd::PairChunk only_total = chunk;
    only_total.dims = 0;
    total.setZero();
    for (Index first = 0; first < x.mean.n; first += together) {
      const Index some = values_of(chunk, first);
      loops_.sums(only_total, values_.data(), nullptr, nullptr, total.data());
      for (Index i = 0; keep && i < some; ++i)
        std::copy_n(values_.col(i).data(), chunk.padded, keep + (first + i) * chunk.padded);
    }
    if (keep) keep += x.mean.n * chunk.padded;
    Index p = 0;
    for (Index r = 0; r < chunk.run_count; ++r) {
      const simd::PairRun& run = chunk.runs[r];
      for (Index k = run.k; k < run.k + run.n; ++k) sum(k, run.j) += total(p++);
    }
  }
}

void SePairs::pullback(const GaussianBlock& x, ConstMatrix bar, TermBars& term_bar,
                       const GaussianBars& to, const double* kept) {
  rows_.evaluate(x);
  const Index n = x.mean.n;
  Matrix exponents_bar = Matrix::Zero(M_, n), slopes_bar = Matrix::Zero(D_, n);
  Matrix sums(capacity_, D_), z_bar = Matrix::Zero(M_, D_);
  Vector total(capacity_), weight(capacity_);
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    const simd::PairChunk chunk = view(c);
    Index p = 0;  // a pair off the diagonal stands for two entries
    for (Index r = 0; r < chunk.run_count; ++r) {
      const simd::PairRun& run = chunk.runs[r];
      for (Index k = run.k; k < run.k + run.n; ++k)
        weight(p++) = k == run.j ? bar(k, k) : 2.0 * bar(k, run.j);
    }
    sums.setZero();
    total.setZero();
    for (Index first = 0; first < n; first += together) {
      const Index some = kept ? kept_values(chunk, first, kept) : values_of(chunk, first);
      loops_.pullback(chunk, some, weight.data(), values_.data(), slopes_bar.col(first).data(),
                      exponents_bar.col(first).data(), M_);
      loops_.sums(chunk, values_.data(), slopes_.data(), sums.data(), total.data());
    }
    loops_.points_pullback(chunk, M_, rows_.points().data(), term_.w.data(), sums.data(),
                           total.data(), z_bar.data(), term_bar.w.data());
    if (kept) kept += n * chunk.padded;
  }
  for (Index k = 0; k < M_; ++k)
    for (Index d = 0; d < D_; ++d) to.z[k * D_ + d] += z_bar(k, d);
  rows_.pullback(x, exponents_bar, &slopes_bar, term_bar, to);
}

}  // namespace covary
