// Compiled once for each instruction set, with COVARY_SIMD naming the variant: raw pointers, no
// Eigen.
#include "linalg/simd/vector_math.hpp"

#include <bit>
#include <cstdint>

namespace covary::simd::COVARY_SIMD {
namespace {

// exp(x) = 2^k·exp(r), |r| ≤ ½ log 2: k by adding 1.5·2⁵², exp(r) by its Taylor series to r¹³,
// whose remainder is 4e-18. Written without branches so that it vectorises.
inline double exp_one(double x) {
  constexpr double log2e = 1.4426950408889634074, magic = 0x1.8p52;
  constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  const double clamped = x < -708.0 ? -708.0 : (x > 709.0 ? 709.0 : x);
  const double shifted = clamped * log2e + magic;
  const double k = shifted - magic;
  const double r = (clamped - k * ln2_high) - k * ln2_low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::uint64_t exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
  const double value = p * std::bit_cast<double>(exponent);
  return x < -708.0 ? 0.0 : value;
}

}  // namespace

void exp(const double* x, double* out, std::ptrdiff_t n) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = exp_one(x[i]);
}

void squared_distances(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
                       std::ptrdiff_t dims, double* r2) {
  for (std::ptrdiff_t j = 0; j < nz; ++j) {
    double* column = r2 + j * nx;
    for (std::ptrdiff_t i = 0; i < nx; ++i) column[i] = 0.0;
    for (std::ptrdiff_t d = 0; d < dims; ++d) {
      const double zj = z[d * nz + j];
      const double* xd = x + d * nx;
#pragma omp simd
      for (std::ptrdiff_t i = 0; i < nx; ++i) {
        const double diff = xd[i] - zj;
        column[i] += diff * diff;
      }
    }
  }
}

void squared_distances_pullback(const double* x, std::ptrdiff_t nx, const double* z,
                                std::ptrdiff_t nz, std::ptrdiff_t dims, const double* W,
                                double* per_dim, double* xbar, double* zbar) {
  for (std::ptrdiff_t d = 0; d < dims; ++d) {
    const double* xd = x + d * nx;
    double total = 0.0;
    for (std::ptrdiff_t j = 0; j < nz; ++j) {
      const double zj = z[d * nz + j];
      const double* w = W + j * nx;
      double square = 0.0;
      if (xbar || zbar) {
        double pull = 0.0;
        double* xb = xbar ? xbar + d * nx : nullptr;
#pragma omp simd reduction(+ : square, pull)
        for (std::ptrdiff_t i = 0; i < nx; ++i) {
          const double diff = xd[i] - zj, wd = w[i] * diff;
          square += wd * diff;
          pull += wd;
        }
        if (xb) {
#pragma omp simd
          for (std::ptrdiff_t i = 0; i < nx; ++i) xb[i] += 2.0 * w[i] * (xd[i] - zj);
        }
        if (zbar) zbar[d * nz + j] -= 2.0 * pull;
      } else {
#pragma omp simd reduction(+ : square)
        for (std::ptrdiff_t i = 0; i < nx; ++i) {
          const double diff = xd[i] - zj;
          square += w[i] * diff * diff;
        }
      }
      total += square;
    }
    per_dim[d] += total;
  }
}

}  // namespace covary::simd::COVARY_SIMD
