#include "covary/random/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "covary/error.hpp"
#include "covary/linalg/special.hpp"

namespace covary {
namespace {

using Block = std::array<std::uint32_t, 4>;

// The rows "philox4x32 10" of tests/kat_vectors in the Random123 distribution.
TEST(Philox, KnownAnswersOfRandom123) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, WordsAreHalvesOfPhiloxBlocks) {
  Random zero(0);
  EXPECT_EQ(zero.bits(), 0xe169c58d6627e8d5ull);
  EXPECT_EQ(zero.bits(), 0x9b00dbd8bc57ac4cull);
  // The seed is the key, the stream the upper half of the counter, the block number the lower half.
  Random pi(0x299f31d0a4093822ull, 0x0370734413198a2eull);
  pi.seek(2 * 0x05a308d3243f6a88ull);
  const auto expected =
      philox4x32({0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  EXPECT_EQ(pi.bits(), (std::uint64_t{expected[1]} << 32) | expected[0]);
  EXPECT_EQ(pi.bits(), (std::uint64_t{expected[3]} << 32) | expected[2]);
}

TEST(Random, SeekReproducesEveryPosition) {
  Random random(7, 3);
  std::vector<std::uint64_t> words;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(random.position(), static_cast<std::uint64_t>(i));
    words.push_back(random.bits());
  }
  for (int i = 39; i >= 0; --i) {
    random.seek(static_cast<std::uint64_t>(i));
    EXPECT_EQ(random.bits(), words[static_cast<std::size_t>(i)]);
    if (i < 39) {
      EXPECT_EQ(random.bits(), words[static_cast<std::size_t>(i) + 1]);
    }
  }
}

TEST(Random, StateIsSeedStreamAndPosition) {
  Random random(11, 5);
  for (int i = 0; i < 7; ++i) random.gamma(0.3);
  Random copy = random;
  Random restored(random.seed(), random.stream());
  restored.seek(random.position());
  for (int i = 0; i < 20; ++i) {
    const double x = random.student_t(3.0);
    EXPECT_EQ(x, copy.student_t(3.0));
    EXPECT_EQ(x, restored.student_t(3.0));
  }
}

TEST(Random, SeedsAndStreamsDiffer) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (std::uint64_t stream = 0; stream < 50; ++stream) first.insert(Random(seed, stream).bits());
  EXPECT_EQ(first.size(), 2500u);
}

// By mpmath: u = (k + 1/2)/2^52 with k = 0xe169c58d6627e8d5 >> 12, then sqrt(2)·erfinv(2u − 1).
TEST(Random, FirstDrawsOfSeedZero) {
  EXPECT_DOUBLE_EQ(Random(0).uniform(), 0.88052019788861424221);
  EXPECT_NEAR(Random(0).normal(), 1.1775912390542729487, 1e-15);
  EXPECT_NEAR(Random(0).exponential(), 0.12724241219640777814, 1e-16);
}

// sup |F_n − F| · √n; beyond 2.2 has probability 1e-4 for the true law.
double kolmogorov(std::vector<double> x, double (*cdf)(double)) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f = cdf(x[i]);
    distance = std::max({distance, std::abs(f - static_cast<double>(i) / n),
                         std::abs(f - static_cast<double>(i + 1) / n)});
  }
  return distance * std::sqrt(n);
}

template <class Draw>
std::vector<double> draws(int n, Draw draw) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& v : x) v = draw();
  return x;
}

constexpr int many = 200000;

TEST(Random, UniformLaw) {
  Random random(1);
  auto x = draws(many, [&] { return random.uniform(); });
  EXPECT_GT(*std::min_element(x.begin(), x.end()), 0.0);
  EXPECT_LT(*std::max_element(x.begin(), x.end()), 1.0);
  EXPECT_LT(kolmogorov(x, [](double u) { return u; }), 2.2);
}

TEST(Random, NormalLawAndMoments) {
  Random random(2);
  auto x = draws(many, [&] { return random.normal(); });
  EXPECT_LT(kolmogorov(x, normal_cdf), 2.2);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    m1 += x[i];
    m2 += x[i] * x[i];
    m3 += std::pow(x[i], 3);
    m4 += std::pow(x[i], 4);
    if (i > 0) lag += x[i] * x[i - 1];
  }
  const double se = 1.0 / std::sqrt(many);  // four standard errors each
  EXPECT_NEAR(m1 / many, 0.0, 4 * se);
  EXPECT_NEAR(m2 / many, 1.0, 4 * std::sqrt(2.0) * se);
  EXPECT_NEAR(m3 / many, 0.0, 4 * std::sqrt(15.0) * se);
  EXPECT_NEAR(m4 / many, 3.0, 4 * std::sqrt(96.0) * se);
  EXPECT_NEAR(lag / many, 0.0, 4 * se);
}

TEST(Random, ExponentialAndGammaOneAreTheSameLaw) {
  Random random(3);
  const auto cdf = [](double t) { return -std::expm1(-t); };
  EXPECT_LT(kolmogorov(draws(many, [&] { return random.exponential(); }), cdf), 2.2);
  EXPECT_LT(kolmogorov(draws(many, [&] { return random.gamma(1.0); }), cdf), 2.2);
}

TEST(Random, GammaHalfIsHalfASquaredNormal) {
  Random random(4);
  const auto cdf = [](double g) { return std::erf(std::sqrt(g)); };
  EXPECT_LT(kolmogorov(draws(many, [&] { return random.gamma(0.5); }), cdf), 2.2);
}

TEST(Random, GammaMoments) {
  Random random(5);
  for (double shape : {0.1, 0.7, 1.0, 2.5, 40.0, 1e4}) {
    double sum = 0, squares = 0;
    for (int i = 0; i < many; ++i) {
      const double g = random.gamma(shape) - shape;
      sum += g;
      squares += g * g;
    }
    const double se = 1.0 / std::sqrt(many);
    EXPECT_NEAR(sum / many, 0.0, 4 * se * std::sqrt(shape)) << shape;
    // The variance of (g − a)² is 2a² + 6a.
    EXPECT_NEAR(squares / many, shape, 4 * se * std::sqrt(2 * shape * shape + 6 * shape)) << shape;
  }
}

TEST(Random, StudentLawsWithClosedForms) {
  Random random(6);
  const auto one = [](double t) { return 0.5 + std::atan(t) / M_PI; };
  const auto two = [](double t) { return 0.5 + t / (2.0 * std::sqrt(2.0 + t * t)); };
  EXPECT_LT(kolmogorov(draws(many, [&] { return random.student_t(1.0); }), one), 2.2);
  EXPECT_LT(kolmogorov(draws(many, [&] { return random.student_t(2.0); }), two), 2.2);
}

TEST(Random, IntegersAreUniform) {
  Random random(8);
  constexpr Index n = 7;
  std::vector<int> count(n, 0);
  for (int i = 0; i < 70000; ++i) ++count[static_cast<std::size_t>(random.integer(n))];
  double chi2 = 0.0;
  for (int c : count) chi2 += (c - 1e4) * (c - 1e4) / 1e4;
  EXPECT_LT(chi2, 27.9);  // probability 1e-4 with six degrees of freedom
  EXPECT_EQ(random.integer(1), 0);
  // For a range of 3·2⁶¹ a plain remainder would fall into the lowest third in 3 of 8 draws.
  constexpr Index wide = Index{3} << 61;
  int lowest = 0;
  for (int i = 0; i < 30000; ++i) {
    const Index k = random.integer(wide);
    ASSERT_TRUE(k >= 0 && k < wide);
    lowest += k < (Index{1} << 61);
  }
  EXPECT_NEAR(lowest, 10000, 4 * std::sqrt(30000.0 * 2 / 9));
}

TEST(Random, PermutationsAreUniform) {
  Random random(9);
  std::vector<int> count(24, 0);
  for (int i = 0; i < 24000; ++i) {
    const auto p = random.permutation(4);
    std::vector<Index> sorted = p;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, (std::vector<Index>{0, 1, 2, 3}));
    // Its rank among the 24 orders.
    int rank = 0;
    for (std::size_t a = 0; a < 4; ++a)
      rank = rank * static_cast<int>(4 - a) +
             static_cast<int>(std::count_if(p.begin() + static_cast<long>(a), p.end(),
                                            [&](Index v) { return v < p[a]; }));
    ++count[static_cast<std::size_t>(rank)];
  }
  double chi2 = 0.0;
  for (int c : count) chi2 += (c - 1e3) * (c - 1e3) / 1e3;
  EXPECT_LT(chi2, 56.8);  // probability 1e-4 with 23 degrees of freedom
  EXPECT_TRUE(random.permutation(0).empty());
  EXPECT_EQ(random.permutation(1), std::vector<Index>{0});
}

TEST(Random, MatricesAreDrawnRowAfterRow) {
  Random a(10), b(10);
  const RowMatrix X = a.normal_matrix(5, 3);
  const Vector x = b.normal_vector(15);
  for (Index i = 0; i < 15; ++i) EXPECT_EQ(X(i / 3, i % 3), x[i]);
  EXPECT_EQ(a.normal_matrix(0, 3).rows(), 0);
}

TEST(Random, BadArgumentsAreNamed) {
  Random random(0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(random.gamma(0.0), InputError);
  EXPECT_THROW(random.gamma(-1.0), InputError);
  EXPECT_THROW(random.gamma(nan), InputError);
  EXPECT_THROW(random.gamma(std::numeric_limits<double>::infinity()), InputError);
  EXPECT_THROW(random.student_t(0.0), InputError);
  EXPECT_THROW(random.integer(0), InputError);
  EXPECT_THROW(random.integer(-3), InputError);
  EXPECT_THROW(random.permutation(-1), InputError);
  EXPECT_THROW(random.normal_vector(-1), InputError);
  EXPECT_THROW(random.normal_matrix(-1, 2), InputError);
  EXPECT_THROW(random.normal_matrix(2, -1), InputError);
}

}  // namespace
}  // namespace covary
