#include "likelihoods/gumbel_curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "covary/linalg/quadrature.hpp"
#include "covary/linalg/vector_math.hpp"
#include "likelihoods/simd/gumbel_loops.hpp"

namespace covary {
namespace {

struct Loops {
  decltype(&simd::baseline::gumbel_slopes) slopes;
  decltype(&simd::baseline::add_gumbel) add;
  decltype(&simd::baseline::add_correlation) correlate;
  decltype(&simd::baseline::gumbel_shares) shares;
};
constexpr Loops baseline{simd::baseline::gumbel_slopes, simd::baseline::add_gumbel,
                         simd::baseline::add_correlation, simd::baseline::gumbel_shares};
#ifdef __x86_64__
constexpr Loops avx2{simd::avx2::gumbel_slopes, simd::avx2::add_gumbel, simd::avx2::add_correlation,
                     simd::avx2::gumbel_shares};
constexpr Loops avx512{simd::avx512::gumbel_slopes, simd::avx512::add_gumbel,
                       simd::avx512::add_correlation, simd::avx512::gumbel_shares};
#endif

const Loops& loops() {
#ifdef __x86_64__
  const std::string level = simd_level();
  if (level == "avx512") return avx512;
  if (level == "avx2") return avx2;
#endif
  return baseline;
}

constexpr double narrow = 0.12;  // standard deviation

// Narrow Gaussians: the rule of Gauss and Hermite whose error (0.41·sd²)ⁿ·n! is below 1e-12.
const QuadratureRule& narrow_rule(double sd) {
  static const std::array<QuadratureRule, 4> rules{gauss_hermite(1), gauss_hermite(3),
                                                   gauss_hermite(5), gauss_hermite(8)};
  return rules[sd == 0.0 ? 0 : sd <= 0.01 ? 1 : sd <= 0.06 ? 2 : 3];
}

double* memory(Index n) {
  thread_local std::vector<double> own;
  if (own.size() < static_cast<std::size_t>(n)) own.resize(static_cast<std::size_t>(n));
  return own.data();
}

void narrow_curve(double m, double sd, const GumbelGrid& grid, double* F, double* F1, double* F2) {
  const Loops& l = loops();
  const QuadratureRule& rule = narrow_rule(sd);
  double *base = memory(2 * grid.count), *e = base + grid.count;
  for (Index j = 0; j < grid.count; ++j)
    base[j] = m - grid.first - grid.step() * static_cast<double>(j);
  vector_exp(base, base, grid.count);
  for (Index i = 0; i < rule.nodes.size(); ++i) {
    const double c = std::exp(sd * rule.nodes(i));
    vector_exp(base, e, grid.count, -c);
    l.add(rule.weights(i), c, base, e, F, F1, F2, grid.count);
  }
}

// Wide ones: trapezoids in f on the lattice of the places themselves or on a finer one that holds
// it, so that z = exp(f − x) takes few values and two exponentials each do; the rest are
// correlations with the Gaussian's weights. Where the places are every `stride`-th of the lattice
// it is kept as that many sequences.
void wide_curve(double m, double sd, const GumbelGrid& grid, double* F, double* F1, double* F2) {
  constexpr double largest = 300.0;  // exp(−exp(300)) is 0, and exp(300)² is finite
  const Loops& l = loops();
  // A step of 0.7 standard deviations does for the Gaussian: exp(−2π²/0.7²) = 3e-18.
  const auto finer = std::max<Index>(1, static_cast<Index>(std::ceil(gumbel_step / (0.7 * sd))));
  const Index stride = grid.stride * finer, n = grid.count;
  const double step = gumbel_step / static_cast<double>(finer), h = step / sd;
  const auto half = static_cast<Index>(std::ceil(gumbel_reach / h));
  const Index each = n + 2 * half / stride;  // of a sequence
  double *w = memory(4 * each + 2 * half + 1), *z = w + 2 * half + 1;
  double *e = z + each, *ze = e + each, *zze = ze + each;
  const double top = m - grid.first + step * static_cast<double>(half);
  for (Index s = 0; s < std::min(stride, 2 * half + 1); ++s) {
    Index weights = 0;
    for (Index i = s; i <= 2 * half; i += stride, ++weights) {
      const double t = h * static_cast<double>(i - half);
      w[weights] = -0.5 * t * t;
    }
    vector_exp(w, w, weights, 1.0, h * 0.39894228040143267794);
    const Index count = n + weights - 1;
    for (Index q = 0; q < count; ++q)
      z[q] = std::min(top - step * static_cast<double>(q * stride + s), largest);
    vector_exp(z, z, count);
    vector_exp(z, e, count, -1.0);
    l.slopes(z, e, ze, zze, count);
    l.correlate(w, weights, e, F, n);
    l.correlate(w, weights, ze, F1, n);
    l.correlate(w, weights, zze, F2, n);
  }
}

}  // namespace

void gumbel_curve(double m, double sd, const GumbelGrid& grid, double* F, double* F1, double* F2) {
  std::fill_n(F, grid.count, 0.0);
  std::fill_n(F1, grid.count, 0.0);
  std::fill_n(F2, grid.count, 0.0);
  (sd <= narrow ? narrow_curve : wide_curve)(m, sd, grid, F, F1, F2);
}

GumbelShares gumbel_shares(const double* q, const double* F, const double* F1, const double* F2,
                           Index n) {
  GumbelShares out;
  loops().shares(q, F, F1, F2, n, &out.first, &out.second);
  return out;
}

}  // namespace covary
