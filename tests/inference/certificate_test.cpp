#include "covary/inference/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/sparse_problem.hpp"
#include "inference/upper_bound.hpp"

namespace covary {
namespace {

using testing::BuiltProblem;
using testing::close_case;
using testing::exact_evidence;
using Case = testing::SparseCase;

TEST(Certificate, EnclosesTheEvidence) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Case t = seed % 2 ? close_case(200 + 5 * seed) : Case(50, 8, 2, 2, 200 + 5 * seed);
    if (seed == 4) t = testing::with_everything(t);
    const double exact = exact_evidence(t);
    double last = std::numeric_limits<double>::infinity();
    for (const Index iterations : {0, 1, 3, 50}) {
      const BuiltProblem b(t);
      Jitter j;
      const Certificate c = certify(b.problem, t.values, j, {1e12, iterations, 1e-12});
      EXPECT_LE(c.lower, exact + 1e-9);
      EXPECT_GE(c.upper, exact - 1e-9);
      EXPECT_LE(c.upper, last + 1e-9) << "more iterations, wider bracket";
      EXPECT_EQ(c.certified, iterations > 0);
      EXPECT_LE(c.iterations, iterations);
      EXPECT_NEAR(c.elbo, t.evaluate("vfe").value, 1e-9);
      last = c.upper;
    }
  }
}

// P18 for the bounds: with Z = X the bracket closes.
TEST(Certificate, ClosesWhereInducingInputsAreTheData) {
  Case t(40, 40, 2, 1, 4, "matern32");
  t.Z = t.X;
  t.features = inducing_points(t.kernel, t.Z);
  t.values.z = Eigen::Map<const Vector>(t.Z.data(), t.Z.size());
  const double exact = exact_evidence(t);
  const BuiltProblem b(t);
  Jitter j;
  const Certificate c = certify(b.problem, t.values, j, {1e12, 200, 1e-12});
  EXPECT_NEAR(c.upper, exact, 1e-6);
  EXPECT_NEAR(c.lower, exact, 1e-6);
  EXPECT_NEAR(trace_upper_bound(b.problem, t.values, j), exact, 1e-6);
  ASSERT_TRUE(c.mean_error_sd && c.variance_ratio);
  EXPECT_LT(*c.mean_error_sd, 2e-3);
}

TEST(Certificate, OverBudgetSaysSo) {
  const Case t = close_case(7);
  const BuiltProblem b(t);
  Jitter j;
  const Certificate c = certify(b.problem, t.values, j, {certificate_flops(b.problem, 1) - 1, 20});
  EXPECT_FALSE(c.certified);
  EXPECT_EQ(c.note.rfind("not certified: ", 0), 0u) << c.note;
  EXPECT_EQ(c.method, "trace");
  EXPECT_EQ(c.upper, trace_upper_bound(b.problem, t.values, j));
  EXPECT_EQ(c.flops, certificate_flops(b.problem, 20));
  const Certificate some =
      certify(b.problem, t.values, j, {certificate_flops(b.problem, 2), 20, 0.0});
  EXPECT_TRUE(some.certified);
  EXPECT_EQ(some.iterations, 2);
  EXPECT_NE(some.note.find("budget"), std::string::npos) << some.note;
}

// The promise about predictions, against the exact posterior.
TEST(Certificate, PosteriorIsAsCloseAsPromised) {
  Case t = close_case(11, 60, 40);
  t.values.theta(1) = 2.5;
  const BuiltProblem b(t);
  Jitter j;
  const Certificate c = certify(b.problem, t.values, j, {1e12, 100, 1e-9});
  ASSERT_TRUE(c.mean_error_sd && c.variance_ratio) << c.upper - c.elbo;
  EXPECT_NEAR(*c.mean_error_sd, std::sqrt(2.0 * (c.upper - c.elbo)), 1e-12);

  const SparseEvaluation e = t.evaluate("vfe");
  const RowMatrix X = testing::normal_rows(30, 2, 77);
  Matrix A = cross(t.kernel, t.values.theta, t.Z, X);
  solve_lower(e.Luu, A);
  Matrix AB = A;
  solve_lower(e.factors[0].LB, AB);
  const Vector mean = multiply(AB, e.factors[0].c.col(0), Op::transpose);
  const Vector k = diagonal(t.kernel, t.values.theta, X);
  const Vector variance =
      k - A.colwise().squaredNorm().transpose() + AB.colwise().squaredNorm().transpose();
  Matrix K = gram(t.kernel, t.values.theta, t.X);
  K.diagonal().array() += t.values.noise;
  const Matrix Kfx = cross(t.kernel, t.values.theta, t.X, X);
  const Matrix solved = cholesky(K).solve(Kfx);
  const Vector exact_mean = multiply(solved, t.Y.col(0), Op::transpose);
  const Vector exact_variance = k - Kfx.cwiseProduct(solved).colwise().sum().transpose();
  for (Index i = 0; i < X.rows(); ++i) {
    EXPECT_LE(std::abs(mean(i) - exact_mean(i)), *c.mean_error_sd * std::sqrt(exact_variance(i)));
    EXPECT_GE(variance(i) / exact_variance(i), c.variance_ratio->first);
    EXPECT_LE(variance(i) / exact_variance(i), c.variance_ratio->second);
  }
}

TEST(Certificate, NothingIsPromisedOfOtherPosteriorsOrWideBrackets) {
  Jitter j;
  Case t = close_case(11, 60, 40);
  t.values.theta(1) = 2.5;
  EXPECT_TRUE(certify(BuiltProblem(t, "vfe").problem, t.values, j).mean_error_sd);
  EXPECT_FALSE(certify(BuiltProblem(t, "fitc").problem, t.values, j).mean_error_sd);
  const Case wide(50, 4, 2, 1, 5, "se");
  const Certificate c = certify(BuiltProblem(wide, "vfe").problem, wide.values, j);
  EXPECT_GT(c.upper - c.elbo, 1.0);
  EXPECT_FALSE(c.mean_error_sd || c.variance_ratio);
}

TEST(Certificate, VarianceRatioRoots) {
  for (const double gap : {1e-10, 1e-4, 0.1, 1.0}) {
    const auto [low, high] = variance_ratio_bounds(gap);
    EXPECT_LT(low, 1.0);
    EXPECT_GT(high, 1.0);
    for (const double r : {low, high})
      EXPECT_NEAR((r - 1.0) - std::log1p(r - 1.0), 2.0 * gap, 1e-6 * gap) << gap;
  }
  EXPECT_EQ(variance_ratio_bounds(0.0).first, 1.0);
  EXPECT_THROW(variance_ratio_bounds(-1e-3), InputError);
  EXPECT_THROW(variance_ratio_bounds(std::nan("")), InputError);
}

TEST(Certificate, SameBitsForAnyThreads) {
  Case t(900, 20, 2, 2, 77, "se");
  t.Y(5, 1) = std::nan("");
  const BuiltProblem b(t);
  Jitter j;
  set_threads(1);
  const Certificate first = certify(b.problem, t.values, j, {1e12, 4, 0.0});
  for (const int n : {2, 3, 7}) {
    set_threads(n);
    const Certificate c = certify(b.problem, t.values, j, {1e12, 4, 0.0});
    EXPECT_EQ(c.lower, first.lower);
    EXPECT_EQ(c.upper, first.upper);
  }
  set_threads(0);
}

TEST(Certificate, Refusals) {
  Case t = close_case(1);
  Jitter j;
  {
    const BuiltProblem b(t);
    EXPECT_THROW(certify(b.problem, t.values, j, {1e12, -1}), InputError);
    EXPECT_THROW(certify(b.problem, t.values, j, {std::nan(""), 5}), InputError);
    EXPECT_THROW(certify(b.problem, t.values, j, {1e12, 5, -1.0}), InputError);
  }
  t.values.noise = 0.0;
  const BuiltProblem b(t);
  EXPECT_THROW(certify(b.problem, t.values, j), InputError);
}

}  // namespace
}  // namespace covary
