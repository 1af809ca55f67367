// What every likelihood of one latent function must do. A new one is one more line in cases.hpp.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>

#include "brute_force.hpp"
#include "cases.hpp"
#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using namespace covary::testing;

class OneLatentLikelihood : public ::testing::TestWithParam<Case> {
 protected:
  const Case& c() const { return GetParam(); }
  Likelihood l = make(GetParam());
  const OneFunction& node = l.one_function();
  Vector theta = theta_of(GetParam());
  Datum at(std::size_t i) const { return datum(c(), l, i, theta.data()); }
  Datum at(std::size_t i, const Vector& other) const { return datum(c(), l, i, other.data()); }
};

const std::vector<double> means{-2.0, 0.5, 3.0}, variances{1e-4, 0.3, 4.0, 100.0};
Taylor taylor_at(const OneFunction& node, const Datum& d, double f) {
  Taylor t;
  node.taylor(d, 1, &f, &t);
  return t;
}
Vector one(double x) { return Vector::Constant(1, x); }

TEST_P(OneLatentLikelihood, DerivativesByFMatchDifferences) {
  for (std::size_t i = 0; i < c().y.size(); ++i)
    for (const double f : {-6.0, -1.3, 0.0, 0.4, 2.7}) {
      const Taylor t = taylor_at(node, at(i), f);
      const auto part = [&](double Taylor::*p) {
        return [=, this](const Vector& x) { return taylor_at(node, at(i), x[0]).*p; };
      };
      expect_gradient(part(&Taylor::value), one(t.first), one(f));
      expect_gradient(part(&Taylor::first), one(t.second), one(f));
      expect_gradient(part(&Taylor::second), one(t.third), one(f));
    }
}

TEST_P(OneLatentLikelihood, PullbackToParametersMatchesDifferences) {
  const std::vector<double> f{-1.1, 0.2, 1.9};
  const std::vector<Taylor> w{{0.3, -1.2, 0.7}, {-0.5, 0.4, 1.1}, {1.0, 0.8, -0.6}};
  for (std::size_t i = 0; i < c().y.size(); ++i) {
    Vector bar = Vector::Constant(theta.size(), 2.0);  // it is added to
    node.parameter_pullback(at(i), 3, f.data(), w.data(), bar.data());
    bar.array() -= 2.0;
    const auto sum = [&](const Vector& x) {
      double out = 0.0;
      for (std::size_t k = 0; k < f.size(); ++k) {
        const Taylor t = taylor_at(node, at(i, x), f[k]);
        out += w[k].value * t.value + w[k].first * t.first + w[k].second * t.second;
      }
      return out;
    };
    expect_gradient(sum, bar, theta);
  }
}

TEST_P(OneLatentLikelihood, DensityIsNormalised) {
  for (const double f : {-1.5, 0.0, 1.2}) {
    const auto p = [&](double y) {
      Datum d = at(0);
      d.y = y;
      return std::exp(taylor_at(node, d, f).value);
    };
    double total = 0.0;
    if (c().support == Support::labels) {
      for (Index k = 0; k < l.classes(); ++k) total += p(static_cast<double>(k));
    } else if (c().support == Support::counts) {
      const double last = l.aux() == Aux::trials ? at(0).aux : 400.0;
      for (double y = 0.0; y <= last; y += 1.0) total += p(y);
    } else {  // ∫ p dy with y = f + sinh(π/2·sinh t), exp of it, or σ of it: double exponential
      const double h = 0.005;
      for (double t = -6.0; t <= 6.0; t += h) {
        const double s = M_PI_2 * std::sinh(t), ds = M_PI_2 * std::cosh(t) * h;
        if (c().support == Support::real && std::abs(s) < 300.0)
          total += p(f + std::sinh(s)) * std::cosh(s) * ds;
        if (c().support == Support::positive && std::abs(s) < 300.0)
          total += p(std::exp(s)) * std::exp(s) * ds;
        if (c().support == Support::unit && std::abs(s) < 36.0)
          total += p(sigmoid(s)) * sigmoid(s) * sigmoid(-s) * ds;
      }
    }
    EXPECT_NEAR(total, 1.0, 1e-9) << "f = " << f;
  }
}

TEST_P(OneLatentLikelihood, ExpectationMatchesBruteForce) {
  for (std::size_t i = 0; i < c().y.size(); ++i)
    for (const double m : means)
      for (const double v : variances) {
        double m_bar = 0.0, v_bar = 0.0;
        const double value = node.expectation(at(i), &m, &v, &m_bar, &v_bar, nullptr);
        const double brute = brute_expectation(node, at(i), m, v);
        EXPECT_NEAR(value, brute, 1e-10 * std::abs(brute))
            << "y = " << c().y[i] << ", m = " << m << ", v = " << v;
      }
}

// Away from the singularities, across four decades of v: what is left is below 1e-11 of the largest
// of E and one.
TEST_P(OneLatentLikelihood, ExpectationIsExactForAnyMeanAndVariance) {
  Random random(7);
  for (int k = 0; k < 40; ++k) {
    const double m = 20.0 * random.uniform() - 10.0;
    const double v = std::exp(std::log(0.01) + random.uniform() * std::log(1e4));
    const auto i = static_cast<std::size_t>(k % 2);
    double unused[2];
    const double value = node.expectation(at(i), &m, &v, unused, unused + 1, nullptr);
    const double brute = brute_expectation(node, at(i), m, v);
    EXPECT_NEAR(value, brute, 1e-11 * std::max(1.0, std::abs(brute)))
        << "m = " << m << ", v = " << v;
  }
}

TEST_P(OneLatentLikelihood, ExpectationHasItsDerivatives) {
  for (std::size_t i = 0; i < c().y.size(); ++i)
    for (const double m : means)
      for (const double v : {0.02, 0.7, 9.0}) {
        Vector g = Vector::Zero(2 + theta.size()), x(2 + theta.size());
        x << m, v, theta;
        node.expectation(at(i), &m, &v, &g[0], &g[1], g.data() + 2);
        const auto value = [&](const Vector& z) {
          const Vector parameters = z.tail(theta.size());
          double unused[2];
          if (z[1] < 0.0) throw std::domain_error("variance");
          return node.expectation(at(i, parameters), &z[0], &z[1], unused, unused + 1, nullptr);
        };
        expect_gradient(value, g, x);
      }
}

TEST_P(OneLatentLikelihood, ExpectationIsBelowTheLogPredictiveDensity) {
  for (std::size_t i = 0; i < c().y.size(); ++i)
    for (const double m : means)
      for (const double v : variances) {
        double unused[2];
        const double value = node.expectation(at(i), &m, &v, unused, unused + 1, nullptr);
        EXPECT_LE(value, node.log_predictive(at(i), &m, &v) + 1e-12) << m << ", " << v;
      }
}

TEST_P(OneLatentLikelihood, AllTendToTheLogDensityWithoutVariance) {
  for (std::size_t i = 0; i < c().y.size(); ++i)
    for (const double m : means)
      for (const double v : {0.0, 1e-30, 1e-13}) {
        double m_bar = 0.0, v_bar = 0.0;
        const Taylor t = taylor_at(node, at(i), m);
        const double scale = std::max(1.0, std::abs(t.second)), near = 1e-11 * scale * scale;
        EXPECT_NEAR(node.expectation(at(i), &m, &v, &m_bar, &v_bar, nullptr), t.value, near);
        EXPECT_NEAR(m_bar, t.first, near * 10);
        EXPECT_NEAR(v_bar, 0.5 * t.second, near * 10);
        for (const double alpha : {0.5, 1.0}) {
          const Tilted z = node.tilted(at(i), alpha, m, v, nullptr);
          EXPECT_NEAR(z.log_z, alpha * t.value, near);
          EXPECT_NEAR(z.first, alpha * t.first, near * 10);
        }
      }
}

TEST_P(OneLatentLikelihood, TiltedMomentsMatchBruteForce) {
  for (std::size_t i = 0; i < c().y.size(); ++i)
    for (const double alpha : {0.5, 1.0})
      for (const double m : means)
        for (const double v : {0.3, 4.0, 100.0}) {
          const Tilted z = tilted_moments(l, at(i), alpha, m, v);
          const Tilted brute = brute_tilted(node, at(i), alpha, m, v);
          EXPECT_NEAR(z.log_z, brute.log_z, 1e-10 * std::max(1.0, std::abs(brute.log_z)))
              << "y = " << c().y[i] << ", α = " << alpha << ", m = " << m << ", v = " << v;
          EXPECT_NEAR(z.first, brute.first, 1e-9 * std::max(1.0, std::abs(brute.first)));
          EXPECT_NEAR(z.second, brute.second, 1e-9 * std::max(1.0, std::abs(brute.second)));
        }
}

TEST_P(OneLatentLikelihood, TiltedMomentsHaveTheirDerivatives) {
  for (std::size_t i = 0; i < c().y.size(); ++i)
    for (const double alpha : {0.4, 1.0}) {
      const double m = 0.6, v = 2.0;
      Vector g = Vector::Zero(1 + theta.size()), x(1 + theta.size());
      x << m, theta;
      const Tilted z = node.tilted(at(i), alpha, m, v, g.data() + 1);
      g[0] = z.first;
      const auto log_z = [&](const Vector& p) {
        const Vector parameters = p.tail(theta.size());
        return node.tilted(at(i, parameters), alpha, p[0], v, nullptr).log_z;
      };
      expect_gradient(log_z, g, x);
      expect_gradient(
          [&](const Vector& p) { return node.tilted(at(i), alpha, p[0], v, nullptr).first; },
          one(z.second), one(m));
    }
}

TEST_P(OneLatentLikelihood, PredictiveMomentsMatchBruteForce) {
  for (const double m : means)
    for (const double v : variances) {
      const Moments p = node.predictive(at(0), &m, &v), brute = brute_moments(node, at(0), m, v);
      // E exp(2f) at v = 100 lies 20 standard deviations out, where the grid ends.
      if (v == 100.0 && brute.mean > 1e10) continue;
      EXPECT_NEAR(p.mean, brute.mean, 1e-10 * std::max(1e-3, std::abs(brute.mean)));
      EXPECT_NEAR(p.variance, brute.variance, 1e-9 * brute.variance) << m << ", " << v;
    }
}

TEST_P(OneLatentLikelihood, PredictiveProbabilitiesAreThoseOfTheDensity) {
  if (l.classes() == 0) {
    EXPECT_THROW(class_probabilities(l, theta, Matrix::Zero(1, 1), Matrix::Ones(1, 1)),
                 Unsupported);
    return;
  }
  for (const double m : means)
    for (const double v : variances) {
      std::vector<double> p(static_cast<std::size_t>(l.classes()));
      node.probabilities(at(0), &m, &v, p.data());
      double total = 0.0;
      for (std::size_t k = 0; k < p.size(); ++k) {
        Datum d = at(0);
        d.y = static_cast<double>(k);
        EXPECT_NEAR(p[k], std::exp(node.log_predictive(d, &m, &v)), 1e-12);
        total += p[k];
      }
      EXPECT_NEAR(total, 1.0, 1e-13);
    }
}

TEST_P(OneLatentLikelihood, ParsesWhatItPrints) {
  const LikelihoodTable extra{{"logistic", logistic}};
  EXPECT_EQ(parse_likelihood(l.print(), extra).print(), l.print());
  const Parameters parameters = l.parameters();
  EXPECT_EQ(parameters.size(), l.parameter_count());
  EXPECT_EQ(theta.size(), l.parameter_count());
  for (const auto& p : parameters.all()) EXPECT_EQ(p.path.rfind("likelihood.", 0), 0u);
}

TEST_P(OneLatentLikelihood, ManyRowsAreTheRowsOneByOneForAnyThreads) {
  const Index n = 150;
  Vector y(n), aux(n);
  Matrix m(n, 1), v(n, 1);
  for (Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i) % c().y.size();
    y[i] = c().y[k];
    aux[i] = at(k).aux;
    m(i, 0) = std::sin(static_cast<double>(i));
    v(i, 0) = 0.01 + static_cast<double>(i % 7);
  }
  const Vector column = c().aux.empty() ? Vector() : aux;
  l.check(y, column);
  set_threads(1);
  const Expectations serial = expectations(l, theta, y, m, v, column);
  set_threads(3);
  const Expectations parallel = expectations(l, theta, y, m, v, column);
  set_threads(0);
  EXPECT_EQ(serial.value, parallel.value);
  EXPECT_EQ(serial.theta_bar, parallel.theta_bar);
  const Vector density = log_predictive_density(l, theta, y, m, v, column);
  const PredictiveMoments moments = predictive_moments(l, theta, m, v, column);
  Vector theta_bar = Vector::Zero(theta.size());
  for (Index i = 0; i < n; ++i) {
    double m_bar = 0.0, v_bar = 0.0;
    const Datum d{y[i], aux[i], theta.data()};
    EXPECT_EQ(serial.value[i],
              node.expectation(d, &m(i, 0), &v(i, 0), &m_bar, &v_bar, theta_bar.data()));
    EXPECT_EQ(serial.mean_bar(i, 0), m_bar);
    EXPECT_EQ(serial.variance_bar(i, 0), v_bar);
    EXPECT_EQ(density[i], node.log_predictive(d, &m(i, 0), &v(i, 0)));
    EXPECT_EQ(moments.variance[i], node.predictive(d, &m(i, 0), &v(i, 0)).variance);
  }
  EXPECT_TRUE(theta_bar.isApprox(serial.theta_bar, 1e-12) || theta.size() == 0);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string out;
  for (const char ch : info.param.expression)
    if (std::isalnum(static_cast<unsigned char>(ch))) out += ch;
  return out + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(All, OneLatentLikelihood, ::testing::ValuesIn(one_function_cases()),
                         case_name);

}  // namespace
}  // namespace covary
