// Predictions at Gaussian inputs of a fitted regression, exact or sparse.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/quadrature.hpp"
#include "covary/models/gaussian_inputs.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// Two outputs of two inputs in units far from one.
struct Data {
  RowMatrix X = RowMatrix(40, 2), Y = RowMatrix(40, 2);
  Data() {
    Random random(3);
    for (Index i = 0; i < 40; ++i) {
      X.row(i) << 10.0 * random.uniform(), 0.1 * random.uniform();
      Y.row(i) << 5.0 + std::sin(X(i, 0) / 2.0) + 8.0 * X(i, 1),
          300.0 * std::cos(X(i, 0) / 3.0) * X(i, 1);
      Y(i, 0) += 0.05 * random.normal();
      Y(i, 1) += random.normal();
    }
  }
};

RegressionFit exact_fit(const Data& d, const Kernel& kernel = "se(ard)") {
  RegressionOptions o;
  o.kernel = kernel;
  o.training.starts = 1;
  o.training.max_iterations = 30;
  return Regression(d.X, d.Y, o).fit();
}
RegressionFit sparse_fit(const Data& d, const char* approximation,
                         const char* features = "points") {
  SparseRegressionOptions o;
  o.features = features;
  o.approximation = approximation;
  o.inducing = 12;
  o.training.starts = 1;
  o.training.max_iterations = 30;
  return SparseRegression(d.X, d.Y, o).fit();
}

struct Moments {
  Vector mean;
  Matrix covariance;
};

// By the law of total variance, over a grid of Gauss–Hermite nodes.
Moments by_quadrature(const RegressionFit& fit, const RowMatrix& x, const RowMatrix& S) {
  const QuadratureRule rule = gauss_hermite(40);
  RowMatrix at(1600, 2);
  Vector weights(1600);
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j) {
      at.row(40 * i + j) << x(0) + std::sqrt(S(0)) * rule.nodes(i),
          x(1) + std::sqrt(S(1)) * rule.nodes(j);
      weights(40 * i + j) = rule.weights(i) * rule.weights(j);
    }
  const Prediction p = fit.predict(at);
  const Vector mean = p.mean.transpose() * weights;
  const Matrix away = p.mean.rowwise() - mean.transpose();
  Matrix covariance = away.transpose() * weights.asDiagonal() * away;
  covariance.diagonal() += p.variance_f.transpose() * weights;
  return {mean, covariance};
}

void expect_quadrature(const RegressionFit& fit) {
  const RowMatrix x = (RowMatrix(1, 2) << 4.0, 0.06).finished(),
                  S = (RowMatrix(1, 2) << 1.5, 4e-4).finished();
  const Moments expected = by_quadrature(fit, x, S);
  const Prediction p = fit.predict(x, S);
  const Matrix covariance = fit.output_covariance(x, S);
  for (Index k = 0; k < 2; ++k) {
    const double scale = fit.output_scaling.scale(k);
    EXPECT_NEAR(p.mean(0, k), expected.mean(k), 1e-8 * scale);
    EXPECT_NEAR(p.variance_f(0, k), expected.covariance(k, k), 1e-8 * scale * scale);
    EXPECT_NEAR(p.variance_y(0, k) - p.variance_f(0, k),
                fit.posterior.noise_variance() * scale * scale, 1e-8 * scale * scale);
    EXPECT_NEAR(covariance(k, k), p.variance_f(0, k), 1e-12 * scale * scale);
  }
  const double both = fit.output_scaling.scale.prod();
  EXPECT_GT(std::abs(expected.covariance(1, 0)), 0.01 * both);  // they share the input
  EXPECT_NEAR(covariance(1, 0), expected.covariance(1, 0), 1e-8 * both);
  EXPECT_EQ(covariance(0, 1), covariance(1, 0));
}

TEST(UncertainPrediction, E28MomentsAreThoseOfQuadrature) {
  const Data d;
  expect_quadrature(exact_fit(d));
  expect_quadrature(exact_fit(d, "se(ard) + white"));
  for (const char* approximation : {"vfe", "fitc"}) expect_quadrature(sparse_fit(d, approximation));
  expect_quadrature(sparse_fit(d, "vfe", "basis(2)"));
}

TEST(UncertainPrediction, E28MissingOutputsHaveTheirOwnRows) {
  Data d;
  for (Index i = 3; i < 12; ++i) d.Y(i, 1) = std::numeric_limits<double>::quiet_NaN();
  expect_quadrature(exact_fit(d));
  expect_quadrature(sparse_fit(d, "vfe"));
}

TEST(UncertainPrediction, E29NoVarianceIsAPointAndFarAwayIsThePrior) {
  const Data d;
  for (const RegressionFit& fit : {exact_fit(d), sparse_fit(d, "vfe")}) {
    const RowMatrix at = d.X.topRows(5);
    const Prediction certain = fit.predict(at), none = fit.predict(at, RowMatrix::Zero(5, 2));
    EXPECT_LT((none.mean - certain.mean).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((none.variance_f - certain.variance_f).cwiseAbs().maxCoeff(), 1e-6);
    const RowMatrix far = (RowMatrix(1, 2) << 1e4, 50.0).finished(),
                    S = (RowMatrix(1, 2) << 1.0, 1e-4).finished();
    const Prediction prior = fit.predict(far, S);
    EXPECT_NEAR(prior.mean(0, 0), fit.output_scaling.shift(0), 1e-9);
    EXPECT_NEAR(prior.variance_f(0, 0),
                fit.posterior.theta()(0) * std::pow(fit.output_scaling.scale(0), 2), 1e-9);
  }
}

// E28 with correlated inputs: the law of total variance by quadrature over x = mean + Lε.
TEST(UncertainPrediction, E28CorrelatedInputsByQuadrature) {
  const Data d;
  const QuadratureRule rule = gauss_hermite(40);
  Matrix L(2, 2);
  L << 0.4, 0.0, -0.004, 0.003;
  const RowMatrix at = d.X.topRows(1);
  for (const RegressionFit& fit :
       {exact_fit(d), sparse_fit(d, "vfe"), sparse_fit(d, "vfe", "basis(2)")}) {
    RowMatrix X(rule.nodes.size() * rule.nodes.size(), 2);
    Vector weight(X.rows());
    for (Index i = 0, a = 0; a < rule.nodes.size(); ++a)
      for (Index b = 0; b < rule.nodes.size(); ++b, ++i) {
        X.row(i) = at.row(0) + (L.col(0) * rule.nodes(a) + L.col(1) * rule.nodes(b)).transpose();
        weight(i) = rule.weights(a) * rule.weights(b);
      }
    const Prediction all = fit.predict(X);
    const Prediction p = predict_gaussian_inputs(fit, at, {L * L.transpose()});
    for (Index k = 0; k < p.mean.cols(); ++k) {
      const double mean = weight.dot(all.mean.col(k));
      const double variance = weight.dot(all.variance_f.col(k)) +
                              weight.dot((all.mean.col(k).array() - mean).square().matrix());
      EXPECT_NEAR(p.mean(0, k), mean, 1e-6 * std::sqrt(variance));
      EXPECT_NEAR(p.variance_f(0, k), variance, 1e-6 * variance);
    }
    const RowMatrix S = (RowMatrix(1, 2) << 0.1, 1e-5).finished();
    const Prediction diagonal = fit.predict(at, S);
    const Prediction same = predict_gaussian_inputs(fit, at, {S.transpose()});
    EXPECT_EQ(diagonal.mean, same.mean);
    EXPECT_LT((diagonal.variance_f.array() / same.variance_f.array() - 1.0).abs().maxCoeff(),
              1e-11);
    Matrix bad(2, 2);
    bad << 1.0, 2.0, 2.0, 1.0;
    EXPECT_THROW(predict_gaussian_inputs(fit, at, {bad}), InputError);
    EXPECT_THROW(predict_gaussian_inputs(fit, at, {Matrix::Zero(3, 3)}), InputError);
    EXPECT_THROW(predict_gaussian_inputs(fit, at, {}), InputError);
  }
}

// E32: with the inducing inputs at all the data the sparse posterior is the exact one.
TEST(UncertainPrediction, E32ExactIsSparseWithEveryRow) {
  const Data d;
  const RegressionFit exact = exact_fit(d);
  SparseRegressionOptions o;
  o.Z = d.X;
  o.training.max_iterations = 0;
  SparseRegression model(d.X, d.Y, o);
  for (const char* path : {"kernel.variance", "kernel.lengthscales", "likelihood.variance"})
    model.parameters().set(path, exact.parameters.at(path).value);
  const RegressionFit sparse = model.fit();
  const RowMatrix at = d.X.topRows(4), S = RowMatrix::Constant(4, 2, 1e-3);
  const Prediction a = exact.predict(at, S), b = sparse.predict(at, S);
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((a.variance_f - b.variance_f).cwiseAbs().maxCoeff(), 1e-4);
}

// Rows whose inputs are certain join as with() has them.
TEST(UncertainPrediction, FurtherGaussianRowsWithoutVarianceAreFurtherRows) {
  const Data d;
  const SparsePosterior before = sparse_fit(d, "vfe").posterior.as<SparsePosterior>();
  Random random(4);
  const RowMatrix X = random.normal_matrix(3, 2), Y = random.normal_matrix(3, 2);
  const auto rows_of = [](const Matrix& S) { return std::vector<Matrix>(3, S); };
  const SparsePosterior points = before.with(X, Y),
                        none = with_gaussian_rows(before, X, rows_of(Matrix::Zero(2, 1)), Y),
                        some = with_gaussian_rows(before, X, rows_of(Matrix::Ones(2, 1)), Y);
  const RowMatrix at = random.normal_matrix(4, 2);
  EXPECT_LT((points.predict(at).mean - none.predict(at).mean).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_NEAR(points.log_evidence(), none.log_evidence(), 1e-6);
  EXPECT_GT((points.predict(at).mean - some.predict(at).mean).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_THROW(with_gaussian_rows(sparse_fit(d, "fitc").posterior.as<SparsePosterior>(), X,
                                  rows_of(Matrix::Ones(2, 1)), Y),
               Unsupported);
}

TEST(UncertainPrediction, LatentOutputsShareTheirInput) {
  GplvmOptions o;
  o.latent = 1;
  o.inducing = 10;
  o.training.starts = 1;
  o.training.max_iterations = 40;
  const GplvmFit fit = Gplvm(Data().Y, o).fit();
  const RowMatrix x = RowMatrix::Constant(1, 1, 0.2), S = RowMatrix::Constant(1, 1, 0.3);
  const Matrix C = fit.output_covariance(x, S);
  const Prediction p = fit.decode(x, S);
  EXPECT_NEAR(C(0, 0), p.variance_f(0, 0), 1e-12 * C(0, 0));
  EXPECT_NEAR(C(1, 1), p.variance_f(0, 1), 1e-12 * C(1, 1));
  EXPECT_GT(std::abs(C(1, 0)), 0.0);
  EXPECT_LE(C(1, 0) * C(1, 0), C(0, 0) * C(1, 1));
}

TEST(UncertainPrediction, BadInputIsRefused) {
  const Data d;
  const RegressionFit fit = exact_fit(d);
  const RowMatrix x = d.X.topRows(1);
  EXPECT_THROW(fit.predict(x, RowMatrix::Constant(1, 2, -1.0)), InputError);
  EXPECT_THROW(fit.predict(x, RowMatrix::Zero(1, 3)), InputError);
  EXPECT_THROW(fit.predict(x, RowMatrix::Zero(2, 2)), InputError);
  EXPECT_THROW(fit.predict(RowMatrix::Constant(1, 2, std::nan("")), RowMatrix::Zero(1, 2)),
               InputError);
  RegressionOptions o;
  o.mean = "linear";
  o.training.max_iterations = 0;
  EXPECT_THROW(Regression(d.X, d.Y, o).fit().predict(x, RowMatrix::Zero(1, 2)), Unsupported);
  for (const char* approximation : {"sor", "cglb"})
    EXPECT_THROW(sparse_fit(d, approximation).predict(x, RowMatrix::Zero(1, 2)), Unsupported);
}

}  // namespace
}  // namespace covary
