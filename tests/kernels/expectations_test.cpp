#include "covary/kernels/expectations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/linalg/quadrature.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

// Three rows, five inducing inputs, two columns.
struct Case {
  Kernel kernel;
  Vector theta;
  RowMatrix Z, mean, variance;

  explicit Case(const char* expression, std::uint64_t seed = 1) : kernel(expression) {
    Random random(seed);
    theta = Vector::LinSpaced(kernel.parameter_count(2), 0.7, 1.5);
    Z = random.normal_matrix(5, 2);
    mean = random.normal_matrix(3, 2);
    variance = random.normal_matrix(3, 2).array().square();
  }
  RowBlock inducing() const { return {Z.data(), Z.rows(), 2, 2}; }
  GaussianBlock rows() const { return {{mean.data(), mean.rows(), 2, 2}, variance.data()}; }
};

struct Psi {
  Vector psi0;
  Matrix psi1, psi2;
};

Psi expectations(const Case& t) {
  const Index n = t.mean.rows(), M = t.Z.rows();
  Psi out{Vector(n), Matrix(M, n), Matrix::Zero(M, M)};
  const auto psi = GaussianExpectations::make(t.kernel, t.theta.data(), t.inducing());
  psi->psi0(t.rows(), out.psi0.data());
  psi->psi1(t.rows(), out.psi1.data());
  psi->psi2(t.rows(), out.psi2);
  return out;
}

// By Gauss–Hermite in both columns.
Psi by_quadrature(const Case& t) {
  const QuadratureRule rule = gauss_hermite(120);
  const Index n = t.mean.rows(), M = t.Z.rows();
  Psi out{Vector::Zero(n), Matrix::Zero(M, n), Matrix::Zero(M, M)};
  for (Index i = 0; i < n; ++i)
    for (Index a = 0; a < rule.nodes.size(); ++a)
      for (Index b = 0; b < rule.nodes.size(); ++b) {
        RowMatrix x(1, 2);
        x << t.mean(i, 0) + std::sqrt(t.variance(i, 0)) * rule.nodes(a),
            t.mean(i, 1) + std::sqrt(t.variance(i, 1)) * rule.nodes(b);
        const double weight = rule.weights(a) * rule.weights(b);
        const Vector k = cross(t.kernel, t.theta, t.Z, x);
        out.psi0(i) += weight * diagonal(t.kernel, t.theta, x)(0);
        out.psi1.col(i) += weight * k;
        out.psi2 += weight * k * k.transpose();
      }
  return out;
}

const char* const kernels[] = {"se",
                               "se(ard)",
                               "linear(ard)",
                               "constant + white",
                               "se(ard) + linear(ard) + constant + white",
                               "se(ard) + se + linear",
                               "se@0 * linear@1 + se@1",
                               "2 * se * se(ard)",
                               "additive(se)",
                               "(se@0 + constant) * (se@1 + linear@1)"};

TEST(Expectations, AgreeWithQuadrature) {
  for (const char* kernel : kernels) {
    SCOPED_TRACE(kernel);
    const Case t(kernel);
    ASSERT_TRUE(GaussianExpectations::closed(t.kernel, 2));
    const Psi psi = expectations(t), reference = by_quadrature(t);
    EXPECT_LT((psi.psi0 - reference.psi0).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((psi.psi1 - reference.psi1).cwiseAbs().maxCoeff(), 1e-10);
    const Matrix difference = (psi.psi2 - reference.psi2).triangularView<Eigen::Lower>();
    EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-10);
  }
}

// A Gaussian without variance is a point, by both routes of Ψ2: the second case lies so far out
// that products would lose digits.
TEST(Expectations, NoVarianceIsAPoint) {
  for (const char* kernel : kernels)
    for (const double shift : {0.0, 40.0}) {
      SCOPED_TRACE(kernel);
      Case t(kernel);
      t.variance.setZero();
      t.Z.array() *= 1.0 + shift;
      t.mean = t.Z.topRows(3).array() + 0.3;
      const Psi psi = expectations(t);
      const Matrix k = cross(t.kernel, t.theta, t.Z, t.mean);
      const Matrix squares = k * k.transpose();
      EXPECT_LT((psi.psi0 - diagonal(t.kernel, t.theta, t.mean)).cwiseAbs().maxCoeff(),
                1e-12 * psi.psi0.maxCoeff());
      for (Index i = 0; i < 3; ++i)
        for (Index m = 0; m < 5; ++m)
          EXPECT_NEAR(psi.psi1(m, i), k(m, i), 1e-12 * std::abs(k(m, i)) + 1e-300);
      for (Index j = 0; j < 5; ++j)
        for (Index m = j; m < 5; ++m) {
          const double size = (k.row(m).cwiseAbs() * k.row(j).cwiseAbs().transpose()).value();
          EXPECT_NEAR(psi.psi2(m, j), squares(m, j), 1e-12 * size + 1e-300);
        }
    }
}

// As much of a row away from the middle as blocks of rows take, and an inducing input beyond it.
TEST(Expectations, StrayInducingInputsKeepTheirDigits) {
  const Kernel se("se");
  const Vector theta = Vector::Ones(2);
  const double zero = 0.0;
  for (const double x : {3.0, 15.0, 25.9})
    for (const double beyond : {0.0, 1.0, 4.0, 8.0, 12.0, 18.0, 30.0, 1e7}) {
      SCOPED_TRACE(testing::Message() << "a row at " << x << ", a point at " << x + beyond);
      const RowMatrix Z{{0.0}, {1.0}, {-1.0}, {0.5}, {-0.5}, {0.2}, {x + beyond}};
      const auto psi = GaussianExpectations::make(se, theta.data(), {Z.data(), 7, 1, 1});
      const GaussianBlock row{{&x, 1, 1, 1}, &zero};
      Vector psi1(7), k(7);
      Matrix psi2 = Matrix::Zero(7, 7);
      psi->psi1(row, psi1.data());
      psi->psi2(row, psi2);
      for (Index m = 0; m < 7; ++m) k(m) = std::exp(-0.5 * (x - Z(m, 0)) * (x - Z(m, 0)));
      for (Index m = 0; m < 7; ++m) {
        EXPECT_NEAR(psi1(m), k(m), 1e-12 * k(m) + 1e-300);
        for (Index j = 0; j <= m; ++j)
          EXPECT_NEAR(psi2(m, j), k(m) * k(j), 1e-12 * k(m) * k(j) + 1e-300);
      }
    }
}

// What is not a number has no median and stays what it is.
TEST(Expectations, InducingInputsThatAreNotNumbers) {
  for (const double z : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Case t("se(ard)");
    t.Z.topRows(3) *= 1e3;
    t.Z(4, 1) = z;
    const Psi psi = expectations(t);
    EXPECT_FALSE(psi.psi1.row(4).maxCoeff() > 0.0);
    EXPECT_FALSE(psi.psi2(4, 4) > 0.0);
    for (Index j = 0; j < 4; ++j)
      for (Index m = j; m < 4; ++m) EXPECT_TRUE(std::isfinite(psi.psi2(m, j)));
  }
}

// Pullbacks of all three against differences, also for a kernel without a closed form.
TEST(Expectations, PullbacksMatchDifferences) {
  std::vector<const char*> all(std::begin(kernels), std::end(kernels));
  all.push_back("matern52(ard) * se + white");
  for (const char* kernel : all)
    for (const double stretch : {1.0, 60.0}) {
      SCOPED_TRACE(kernel);
      Case t(kernel, 4);
      t.variance.array() += 0.1;
      const Index T = t.theta.size(), Zs = t.Z.size(), X = t.mean.size();
      // Lengths and inputs grow alike; with one long column products still hold, with short
      // lengths they do not.
      if (stretch > 1.0) {
        t.Z *= stretch;
        t.mean *= stretch;
        t.variance *= stretch;
      }
      Random random(9);
      const Vector bar0 = random.normal_vector(3);
      const Matrix bar1 = random.normal_matrix(5, 3), half = random.normal_matrix(5, 5);
      const Matrix bar2 = half + half.transpose();
      const auto value = [&](const Case& at) {
        Psi psi = expectations(at);
        const Matrix both = psi.psi2.selfadjointView<Eigen::Lower>();
        return bar0.dot(psi.psi0) + bar1.cwiseProduct(psi.psi1).sum() +
               bar2.cwiseProduct(both).sum();
      };
      Vector x(T + Zs + 2 * X), gradient = Vector::Zero(x.size());
      const auto flat = [](const RowMatrix& m) {
        return Vector(Eigen::Map<const Vector>(m.data(), m.size()));
      };
      x << t.theta, flat(t.Z), flat(t.mean), flat(t.variance);
      const auto psi = GaussianExpectations::make(t.kernel, t.theta.data(), t.inducing());
      const GaussianBars to{gradient.data(), gradient.data() + T, gradient.data() + T + Zs,
                            gradient.data() + T + Zs + X};
      psi->psi0_pullback(t.rows(), bar0.data(), to);
      psi->psi1_pullback(t.rows(), bar1.data(), to);
      psi->psi2_pullback(t.rows(), bar2, to);
      expect_gradient(
          [&](const Vector& v) {
            Case at = t;
            at.theta = v.head(T);
            std::copy_n(v.data() + T, Zs, at.Z.data());
            std::copy_n(v.data() + T + Zs, X, at.mean.data());
            std::copy_n(v.data() + T + Zs + X, X, at.variance.data());
            return value(at);
          },
          gradient, x);
    }
}

// More pairs than are worked on at once, columns of pairs that are cut, rows that are no multiple
// of what vectors take, every number of dimensions, an inducing input that has strayed: against a
// sum of two terms of half the variance, half of whose Ψ2, the product of the two, is done one row
// and one pair at a time.
TEST(Expectations, ManyPairsAndDimensions) {
  constexpr Index N = 39;
  struct Shape {
    Index M;
    double stray;
  };
  for (const Shape shape :
       {Shape{1, 1.0}, {2, 1.0}, {30, 1.0}, {150, 1.0}, {30, 25.0}, {30, 60.0}, {30, 1e9}})
    for (const Index D : {1, 2, 3, 5, 9}) {
      const Index M = shape.M;
      const double stray = shape.stray;
      SCOPED_TRACE(testing::Message() << M << " points, " << D << " dimensions, stray " << stray);
      Random random(static_cast<std::uint64_t>(100 * D + M));
      RowMatrix Z = random.normal_matrix(M, D);
      Z.row(0) *= stray;
      const RowMatrix mean = random.normal_matrix(N, D);
      const RowMatrix variance = random.normal_matrix(N, D).array().square();
      Vector theta(D + 1), halves(2 * D + 2);
      theta << 1.4, Vector::LinSpaced(D, 0.8, 1.9);
      halves << 0.7, theta.tail(D), 0.7, theta.tail(D);
      const RowBlock inducing{Z.data(), M, D, D};
      const GaussianBlock rows{{mean.data(), N, D, D}, variance.data()};
      struct Answer {
        Matrix psi1, psi2;
        Vector theta_bar;
        RowMatrix z_bar, mean_bar, variance_bar;
      };
      const Matrix bar1 = random.normal_matrix(M, N), half = random.normal_matrix(M, M);
      const Matrix bar2 = half + half.transpose();
      const auto answer = [&](const Kernel& kernel, const Vector& at, bool keep) {
        Answer a{Matrix(M, N),          Matrix::Zero(M, M),    Vector::Zero(at.size()),
                 RowMatrix::Zero(M, D), RowMatrix::Zero(N, D), RowMatrix::Zero(N, D)};
        const auto psi = GaussianExpectations::make(kernel, at.data(), inducing);
        psi->psi1(rows, a.psi1.data());
        std::vector<double> kept(static_cast<std::size_t>(N * psi->row_values()), std::nan(""));
        EXPECT_GT(kept.size(), 0u);
        double* values = keep ? kept.data() : nullptr;
        psi->psi2(rows, a.psi2, values);
        EXPECT_NE(keep, std::isnan(kept.front())) << "not by blocks of rows";
        const GaussianBars to{a.theta_bar.data(), a.z_bar.data(), a.mean_bar.data(),
                              a.variance_bar.data()};
        psi->psi1_pullback(rows, bar1.data(), to);
        psi->psi2_pullback(rows, bar2, to, values);
        return a;
      };
      const Answer one = answer("se(ard)", theta, false),
                   two = answer("se(ard) + se(ard)", halves, false);
      // What is kept for the pullback is what it would have computed, to the bit.
      for (const auto& [kernel, at] :
           {std::pair{"se(ard)", theta}, {"se(ard) + se(ard)", halves}}) {
        const Answer anew = answer(kernel, at, false), again = answer(kernel, at, true);
        EXPECT_EQ(again.psi2, anew.psi2);
        EXPECT_EQ(again.theta_bar, anew.theta_bar);
        EXPECT_EQ(again.z_bar, anew.z_bar);
        EXPECT_EQ(again.mean_bar, anew.mean_bar);
        EXPECT_EQ(again.variance_bar, anew.variance_bar);
      }
      const double size = two.psi2.maxCoeff();
      EXPECT_LT((one.psi1 - two.psi1).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((one.psi2 - two.psi2).cwiseAbs().maxCoeff(), 1e-11 * size);
      const double gradients = two.mean_bar.cwiseAbs().maxCoeff();
      EXPECT_LT((one.mean_bar - two.mean_bar).cwiseAbs().maxCoeff(), 1e-11 * gradients);
      EXPECT_LT((one.variance_bar - two.variance_bar).cwiseAbs().maxCoeff(), 1e-11 * gradients);
      EXPECT_LT((one.z_bar - two.z_bar).cwiseAbs().maxCoeff(), 1e-11 * gradients);
      for (Index d = 0; d < D; ++d)
        EXPECT_NEAR(one.theta_bar(1 + d), two.theta_bar(1 + d) + two.theta_bar(D + 2 + d),
                    1e-11 * gradients);
      EXPECT_NEAR(one.theta_bar(0), two.theta_bar(0), 1e-11 * gradients);
    }
}

// The rule for other kernels agrees with the closed form where both exist.
TEST(Expectations, RuleForAnyKernel) {
  EXPECT_FALSE(GaussianExpectations::closed("matern32", 2));
  EXPECT_FALSE(GaussianExpectations::closed("linear * linear", 2));
  Case t("matern52");
  const Psi psi = expectations(t), reference = by_quadrature(t);
  EXPECT_LT((psi.psi1 - reference.psi1).cwiseAbs().maxCoeff(), 2e-3);
  const Matrix difference = (psi.psi2 - reference.psi2).triangularView<Eigen::Lower>();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 5e-3);
}

}  // namespace
}  // namespace covary
