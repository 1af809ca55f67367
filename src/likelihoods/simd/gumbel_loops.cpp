// Compiled once for each instruction set, with COVARY_SIMD naming the variant: raw pointers, no
// Eigen.
#include "likelihoods/simd/gumbel_loops.hpp"

namespace covary::simd::COVARY_SIMD {

void gumbel_slopes(const double* z, const double* e, double* ze, double* zze, std::ptrdiff_t n) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double first = z[i] * e[i];
    ze[i] = first;
    zze[i] = first * (z[i] - 1.0);
  }
}

void add_gumbel(double w, double c, const double* base, const double* e, double* F, double* F1,
                double* F2, std::ptrdiff_t n) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double z = c * base[i], zero = w * e[i], first = zero * z;
    F[i] += zero;
    F1[i] += first;
    F2[i] += first * (z - 1.0);
  }
}

// Eight weights a pass, so that `out` is loaded and stored an eighth as often.
void add_correlation(const double* w, std::ptrdiff_t nw, const double* f, double* out,
                     std::ptrdiff_t n) {
  std::ptrdiff_t i = 0;
  for (; i + 8 <= nw; i += 8) {
    const double *v = w + i, *g = f + i;
    const double v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
    const double v4 = v[4], v5 = v[5], v6 = v[6], v7 = v[7];
#pragma omp simd
    for (std::ptrdiff_t j = 0; j < n; ++j)
      out[j] += ((v0 * g[j] + v1 * g[j + 1]) + (v2 * g[j + 2] + v3 * g[j + 3])) +
                ((v4 * g[j + 4] + v5 * g[j + 5]) + (v6 * g[j + 6] + v7 * g[j + 7]));
  }
  for (; i < nw; ++i) {
    const double v = w[i];
    const double* g = f + i;
#pragma omp simd
    for (std::ptrdiff_t j = 0; j < n; ++j) out[j] += v * g[j];
  }
}

void gumbel_shares(const double* q, const double* F, const double* F1, const double* F2,
                   std::ptrdiff_t n, double* first, double* second) {
  double a = 0.0, b = 0.0;
#pragma omp simd reduction(+ : a, b)
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const double others = q[j] / F[j];
    a += others * F1[j];
    b += others * F2[j];
  }
  *first = a;
  *second = b;
}

}  // namespace covary::simd::COVARY_SIMD
