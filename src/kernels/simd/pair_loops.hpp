#pragma once

#include <cstddef>

namespace covary::simd {

// Consecutive pairs (k, j), (k + 1, j), …, n of them.
struct PairRun {
  std::ptrdiff_t j, k, n;
};

// Some pairs: what they have, d-th feature of pair p at [d·stride + p], and an offset of their own.
// `padded` is n rounded up to whole vectors; up to there features are zero.
struct PairChunk {
  std::ptrdiff_t n, padded, dims, stride;
  const double* features;
  const double* offset;
  const PairRun* runs;
  std::ptrdiff_t run_count;
};

// Rows of data go by fours: what row i has of pair p is at [i·stride + p], its slopes_d are at
// [4d + i].
constexpr std::ptrdiff_t pair_rows = 4, pair_vector = 8;

}  // namespace covary::simd

// The hot loops of se_pairs.cpp, one namespace an instruction set.
#define COVARY_DECLARE_PAIR_LOOPS(ns)                                                                         \
  namespace covary::simd::ns {                                                                                \
  /* out_p = offset_p + ends_k + ends_j + Σ_d slopes_d·feature_dp of the first `rows` of four;              \
   * ends of row i are at [i·M + k]. */                                                                      \
  void pair_exponents(const PairChunk& c, std::ptrdiff_t rows, const double* slopes,                          \
                      const double* ends, std::ptrdiff_t M, double* out);                                     \
  /* g_p ← weight_p·g_p; ends_k and ends_j += g_p; slopes_d += Σ_p g_p·feature_dp, at                    \
     [i·dims + d]. */                                                                                        \
  void pair_pullback(const PairChunk& c, std::ptrdiff_t rows, const double* weight, double* g,                \
                     double* slopes, double* ends, std::ptrdiff_t M);                                         \
  /* sums_dp += Σ_i slopes_id·g_ip, as features lie, and total_p += Σ_i g_ip. */                           \
  void pair_sums(const PairChunk& c, const double* g, const double* slopes, double* sums,                     \
                 double* total);                                                                              \
  /* From those sums to points z, d-major of M each: features −½z_k·z_j, offset −¼Σ w(z_k − z_j)². \
     Adds to z_bar (d-major) and w_bar. */                                                                    \
  void pair_points_pullback(const PairChunk& c, std::ptrdiff_t M, const double* z,                            \
                            const double* w, const double* sums, const double* total,                         \
                            double* z_bar, double* w_bar);                                                    \
  }

COVARY_DECLARE_PAIR_LOOPS(baseline)
COVARY_DECLARE_PAIR_LOOPS(avx2)
#undef COVARY_DECLARE_PAIR_LOOPS
