#include "inference/upper_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/sparse_problem.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::BuiltProblem;
using testing::close_case;
using testing::exact_evidence;
using Case = testing::SparseCase;

struct Dense {
  Matrix Q, K;
  Vector s;
  explicit Dense(const Case& t)
      : K(gram(t.kernel, t.values.theta, t.X)), s(Vector::Constant(t.X.rows(), t.values.noise)) {
    const Matrix Kuu = t.features->Kuu(t.values.theta.data(), t.values.z.data());
    const Matrix Kuf = cross(t.kernel, t.values.theta, t.Z, t.X);
    Q = product(Kuf, cholesky(Kuu).solve(Kuf), Op::transpose);
    if (t.point_noise.size()) s += t.point_noise;
  }
  double trace() const { return (K - Q).trace(); }
  double row_sum() const { return (K - Q).cwiseAbs().rowwise().sum().maxCoeff(); }
  // By powers of the matrix, to many digits.
  double largest_eigenvalue() const {
    Matrix A = (K - Q) / trace();
    double scale = std::log(trace());
    for (int i = 0, power = 1; i < 20; ++i, power *= 2) {
      const double norm = A.norm();
      scale += std::log(norm) / power;
      A = product(A, A) / (norm * norm);
    }
    return std::exp(scale);
  }
  double upper(const Vector& y, double c) const {
    Matrix A = Q, B = Q;
    A.diagonal() += s;
    B.diagonal() += s;
    B.diagonal().array() += c;
    const auto n = static_cast<double>(y.size());
    return -0.5 * n * std::log(2 * std::numbers::pi) - 0.5 * cholesky(A).log_determinant() -
           0.5 * dot(y, cholesky(B).solve(y).col(0));
  }
};

// P7: VFE ≤ evidence ≤ the upper bounds.
TEST(UpperBound, P7Sandwich) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Case t = seed % 2 ? close_case(50 + 5 * seed) : Case(50, 8, 2, 2, 50 + 5 * seed);
    if (seed % 4 == 2) t = testing::with_everything(t);
    const BuiltProblem b(t);
    Jitter j;
    const double exact = exact_evidence(t);
    EXPECT_LE(t.evaluate("vfe").value, exact);
    EXPECT_GE(trace_upper_bound(b.problem, t.values, j), exact);
    EXPECT_GE(row_sum_upper_bound(b.problem, t.values, j), exact);
    EXPECT_GE(upper_bound(b.problem, t.values, j), exact);
  }
}

// P11: valid for every c ≥ λmax, and both constants are.
TEST(UpperBound, P11Constants) {
  for (const std::uint64_t seed : {3u, 14u, 25u}) {
    Case t = close_case(seed);
    if (seed == 25u) t.point_noise = Vector::LinSpaced(60, 0.0, 0.4);
    const Dense dense(t);
    const double largest = dense.largest_eigenvalue(), exact = exact_evidence(t);
    EXPECT_GE(dense.trace(), largest);
    EXPECT_GE(dense.row_sum(), largest);
    for (const double factor : {1.0, 1.1, 2.0, 30.0})
      EXPECT_GE(dense.upper(t.Y.col(0), factor * largest), exact) << factor;

    const BuiltProblem b(t);
    Jitter j;
    const double trace = dense.upper(t.Y.col(0), dense.trace());
    const double row_sum = dense.upper(t.Y.col(0), dense.row_sum());
    EXPECT_NEAR(trace_upper_bound(b.problem, t.values, j), trace, 1e-8);
    EXPECT_NEAR(row_sum_upper_bound(b.problem, t.values, j), row_sum, 1e-8);
    EXPECT_NEAR(upper_bound(b.problem, t.values, j), std::min(trace, row_sum), 1e-8);
    const double flops = row_sum_flops(b.problem);
    EXPECT_NEAR(upper_bound(b.problem, t.values, j, 0.99 * flops), trace, 1e-8);
  }
}

// Neither constant is always the smaller one.
TEST(UpperBound, RowSumsAndTraceEachWinSomewhere) {
  Jitter j;
  const Case few(60, 1, 2, 1, 8, "linear");  // a residual of rank one, unevenly spread
  Case local(120, 3, 1, 1, 9, "matern12");
  local.values.theta(1) = 0.02;  // residuals of near neighbours only
  for (const Case* t : std::initializer_list<const Case*>{&few, &local}) {
    const Dense dense(*t);
    EXPECT_EQ(dense.row_sum() < dense.trace(), t == &local);
    const BuiltProblem b(*t);
    EXPECT_EQ(
        row_sum_upper_bound(b.problem, t->values, j) < trace_upper_bound(b.problem, t->values, j),
        t == &local);
  }
}

// Rows come in panels; more rows than one has.
TEST(UpperBound, RowSumsOverSeveralPanels) {
  Case t(2100, 5, 1, 1, 6, "se");
  const Dense dense(t);
  const BuiltProblem b(t);
  Jitter j;
  const double expected = dense.upper(t.Y.col(0), dense.row_sum());
  EXPECT_NEAR(row_sum_upper_bound(b.problem, t.values, j), expected, 1e-8 * std::abs(expected));
}

// P12: FITC's evidence can exceed the evidence and be exposed by the upper bound. The noise is too
// small for the data: FITC explains them by what its inducing inputs leave open.
TEST(UpperBound, P12ExposesFitc) {
  Case t(80, 4, 1, 1, 31, "se");
  t.values.noise = 1e-3;
  Case spread = t;
  spread.Z = Vector::LinSpaced(20, -3.0, 3.0);
  spread.features = inducing_points(spread.kernel, spread.Z);
  spread.values.z = Eigen::Map<const Vector>(spread.Z.data(), spread.Z.size());
  const BuiltProblem b(spread);
  Jitter j;
  const double bound = trace_upper_bound(b.problem, spread.values, j);
  EXPECT_GE(bound, exact_evidence(t));
  EXPECT_GT(t.evaluate("fitc").value, bound + 100.0);
  EXPECT_LE(t.evaluate("vfe").value, bound);
}

TEST(UpperBound, GradientMatchesDifferences) {
  for (const bool everything : {false, true}) {
    Case t(40, 5, 2, 2, 21);
    if (everything) t = testing::with_everything(t);
    const BuiltProblem b(t);
    Jitter j;
    SweepGradient g;
    trace_upper_bound(b.problem, t.values, j, &g);
    expect_gradient(
        [&](const Vector& x) {
          return trace_upper_bound(b.problem, testing::unpacked(x, t.values), j);
        },
        testing::packed(g), testing::packed(t.values));
  }
}

TEST(UpperBound, PointNoiseGradient) {
  Case t(30, 5, 1, 1, 2);
  t.point_noise = Vector::LinSpaced(30, 0.05, 0.5);
  const BuiltProblem b(t);
  Jitter j;
  SweepGradient g;
  g.want_point_noise = true;
  trace_upper_bound(b.problem, t.values, j, &g);
  expect_gradient(
      [&](const Vector& s) {
        Case moved = t;
        moved.point_noise = s;
        return trace_upper_bound(BuiltProblem(moved).problem, t.values, j);
      },
      g.point_noise_bar, t.point_noise);
}

TEST(UpperBound, SameBitsForAnyThreads) {
  const Case t(900, 20, 2, 2, 77, "se");
  const BuiltProblem b(t);
  Jitter j;
  set_threads(1);
  SweepGradient first;
  const double trace = trace_upper_bound(b.problem, t.values, j, &first);
  const double row_sum = row_sum_upper_bound(b.problem, t.values, j);
  for (const int n : {2, 3, 7}) {
    set_threads(n);
    SweepGradient g;
    EXPECT_EQ(trace_upper_bound(b.problem, t.values, j, &g), trace);
    EXPECT_EQ(g.z_bar, first.z_bar);
    EXPECT_EQ(row_sum_upper_bound(b.problem, t.values, j), row_sum);
  }
  set_threads(0);
}

TEST(UpperBound, Refusals) {
  Case t = close_case(1);
  t.values.noise = 0.0;
  const BuiltProblem b(t);
  Jitter j;
  EXPECT_THROW(trace_upper_bound(b.problem, t.values, j), InputError);
  EXPECT_THROW(row_sum_upper_bound(b.problem, t.values, j), InputError);
  EXPECT_THROW(upper_bound(b.problem, t.values, j), InputError);
}

}  // namespace
}  // namespace covary
