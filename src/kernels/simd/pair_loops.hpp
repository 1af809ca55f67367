#pragma once

#include <cstddef>

namespace covary::simd {

// Of inducing inputs.
struct Pair {
  std::ptrdiff_t k, j;
};

// Some pairs, a multiple of pair_tile, those of one j together, or as many points; the d-th feature
// of the p-th is at [p·dims + d].
struct PairChunk {
  std::ptrdiff_t n, dims;
  const Pair* pairs;
  const double* features;
  const double* offset;
};

// Rows of data go by sixteens, side by side as registers take them: what row i of a group has of
// the t-th pair, point or dimension is at [16t + i], and groups follow each other.
constexpr std::ptrdiff_t pair_rows = 16, pair_tile = 4;

// What rows have of the pairs of a chunk: those of a group begin `stride` after those before it.
struct PairValues {
  std::ptrdiff_t groups, stride;
  double* at;
};

}  // namespace covary::simd

// The hot loops of se_pairs.cpp, one namespace an instruction set. M is the number of
// points, in multiples of pair_tile.
#define COVARY_DECLARE_PAIR_LOOPS(ns)                                                               \
  namespace covary::simd::ns {                                                                      \
  /* out_t = Σ_d rows_d·feature_td, of points t that are no pairs. */                             \
  void point_products(const PairChunk& c, const double* rows, const PairValues& out);               \
  /* rows_bar_d += Σ_t values_t·feature_td; sums_td += Σ_i rows_id·values_it. */                \
  void point_pullback(const PairChunk& c, const PairValues& values, const double* rows,             \
                      double* rows_bar, double* sums);                                              \
  /* out_p = exp(offset_p + ends_k + ends_j + Σ_d slopes_d·feature_dp); total_p += Σ_i of it. */ \
  void pair_values(const PairChunk& c, const double* slopes, const double* ends, std::ptrdiff_t M,  \
                   const PairValues& out, double* total);                                           \
  /* With g_p = weight_p·values_p: ends_k and ends_j += g_p and, by features that are weighted     \
     already, slopes_d += Σ_p g_p·feature_dp. */                                                  \
  void pair_pullback(const PairChunk& weighted, const double* weight, const PairValues& values,     \
                     double* slopes, double* ends, std::ptrdiff_t M);                               \
  /* sums_pd += Σ_i slopes_id·values_ip, as features lie, and total_p += Σ_i values_ip. */       \
  void pair_sums(const PairChunk& c, const PairValues& values, const double* slopes, double* sums,  \
                 double* total);                                                                    \
  /* From those sums, times weight_p, to points z, M × dims: features −½z_k·z_j, offset        \
     −¼Σ w(z_k − z_j)². Adds to z_bar and w_bar. */                                          \
  void pair_points_pullback(const PairChunk& c, const double* z, const double* w,                   \
                            const double* weight, const double* sums, const double* total,          \
                            double* z_bar, double* w_bar);                                          \
  }

COVARY_DECLARE_PAIR_LOOPS(baseline)
COVARY_DECLARE_PAIR_LOOPS(avx2)
COVARY_DECLARE_PAIR_LOOPS(avx512)
#undef COVARY_DECLARE_PAIR_LOOPS
