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

void exp(const double* x, double* out, std::ptrdiff_t n, double slope, double factor) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = factor * exp_one(slope * x[i]);
}

double product(double c, const double* x, const double* y, double* out, std::ptrdiff_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double value = c * x[i] * y[i];
    out[i] = value;
    sum += value;
  }
  return sum;
}

namespace {

// Four dimensions a pass, so that a column is loaded and stored a quarter as often.
void add_squares(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
                 std::ptrdiff_t dims, double* column) {
  std::ptrdiff_t d = 0;
  for (; d + 4 <= dims; d += 4) {
    const double *x0 = x + d * nx, *x1 = x0 + nx, *x2 = x1 + nx, *x3 = x2 + nx;
    const double *zd = z + d * nz, z0 = zd[0], z1 = zd[nz], z2 = zd[2 * nz], z3 = zd[3 * nz];
#pragma omp simd
    for (std::ptrdiff_t i = 0; i < nx; ++i) {
      const double a = x0[i] - z0, b = x1[i] - z1, c = x2[i] - z2, e = x3[i] - z3;
      column[i] += (a * a + b * b) + (c * c + e * e);
    }
  }
  for (; d < dims; ++d) {
    const double zd = z[d * nz];
    const double* xd = x + d * nx;
#pragma omp simd
    for (std::ptrdiff_t i = 0; i < nx; ++i) {
      const double diff = xd[i] - zd;
      column[i] += diff * diff;
    }
  }
}

}  // namespace

// Some dimensions at a time for all columns, so that those of x stay in the nearest cache.
void squared_distances(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
                       std::ptrdiff_t dims, double* r2) {
  constexpr std::ptrdiff_t tile = 32;
  for (std::ptrdiff_t d = 0; d == 0 || d < dims; d += tile) {
    const std::ptrdiff_t some = dims - d < tile ? dims - d : tile;
    for (std::ptrdiff_t j = 0; j < nz; ++j) {
      double* column = r2 + j * nx;
      if (d == 0)
        for (std::ptrdiff_t i = 0; i < nx; ++i) column[i] = 0.0;
      add_squares(x + d * nx, nx, z + d * nz + j, nz, some, column);
    }
  }
}

namespace {

// One dimension, or four a pass: each weight is loaded once for the four, and the sums by x and by
// scale share its products.
template <bool want_x, bool want_z>
void pullback_one(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
                  const double* W, double* per_dim, double* xbar, double* zbar) {
  double total = 0.0;
  for (std::ptrdiff_t j = 0; j < nz; ++j) {
    const double* w = W + j * nx;
    const double zj = z[j];
    double square = 0.0, pull = 0.0;
#pragma omp simd reduction(+ : square, pull)
    for (std::ptrdiff_t i = 0; i < nx; ++i) {
      const double diff = x[i] - zj, wd = w[i] * diff;
      square += wd * diff;
      if (want_x) xbar[i] += 2.0 * wd;
      if (want_z) pull += wd;
    }
    if (want_z) zbar[j] -= 2.0 * pull;
    total += square;
  }
  *per_dim += total;
}

template <bool want_x, bool want_z>
void pullback_four(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
                   const double* W, double* per_dim, double* xbar, double* zbar) {
  const double *x0 = x, *x1 = x0 + nx, *x2 = x1 + nx, *x3 = x2 + nx;
  double *b0 = xbar, *b1 = want_x ? b0 + nx : b0, *b2 = want_x ? b1 + nx : b0,
         *b3 = want_x ? b2 + nx : b0;
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  for (std::ptrdiff_t j = 0; j < nz; ++j) {
    const double* w = W + j * nx;
    const double z0 = z[j], z1 = z[nz + j], z2 = z[2 * nz + j], z3 = z[3 * nz + j];
    double p0 = 0.0, p1 = 0.0, p2 = 0.0, p3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, p0, p1, p2, p3)
    for (std::ptrdiff_t i = 0; i < nx; ++i) {
      const double a = x0[i] - z0, b = x1[i] - z1, c = x2[i] - z2, e = x3[i] - z3;
      const double wa = w[i] * a, wb = w[i] * b, wc = w[i] * c, we = w[i] * e;
      s0 += wa * a;
      s1 += wb * b;
      s2 += wc * c;
      s3 += we * e;
      if (want_x) {
        b0[i] += 2.0 * wa;
        b1[i] += 2.0 * wb;
        b2[i] += 2.0 * wc;
        b3[i] += 2.0 * we;
      }
      if (want_z) {
        p0 += wa;
        p1 += wb;
        p2 += wc;
        p3 += we;
      }
    }
    if (want_z) {
      zbar[j] -= 2.0 * p0;
      zbar[nz + j] -= 2.0 * p1;
      zbar[2 * nz + j] -= 2.0 * p2;
      zbar[3 * nz + j] -= 2.0 * p3;
    }
  }
  per_dim[0] += s0;
  per_dim[1] += s1;
  per_dim[2] += s2;
  per_dim[3] += s3;
}

template <bool want_x, bool want_z>
void pullback(const double* x, std::ptrdiff_t nx, const double* z, std::ptrdiff_t nz,
              std::ptrdiff_t dims, const double* W, double* per_dim, double* xbar, double* zbar) {
  const auto of_x = [&](std::ptrdiff_t d) { return want_x ? xbar + d * nx : nullptr; };
  const auto of_z = [&](std::ptrdiff_t d) { return want_z ? zbar + d * nz : nullptr; };
  std::ptrdiff_t d = 0;
  for (; d + 4 <= dims; d += 4)
    pullback_four<want_x, want_z>(x + d * nx, nx, z + d * nz, nz, W, per_dim + d, of_x(d), of_z(d));
  for (; d < dims; ++d)
    pullback_one<want_x, want_z>(x + d * nx, nx, z + d * nz, nz, W, per_dim + d, of_x(d), of_z(d));
}

}  // namespace

void squared_distances_pullback(const double* x, std::ptrdiff_t nx, const double* z,
                                std::ptrdiff_t nz, std::ptrdiff_t dims, const double* W,
                                double* per_dim, double* xbar, double* zbar) {
  if (xbar && zbar) return pullback<true, true>(x, nx, z, nz, dims, W, per_dim, xbar, zbar);
  if (xbar) return pullback<true, false>(x, nx, z, nz, dims, W, per_dim, xbar, zbar);
  if (zbar) return pullback<false, true>(x, nx, z, nz, dims, W, per_dim, xbar, zbar);
  pullback<false, false>(x, nx, z, nz, dims, W, per_dim, xbar, zbar);
}

}  // namespace covary::simd::COVARY_SIMD
