// Kernels against values worked out elsewhere and against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/quadrature.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double pi = std::numbers::pi;

RowMatrix row(const std::vector<double>& x) {
  return Eigen::Map<const RowMatrix>(x.data(), 1, static_cast<Index>(x.size()));
}
RowMatrix column(const std::vector<double>& x) {
  return Eigen::Map<const RowMatrix>(x.data(), static_cast<Index>(x.size()), 1);
}

// k(x, z) at the starts written in the expression.
double at(const Kernel& k, const std::vector<double>& x, const std::vector<double>& z) {
  return cross(k, k.parameters(static_cast<Index>(x.size())).values(), row(x), row(z))(0, 0);
}

// The number of pivots above `tolerance` of the largest, by elimination with pivoting.
Index rank_of(Matrix K, double tolerance = 1e-10) {
  const double scale = K.diagonal().maxCoeff();
  for (Index rank = 0; rank < K.rows(); ++rank) {
    Index p = 0;
    if (K.diagonal().maxCoeff(&p) <= tolerance * scale) return rank;
    const Vector c = K.col(p) / std::sqrt(K(p, p));
    for (Index j = 0; j < K.cols(); ++j) K.col(j) -= c * c(j);
  }
  return K.rows();
}

TEST(Values, T4_SquaredExponential) {
  EXPECT_NEAR(at("se(variance=1.5, lengthscale=0.7)", {0.0}, {0.4}), 1.2740487248524688, 1e-15);
}

TEST(Values, T4_Periodic) {
  EXPECT_NEAR(at("periodic(variance=1.5, lengthscale=0.7, period=2.5)", {0.0}, {0.4}),
              0.5816844577820204, 1e-15);
}

TEST(Values, T4_RationalQuadratic) {
  EXPECT_NEAR(at("rq(variance=1, lengthscale=0.7, alpha=0.8)", {0.1}, {0.5}), 0.861936465771732,
              1e-15);
}

// ω = 6 is a period of 2π/6.
TEST(Values, T4_CosineTimesSquaredExponential) {
  const Kernel k = cosine(1.5, {2.0 * pi / 6.0}) * se(false, {1.0, {0.7}});
  EXPECT_NEAR(at(k, {0.4}, {0.0}), -0.9394755229995478, 2e-15);
  EXPECT_NEAR(at(k, {1.0}, {1.4}), -0.9394755229995478, 5e-15);
}

TEST(Values, T4_Polynomial) {
  EXPECT_NEAR(at("poly(3, variance=1, offset=1)", {1, 2}, {0.5, -1}), -0.125, 1e-15);
  EXPECT_NEAR(at("poly(2, variance=1, offset=1)", {1, 2}, {0.5, 0.25}), 4.0, 1e-15);
}

TEST(Values, Matern) {
  // r = √(0.3²/0.5² + 0.8²/2²)
  const double r = std::sqrt(0.36 + 0.16);
  const auto value = [](const std::string& name) {
    return at(name + "(ard, variance=1.7, lengthscales=0.5,2)", {0.1, 1.0}, {0.4, 0.2});
  };
  EXPECT_NEAR(value("matern12"), 1.7 * std::exp(-r), 1e-15);
  const double a = std::sqrt(3.0) * r, b = std::sqrt(5.0) * r;
  EXPECT_NEAR(value("matern32"), 1.7 * (1.0 + a) * std::exp(-a), 1e-15);
  EXPECT_NEAR(value("matern52"), 1.7 * (1.0 + b + b * b / 3.0) * std::exp(-b), 1e-15);
  EXPECT_NEAR(value("se"), 1.7 * std::exp(-0.5 * r * r), 1e-15);
}

TEST(Values, LinearConstantAndAlgebra) {
  EXPECT_NEAR(at("linear(variance=2)", {1, 2}, {3, -1}), 2.0, 1e-15);
  EXPECT_NEAR(at("linear(ard, variances=2,5)", {1, 2}, {3, -1}), -4.0, 1e-15);
  EXPECT_NEAR(at("constant(variance=2.5)", {1, 2}, {3, -1}), 2.5, 0.0);
  EXPECT_NEAR(at("2*linear(variance=2) + constant(variance=1)", {1, 2}, {3, -1}), 5.0, 1e-15);
  EXPECT_NEAR(at("linear(variance=2) * constant(variance=3)", {1, 2}, {3, -1}), 6.0, 1e-15);
  EXPECT_NEAR(at("linear(variance=2)@1", {1, 2}, {3, -1}), -4.0, 1e-15);
  EXPECT_NEAR(at("linear(ard, variances=2,5)@1,0", {1, 2}, {3, -1}), 2 * -2 + 5 * 3, 1e-15);
  // Σ_d (1 + x_d x'_d)²
  EXPECT_NEAR(at("additive(poly(2, variance=1, offset=1))", {1, 2}, {3, -1}), 16.0 + 1.0, 1e-15);
  // per dimension: cos(2π(1/4 + 1/8)), exp(−2Σ sin²)
  EXPECT_NEAR(at("cosine(ard, variance=2, period=4,8)", {2, 3}, {1, 2}),
              2.0 * std::cos(2.0 * pi * 0.375), 1e-15);
  EXPECT_NEAR(at("periodic(ard, variance=2, lengthscales=1,2, period=3)", {1.0, 0.5}, {0.4, 0.0}),
              2.0 * std::exp(-2.0 * (std::pow(std::sin(pi * 0.2), 2) +
                                     0.25 * std::pow(std::sin(pi * 0.5 / 3.0), 2))),
              1e-15);
}

TEST(Values, T5_StationaryKernelsHaveTheirVarianceOnTheDiagonal) {
  for (const std::string name :
       {"se", "matern12", "matern32", "matern52", "rq", "periodic", "cosine"}) {
    const Kernel k = name + "(variance=1.75)";
    const Vector theta = k.parameters(2).values();
    const RowMatrix X = (RowMatrix(2, 2) << 0.3, -2.0, 1e6, 0.1).finished();
    EXPECT_EQ(diagonal(k, theta, X), Vector::Constant(2, 1.75)) << name;
    EXPECT_NEAR(at(k, {0.3, 0.4}, {0.3, 0.4}), 1.75, 1e-15) << name;
  }
}

TEST(Values, T5_PeriodicRepeats) {
  const Kernel k = "periodic(period=2.5)";
  for (const double d : {0.0, 0.4, 1.1, 2.0})
    for (const int n : {1, -1, 7})
      EXPECT_NEAR(at(k, {0.3}, {0.3 + d}), at(k, {0.3}, {0.3 + d + 2.5 * n}), 1e-13);
}

TEST(Values, T5_RationalQuadraticTendsToSquaredExponential) {
  EXPECT_NEAR(at("rq(variance=1, lengthscale=0.7, alpha=1e8)", {0.0}, {0.4}), 0.84936581, 1e-8);
  double last = 5.0;
  for (const char* alpha : {"1", "1e2", "1e4", "1e6"}) {
    const double gap = std::abs(at(std::string("rq(variance=1, alpha=") + alpha + ")", {0}, {0.9}) -
                                at("se(variance=1)", {0}, {0.9}));
    EXPECT_LT(gap, 0.02 * last);
    last = gap;
  }
}

// rank ≤ C(D + m, m)
TEST(Values, T5_PolynomialRank) {
  Random random(1);
  const RowMatrix X = random.normal_matrix(40, 2);
  const auto rank = [&](const char* text) {
    const Kernel k = text;
    return rank_of(gram(k, k.parameters(2).values(), X));
  };
  EXPECT_EQ(rank("poly(1)"), 3);
  EXPECT_EQ(rank("poly(2)"), 6);
  EXPECT_EQ(rank("poly(3)"), 10);
  EXPECT_EQ(rank("linear"), 2);
  EXPECT_EQ(rank("constant"), 1);
  EXPECT_EQ(rank("linear * linear"), 3);
}

TEST(Values, T6_SlowCosineIsSquaredExponential) {
  const Kernel slow = cosine(1.0, {1e9}) * se(false, {1.3, {0.7}}), plain = se(false, {1.3, {0.7}});
  for (const double d : {0.0, 0.2, 0.9, 2.0})
    EXPECT_NEAR(at(slow, {d}, {0.0}), at(plain, {d}, {0.0}), 1e-15);
}

TEST(Values, T6_LongEnvelopeHasRankTwo) {
  const Kernel k = cosine(1.0, {0.8}) * se(false, {1.0, {1e7}});
  Random random(2);
  EXPECT_EQ(rank_of(gram(k, k.parameters(1).values(), random.normal_matrix(30, 1))), 2);
}

// ∫k(τ)e^{−iwτ}dτ = σ²ℓ√(2π)/2·[exp(−ℓ²(w − ω)²/2) + exp(−ℓ²(w + ω)²/2)]
TEST(Values, T6_SpectralDensityOfCosineTimesSquaredExponential) {
  const double variance = 1.5, omega = 6.0, ell = 0.7;
  const Kernel k = cosine(variance, {2.0 * pi / omega}) * se(false, {1.0, {ell}});
  const Vector theta = k.parameters(1).values();
  const QuadratureRule rule = gauss_legendre(200, -7.0, 7.0);
  const RowMatrix tau = rule.nodes;
  const Vector values = cross(k, theta, tau, column({0.0}));
  for (const double w : {0.0, 2.0, 5.0, 6.0, 7.5}) {
    std::complex<double> sum = 0.0;
    for (Index i = 0; i < tau.rows(); ++i)
      sum += rule.weights(i) * values(i) * std::polar(1.0, -w * tau(i, 0));
    const auto lump = [&](double centre) {
      return std::exp(-0.5 * ell * ell * (w - centre) * (w - centre));
    };
    const double expected =
        0.5 * variance * ell * std::sqrt(2.0 * pi) * (lump(omega) + lump(-omega));
    EXPECT_NEAR(sum.real(), expected, 1e-12);
    EXPECT_NEAR(sum.imag(), 0.0, 1e-12);
  }
}

// Two rows with the same inputs are two observations, and a cross block has none in common.
TEST(White, ActsByRowIdentity) {
  const Kernel k = "white(variance=0.3)";
  const Vector theta = k.parameters(1).values();
  const RowMatrix X = column({1.0, 1.0, 2.0});
  EXPECT_EQ(gram(k, theta, X), Matrix(Vector::Constant(3, 0.3).asDiagonal()));
  EXPECT_TRUE(cross(k, theta, X, X).isZero(0.0));
  EXPECT_EQ(diagonal(k, theta, X), Vector::Constant(3, 0.3));
  EXPECT_TRUE(k.node().is_white());
  EXPECT_FALSE(Kernel("se + white").node().is_white());
  EXPECT_TRUE(Kernel("se * white").node().is_white());
}

// Row numbers, not places within a tile, decide.
TEST(White, ReachesEveryDiagonalEntryOfALargeGramMatrix) {
  const Kernel k = "white(variance=0.3)";
  const Matrix K = gram(k, k.parameters(1).values(), RowMatrix::Ones(300, 1));
  EXPECT_EQ(K, Matrix(Vector::Constant(300, 0.3).asDiagonal()));
}

// σ₁²σ₂² is one number: only the first factor's is free.
TEST(Product, VariancesAfterTheFirstAreFixed) {
  const Parameters p = Kernel("se * periodic * matern12@1").parameters(2);
  EXPECT_TRUE(p.at("kernel.0.variance").trainable);
  EXPECT_FALSE(p.at("kernel.1.variance").trainable);
  EXPECT_FALSE(p.at("kernel.2.variance").trainable);
  EXPECT_EQ(p.at("kernel.1.variance").value(0), 1.0);
  EXPECT_TRUE(p.at("kernel.1.lengthscales").trainable);
  EXPECT_TRUE(p.at("kernel.1.period").trainable);
  const Parameters sum = Kernel("se + periodic").parameters(2);
  EXPECT_TRUE(sum.at("kernel.1.variance").trainable);
  // a start that was written is kept, fixed all the same
  const Parameters q = Kernel("se * rq(variance=2)").parameters(1);
  EXPECT_EQ(q.at("kernel.1.variance").value(0), 2.0);
  EXPECT_FALSE(q.at("kernel.1.variance").trainable);
}

TEST(Starts, SuitTheData) {
  DataScale scale{(Vector(2) << 10.0, 0.1).finished(), (Vector(2) << 35.0, 0.35).finished(), 4.0};
  const Parameters p = Kernel("se(ard) + white").parameters(scale);
  EXPECT_NEAR(p.at("kernel.0.lengthscales").value(0), 10.0 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(p.at("kernel.0.lengthscales").value(1), 0.1 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(p.at("kernel.0.variance").value(0), 2.0);  // the terms share the variance
  EXPECT_LT(p.at("kernel.1.variance").value(0), p.at("kernel.0.variance").value(0));
  // on one column, that column's scale
  EXPECT_NEAR(Kernel("se@1").parameters(scale).at("kernel.lengthscales").value(0), 0.1, 1e-15);
  // what was written wins
  EXPECT_EQ(Kernel("se(variance=7)").parameters(scale).at("kernel.variance").value(0), 7.0);
}

TEST(Terms, OfASumWithTheirPlaces) {
  const Kernel k = "se(ard) + white + 2*linear";
  const auto terms = k.terms(3);
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_EQ(terms[0].node->print(), "se(ard)");
  EXPECT_EQ(terms[1].offset, 4);
  EXPECT_EQ(terms[1].path, "kernel.1");
  EXPECT_TRUE(terms[1].node->is_white());
  EXPECT_EQ(terms[2].offset, 5);
  EXPECT_EQ(terms[2].node->print(), "2 * linear");
  const auto single = Kernel("se * linear").terms(3);
  ASSERT_EQ(single.size(), 1u);
  EXPECT_EQ(single[0].path, "kernel");
  EXPECT_EQ(single[0].offset, 0);
}

TEST(BadKernels, AreRefused) {
  EXPECT_THROW(polynomial(0), InputError);
  EXPECT_THROW(polynomial(21), InputError);
  EXPECT_THROW(0.0 * se(), InputError);
  EXPECT_THROW(-1.0 * se(), InputError);
  EXPECT_THROW(std::nan("") * se(), InputError);
  EXPECT_THROW(on_dims(se(), {}), InputError);
  EXPECT_THROW(on_dims(se(), {0, 0}), InputError);
  EXPECT_THROW(on_dims(se(), {-1}), InputError);
  EXPECT_THROW(se(false, {-1.0, {}}).parameters(1), InputError);
  EXPECT_THROW(se(false, {{}, {0.0}}).parameters(1), InputError);
  EXPECT_THROW(se(true, {{}, {1.0, 2.0}}).parameters(3), InputError);
  EXPECT_THROW(periodic(true, {{}, {1.0, 2.0}}).parameters(3), InputError);
  EXPECT_THROW(linear(false, {1.0, 2.0}).parameters(2), InputError);
  const Kernel far = on_dims(se(), {5});
  EXPECT_THROW(far.parameters(3), InputError);
  EXPECT_THROW(gram(far, Vector::Ones(2), RowMatrix::Zero(2, 3)), InputError);
  EXPECT_THROW(gram(se() + far, Vector::Ones(4), RowMatrix::Zero(2, 3)), InputError);
  EXPECT_THROW(gram(additive(on_dims(se(), {1})), Vector::Ones(2), RowMatrix::Zero(2, 3)),
               InputError);
}

// Columns in which all rows agree change nothing, wherever they lie.
TEST(Stationary, PullbacksOverManyColumnsAreThoseOverFew) {
  Random random(8);
  const Index few = 5, many = 40;
  const RowMatrix X = random.normal_matrix(7, few), Z = random.normal_matrix(6, few);
  const Matrix Kbar = random.normal_matrix(7, 6);
  const auto widened = [&](const RowMatrix& narrow) {
    RowMatrix out = RowMatrix::Constant(narrow.rows(), many, 3.0);
    out.leftCols(few) = narrow;
    return out;
  };
  for (const char* expression : {"se(variance=1.7,lengthscales=1.3)",
                                 "matern32(ard,lengthscales=1.4)", "rq(lengthscales=1.2)"}) {
    const Kernel k(expression);
    const auto pulled = [&](const RowMatrix& x, const RowMatrix& z) {
      const Vector theta = k.parameters(x.cols()).values();
      Vector theta_bar = Vector::Zero(theta.size());
      RowMatrix x_bar = RowMatrix::Zero(7, x.cols()), z_bar = RowMatrix::Zero(6, x.cols());
      cross_pullback(k.node(), theta.data(), x, z, Kbar, theta_bar, &x_bar, &z_bar);
      Vector out(theta_bar.size() > many ? few + 1 : theta_bar.size());
      out = theta_bar.head(out.size());
      return std::tuple(out, RowMatrix(x_bar.leftCols(few)), RowMatrix(z_bar.leftCols(few)));
    };
    const auto [a, ax, az] = pulled(X, Z);
    const auto [b, bx, bz] = pulled(widened(X), widened(Z));
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-12) << expression;
    EXPECT_LT((ax - bx).cwiseAbs().maxCoeff(), 1e-12) << expression;
    EXPECT_LT((az - bz).cwiseAbs().maxCoeff(), 1e-12) << expression;
  }
}

TEST(Values, CategoriesAreOfTheLargestEntry) {
  const std::vector<double> a{1, 0, 0}, scaled{2.5, -0.4, -0.7}, b{0, 1, 0};
  EXPECT_EQ(at(overlap(1.7), a, scaled), 1.7);
  EXPECT_EQ(at(overlap(1.7), a, b), 0.0);
  const Kernel k = lowrank(2, 0.3);
  Parameters p = k.parameters(3);
  p.set("kernel.weights", Vector{{1, 2, -1, 0.5, 0, 0}});
  const auto value = [&](const auto& x, const auto& z) {
    return cross(k, p.values(), row(x), row(z))(0, 0);
  };
  EXPECT_NEAR(value(a, scaled), 1.0 + 4.0 + 0.3, 1e-14);
  EXPECT_NEAR(value(a, b), -1.0 + 1.0, 1e-14);
  EXPECT_NEAR(value(b, b), 1.0 + 0.25 + 0.3, 1e-14);
  EXPECT_THROW(lowrank(0), InputError);
}

}  // namespace
}  // namespace covary
