// Compiled once for each instruction set, with COVARY_SIMD naming the variant: raw pointers, no
// Eigen.
#include "kernels/simd/pair_loops.hpp"

namespace covary::simd::COVARY_SIMD {

using Count = std::ptrdiff_t;

namespace {

// A register of doubles. Written out because what matters is what stays in registers: eight sums at
// a time, of two vectors of pairs or two features and four rows.
#ifdef __AVX2__
constexpr Count lanes = 4;
#else
constexpr Count lanes = 2;
#endif
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

inline Lanes load(const double* p) {
  Lanes out;
  __builtin_memcpy(&out, p, sizeof(out));
  return out;
}
inline void store(double* p, Lanes v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline double sum(Lanes v) {
  double out = 0.0;
  for (Count i = 0; i < lanes; ++i) out += v[i];
  return out;
}

static_assert(pair_rows == 4 && pair_vector % (2 * lanes) == 0);

}  // namespace

void pair_exponents(const PairChunk& c, Count rows, const double* slopes, const double* ends,
                    Count M, double* out) {
  for (Count row = 0; row < pair_rows; ++row) {
    double* of_row = out + row * c.stride;
    Count p = 0;
    for (Count r = 0; row < rows && r < c.run_count; ++r) {
      const PairRun run = c.runs[r];
      const double *of_k = ends + row * M + run.k, of_j = ends[row * M + run.j];
      const double* offset = c.offset + p;
      double* to = of_row + p;
#pragma omp simd
      for (Count i = 0; i < run.n; ++i) to[i] = offset[i] + (of_k[i] + of_j);
      p += run.n;
    }
    for (; p < c.padded; ++p) of_row[p] = 0.0;
  }
  for (Count p = 0; p < c.padded; p += 2 * lanes) {
    double *o0 = out + p, *o1 = o0 + c.stride, *o2 = o1 + c.stride, *o3 = o2 + c.stride;
    Lanes a0 = load(o0), a1 = load(o1), a2 = load(o2), a3 = load(o3);
    Lanes b0 = load(o0 + lanes), b1 = load(o1 + lanes), b2 = load(o2 + lanes),
          b3 = load(o3 + lanes);
    const double *f = c.features + p, *s = slopes;
    for (Count d = 0; d < c.dims; ++d, f += c.stride, s += pair_rows) {
      const Lanes fa = load(f), fb = load(f + lanes);
      a0 += s[0] * fa, b0 += s[0] * fb;
      a1 += s[1] * fa, b1 += s[1] * fb;
      a2 += s[2] * fa, b2 += s[2] * fb;
      a3 += s[3] * fa, b3 += s[3] * fb;
    }
    store(o0, a0), store(o1, a1), store(o2, a2), store(o3, a3);
    store(o0 + lanes, b0), store(o1 + lanes, b1), store(o2 + lanes, b2), store(o3 + lanes, b3);
  }
}

void pair_pullback(const PairChunk& c, Count rows, const double* weight, double* g, double* slopes,
                   double* ends, Count M) {
  for (Count row = 0; row < rows; ++row) {
    double* of_row = g + row * c.stride;
    Count p = 0;
    for (Count r = 0; r < c.run_count; ++r) {
      const PairRun run = c.runs[r];
      const double* w = weight + p;
      double *at = of_row + p, *of_k = ends + row * M + run.k, total = 0.0;
#pragma omp simd reduction(+ : total)
      for (Count i = 0; i < run.n; ++i) {
        const double value = at[i] * w[i];
        at[i] = value;
        of_k[i] += value;
        total += value;
      }
      ends[row * M + run.j] += total;
      p += run.n;
    }
    for (; p < c.padded; ++p) of_row[p] = 0.0;
  }
  const double *g0 = g, *g1 = g0 + c.stride, *g2 = g1 + c.stride, *g3 = g2 + c.stride;
  for (Count d = 0; d < c.dims; d += 2) {
    // The last of an odd number of features is done twice, and once for nothing.
    const double *f = c.features + d * c.stride, *h = d + 1 < c.dims ? f + c.stride : f;
    Lanes a0 = {}, a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    for (Count p = 0; p < c.padded; p += lanes) {
      const Lanes fa = load(f + p), fb = load(h + p);
      const Lanes v0 = load(g0 + p), v1 = load(g1 + p), v2 = load(g2 + p), v3 = load(g3 + p);
      a0 += v0 * fa, a1 += v1 * fa, a2 += v2 * fa, a3 += v3 * fa;
      b0 += v0 * fb, b1 += v1 * fb, b2 += v2 * fb, b3 += v3 * fb;
    }
    const double of_d[pair_rows] = {sum(a0), sum(a1), sum(a2), sum(a3)};
    const double of_next[pair_rows] = {sum(b0), sum(b1), sum(b2), sum(b3)};
    for (Count row = 0; row < rows; ++row) {
      slopes[row * c.dims + d] += of_d[row];
      if (d + 1 < c.dims) slopes[row * c.dims + d + 1] += of_next[row];
    }
  }
}

void pair_sums(const PairChunk& c, const double* g, const double* slopes, double* sums,
               double* total) {
  const double *g0 = g, *g1 = g0 + c.stride, *g2 = g1 + c.stride, *g3 = g2 + c.stride;
  for (Count p = 0; p < c.padded; p += 2 * lanes) {
    const Lanes a0 = load(g0 + p), a1 = load(g1 + p), a2 = load(g2 + p), a3 = load(g3 + p);
    const Lanes b0 = load(g0 + p + lanes), b1 = load(g1 + p + lanes), b2 = load(g2 + p + lanes),
                b3 = load(g3 + p + lanes);
    store(total + p, load(total + p) + ((a0 + a1) + (a2 + a3)));
    store(total + p + lanes, load(total + p + lanes) + ((b0 + b1) + (b2 + b3)));
    double* to = sums + p;
    const double* s = slopes;
    for (Count d = 0; d < c.dims; ++d, to += c.stride, s += pair_rows) {
      const double s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
      store(to, load(to) + ((s0 * a0 + s1 * a1) + (s2 * a2 + s3 * a3)));
      store(to + lanes, load(to + lanes) + ((s0 * b0 + s1 * b1) + (s2 * b2 + s3 * b3)));
    }
  }
}

void pair_points_pullback(const PairChunk& c, Count M, const double* z, const double* w,
                          const double* sums, const double* total, double* z_bar, double* w_bar) {
  for (Count d = 0; d < c.dims; ++d) {
    const double* of_d = z + d * M;
    double *bar = z_bar + d * M, squares = 0.0;
    Count p = d * c.stride, q = 0;
    for (Count r = 0; r < c.run_count; ++r) {
      const PairRun run = c.runs[r];
      const double *by = sums + p, *t = total + q, *of_k = of_d + run.k, of_j = of_d[run.j];
      double *to = bar + run.k, of_j_bar = 0.0;
#pragma omp simd reduction(+ : squares, of_j_bar)
      for (Count i = 0; i < run.n; ++i) {
        const double apart = of_k[i] - of_j, pull = w[d] * apart * t[i];
        to[i] -= 0.5 * (by[i] * of_j + pull);
        of_j_bar -= 0.5 * (by[i] * of_k[i] - pull);
        squares += apart * apart * t[i];
      }
      bar[run.j] += of_j_bar;
      p += run.n;
      q += run.n;
    }
    w_bar[d] -= 0.25 * squares;
  }
}

}  // namespace covary::simd::COVARY_SIMD
