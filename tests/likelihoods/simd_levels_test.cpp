// The sums over Gumbel distributions behind softmax at every instruction set that the machine has:
// against long doubles, and against the baseline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "covary/linalg/vector_math.hpp"

namespace covary {
namespace {

using Exact = long double;

// Means and variances of K functions; E log p(y = 0 | f) with its derivatives, mixed ones included,
// and the probabilities.
struct Gaussians {
  Vector m, v;
  Gaussians(Index K, double scale) : m(K), v(K) {
    for (Index k = 0; k < K; ++k) {
      m(k) = 1.5 * std::cos(1.7 * static_cast<double>(k));
      v(k) = scale * (1.0 + 0.3 * std::sin(2.9 * static_cast<double>(k)));
    }
  }
};
struct Answer {
  double value = 0.0;
  Vector m_bar, v_bar, p, coupling;
};

Answer by_library(const Gaussians& f) {
  const Index K = f.m.size();
  const Likelihood l = softmax_likelihood(K);
  const Datum d{0.0, 0.0, nullptr};
  Answer out{0.0, Vector(K), Vector(K), Vector(K), Vector(K * (K - 1) / 2)};
  out.value = l.node().coupled_expectation(d, f.m.data(), f.v.data(), out.m_bar.data(),
                                           out.v_bar.data(), nullptr, out.coupling.data());
  l.node().probabilities(d, f.m.data(), f.v.data(), out.p.data());
  return out;
}

// By trapezoids of a fine step in x for E max(f_k + g_k) − γ, and in each f_k for
// P(f_k + g_k ≤ x); exp(−π²/0.2) = 4e-22.
Answer by_long_doubles(const Gaussians& f) {
  const Index K = f.m.size();
  const auto n = static_cast<std::size_t>(K);
  constexpr Exact h = 0.2L, reach = 9.3L, euler = 0.577215664901532860606512090082402431L;
  Exact low = -1e9L, high = -1e9L;
  for (Index k = 0; k < K; ++k) {
    const Exact sd = std::sqrt(Exact(f.v(k)));
    low = std::max(low, f.m(k) - reach * sd);
    high = std::max(high, f.m(k) + reach * sd);
  }
  low -= 4, high += 46;
  std::vector<Exact> F(n), F1(n), F2(n), m_bar(n), v_bar(n);
  std::vector<Exact> coupling(n * (n - 1) / 2);
  Exact value = euler - low + h / 2;
  const auto others = [&](std::size_t k, std::size_t l) {
    Exact out = h;
    for (std::size_t j = 0; j < n; ++j)
      if (j != k && j != l) out *= F[j];
    return out;
  };
  for (Exact x = low; x < high; x += h) {
    for (std::size_t k = 0; k < n; ++k) {
      const auto at = static_cast<Index>(k);
      const Exact sd = std::sqrt(Exact(f.v(at))), step = std::min(Exact(0.5L), h / sd);
      F[k] = F1[k] = F2[k] = 0;
      for (Exact t = -reach; t <= reach; t += step) {
        const Exact z = std::exp(std::min(f.m(at) - x + sd * t, Exact(300)));
        const Exact w = step * std::exp(-t * t / 2 - z) / std::sqrt(2 * std::numbers::pi_v<Exact>);
        F[k] += w;
        F1[k] += w * z;
        F2[k] += w * z * (z - 1);
      }
    }
    Exact all = 1;
    for (const Exact& v : F) all *= v;
    value -= h * (1 - all);
    std::size_t pair = 0;
    for (std::size_t k = 0; k < n; ++k) {
      m_bar[k] -= others(k, k) * F1[k];
      v_bar[k] += others(k, k) * F2[k] / 2;
      for (std::size_t l = k + 1; l < n; ++l) coupling[pair++] += others(k, l) * F1[k] * F1[l];
    }
  }
  Answer out{static_cast<double>(f.m(0) + value), Vector(K), Vector(K), Vector(K),
             Vector(K * (K - 1) / 2)};
  for (Index k = 0; k < K; ++k) {
    const auto at = static_cast<std::size_t>(k);
    out.p(k) = static_cast<double>(-m_bar[at]);
    out.m_bar(k) = static_cast<double>((k == 0 ? 1 : 0) + m_bar[at]);
    out.v_bar(k) = static_cast<double>(v_bar[at]);
  }
  for (std::size_t i = 0; i < coupling.size(); ++i)
    out.coupling(static_cast<Index>(i)) = static_cast<double>(coupling[i]);
  return out;
}

void expect_near(const Answer& a, const Answer& b, double tolerance) {
  EXPECT_NEAR(a.value, b.value, tolerance);
  EXPECT_LE((a.m_bar - b.m_bar).cwiseAbs().maxCoeff(), 10.0 * tolerance);
  EXPECT_LE((a.v_bar - b.v_bar).cwiseAbs().maxCoeff(), 100.0 * tolerance);
  EXPECT_LE((a.coupling - b.coupling).cwiseAbs().maxCoeff(), 100.0 * tolerance);
  EXPECT_LE((a.p - b.p).cwiseQuotient(b.p).cwiseAbs().maxCoeff(), 15.0 * tolerance);
}

// Narrow Gaussians by a rule, wide ones by the lattice, and the widest by a coarser one.
const std::vector<double> scales{1e-4, 2e-3, 0.0145, 0.24, 1.0, 10.0, 100.0};

class SimdLevels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      set_simd_level(GetParam());
    } catch (const Unsupported&) {
      GTEST_SKIP() << "this machine has no " << GetParam();
    }
  }
  void TearDown() override { set_simd_level("auto"); }
};

TEST_P(SimdLevels, SoftmaxIsThatOfLongDoubles) {
  for (const double scale : scales) {
    SCOPED_TRACE(testing::Message() << "variance " << scale);
    const Gaussians f(3, scale);
    expect_near(by_library(f), by_long_doubles(f), 2e-12);
  }
}

TEST_P(SimdLevels, SoftmaxIsThatOfTheBaseline) {
  for (const Index K : {2, 5, 11})
    for (const double scale : scales) {
      SCOPED_TRACE(testing::Message() << K << " classes, variance " << scale);
      const Gaussians f(K, scale);
      set_simd_level(GetParam());
      const Answer own = by_library(f);
      EXPECT_EQ(own.v_bar, by_library(f).v_bar);
      set_simd_level("baseline");
      expect_near(own, by_library(f), 1e-14 * std::max(1.0, std::sqrt(scale)));
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdLevels, testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace covary
