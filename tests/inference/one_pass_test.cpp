#include "inference/one_pass.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "features/fourier.hpp"
#include "inference/sparse_problem.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::BuiltProblem;
using testing::SparseCase;

SparseCase fourier_case(const char* kernel, Index N = 400) {
  SparseCase t(N, 1, 1, 2, 11, kernel);
  t.values.theta.head(2) << 1.3, 0.6;
  const double a = t.X.minCoeff() - 0.7, b = t.X.maxCoeff() + 0.7;
  t.features = fourier_features(t.kernel, a, b, 12);
  t.values.z = (Vector(2) << a, b).finished();
  t.mean = "linear";
  t.values.mean_weights = Matrix::Constant(2, 2, 0.2);
  t.values.mean_weights(1, 0) = -0.4;
  return t;
}

double relative(const Matrix& a, const Matrix& b) { return (a - b).norm() / b.norm(); }

// The bound, its terms, its gradient, q(u) and predictions are those of the sweep.
TEST(OnePass, AgreesWithTheSweep) {
  for (const char* kernel : {"matern12", "matern32 + white(variance=0.02)", "matern52"})
    for (const char* model : {"vfe", "dtc", "sor"}) {
      SparseCase t = fourier_case(kernel);
      t.Y.row(5).setConstant(std::nan(""));
      const BuiltProblem built(t, model);
      const auto sums = one_pass_statistics(*t.features, t.values.z, t.mean, built.rows);
      ASSERT_TRUE(sums);
      const Jitter asked{1e-4};
      Jitter climbing = asked;
      SweepGradient swept, own;
      const SparseEvaluation a = evaluate_sparse(built.problem, t.values, climbing, &swept);
      const SparseEvaluation b = evaluate_one_pass(built.problem, *sums, t.values, asked, &own);
      EXPECT_NEAR(b.value, a.value, 1e-9 * std::abs(a.value)) << kernel << model;
      EXPECT_NEAR(b.terms.complexity, a.terms.complexity, 1e-9 * std::abs(a.terms.complexity));
      EXPECT_NEAR(b.terms.fit, a.terms.fit, 1e-9 * a.terms.fit);
      EXPECT_NEAR(b.terms.trace, a.terms.trace, 1e-9 * std::max(1.0, a.terms.trace));
      EXPECT_NEAR(b.terms.mean_ratio, a.terms.mean_ratio, 1e-9 * a.terms.mean_ratio);
      EXPECT_LT(relative(own.theta_bar, swept.theta_bar), 1e-8) << kernel << model;
      EXPECT_LT(relative(own.mean_bar, swept.mean_bar), 1e-8);
      EXPECT_NEAR(own.noise_bar, swept.noise_bar, 1e-8 * std::abs(swept.noise_bar));
      EXPECT_EQ(b.terms.route, Route::one_pass);

      const auto posterior = [&](SparseEvaluation e) {
        return SparsePosterior({model, t.kernel, t.mean, t.features, t.values, std::move(e.Luu),
                                e.jitter, std::move(e.factors)});
      };
      const SparsePosterior of_sweep =
                                posterior(evaluate_sparse(built.problem, t.values, climbing)),
                            of_sums =
                                posterior(evaluate_one_pass(built.problem, *sums, t.values, asked));
      EXPECT_NEAR(of_sums.log_evidence(), of_sweep.log_evidence(), 1e-9 * std::abs(a.value));
      const RowMatrix Xnew = Vector::LinSpaced(31, -4.0, 4.0);
      const Prediction p = of_sums.predict(Xnew), q = of_sweep.predict(Xnew);
      EXPECT_LT(relative(p.mean, q.mean), 1e-8);
      EXPECT_LT(relative(p.variance_f, q.variance_f), 1e-8);
    }
}

TEST(OnePass, Gradients) {
  const SparseCase t = fourier_case("matern52 + white", 60);
  const BuiltProblem built(t);
  const auto sums = one_pass_statistics(*t.features, t.values.z, t.mean, built.rows);
  ASSERT_TRUE(sums);
  const auto values = [&](const Vector& x) {
    SparseValues v = t.values;
    v.theta = x.head(3);
    v.noise = x(3);
    v.mean_weights.reshaped() = x.tail(4);
    return v;
  };
  Vector at(8);
  at << t.values.theta, t.values.noise, t.values.mean_weights.reshaped();
  SweepGradient g;
  evaluate_one_pass(built.problem, *sums, t.values, {}, &g);
  Vector own(8);
  own << g.theta_bar, g.noise_bar, g.mean_bar.reshaped();
  expect_gradient(
      [&](const Vector& x) { return evaluate_one_pass(built.problem, *sums, values(x), {}).value; },
      own, at);
}

TEST(OnePass, LeavesTheRestToTheSweep) {
  SparseCase t = fourier_case("matern32");
  const auto sums = [&] {
    const MemoryRows rows(t.X, t.Y, t.point_noise);
    return one_pass_statistics(*t.features, t.values.z, t.mean, rows);
  };
  ASSERT_TRUE(sums());
  t.Y(3, 1) = std::nan("");  // one output of two
  EXPECT_FALSE(sums());
  t.Y(3, 1) = 0.0;
  t.point_noise = Vector::Constant(t.X.rows(), 0.1);
  EXPECT_FALSE(sums());
  t.point_noise.resize(0);
  t.X(9) = t.values.z(1) + 0.1;  // outside
  EXPECT_FALSE(sums());
  t.X(9) = 0.0;
  ASSERT_TRUE(sums());
  const BuiltProblem built(t);
  SparseValues moved = t.values;
  moved.z(0) -= 0.1;
  EXPECT_THROW(evaluate_one_pass(built.problem, *sums(), moved, {}), InputError);
  const BuiltProblem fitc(t, "fitc");
  EXPECT_THROW(evaluate_one_pass(fitc.problem, *sums(), t.values, {}), InputError);
  t.features = inducing_points(t.kernel, t.Z);
  EXPECT_FALSE(sums());
}

}  // namespace
}  // namespace covary
