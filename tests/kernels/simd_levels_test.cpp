// The expectations of se at every instruction set that the machine has: against long doubles by the
// formulas of the page, and against the baseline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/linalg/vector_math.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

using Exact = long double;  // of 64 binary digits at least
static_assert(std::numeric_limits<Exact>::digits >= 64);

struct Shape {
  Index N, M, D;
};
void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.N << " rows, " << s.M << " points, " << s.D << " dimensions";
}

// Rows, inducing inputs and bars of ψ1 and Ψ2.
struct Case {
  Shape s;
  Vector theta;
  RowMatrix Z, mean, variance;
  Matrix bar1, bar2;

  explicit Case(const Shape& shape) : s(shape), theta(shape.D + 1) {
    Random random(static_cast<std::uint64_t>(100 * s.N + 10 * s.M + s.D));
    theta << 1.4, Vector::LinSpaced(s.D, 0.8, 1.9);
    Z = random.normal_matrix(s.M, s.D);
    mean = random.normal_matrix(s.N, s.D);
    variance = random.normal_matrix(s.N, s.D).array().square();
    bar1 = random.normal_matrix(s.M, s.N);
    bar2 = random.normal_matrix(s.M, s.M);
    bar2 = Matrix(bar2 + bar2.transpose());
  }
};

struct Answer {
  Matrix psi1, psi2;  // the lower triangle
  Vector theta_bar;
  RowMatrix z_bar, mean_bar, variance_bar;

  explicit Answer(const Shape& s)
      : psi1(s.M, s.N),
        psi2(Matrix::Zero(s.M, s.M)),
        theta_bar(Vector::Zero(s.D + 1)),
        z_bar(RowMatrix::Zero(s.M, s.D)),
        mean_bar(RowMatrix::Zero(s.N, s.D)),
        variance_bar(RowMatrix::Zero(s.N, s.D)) {}
};

Answer by_library(const Case& t, bool keep) {
  const Shape& s = t.s;
  Answer out(s);
  const auto psi =
      GaussianExpectations::make("se(ard)", t.theta.data(), {t.Z.data(), s.M, s.D, s.D});
  const GaussianBlock rows{{t.mean.data(), s.N, s.D, s.D}, t.variance.data()};
  std::vector<double> kept(static_cast<std::size_t>(s.N * psi->row_values()));
  double* values = keep ? kept.data() : nullptr;
  psi->psi1(rows, out.psi1.data());
  psi->psi2(rows, out.psi2, values);
  const GaussianBars to{out.theta_bar.data(), out.z_bar.data(), out.mean_bar.data(),
                        out.variance_bar.data()};
  psi->psi1_pullback(rows, t.bar1.data(), to);
  psi->psi2_pullback(rows, t.bar2, to, values);
  return out;
}

// ln ψ1 = ln σ² − ½Σ(ln d + wδ²/d), d = wS + 1, δ = μ − u; ln Ψ2 = ln σ⁴ − Σ(½ln e + ¼w(u − u′)² +
// wδ²/e), e = 2wS + 1, δ of the midpoint; and their derivatives, w = 1/ℓ².
Answer by_the_page(const Case& t) {
  const Shape& s = t.s;
  const auto D = static_cast<std::size_t>(s.D);
  std::vector<Exact> psi2(static_cast<std::size_t>(s.M * s.M)), w(D), w_bar(D);
  std::vector<Exact> z_bar(static_cast<std::size_t>(s.M * s.D)),
      m_bar(static_cast<std::size_t>(s.N * s.D)), s_bar(m_bar.size());
  Exact log_variance_bar = 0;
  for (Index d = 0; d < s.D; ++d)
    w[static_cast<std::size_t>(d)] = 1 / (Exact(t.theta(d + 1)) * Exact(t.theta(d + 1)));
  const auto at = [&](Index i, Index d) { return static_cast<std::size_t>(i * s.D + d); };
  Answer out(s);
  const Exact variance = t.theta(0);
  for (Index i = 0; i < s.N; ++i)
    for (Index k = 0; k < s.M; ++k) {
      Exact log_value = 0;
      for (Index d = 0; d < s.D; ++d) {
        const Exact wd = w[static_cast<std::size_t>(d)], C = wd * t.variance(i, d) + 1,
                    away = Exact(t.mean(i, d)) - t.Z(k, d);
        log_value -= (std::log(C) + wd * away * away / C) / 2;
      }
      const Exact value = variance * std::exp(log_value);
      out.psi1(k, i) = static_cast<double>(value);
      const Exact g = t.bar1(k, i) * value;
      log_variance_bar += g;
      for (Index d = 0; d < s.D; ++d) {
        const Exact wd = w[static_cast<std::size_t>(d)], S = t.variance(i, d), C = wd * S + 1,
                    away = Exact(t.mean(i, d)) - t.Z(k, d);
        m_bar[at(i, d)] -= g * wd * away / C;
        z_bar[at(k, d)] += g * wd * away / C;
        s_bar[at(i, d)] += g * wd / C * (wd * away * away / C - 1) / 2;
        w_bar[static_cast<std::size_t>(d)] -= g * (away * away / (C * C) + S / C) / 2;
      }
      for (Index j = 0; j <= k; ++j) {
        Exact log_pair = 0;
        for (Index d = 0; d < s.D; ++d) {
          const Exact wd = w[static_cast<std::size_t>(d)], C = 2 * wd * t.variance(i, d) + 1,
                      apart = Exact(t.Z(k, d)) - t.Z(j, d),
                      away = t.mean(i, d) - (Exact(t.Z(k, d)) + t.Z(j, d)) / 2;
          log_pair -= std::log(C) / 2 + wd * apart * apart / 4 + wd * away * away / C;
        }
        const Exact pair = variance * variance * std::exp(log_pair);
        psi2[static_cast<std::size_t>(k * s.M + j)] += pair;
        const Exact h = (k == j ? 1 : 2) * t.bar2(k, j) * pair;
        log_variance_bar += 2 * h;
        for (Index d = 0; d < s.D; ++d) {
          const Exact wd = w[static_cast<std::size_t>(d)], S = t.variance(i, d), C = 2 * wd * S + 1,
                      apart = Exact(t.Z(k, d)) - t.Z(j, d),
                      away = t.mean(i, d) - (Exact(t.Z(k, d)) + t.Z(j, d)) / 2;
          m_bar[at(i, d)] -= 2 * h * wd * away / C;
          s_bar[at(i, d)] += h * (2 * wd * wd * away * away / (C * C) - wd / C);
          z_bar[at(k, d)] += h * (wd * away / C - wd * apart / 2);
          z_bar[at(j, d)] += h * (wd * away / C + wd * apart / 2);
          w_bar[static_cast<std::size_t>(d)] -=
              h * (apart * apart / 4 + away * away / (C * C) + S / C);
        }
      }
    }
  for (Index k = 0; k < s.M; ++k)
    for (Index j = 0; j <= k; ++j)
      out.psi2(k, j) = static_cast<double>(psi2[static_cast<std::size_t>(k * s.M + j)]);
  const auto copied = [](const std::vector<Exact>& from, double* to) {
    std::transform(from.begin(), from.end(), to, [](Exact x) { return static_cast<double>(x); });
  };
  copied(z_bar, out.z_bar.data());
  copied(m_bar, out.mean_bar.data());
  copied(s_bar, out.variance_bar.data());
  out.theta_bar(0) = static_cast<double>(log_variance_bar / variance);
  for (Index d = 0; d < s.D; ++d) {
    const Exact l = t.theta(d + 1);
    out.theta_bar(d + 1) =
        static_cast<double>(-2 * w_bar[static_cast<std::size_t>(d)] / (l * l * l));
  }
  return out;
}

double largest(ConstMatrix m) { return m.size() ? m.cwiseAbs().maxCoeff() : 0.0; }

void expect_near(const Answer& a, const Answer& b, double tolerance) {
  EXPECT_LE((a.psi1 - b.psi1).cwiseQuotient(b.psi1).cwiseAbs().maxCoeff(), 4.0 * tolerance);
  Matrix relative = (a.psi2 - b.psi2).triangularView<Eigen::Lower>();
  for (Index j = 0; j < relative.cols(); ++j)
    for (Index k = j; k < relative.rows(); ++k) relative(k, j) /= b.psi2(k, j);
  EXPECT_LE(largest(relative), 4.0 * tolerance);
  EXPECT_LE(largest(a.theta_bar - b.theta_bar), tolerance * largest(b.theta_bar));
  EXPECT_LE(largest(a.z_bar - b.z_bar), tolerance * largest(b.z_bar));
  EXPECT_LE(largest(a.mean_bar - b.mean_bar), tolerance * largest(b.mean_bar));
  EXPECT_LE(largest(a.variance_bar - b.variance_bar), tolerance * largest(b.variance_bar));
}

const std::vector<std::string> levels{"baseline", "avx2", "avx512"};
// What vectors and tiles take, and a little more or less; several chunks of pairs.
const std::vector<Shape> shapes{{1, 1, 1},  {16, 4, 2}, {17, 5, 3}, {39, 7, 4},
                                {15, 3, 5}, {33, 9, 9}, {48, 70, 2}};

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

TEST_P(SimdLevels, ExpectationsAreThoseOfThePage) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    const Case t(shape);
    const Answer exact = by_the_page(t);
    for (const bool keep : {false, true}) expect_near(by_library(t, keep), exact, 2e-13);
  }
}

TEST_P(SimdLevels, ExpectationsAreThoseOfTheBaseline) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    const Case t(shape);
    set_simd_level(GetParam());
    const Answer own = by_library(t, true), again = by_library(t, true);
    EXPECT_EQ(own.psi2, again.psi2);
    EXPECT_EQ(own.theta_bar, again.theta_bar);
    set_simd_level("baseline");
    expect_near(own, by_library(t, true), 2e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdLevels, testing::ValuesIn(levels),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace covary
