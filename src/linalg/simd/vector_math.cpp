// Compiled once for each instruction set, with COVARY_SIMD naming the variant: raw pointers, no
// Eigen.
#include "linalg/simd/vector_math.hpp"

#include "linalg/simd/exp.hpp"

namespace covary::simd::COVARY_SIMD {

void exp(const double* x, double* out, std::ptrdiff_t n, double slope, double factor) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double at = slope * x[i], below = at > 709.0 ? 709.0 : at;
    out[i] = factor * exp_of<double, std::uint64_t>(below);
  }
}

namespace {

// exp(−|x|), and log(1 + t) = 2 artanh(s) of 0 ≤ t ≤ 1 with s = t/(2 + t), whose series to s³⁵
// leaves 1e-18: 2s + s(⅔s² + ⅖s⁴ + …), where what is rounded most is small beside 2s.
inline double exp_below(double x) { return exp_of<double, std::uint64_t>(x < 0.0 ? x : -x); }
inline double log_above_one(double t) {
  const double s = t / (2.0 + t), q = s * s;
  double sum = 2.0 / 35.0;
#pragma GCC unroll 16
  for (int k = 33; k > 1; k -= 2) sum = 2.0 / k + q * sum;
  return 2.0 * s + s * (q * sum);
}

}  // namespace

void softplus(const double* x, double* out, std::ptrdiff_t n) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i)
    out[i] = (x[i] > 0.0 ? x[i] : 0.0) + log_above_one(exp_below(x[i]));
}

void sigmoid(const double* x, double* out, std::ptrdiff_t n) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double t = exp_below(x[i]);
    out[i] = (x[i] < 0.0 ? t : 1.0) / (1.0 + t);
  }
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
