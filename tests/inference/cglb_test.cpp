#include "inference/cglb.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "inference/sparse_problem.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::BuiltProblem;
using testing::exact_evidence;
using Case = testing::SparseCase;

// Of 300 rows, so that there are several blocks and tiles.
Case large_case(bool everything) {
  Case t(300, 12, 2, 2, 15, "se(ard) + white(variance=0.02)");
  return everything ? testing::with_everything(t) : t;
}

TEST(Cglb, AtZeroIsTheTightBound) {
  for (const bool everything : {false, true}) {
    const Case t = large_case(everything);
    const BuiltProblem b(t);
    Jitter j;
    const double tight = t.evaluate("vfe(tight)").value;
    EXPECT_NEAR(evaluate_cglb(b.problem, t.values, Matrix(), j).lower, tight, 1e-9);
    EXPECT_NEAR(evaluate_cglb(b.problem, t.values, Matrix::Zero(300, 2), j).lower, tight, 1e-9);
  }
}

// The bounds by the page, with dense matrices, at a v that solves nothing.
TEST(Cglb, EqualsDenseAlgebra) {
  const Case t(70, 9, 2, 1, 5, "matern52");
  const BuiltProblem b(t);
  const Matrix v = 0.3 * testing::normal_rows(70, 1, 9);
  Jitter j;
  const CglbEvaluation e = evaluate_cglb(b.problem, t.values, v, j);

  const Matrix K = gram(t.kernel, t.values.theta, t.X);
  const Matrix Kuf = cross(t.kernel, t.values.theta, t.Z, t.X);
  const Matrix Kuu = t.features->Kuu(t.values.theta.data(), t.values.z.data());
  Matrix Q = product(Kuf, cholesky(Kuu).solve(Kuf), Op::transpose), A = K;
  double correction = 0.0;
  for (Index i = 0; i < 70; ++i) correction += std::log(1.0 + (K(i, i) - Q(i, i)) / t.values.noise);
  Q.diagonal().array() += t.values.noise;
  A.diagonal().array() += t.values.noise;
  const Cholesky factor = cholesky(Q);
  const Vector y = t.Y.col(0), Av = multiply(A, v.col(0)), r = y - Av;
  const double common = -35.0 * std::log(2.0 * M_PI) - 0.5 * factor.log_determinant() -
                        dot(y, v.col(0)) + 0.5 * dot(v.col(0), Av);
  const double gap = 0.5 * dot(r, factor.solve(r).col(0));
  EXPECT_NEAR(e.upper, common, 1e-9 * std::abs(common));
  EXPECT_NEAR(e.lower, common - gap - 0.5 * correction, 1e-9 * std::abs(e.lower));
  EXPECT_NEAR(e.solve_gap, gap, 1e-9 * gap);
}

TEST(Cglb, EnclosesTheEvidenceForAnyV) {
  for (const bool everything : {false, true}) {
    const Case t = large_case(everything);
    const BuiltProblem b(t);
    const double exact = exact_evidence(t);
    Jitter j;
    for (const Index iterations : {0, 1, 3, 50}) {
      Matrix v;
      const auto result = improve_cglb(b.problem, t.values, v, j, {iterations, 0.0});
      EXPECT_LE(result.iterations, iterations);
      const CglbEvaluation e = evaluate_cglb(b.problem, t.values, v, j);
      EXPECT_LE(e.lower, exact + 1e-9) << iterations;
      EXPECT_GE(e.upper, exact - 1e-9) << iterations;
      if (iterations == 50) {
        EXPECT_LT(e.solve_gap, 1e-10);
      }
    }
    const CglbEvaluation any =
        evaluate_cglb(b.problem, t.values, testing::normal_rows(300, 2, 3), j);
    EXPECT_LE(any.lower, exact);
    EXPECT_GE(any.upper, exact);
  }
}

TEST(Cglb, StepsSolveTheExactSystem) {
  const Case t = large_case(false);
  const BuiltProblem b(t);
  Matrix v, K = gram(t.kernel, t.values.theta, t.X);
  Jitter j;
  improve_cglb(b.problem, t.values, v, j, {200, 1e-22});
  K.diagonal().array() += t.values.noise;
  const Matrix exact = cholesky(K).solve(t.Y);
  EXPECT_LT((v - exact).cwiseAbs().maxCoeff(), 1e-8 * exact.cwiseAbs().maxCoeff());
  // From where it is there is nothing left to do.
  EXPECT_EQ(improve_cglb(b.problem, t.values, v, j, {200, 1e-10}).iterations, 0);
}

TEST(Cglb, StopsAtTheTolerance) {
  const Case t = large_case(false);
  const BuiltProblem b(t);
  Matrix v;
  Jitter j;
  const auto result = improve_cglb(b.problem, t.values, v, j, {200, 0.1});
  EXPECT_GT(result.iterations, 0);
  EXPECT_LT(result.iterations, 200);
  EXPECT_LE(result.solve_gap, 0.1);
  EXPECT_NEAR(evaluate_cglb(b.problem, t.values, v, j).solve_gap, result.solve_gap, 1e-8);
}

TEST(Cglb, GradientAtFixedVMatchesDifferences) {
  for (const bool everything : {false, true}) {
    Case t(40, 5, 2, 2, 21);
    if (everything) t = testing::with_everything(t);
    const BuiltProblem b(t);
    Jitter j;
    Matrix v;
    improve_cglb(b.problem, t.values, v, j, {2, 0.0});
    SweepGradient g;
    evaluate_cglb(b.problem, t.values, v, j, &g);
    expect_gradient(
        [&](const Vector& x) {
          return evaluate_cglb(b.problem, testing::unpacked(x, t.values), v, j).lower;
        },
        testing::packed(g), testing::packed(t.values));
  }
}

TEST(Cglb, GradientAcrossTiles) {
  const Case t = large_case(true);
  const BuiltProblem b(t);
  Jitter j;
  Matrix v;
  improve_cglb(b.problem, t.values, v, j, {3, 0.0});
  SweepGradient g;
  g.want_point_noise = true;
  evaluate_cglb(b.problem, t.values, v, j, &g);
  expect_gradient(
      [&](const Vector& theta) {
        SparseValues moved = t.values;
        moved.theta = theta;
        return evaluate_cglb(b.problem, moved, v, j).lower;
      },
      g.theta_bar, t.values.theta);
  EXPECT_NEAR(g.point_noise_bar.sum(), g.noise_bar, 1e-9 * std::abs(g.noise_bar));
}

TEST(Cglb, Refusals) {
  const Case t(20, 3, 1, 1, 1);
  const BuiltProblem b(t);
  Jitter j;
  EXPECT_THROW(evaluate_cglb(b.problem, t.values, Matrix::Zero(19, 1), j), InputError);
  EXPECT_THROW(evaluate_cglb(b.problem, t.values, Matrix::Constant(20, 1, NAN), j), InputError);
  Matrix v = Matrix::Zero(20, 2);
  EXPECT_THROW(improve_cglb(b.problem, t.values, v, j), InputError);
  v.resize(0, 0);
  EXPECT_THROW(improve_cglb(b.problem, t.values, v, j, {-1}), InputError);
}

}  // namespace
}  // namespace covary
