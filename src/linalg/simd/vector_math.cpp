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
  // Estrin's scheme: a tree of products, so that the units stay busy.
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double p01 = 1.0 + r, p23 = 0.5 + r * (1.0 / 6.0);
  const double p45 = 1.0 / 24.0 + r * (1.0 / 120.0), p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
  const double p89 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
  const double pab = 1.0 / 3628800.0 + r * (1.0 / 39916800.0);
  const double pcd = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
  const double p = ((p01 + r2 * p23) + r4 * (p45 + r2 * p67)) + r8 * ((p89 + r2 * pab) + r4 * pcd);
  const std::uint64_t exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
  const double value = p * std::bit_cast<double>(exponent);
  return x < -708.0 ? 0.0 : value;
}

}  // namespace

void exp(const double* x, double* out, std::ptrdiff_t n) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = exp_one(x[i]);
}

// Four dimensions a pass, so that a column is loaded and stored a quarter as often.
void squared_distances(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
                       std::ptrdiff_t dims, double* r2) {
  for (std::ptrdiff_t j = 0; j < nz; ++j) {
    double* column = r2 + j * nx;
    for (std::ptrdiff_t i = 0; i < nx; ++i) column[i] = 0.0;
    std::ptrdiff_t d = 0;
    for (; d + 4 <= dims; d += 4) {
      const double *x0 = x + d * nx, *x1 = x0 + nx, *x2 = x1 + nx, *x3 = x2 + nx;
      const double *zj = z + d * nz + j, z0 = zj[0], z1 = zj[nz], z2 = zj[2 * nz], z3 = zj[3 * nz];
#pragma omp simd
      for (std::ptrdiff_t i = 0; i < nx; ++i) {
        const double a = x0[i] - z0, b = x1[i] - z1, c = x2[i] - z2, e = x3[i] - z3;
        column[i] += (a * a + b * b) + (c * c + e * e);
      }
    }
    for (; d < dims; ++d) {
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

namespace {

// per_dim alone, four dimensions a pass.
void pullback_to_scales(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
                        std::ptrdiff_t dims, const double* W, double* per_dim) {
  std::ptrdiff_t d = 0;
  for (; d + 4 <= dims; d += 4) {
    const double *x0 = x + d * nx, *x1 = x0 + nx, *x2 = x1 + nx, *x3 = x2 + nx;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (std::ptrdiff_t j = 0; j < nz; ++j) {
      const double *zj = z + d * nz + j, z0 = zj[0], z1 = zj[nz], z2 = zj[2 * nz], z3 = zj[3 * nz];
      const double* w = W + j * nx;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
      for (std::ptrdiff_t i = 0; i < nx; ++i) {
        const double a = x0[i] - z0, b = x1[i] - z1, c = x2[i] - z2, e = x3[i] - z3;
        s0 += w[i] * a * a;
        s1 += w[i] * b * b;
        s2 += w[i] * c * c;
        s3 += w[i] * e * e;
      }
    }
    per_dim[d] += s0;
    per_dim[d + 1] += s1;
    per_dim[d + 2] += s2;
    per_dim[d + 3] += s3;
  }
  for (; d < dims; ++d) {
    const double* xd = x + d * nx;
    double sum = 0.0;
    for (std::ptrdiff_t j = 0; j < nz; ++j) {
      const double zj = z[d * nz + j];
      const double* w = W + j * nx;
#pragma omp simd reduction(+ : sum)
      for (std::ptrdiff_t i = 0; i < nx; ++i) {
        const double diff = xd[i] - zj;
        sum += w[i] * diff * diff;
      }
    }
    per_dim[d] += sum;
  }
}

}  // namespace

void squared_distances_pullback(const double* x, std::ptrdiff_t nx, const double* z,
                                std::ptrdiff_t nz, std::ptrdiff_t dims, const double* W,
                                double* per_dim, double* xbar, double* zbar) {
  if (!xbar && !zbar) return pullback_to_scales(x, nx, z, nz, dims, W, per_dim);
  for (std::ptrdiff_t d = 0; d < dims; ++d) {
    const double* xd = x + d * nx;
    double total = 0.0;
    for (std::ptrdiff_t j = 0; j < nz; ++j) {
      const double zj = z[d * nz + j];
      const double* w = W + j * nx;
      double square = 0.0, pull = 0.0;
#pragma omp simd reduction(+ : square, pull)
      for (std::ptrdiff_t i = 0; i < nx; ++i) {
        const double diff = xd[i] - zj, wd = w[i] * diff;
        square += wd * diff;
        pull += wd;
      }
      if (xbar) {
        double* xb = xbar + d * nx;
#pragma omp simd
        for (std::ptrdiff_t i = 0; i < nx; ++i) xb[i] += 2.0 * w[i] * (xd[i] - zj);
      }
      if (zbar) zbar[d * nz + j] -= 2.0 * pull;
      total += square;
    }
    per_dim[d] += total;
  }
}

}  // namespace covary::simd::COVARY_SIMD
