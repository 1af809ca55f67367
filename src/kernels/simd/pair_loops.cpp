// Compiled once for each instruction set, with COVARY_SIMD naming the variant: raw pointers, no
// Eigen.
#include "kernels/simd/pair_loops.hpp"

#include <type_traits>

#include "linalg/simd/exp.hpp"

namespace covary::simd::COVARY_SIMD {

using Count = std::ptrdiff_t;

namespace {

// A register of doubles, each of another row. Written out because what matters is what stays in
// registers: eight sums at a time, of two vectors of rows and four pairs or features.
#if defined(__AVX512F__)
constexpr Count lanes = 8;
#elif defined(__AVX2__)
constexpr Count lanes = 4;
#else
constexpr Count lanes = 2;
#endif
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
using Bits = std::uint64_t __attribute__((vector_size(lanes * sizeof(double))));

inline Lanes load(const double* p) {
  Lanes out;
  __builtin_memcpy(&out, p, sizeof(out));
  return out;
}
inline void store(double* p, Lanes v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline void add(double* p, Lanes v) { store(p, load(p) + v); }
inline Lanes exp(Lanes x) { return exp_of<Lanes, Bits>(x); }

// Sums of neighbours, those of a before those of b: halves what is left to add up.
inline Lanes paired(Lanes a, Lanes b) {
#if defined(__AVX512F__)
  return __builtin_shuffle(a, b, Bits{0, 2, 4, 6, 8, 10, 12, 14}) +
         __builtin_shuffle(a, b, Bits{1, 3, 5, 7, 9, 11, 13, 15});
#elif defined(__AVX2__)
  return __builtin_shuffle(a, b, Bits{0, 2, 4, 6}) + __builtin_shuffle(a, b, Bits{1, 3, 5, 7});
#else
  return __builtin_shuffle(a, b, Bits{0, 2}) + __builtin_shuffle(a, b, Bits{1, 3});
#endif
}
// to_i = Σ of v_i, of four.
inline void sums_of(Lanes v0, Lanes v1, Lanes v2, Lanes v3, double* to) {
  const Lanes a = paired(v0, v1), b = paired(v2, v3);
  if constexpr (lanes == 2) {
    store(to, a), store(to + 2, b);
  } else if constexpr (lanes == 4) {
    store(to, paired(a, b));
  } else {
    const Lanes c = paired(a, b), d = paired(c, c);
    __builtin_memcpy(to, &d, 4 * sizeof(double));
  }
}

static_assert(pair_tile == 4 && pair_rows % (2 * lanes) == 0);
constexpr Count both = 2 * lanes;

// a_t, and b_t of the next vector, += Σ_d rows_d·feature_dt of a tile from p on.
inline void add_products(const PairChunk& c, Count p, const double* rows, Lanes* a, Lanes* b) {
  const double* f = c.features + p * c.dims;
  for (Count d = 0; d < c.dims; ++d, ++f, rows += pair_rows) {
    const Lanes ra = load(rows), rb = load(rows + lanes);
    for (Count t = 0; t < pair_tile; ++t) a[t] += f[t * c.dims] * ra, b[t] += f[t * c.dims] * rb;
  }
}

}  // namespace

void point_products(const PairChunk& c, const double* rows, const PairValues& out) {
  for (Count at = 0; at < out.groups * pair_rows; at += both) {
    const Count group = at / pair_rows, row = at % pair_rows;
    for (Count p = 0; p < c.n; p += pair_tile) {
      Lanes a[pair_tile] = {}, b[pair_tile] = {};
      add_products(c, p, rows + group * c.dims * pair_rows + row, a, b);
      double* to = out.at + group * out.stride + p * pair_rows + row;
      for (Count t = 0; t < pair_tile; ++t, to += pair_rows)
        store(to, a[t]), store(to + lanes, b[t]);
    }
  }
}

void pair_values(const PairChunk& c, const double* slopes, const double* ends, Count M,
                 const PairValues& out, double* total) {
  for (Count p = 0; p < c.n; p += pair_tile) {
    const Pair* pairs = c.pairs + p;
    const double* offset = c.offset + p;
    Lanes sum[pair_tile] = {};
    for (Count at = 0; at < out.groups * pair_rows; at += both) {
      const Count group = at / pair_rows, row = at % pair_rows;
      const double* e = ends + group * M * pair_rows + row;
      const double* s = slopes + group * c.dims * pair_rows + row;
      Lanes a[pair_tile], b[pair_tile];
      for (Count t = 0; t < pair_tile; ++t) {
        const double *k = e + pairs[t].k * pair_rows, *j = e + pairs[t].j * pair_rows;
        a[t] = offset[t] + (load(k) + load(j));
        b[t] = offset[t] + (load(k + lanes) + load(j + lanes));
      }
      add_products(c, p, s, a, b);
      double* to = out.at + group * out.stride + p * pair_rows + row;
#pragma GCC unroll 4  // else a, b and sum would live in memory
      for (Count t = 0; t < pair_tile; ++t, to += pair_rows) {
        a[t] = exp(a[t]), b[t] = exp(b[t]);
        store(to, a[t]), store(to + lanes, b[t]);
        sum[t] += a[t] + b[t];
      }
    }
    if (!total) continue;
    double of_tile[pair_tile];
    sums_of(sum[0], sum[1], sum[2], sum[3], of_tile);
    for (Count t = 0; t < pair_tile; ++t) total[p + t] += of_tile[t];
  }
}

namespace {

void pull_ends(const PairChunk& c, const double* weight, const double* values, double* ends) {
  for (Count p = 0; p < c.n;) {
    const Count j = c.pairs[p].j;
    Lanes a = {}, b = {};
    for (; p < c.n && c.pairs[p].j == j; ++p) {
      const Lanes ga = weight[p] * load(values + p * pair_rows),
                  gb = weight[p] * load(values + p * pair_rows + lanes);
      double* of_k = ends + c.pairs[p].k * pair_rows;
      add(of_k, ga), add(of_k + lanes, gb);
      a += ga, b += gb;
    }
    add(ends + j * pair_rows, a), add(ends + j * pair_rows + lanes, b);
  }
}

template <Count width>
void pull_rows(const PairChunk& c, Count first, const double* values, double* rows) {
  Lanes a[width] = {}, b[width] = {};
  const double* f = c.features + first;
  for (Count p = 0; p < c.n; ++p, f += c.dims, values += pair_rows) {
    const Lanes va = load(values), vb = load(values + lanes);
    for (Count d = 0; d < width; ++d) a[d] += f[d] * va, b[d] += f[d] * vb;
  }
  for (Count d = 0; d < width; ++d) {
    double* to = rows + (first + d) * pair_rows;
    add(to, a[d]), add(to + lanes, b[d]);
  }
}

template <Count width>
void add_sums(const PairChunk& c, Count p, Count first, const PairValues& values,
              const double* slopes, double* sums) {
  Lanes a[4] = {}, b[4] = {};
  const double *v = values.at + p * pair_rows, *s = slopes + first * pair_rows;
  for (Count g = 0; g < values.groups; ++g, v += values.stride, s += c.dims * pair_rows)
    for (Count row = 0; row < pair_rows; row += lanes) {
      const Lanes va = load(v + row), vb = load(v + pair_rows + row);
      for (Count d = 0; d < width; ++d) {
        const Lanes of_d = load(s + d * pair_rows + row);
        a[d] += va * of_d, b[d] += vb * of_d;
      }
    }
  double of_p[4], of_next[4];
  sums_of(a[0], a[1], a[2], a[3], of_p);
  sums_of(b[0], b[1], b[2], b[3], of_next);
  for (Count d = 0; d < width; ++d) {
    sums[p * c.dims + first + d] += of_p[d];
    sums[(p + 1) * c.dims + first + d] += of_next[d];
  }
}

// Calls visit(first, width) for dimensions by fours and what is left, width being a constant.
template <class Visit>
void by_fours(Count dims, const Visit& visit) {
  Count d = 0;
  for (; d + 4 <= dims; d += 4) visit(d, std::integral_constant<Count, 4>());
  if (d + 2 <= dims) visit(d, std::integral_constant<Count, 2>()), d += 2;
  if (d < dims) visit(d, std::integral_constant<Count, 1>());
}

}  // namespace

void point_pullback(const PairChunk& c, const PairValues& values, const double* rows,
                    double* rows_bar, double* sums) {
  for (Count at = 0; at < values.groups * pair_rows; at += both) {
    const Count group = at / pair_rows, row = at % pair_rows;
    const double* v = values.at + group * values.stride + row;
    double* to = rows_bar + group * c.dims * pair_rows + row;
    by_fours(c.dims, [&](Count d, auto width) { pull_rows<width>(c, d, v, to); });
  }
  for (Count p = 0; p < c.n; p += 2)
    by_fours(c.dims, [&](Count d, auto width) { add_sums<width>(c, p, d, values, rows, sums); });
}

void pair_pullback(const PairChunk& c, const double* weight, const PairValues& values,
                   double* slopes, double* ends, Count M) {
  for (Count at = 0; at < values.groups * pair_rows; at += both) {
    const Count group = at / pair_rows, row = at % pair_rows;
    const double* v = values.at + group * values.stride + row;
    double* to = slopes + group * c.dims * pair_rows + row;
    pull_ends(c, weight, v, ends + group * M * pair_rows + row);
    by_fours(c.dims, [&](Count d, auto width) { pull_rows<width>(c, d, v, to); });
  }
}

void pair_sums(const PairChunk& c, const PairValues& values, const double* slopes, double* sums,
               double* total) {
  for (Count p = 0; p < c.n; p += 2) {
    // What the next chunk will read, if it lies behind this one, while there is much to compute.
    for (Count g = 0; g < values.groups; ++g)
      for (Count line = 0; line < 2 * pair_rows; line += 8)
        __builtin_prefetch(values.at + g * values.stride + (c.n + p) * pair_rows + line, 0, 2);
    by_fours(c.dims, [&](Count d, auto width) { add_sums<width>(c, p, d, values, slopes, sums); });
  }
  for (Count p = 0; p < c.n; p += pair_tile) {
    Lanes sum[pair_tile] = {};
    const double* v = values.at + p * pair_rows;
    for (Count g = 0; g < values.groups; ++g, v += values.stride)
      for (Count t = 0; t < pair_tile; ++t)
        for (Count row = 0; row < pair_rows; row += lanes) sum[t] += load(v + t * pair_rows + row);
    double of_tile[pair_tile];
    sums_of(sum[0], sum[1], sum[2], sum[3], of_tile);
    for (Count t = 0; t < pair_tile; ++t) total[p + t] += of_tile[t];
  }
}

void pair_points_pullback(const PairChunk& c, const double* z, const double* w,
                          const double* weight, const double* sums, const double* total,
                          double* z_bar, double* w_bar) {
  for (Count p = 0; p < c.n; ++p) {
    const Count of_k = c.pairs[p].k * c.dims, of_j = c.pairs[p].j * c.dims;
    const double *zk = z + of_k, *zj = z + of_j, *by = sums + p * c.dims;
    double *to_k = z_bar + of_k, *to_j = z_bar + of_j;
    const double half = 0.5 * weight[p], t = total[p];
    if (of_k == of_j) {
      for (Count d = 0; d < c.dims; ++d) to_k[d] -= weight[p] * by[d] * zk[d];
      continue;
    }
#pragma omp simd
    for (Count d = 0; d < c.dims; ++d) {
      const double apart = zk[d] - zj[d], pull = w[d] * apart * t;
      to_k[d] -= half * (by[d] * zj[d] + pull);
      to_j[d] -= half * (by[d] * zk[d] - pull);
      w_bar[d] -= 0.5 * half * t * apart * apart;
    }
  }
}

}  // namespace covary::simd::COVARY_SIMD
