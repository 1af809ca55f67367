#pragma once

#include <cstddef>

// The hot loops of gumbel_curve.cpp, one namespace an instruction set.
#define COVARY_DECLARE_GUMBEL_LOOPS(ns)                                                            \
  namespace covary::simd::ns {                                                                     \
  /* From z and e = exp(−z): ze ← z·e and zze ← z(z − 1)·e. */                           \
  void gumbel_slopes(const double* z, const double* e, double* ze, double* zze, std::ptrdiff_t n); \
  /* F += w·e, F1 += w·ze, F2 += w·z(z − 1)e, where z = c·base and e = exp(−z). */         \
  void add_gumbel(double w, double c, const double* base, const double* e, double* F, double* F1,  \
                  double* F2, std::ptrdiff_t n);                                                   \
  /* out[j] += Σ_i w[i]·f[i + j] */                                                              \
  void add_correlation(const double* w, std::ptrdiff_t nw, const double* f, double* out,           \
                       std::ptrdiff_t n);                                                          \
  /* Σ_j q[j]·F1[j]/F[j] and Σ_j q[j]·F2[j]/F[j]. */                                           \
  void gumbel_shares(const double* q, const double* F, const double* F1, const double* F2,         \
                     std::ptrdiff_t n, double* first, double* second);                             \
  }

COVARY_DECLARE_GUMBEL_LOOPS(baseline)
COVARY_DECLARE_GUMBEL_LOOPS(avx2)
COVARY_DECLARE_GUMBEL_LOOPS(avx512)
#undef COVARY_DECLARE_GUMBEL_LOOPS
