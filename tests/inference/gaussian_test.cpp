#include "covary/inference/gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

TEST(Gaussian, T1_ConditioningTwoVariables) {
  const Gaussian g{Vector::Zero(2), (Matrix(2, 2) << 1, .9, .9, 1).finished()};
  for (const double a : {-2.0, 0.0, 1.7}) {
    const Gaussian c = condition(g, {0}, Vector::Constant(1, a));
    EXPECT_NEAR(c.mean(0), 0.9 * a, 1e-15);
    EXPECT_NEAR(c.covariance(0, 0), 0.19, 1e-15);
  }
}

TEST(Gaussian, T2_P4_MarginalisingDropsRowsAndColumns) {
  Matrix S(3, 3);
  S << 2, .5, .3, .5, 1, .2, .3, .2, 3;
  const Gaussian g{(Vector(3) << 1, 2, 3).finished(), S};
  const Gaussian m = marginal(g, {2, 0});
  EXPECT_EQ(m.mean, (Vector(2) << 3, 1).finished());
  EXPECT_EQ(m.covariance, (Matrix(2, 2) << 3, .3, .3, 2).finished());
  // Chain rule: p(x) = p(x₂)·p(x₀, x₁ | x₂)
  const Vector x = (Vector(3) << .4, 1.1, 2.5).finished();
  EXPECT_NEAR(log_density(g, x),
              log_density(marginal(g, {2}), x.tail(1)) +
                  log_density(condition(g, {2}, x.tail(1)), x.head(2)),
              1e-13);
}

TEST(Gaussian, T3_FactorGraphOfTheSlides) {
  Matrix S(4, 4);
  S << 1, .5, .5, .25, .5, 1.25, .25, .125, .5, .25, 1.25, .625, .25, .125, .625, 1.3125;
  const Gaussian g{Vector::Zero(4), S};
  using Edges = std::vector<std::pair<Index, Index>>;
  EXPECT_EQ(factor_graph_edges(g), (Edges{{0, 1}, {0, 2}, {2, 3}}));
}

TEST(Gaussian, DrawsHaveTheMomentsAskedFor) {
  const Gaussian g{(Vector(2) << 1, -2).finished(), (Matrix(2, 2) << 2, .6, .6, .5).finished()};
  const Index n = 40000;
  const Matrix x = sample(g, n, 4);
  const Vector mean = x.rowwise().mean();
  const Matrix centred = x.colwise() - mean;
  const Matrix S = product(centred, centred, Op::none, Op::transpose) / static_cast<double>(n);
  EXPECT_LT((mean - g.mean).cwiseAbs().maxCoeff(), 5 * std::sqrt(2.0 / n));
  EXPECT_LT((S - g.covariance).cwiseAbs().maxCoeff(), 5 * std::sqrt(8.0 / n));
}

TEST(Gaussian, ModelPosteriorNormalises) {
  const Vector p = model_posterior((Vector(3) << -1000, -1001, -1005).finished());
  EXPECT_NEAR(p.sum(), 1.0, 1e-15);
  EXPECT_NEAR(p(0) / p(1), std::exp(1.0), 1e-12);
  const Vector q = model_posterior(Vector::Zero(2), (Vector(2) << 1, 3).finished());
  EXPECT_NEAR(q(1), 0.75, 1e-15);
}

TEST(Gaussian, BadInput) {
  const Gaussian g{Vector::Zero(2), Matrix::Identity(2, 2)};
  EXPECT_THROW(condition(g, {2}, Vector::Ones(1)), InputError);
  EXPECT_THROW(condition(g, {0, 0}, Vector::Ones(2)), InputError);
  EXPECT_THROW(condition(g, {0}, Vector::Ones(2)), InputError);
  EXPECT_THROW(log_density(g, Vector::Ones(3)), InputError);
  EXPECT_THROW(sample(g, 0, 1), InputError);
  EXPECT_THROW(marginal({Vector::Zero(2), Matrix::Identity(3, 3)}, {0}), InputError);
  EXPECT_THROW(model_posterior(Vector::Zero(2), Vector::Ones(3)), InputError);
}

}  // namespace
}  // namespace covary
