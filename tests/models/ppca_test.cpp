#include "covary/models/ppca.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

// Rows with two strong directions and noise, not centred.
RowMatrix rows(Index n, std::uint64_t seed) {
  Random random(seed);
  const Matrix W = random.normal_matrix(5, 2), X = random.normal_matrix(n, 2);
  RowMatrix out = product(X, W, Op::none, Op::transpose);
  out += 0.2 * random.normal_matrix(n, 5);
  return out.array() + 3.0;
}

// log N(rows of Y | mean, C), by the page.
double log_normal(const Matrix& rows_of, const Vector& mean, const Matrix& C) {
  const Cholesky c = cholesky(C, "C");
  Matrix r = (rows_of.rowwise() - mean.transpose()).transpose();
  solve_lower(c.L, r);
  return -0.5 * (static_cast<double>(r.size()) * std::log(2.0 * std::numbers::pi) +
                 static_cast<double>(r.cols()) * c.log_determinant() + r.squaredNorm());
}

Matrix covariance(const Matrix& W, double noise) {
  Matrix out = product(W, W, Op::none, Op::transpose);
  out.diagonal().array() += noise;
  return out;
}

TEST(Ppca, IsTheMaximumOfTheLikelihood) {
  const RowMatrix Y = rows(30, 1);
  const PpcaFit fit = fit_ppca(Y, 2, ScaleMode::none);
  const Vector mean = Y.colwise().mean();
  EXPECT_NEAR(fit.value, log_normal(Y, mean, covariance(fit.W(), fit.noise_variance)),
              1e-10 * std::abs(fit.value));
  // The slope is zero in every direction of W, σ² and the mean.
  Vector at(10 + 1 + 5);
  at << fit.W().reshaped(), fit.noise_variance, mean;
  const auto likelihood = [&](const Vector& v) {
    return log_normal(Y, v.tail(5), covariance(Matrix(v.head(10).reshaped(5, 2)), v(10)));
  };
  expect_gradient(likelihood, Vector::Zero(at.size()), at);
  EXPECT_GT(fit.value, fit_ppca(Y, 1, ScaleMode::none).value);
}

TEST(Ppca, RowsAreGaussianHoweverFewOfTheirCellsAreSeen) {
  const RowMatrix Y = rows(30, 2);
  for (const ScaleMode mode : {ScaleMode::none, ScaleMode::global, ScaleMode::columns}) {
    const PpcaFit fit = fit_ppca(Y, 2, mode);
    RowMatrix some = Y.topRows(3);
    some(1, 0) = some(1, 3) = some(2, 1) = std::nan("");
    const PpcaFit::Inferred found = fit.infer(some);
    EXPECT_LT((found.mean.row(0) - fit.mean.row(0)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT(
        (found.variance.row(0).transpose() - fit.noise_variance * fit.pca.variances.cwiseInverse())
            .cwiseAbs()
            .maxCoeff(),
        1e-12);
    // The joint Gaussian of a row in the units of the data, conditioned by the page.
    Matrix C = covariance(fit.W(), fit.noise_variance);
    C = fit.scaling.scale.asDiagonal() * C * fit.scaling.scale.asDiagonal();
    const Vector mean = fit.scaling.undo(RowMatrix(fit.pca.mean.transpose())).row(0);
    for (Index i = 0; i < 3; ++i) {
      std::vector<Index> seen, hidden;
      for (Index p = 0; p < 5; ++p) (std::isnan(some(i, p)) ? hidden : seen).push_back(p);
      const Matrix Coo = C(seen, seen);
      const Vector y = Vector(some.row(i))(seen), m = mean(seen);
      EXPECT_NEAR(found.log_density(i), log_normal(y.transpose(), m, Coo), 1e-9);
      if (hidden.empty()) continue;
      const Matrix Cho = C(hidden, seen);
      const Cholesky c = cholesky(Coo, "Coo");
      const Vector expected = Vector(mean(hidden)) + multiply(Cho, c.solve(y - m));
      const Matrix reduced = product(Cho, c.solve(Cho.transpose()));
      for (std::size_t k = 0; k < hidden.size(); ++k) {
        const auto at = static_cast<Index>(k);
        EXPECT_NEAR(found.outputs.mean(i, hidden[k]), expected(at), 1e-9);
        EXPECT_NEAR(found.outputs.variance_y(i, hidden[k]),
                    C(hidden[k], hidden[k]) - reduced(at, at), 1e-9);
      }
    }
    double sum = fit.infer(Y).log_density.sum();
    EXPECT_NEAR(sum, fit.value, 1e-9 * std::abs(sum));
    EXPECT_LT((fit.decode(found.mean).mean.row(0) - found.outputs.mean.row(0)).norm(), 1e-10);
  }
}

// Section 1.7: the inputs of a GP-LVM with a linear kernel.
TEST(Ppca, TheDualIsTheMaximumOverTheInputs) {
  const RowMatrix Y = rows(8, 3);
  const DualPpca dual = fit_dual_ppca(Y, 2);
  const Matrix columns = (Y.rowwise() - Y.colwise().mean()).transpose();
  const Vector zero = Vector::Zero(8);
  EXPECT_NEAR(dual.log_likelihood,
              log_normal(columns, zero, covariance(dual.X, dual.noise_variance)), 1e-9);
  Vector at(17);
  at << dual.X.reshaped(), dual.noise_variance;
  const auto likelihood = [&](const Vector& v) {
    return log_normal(columns, zero, covariance(Matrix(v.head(16).reshaped(8, 2)), v(16)));
  };
  expect_gradient(likelihood, Vector::Zero(17), at);
}

TEST(Ppca, DualAndPrimalFindTheSameDirections) {
  const RowMatrix Y = rows(40, 4);
  const PpcaFit primal = fit_ppca(Y, 2, ScaleMode::none);
  const DualPpca dual = fit_dual_ppca(Y, 2);
  for (Index q = 0; q < 2; ++q) {
    const double ratio = dual.X.col(q).norm() / primal.mean.col(q).norm();
    EXPECT_LT((dual.X.col(q) - ratio * primal.mean.col(q)).norm(), 1e-10);
  }
}

TEST(Ppca, RefusesWhatHasNoMaximum) {
  const auto told = [](const RowMatrix& Y, Index Q) -> std::string {
    try {
      fit_ppca(Y, Q);
    } catch (const InputError& e) {
      return e.what();
    }
    return "nothing was refused";
  };
  RowMatrix Y = rows(20, 5);
  EXPECT_NE(told(Y, 0).find("at least one"), std::string::npos);
  EXPECT_NE(told(Y, 5).find("no direction for the noise"), std::string::npos);
  Y.rightCols(3) = Y.leftCols(2).rowwise().sum().replicate(1, 3);
  EXPECT_NE(told(Y, 2).find("no direction for the noise"), std::string::npos);
  Y(4, 1) = std::nan("");
  EXPECT_NE(told(Y, 1).find("row 4, column 1 is missing"), std::string::npos);
  EXPECT_THROW(fit_ppca(rows(20, 5), 1).infer(RowMatrix::Zero(1, 4)), InputError);
}

}  // namespace
}  // namespace covary
