#include "inference/expected_kl.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/inference/exact.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/sparse_problem.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::SparseCase;

ExpectedKl of(const SparseCase& t) {
  return ExpectedKl(t.kernel, t.values.theta, t.X, t.values.noise, t.point_noise);
}
double value(const ExpectedKl& kl, const SparseCase& t) {
  Jitter jitter;
  return kl(*t.features, t.values.z, jitter).kl;
}

// The formula by dense matrices.
double dense(const SparseCase& t) {
  const Index N = t.X.rows();
  Matrix K = gram(t.kernel, t.values.theta, t.X);
  const Matrix Kuf = cross(t.kernel, t.values.theta, t.Z, t.X);
  Matrix Q =
      product(Kuf, cholesky(cross(t.kernel, t.values.theta, t.Z, t.Z)).solve(Kuf), Op::transpose);
  Vector noise = Vector::Constant(N, t.values.noise);
  if (t.point_noise.size()) noise += t.point_noise;
  const double trace = (K - Q).diagonal().cwiseQuotient(noise).sum();
  K.diagonal() += noise;
  Q.diagonal() += noise;
  const Cholesky exact = cholesky(K), sparse = cholesky(Q);
  return 0.5 * (sparse.log_determinant() - exact.log_determinant() + sparse.solve(K).trace() -
                static_cast<double>(N) + trace);
}

TEST(ExpectedKl, IsTheFormula) {
  for (const char* kernel : {"se(ard)", "matern32 + linear", "se + white(variance=0.02)"}) {
    SparseCase t(50, 8, 2, 1, 3, kernel);
    EXPECT_NEAR(value(of(t), t), dense(t), 1e-9) << kernel;
    t.point_noise = Vector::LinSpaced(50, 0.0, 0.5);
    EXPECT_NEAR(value(of(t), t), dense(t), 1e-9) << kernel;
  }
}

// The mean over draws of y of log p(y) less the bound; four standard errors.
TEST(ExpectedKl, IsTheMeanOverOutputsOfTheModel) {
  SparseCase t(40, 6, 1, 1, 5, "se");
  Matrix K = gram(t.kernel, t.values.theta, t.X);
  K.diagonal().array() += t.values.noise;
  const Index draws = 4000;
  t.Y = product(cholesky(K).L, Matrix(Random(6).normal_matrix(40, draws)));
  double sum = 0.0, squares = 0.0;
  for (Index s = 0; s < draws; ++s) {
    SparseCase one = t;
    one.Y = t.Y.col(s);
    const double kl = testing::exact_evidence(one) - one.evaluate("vfe").value;
    EXPECT_GT(kl, -1e-9);
    sum += kl;
    squares += kl * kl;
  }
  const double mean = sum / draws, error = std::sqrt((squares / draws - mean * mean) / draws);
  EXPECT_NEAR(value(of(t), t), mean, 4.0 * error);
  EXPECT_LT(error, 0.02 * mean);
}

// T3: between a half and all of the trace term.
TEST(ExpectedKl, LiesBetweenItsBounds) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const SparseCase t(60, 5 + 5 * static_cast<Index>(seed), 2, 1, seed, "se");
    Jitter jitter;
    const ExpectedKl::Value e = of(t)(*t.features, t.values.z, jitter);
    EXPECT_GE(e.kl, 0.5 * e.trace);
    EXPECT_LE(e.kl, e.trace);
  }
}

TEST(ExpectedKl, IsZeroWithARowForEachInducingInput) {
  SparseCase t(25, 25, 2, 1, 8, "matern32");
  t.Z = t.X;
  t.values.z = Eigen::Map<const Vector>(t.Z.data(), t.Z.size());
  EXPECT_NEAR(value(of(t), t), 0.0, 1e-9);
}

TEST(ExpectedKl, GradientByTheFeatures) {
  for (int point = 0; point < 6; ++point) {
    SCOPED_TRACE(point);
    SparseCase t(30, 5, 2, 1, 20 + static_cast<std::uint64_t>(point));
    Random random(static_cast<std::uint64_t>(point), 3);
    for (double& v : t.values.theta) v *= std::exp(0.4 * random.normal());
    t.values.noise *= std::exp(0.5 * random.normal());
    if (point % 2) t.point_noise = Vector::LinSpaced(30, 0.1, 0.5);
    const ExpectedKl kl = of(t);
    Jitter jitter;
    Vector z_bar;
    kl(*t.features, t.values.z, jitter, &z_bar);
    expect_gradient(
        [&](const Vector& z) {
          Jitter own;
          return kl(*t.features, z, own).kl;
        },
        z_bar, t.values.z, 1e-7);
  }
}

// Features that are not points: windows of the same places and widths of their own.
TEST(ExpectedKl, TakesOtherFeatures) {
  const SparseCase t(40, 6, 2, 1, 9, "se(ard)");
  const FeaturesPtr windows = start_features(
      "multiscale",
      {.kernel = t.kernel, .theta = t.values.theta, .X = t.X, .M = 6, .seed = 1, .Z = t.Z});
  Parameters own;
  windows->declare(own);
  const ExpectedKl kl = of(t);
  Jitter jitter;
  Vector z_bar;
  kl(*windows, own.values(), jitter, &z_bar);
  expect_gradient(
      [&](const Vector& z) {
        Jitter fresh;
        return kl(*windows, z, fresh).kl;
      },
      z_bar, own.values(), 1e-6);
}

// Rows that repeat each other say what one of them would with less noise.
TEST(ExpectedKl, RepeatedRowsAreRowsOfLessNoise) {
  SparseCase t(20, 5, 2, 1, 11, "se");
  const ExpectedKl few(t.kernel, t.values.theta, t.X, t.values.noise / 3.0);
  RowMatrix thrice(60, 2);
  thrice << t.X, t.X, t.X;
  const ExpectedKl many(t.kernel, t.values.theta, thrice, t.values.noise);
  EXPECT_NEAR(value(few, t), value(many, t), 1e-9);
}

TEST(ExpectedKl, Refusals) {
  const SparseCase t(20, 5, 2, 1, 11, "se");
  EXPECT_THROW(ExpectedKl(t.kernel, t.values.theta, t.X, 0.0), InputError);
}

}  // namespace
}  // namespace covary
