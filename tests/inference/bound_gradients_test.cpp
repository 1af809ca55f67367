// Gradients of the sparse bounds and evidences at ten random points, of which the tenth has
// inducing inputs so near each other that Kuu is ill-conditioned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "inference/cglb.hpp"
#include "inference/gaussian_rows.hpp"
#include "inference/pitc.hpp"
#include "inference/sparse_problem.hpp"
#include "inference/svgp_case.hpp"
#include "inference/upper_bound.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::packed;
using testing::SparseCase;
using testing::SvgpCase;
using testing::unpacked;

constexpr int points = 10;
// Of a good point; ‖g‖∞ is large, and what 1e-6 of it hides should be seen.
double tolerance_at(int point) { return point == points - 1 ? 1e-6 : 1e-8; }

// Kuu has a condition of some 1e7 when two inducing inputs are this far apart.
constexpr double near = 1e-3;
double condition_of(const Features& u, const SparseValues& v) {
  return cholesky(u.Kuu(v.theta.data(), v.z.data())).condition_estimate();
}

// Parameters, inducing inputs and data at random, a linear mean.
SparseCase point_of(int point, Index N = 30, Index M = 5) {
  SparseCase t(N, M, 2, 2, 40 + 7 * static_cast<std::uint64_t>(point));
  Random random(static_cast<std::uint64_t>(point), 3);
  for (double& v : t.values.theta) v *= std::exp(0.4 * random.normal());
  t.values.noise *= std::exp(0.5 * random.normal());
  t.mean = "linear";
  t.values.mean_weights = 0.3 * random.normal_matrix(3, 2);
  if (point == points - 1) {
    t.values.z.segment(2, 2) = t.values.z.head(2).array() + near;
    EXPECT_GT(condition_of(*t.features, t.values), 1e6);
  }
  return t;
}

using Evaluate = std::function<double(const SparseCase&, SweepGradient*)>;

void check(const Evaluate& evaluate) {
  for (int point = 0; point < points; ++point) {
    SCOPED_TRACE(point);
    const SparseCase t = point_of(point);
    SweepGradient g;
    evaluate(t, &g);
    expect_gradient(
        [&](const Vector& x) {
          SparseCase moved = t;
          moved.values = unpacked(x, t.values);
          return evaluate(moved, nullptr);
        },
        packed(g), packed(t.values), tolerance_at(point));
  }
}

class SparseGradients : public ::testing::TestWithParam<const char*> {};

TEST_P(SparseGradients, P6_AtTenPoints) {
  check([](const SparseCase& t, SweepGradient* g) { return t.evaluate(GetParam(), g).value; });
}

INSTANTIATE_TEST_SUITE_P(Approximations, SparseGradients,
                         ::testing::Values("sor", "dtc", "fitc", "vfe", "vfe(tight)", "pep(0.4)",
                                           "pep(1)"));

TEST(BoundGradients, PitcAtTenPoints) {
  const std::vector<Index> starts{0, 1, 8, 19};
  check([&](const SparseCase& t, SweepGradient* g) {
    const MemoryRows rows(t.X, t.Y, t.point_noise);
    const Sweep sweep = group_sweep(rows, starts, t.features->size());
    const SparseProblem problem{"pitc",  t.features.get(), &t.kernel,
                                &t.mean, &sweep,           columns_by_pattern(rows)};
    Jitter j;
    return evaluate_pitc(problem, starts, t.values, j, g).value;
  });
}

TEST(BoundGradients, CglbAtTenPoints) {
  const Matrix v = 0.3 * testing::normal_rows(30, 2, 9);
  check([&](const SparseCase& t, SweepGradient* g) {
    const testing::BuiltProblem b(t);
    Jitter j;
    return evaluate_cglb(b.problem, t.values, v, j, g).lower;
  });
}

TEST(BoundGradients, UpperBoundAtTenPoints) {
  check([](const SparseCase& t, SweepGradient* g) {
    const testing::BuiltProblem b(t);
    Jitter j;
    return trace_upper_bound(b.problem, t.values, j, g);
  });
}

// Rows N(m, S): also by m and S.
TEST(BoundGradients, GaussianRowsAtTenPoints) {
  for (int point = 0; point < points; ++point) {
    SCOPED_TRACE(point);
    SparseCase t = point_of(point, 8);
    t.mean = Mean();
    t.values.mean_weights = Matrix();
    Random random(static_cast<std::uint64_t>(point), 4);
    const RowMatrix S = random.normal_matrix(8, 2).array().square() + 0.02;
    const auto evaluate = [&](const SparseValues& values, const RowMatrix& means,
                              const RowMatrix& variances, SweepGradient* g,
                              GaussianRowGradient* rows) {
      const GaussianRows source(means, variances, t.Y);
      const Sweep sweep(source, 64);
      const SparseProblem problem{"vfe",   t.features.get(), &t.kernel,
                                  &t.mean, &sweep,           columns_by_pattern(source)};
      Jitter j;
      return evaluate_gaussian_rows(problem, values, j, g, rows).value;
    };
    const Vector values = packed(t.values);
    const Index V = values.size();
    Vector at(V + 32), given(V + 32);
    at << values, Eigen::Map<const Vector>(t.X.data(), 16), Eigen::Map<const Vector>(S.data(), 16);
    SweepGradient g;
    GaussianRowGradient rows;
    evaluate(t.values, t.X, S, &g, &rows);
    given << packed(g), Eigen::Map<const Vector>(rows.mean_bar.data(), 16),
        Eigen::Map<const Vector>(rows.variance_bar.data(), 16);
    expect_gradient(
        [&](const Vector& x) {
          const RowMatrix means = Eigen::Map<const RowMatrix>(x.data() + V, 8, 2),
                          variances = Eigen::Map<const RowMatrix>(x.data() + V + 16, 8, 2);
          return evaluate(unpacked(x.head(V), t.values), means, variances, nullptr, nullptr);
        },
        given, at, tolerance_at(point));
  }
}

class SvgpGradients : public ::testing::TestWithParam<const char*> {};

TEST_P(SvgpGradients, T25_AtTenPoints) {
  for (int point = 0; point < points; ++point) {
    SCOPED_TRACE(point);
    const auto seed = static_cast<std::uint64_t>(point);
    SvgpCase t(GetParam(), point % 2 == 1, 12, 3, 60 + seed);
    Random random(seed, 8);
    for (Vector& theta : t.values.theta)
      for (double& v : theta) v *= std::exp(0.4 * random.normal());
    t.add_aux();
    if (point % 3 == 0) t.add_weights();
    if (point == points - 1)
      for (std::size_t i = 0; i < t.features.size(); ++i) {
        t.values.z[i].segment(2, 2) = t.values.z[i].head(2).array() + near;
        const SparseValues own{t.values.theta[i], t.values.z[i], 0.0, {}};
        EXPECT_GT(condition_of(*t.features[i], own), 1e5);
      }
    UncollapsedGradient g;
    t.evaluate(&g);
    expect_gradient([&](const Vector& x) { return t.at(x).evaluate().value; }, SvgpCase::flat(g),
                    t.flat(), tolerance_at(point));
  }
}

INSTANTIATE_TEST_SUITE_P(Likelihoods, SvgpGradients,
                         ::testing::Values("gaussian", "bernoulli(logit)", "poisson", "student_t",
                                           "softmax(3)", "heteroscedastic"));

}  // namespace
}  // namespace covary
