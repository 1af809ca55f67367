// Likelihoods of several latent functions: softmax, robust-max, heteroscedastic.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "cases.hpp"
#include "covary/error.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "covary/linalg/special.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using Case = testing::SeveralCase;

class SeveralLatents : public ::testing::TestWithParam<Case> {
 protected:
  Likelihood l{GetParam().expression};
  Index L = l.functions();
  std::vector<double> theta = GetParam().theta;
  Datum at(std::size_t i) const { return {GetParam().y[i], l.node().default_aux(), theta.data()}; }
  Vector means() const {
    Vector m(L);
    for (Index k = 0; k < L; ++k) m[k] = std::cos(1.7 * static_cast<double>(k)) - 0.3;
    return m;
  }
  Vector variances(double scale) const {
    Vector v(L);
    for (Index k = 0; k < L; ++k) v[k] = scale * (1.0 + 0.4 * static_cast<double>(k));
    return v;
  }
};

TEST_P(SeveralLatents, GradientAndHessianMatchDifferences) {
  for (std::size_t i = 0; i < 2; ++i) {
    Vector g(L);
    Matrix H(L, L);
    const Vector f = means();
    l.node().log_density(at(i), f.data(), g.data(), H.data());
    expect_gradient(
        [&](const Vector& x) { return l.node().log_density(at(i), x.data(), nullptr, nullptr); }, g,
        f);
    for (Index k = 0; k < L; ++k)
      expect_gradient(
          [&](const Vector& x) {
            Vector other(L);
            l.node().log_density(at(i), x.data(), other.data(), nullptr);
            return other[k];
          },
          H.col(k), f);
  }
}

TEST_P(SeveralLatents, ExpectationHasItsDerivatives) {
  const Index P = l.parameter_count();
  for (std::size_t i = 0; i < 2; ++i)
    for (const double scale : {0.05, 1.0, 16.0}) {
      Vector x(2 * L + P), g = Vector::Zero(2 * L + P);
      x.head(L) = means();
      x.segment(L, L) = variances(scale);
      for (Index p = 0; p < P; ++p) x[2 * L + p] = theta[static_cast<std::size_t>(p)];
      l.node().expectation(at(i), x.data(), x.data() + L, g.data(), g.data() + L, g.data() + 2 * L);
      const auto value = [&](const Vector& z) {
        if (z.segment(L, L).minCoeff() < 0.0) throw std::domain_error("variance");
        Vector unused(2 * L);
        Datum d = at(i);
        d.theta = z.data() + 2 * L;
        return l.node().expectation(d, z.data(), z.data() + L, unused.data(), unused.data() + L,
                                    nullptr);
      };
      expect_gradient(value, g, x);
    }
}

// Second derivatives by the means: 2·v̄ of one, the coupling of two.
TEST_P(SeveralLatents, ExpectationHasItsCurvature) {
  for (std::size_t i = 0; i < 2; ++i)
    for (const double scale : {0.05, 1.0, 16.0}) {
      const Vector m = means(), v = variances(scale);
      Vector m_bar(L), v_bar(L), pairs(L * (L - 1) / 2);
      const double value = l.node().coupled_expectation(at(i), m.data(), v.data(), m_bar.data(),
                                                        v_bar.data(), nullptr, pairs.data());
      Vector unused(L), first(L);
      EXPECT_EQ(value, l.node().expectation(at(i), m.data(), v.data(), first.data(), unused.data(),
                                            nullptr));
      EXPECT_EQ(first, m_bar);
      Matrix H = (2.0 * v_bar).asDiagonal();
      for (Index k = 0, pair = 0; k < L; ++k)
        for (Index j = k + 1; j < L; ++j, ++pair) H(k, j) = H(j, k) = pairs(pair);
      for (Index k = 0; k < L; ++k)
        expect_gradient(
            [&](const Vector& x) {
              Vector slope(L), other(L);
              l.node().expectation(at(i), x.data(), v.data(), slope.data(), other.data(), nullptr);
              return slope(k);
            },
            H.col(k), m);
    }
}

TEST_P(SeveralLatents, ExpectationIsBelowTheLogPredictiveDensityAndMeetsItWithoutVariance) {
  Vector unused(2 * L);
  const Vector m = means();
  for (std::size_t i = 0; i < 2; ++i) {
    for (const double scale : {0.01, 1.0, 100.0}) {
      const Vector v = variances(scale);
      EXPECT_LE(l.node().expectation(at(i), m.data(), v.data(), unused.data(), unused.data() + L,
                                     nullptr),
                l.node().log_predictive(at(i), m.data(), v.data()) + 1e-11);
    }
    const Vector none = Vector::Zero(L);
    const double density = l.node().log_density(at(i), m.data(), nullptr, nullptr);
    EXPECT_NEAR(l.node().expectation(at(i), m.data(), none.data(), unused.data(), unused.data() + L,
                                     nullptr),
                density, 1e-10);
    // one_vs_rest is no distribution of the label until it is divided by a sum.
    if (!each_vs_rest(l)) {
      EXPECT_NEAR(l.node().log_predictive(at(i), m.data(), none.data()), density, 1e-10);
    }
  }
}

TEST_P(SeveralLatents, ProbabilitiesSumToOne) {
  if (l.classes() == 0) return;
  for (const double scale : {0.0, 0.3, 4.0, 100.0}) {
    Vector p(L);
    const Vector m = means(), v = variances(scale);
    l.node().probabilities(at(0), m.data(), v.data(), p.data());
    EXPECT_NEAR(p.sum(), 1.0, 1e-10);
    EXPECT_GT(p.minCoeff(), 0.0);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_NEAR(std::log(p[static_cast<Index>(at(i).y)]),
                  l.node().log_predictive(at(i), m.data(), v.data()), 1e-12);
  }
}

TEST_P(SeveralLatents, ManyRowsAreTheRowsOneByOne) {
  const Index n = 70;
  Vector y(n);
  Matrix m(n, L), v(n, L);
  for (Index i = 0; i < n; ++i) {
    y[i] = at(static_cast<std::size_t>(i % 2)).y;
    for (Index k = 0; k < L; ++k) {
      m(i, k) = std::sin(static_cast<double>(i + 3 * k));
      v(i, k) = 0.1 + static_cast<double>((i + k) % 5);
    }
  }
  const Vector parameters = Eigen::Map<const Vector>(theta.data(), l.parameter_count());
  const Expectations all = expectations(l, parameters, y, m, v);
  for (Index i = 0; i < n; ++i) {
    const Vector mi = m.row(i), vi = v.row(i);
    Vector m_bar(L), v_bar(L);
    const Datum d{y[i], 0.0, theta.data()};
    EXPECT_EQ(all.value[i],
              l.node().expectation(d, mi.data(), vi.data(), m_bar.data(), v_bar.data(), nullptr));
    EXPECT_EQ(Vector(all.mean_bar.row(i)), m_bar);
    EXPECT_EQ(Vector(all.variance_bar.row(i)), v_bar);
  }
  Matrix coupling;
  const Expectations coupled = expectations(l, parameters, y, m, v, Vector(), &coupling);
  EXPECT_EQ(coupled.value, all.value);
  EXPECT_EQ(coupled.mean_bar, all.mean_bar);
  EXPECT_EQ(coupled.theta_bar, all.theta_bar);
  EXPECT_EQ(coupling.rows(), n);
  EXPECT_EQ(coupling.cols(), L * (L - 1) / 2);
}

TEST_P(SeveralLatents, ParsesWhatItPrints) {
  EXPECT_EQ(Likelihood(l.print()).print(), l.print());
  EXPECT_EQ(l.parameters().size(), l.parameter_count());
  EXPECT_THROW(l.one_function(), Unsupported);
}

INSTANTIATE_TEST_SUITE_P(All, SeveralLatents,
                         ::testing::ValuesIn(testing::several_latents_cases()));

// E g(f) over a product of fine trapezoids.
double product_rule(const Vector& m, const Vector& v, const std::function<double(const Vector&)>& g,
                    double h = 0.25) {
  const auto half = static_cast<Index>(8.5 / h);
  Vector f(m.size());
  const std::function<double(Index)> integrate = [&](Index k) {
    if (k == m.size()) return g(f);
    double sum = 0.0;
    for (Index i = -half; i <= half; ++i) {
      const double t = h * static_cast<double>(i);
      f[k] = m[k] + std::sqrt(v[k]) * t;
      sum += h * normal_pdf(t) * integrate(k + 1);
    }
    return sum;
  };
  return integrate(0);
}

TEST(OneVsRest, IsAProductOfBernoullis) {
  for (const char* link : {"logit", "probit"}) {
    const Likelihood l(std::string("one_vs_rest(3, ") + link + ")"), each = *each_vs_rest(l);
    EXPECT_EQ(each.print(), std::string("bernoulli(") + link + ")");
    const Vector m = Eigen::Vector3d(0.4, -1.0, 0.9), v = Eigen::Vector3d(0.5, 1.2, 0.1);
    Vector unused(6), p(3), of_each(3);
    double sum = 0.0;
    for (Index k = 0; k < 3; ++k) {
      const Datum d{k == 2 ? 1.0 : 0.0, 0.0, nullptr};
      sum += each.node().expectation(d, &m[k], &v[k], unused.data(), unused.data() + 1, nullptr);
      double both[2];
      each.node().probabilities(d, &m[k], &v[k], both);
      of_each[k] = both[1];
    }
    const Datum label{2.0, 0.0, nullptr};
    EXPECT_NEAR(
        l.node().expectation(label, m.data(), v.data(), unused.data(), unused.data() + 3, nullptr),
        sum, 1e-13);
    l.node().probabilities(label, m.data(), v.data(), p.data());
    EXPECT_LT((p - of_each / of_each.sum()).cwiseAbs().maxCoeff(), 1e-12);
  }
  EXPECT_FALSE(each_vs_rest("softmax(3)"));
  // No class claims the row, and still one does so the least loudly.
  const Likelihood l("one_vs_rest(2, probit)");
  const Vector far = Eigen::Vector2d(-60.0, -59.0), none = Vector::Zero(2);
  Vector p(2);
  l.node().probabilities({}, far.data(), none.data(), p.data());
  EXPECT_NEAR(p.sum(), 1.0, 1e-12);
  EXPECT_GT(p[1], 0.999);
}

TEST(Softmax, MatchesTheProductRule) {
  const Likelihood l("softmax(3)");
  const Vector m = Eigen::Vector3d(0.4, -1.0, 0.9), v = Eigen::Vector3d(0.5, 1.2, 0.1);
  for (double y = 0.0; y < 3.0; ++y) {
    const Datum d{y, 0.0, nullptr};
    Vector m_bar(3), v_bar(3);
    const auto density = [&](const Vector& f) {
      return l.node().log_density(d, f.data(), nullptr, nullptr);
    };
    EXPECT_NEAR(l.node().expectation(d, m.data(), v.data(), m_bar.data(), v_bar.data(), nullptr),
                product_rule(m, v, density), 1e-10);
    EXPECT_NEAR(l.node().log_predictive(d, m.data(), v.data()),
                std::log(product_rule(m, v, [&](const Vector& f) { return std::exp(density(f)); })),
                1e-10);
  }
}

// −E log Σ exp(f) with ∂/∂m and ∂/∂v, by trapezoids of a fine step in x for E max(f_k + g_k) − γ
// and in each f_k for P(f_k + g_k ≤ x), as far as a double can tell.
struct FineSoftmax {
  double value = 0.0;
  Vector m_bar, v_bar;

  FineSoftmax(const Vector& m, const Vector& v)
      : m_bar(Vector::Zero(m.size())), v_bar(Vector::Zero(m.size())) {
    constexpr double h = 0.2, reach = 9.0;  // exp(−π²/0.2) = 4e-22
    const Index K = m.size();
    const Vector sd = v.cwiseSqrt();
    const double low = (m - reach * sd).maxCoeff() - 4.0, high = (m + reach * sd).maxCoeff() + 40.0;
    const auto steps = static_cast<Index>((high - low) / h);
    value = 0.57721566490153286061 - low + 0.5 * h;
    for (Index j = 0; j <= steps; ++j) {
      const double x = low + h * static_cast<double>(j);
      Vector F = Vector::Zero(K), F1 = F, F2 = F;
      for (Index k = 0; k < K; ++k) {
        const double ht = std::min(0.5, h / sd[k]);
        const auto half = static_cast<Index>(reach / ht);
        for (Index i = -half; i <= half; ++i) {
          const double t = ht * static_cast<double>(i);
          const double z = std::exp(std::min(m[k] - x + sd[k] * t, 300.0));
          const double w = ht * normal_pdf(t) * std::exp(-z);
          F[k] += w;
          F1[k] += w * z;
          F2[k] += w * z * (z - 1.0);
        }
      }
      value -= h * (1.0 - F.prod());
      for (Index k = 0; k < K; ++k) {
        const double others = h * (F.head(k).prod() * F.tail(K - k - 1).prod());
        m_bar[k] -= others * F1[k];
        v_bar[k] += 0.5 * others * F2[k];
      }
    }
  }
};

TEST(Softmax, IsAccurateForSmallAndLargeVariances) {
  for (const Index K : {3, 5, 10})
    for (const double scale : {1e-4, 2e-3, 0.014, 0.0145, 0.1, 0.24, 0.26, 1.0, 10.0, 100.0}) {
      SCOPED_TRACE(::testing::Message() << K << " classes, variance " << scale);
      Vector m(K), v(K), m_bar(K), v_bar(K), p(K);
      for (Index k = 0; k < K; ++k) {
        m[k] = 1.5 * std::cos(1.7 * static_cast<double>(k));
        v[k] = scale * (1.0 + 0.3 * std::sin(2.9 * static_cast<double>(k)));
      }
      const Likelihood l = softmax_likelihood(K);
      const LikelihoodNode& node = l.node();
      const FineSoftmax fine(m, v);
      EXPECT_NEAR(
          node.expectation({0.0, 0.0, nullptr}, m.data(), v.data(), m_bar.data(), v_bar.data(), {}),
          m[0] + fine.value, 2e-12);
      m_bar[0] -= 1.0;
      EXPECT_LE((m_bar - fine.m_bar).cwiseAbs().maxCoeff(), 2e-11);
      EXPECT_LE((v_bar - fine.v_bar).cwiseAbs().maxCoeff(), 2e-10);
      node.probabilities({0.0, 0.0, nullptr}, m.data(), v.data(), p.data());
      EXPECT_LE((p + fine.m_bar).cwiseQuotient(p).cwiseAbs().maxCoeff(), 3e-11);
    }
}

TEST(Softmax, LogDensityOfAnImpossibleClassIsFinite) {
  const Likelihood l("softmax(3)");
  const Vector m = Eigen::Vector3d(0.0, 900.0, 1.0);
  for (const double scale : {0.0, 0.01, 1.0}) {
    const Vector v = Vector::Constant(3, scale);
    EXPECT_NEAR(l.node().log_predictive({0.0, 0.0, nullptr}, m.data(), v.data()), -900.0,
                1.5 * scale + 1e-9);
  }
}

// A trial of the optimiser may ask for a function that is known and another that is not.
TEST(Softmax, TakesVeryDifferentVariances) {
  const Likelihood l("softmax(3)");
  const Vector m = Eigen::Vector3d(0.3, -0.2, 0.1), v = Eigen::Vector3d(0.0, 1e-8, 400.0);
  Vector m_bar(3), v_bar(3);
  const FineSoftmax fine(m, v.cwiseMax(1e-8));
  EXPECT_NEAR(
      l.node().expectation({2.0, 0.0, nullptr}, m.data(), v.data(), m_bar.data(), v_bar.data(), {}),
      m[2] + fine.value, 1e-8);
}

// Two classes: P(y = 1) = σ(f₁ − f₀), and f₁ − f₀ is again Gaussian.
TEST(Softmax, OfTwoClassesIsLogistic) {
  const Likelihood two("softmax(2)"), logit("bernoulli(logit)");
  for (const double scale : {1e-4, 1.0, 25.0, 100.0, 2e4}) {
    const Vector m = Eigen::Vector2d(0.7, -1.1), v = Eigen::Vector2d(scale, 0.6 * scale);
    const double dm = m[1] - m[0], dv = v.sum();
    double m_bar[2], v_bar[2], dm_bar = 0.0, dv_bar = 0.0;
    for (const double y : {0.0, 1.0}) {
      const Datum d{y, 0.0, nullptr};
      EXPECT_NEAR(two.node().expectation(d, m.data(), v.data(), m_bar, v_bar, nullptr),
                  logit.node().expectation(d, &dm, &dv, &dm_bar, &dv_bar, nullptr),
                  1e-10 * std::max(1.0, std::sqrt(scale)));
      EXPECT_NEAR(m_bar[1], dm_bar, 1e-10);
      EXPECT_NEAR(v_bar[0], dv_bar, 1e-10);
      EXPECT_NEAR(two.node().log_predictive(d, m.data(), v.data()),
                  logit.node().log_predictive(d, &dm, &dv), 1e-10);
    }
  }
}

TEST(RobustMax, OfTwoClassesIsClosed) {
  const Likelihood l("robust_max(2)");
  const double epsilon = 0.01;
  const Datum d{1.0, 0.0, &epsilon};
  for (const double ratio : {1.0, 30.0, 1e4}) {
    const Vector m = Eigen::Vector2d(0.3, 0.9), v = Eigen::Vector2d(0.8 / ratio, 0.5);
    const double p = normal_cdf((m[1] - m[0]) / std::sqrt(v.sum()));
    double m_bar[2], v_bar[2];
    EXPECT_NEAR(l.node().expectation(d, m.data(), v.data(), m_bar, v_bar, nullptr),
                p * std::log(0.99) + (1.0 - p) * std::log(0.01), 1e-11);
    EXPECT_NEAR(std::exp(l.node().log_predictive(d, m.data(), v.data())),
                0.99 * p + 0.01 * (1.0 - p), 1e-12);
  }
}

TEST(RobustMax, AreEquallyLikelyWhenAlike) {
  const Likelihood l("robust_max(10)");
  const double epsilon = 1e-3;
  const Matrix p = class_probabilities(l, Vector::Constant(1, epsilon),
                                       Matrix::Constant(1, 10, 0.3), Matrix::Constant(1, 10, 2.0));
  EXPECT_LE((p.array() - 0.1).abs().maxCoeff(), 1e-12);
}

TEST(Heteroscedastic, DensityMatchesTheProductRuleAndIntegratesToItsMoments) {
  const Likelihood l("heteroscedastic");
  const double variance = 0.6;
  const Vector m = Eigen::Vector2d(0.4, -0.2), v = Eigen::Vector2d(0.5, 0.9);
  double total = 0.0, mean = 0.0, second = 0.0;
  const double h = 0.05;
  for (double y = -60.0; y <= 60.0; y += h) {
    const Datum d{y, 0.0, &variance};
    const double p = std::exp(l.node().log_predictive(d, m.data(), v.data()));
    total += h * p;
    mean += h * p * y;
    second += h * p * y * y;
  }
  EXPECT_NEAR(total, 1.0, 1e-9);
  const Moments moments = l.node().predictive({0.0, 0.0, &variance}, m.data(), v.data());
  EXPECT_NEAR(moments.mean, mean, 1e-9);
  EXPECT_NEAR(moments.variance, second - mean * mean, 1e-6);
  const Datum d{1.3, 0.0, &variance};
  // fine, for the noise is narrow where f₂ is low
  const double brute = product_rule(
      m, v,
      [&](const Vector& f) {
        return std::exp(l.node().log_density(d, f.data(), nullptr, nullptr));
      },
      0.02);
  EXPECT_NEAR(l.node().log_predictive(d, m.data(), v.data()), std::log(brute), 1e-9);
}

TEST(Classes, WithoutAnOrderHaveNoMean) {
  EXPECT_THROW(predictive_moments("softmax(3)", Vector(), Matrix::Zero(1, 3), Matrix::Ones(1, 3)),
               Unsupported);
}

}  // namespace
}  // namespace covary
