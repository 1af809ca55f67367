#include "inference/pitc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

std::vector<Index> every(Index N, Index width) {
  std::vector<Index> starts;
  for (Index i = 0; i < N; i += width) starts.push_back(i);
  return starts;
}

struct Case {
  Kernel kernel = "se(ard) + white(variance=0.02)";
  RowMatrix X, Y, Z;
  Vector point_noise;
  Mean mean;
  SparseValues values;
  FeaturesPtr features;
  std::vector<Index> starts;

  Case(Index N, Index M, Index D, Index P, std::uint64_t seed, std::vector<Index> groups)
      : starts(std::move(groups)) {
    auto data = testing::small_data(N, D, P, seed);
    X = std::move(data.X);
    Y = std::move(data.Y);
    Z = Random(seed, 1).normal_matrix(M, D);
    features = inducing_points(kernel, Z);
    values.theta = kernel.parameters(D).values();
    values.z = Eigen::Map<const Vector>(Z.data(), Z.size());
    values.noise = 0.13;
  }
  // A row's noise, a mean function and missing outputs of two patterns.
  void add_everything() {
    mean = "linear";
    values.mean_weights = Matrix::Constant(X.cols() + 1, Y.cols(), 0.2);
    point_noise = Vector::LinSpaced(X.rows(), 0.05, 0.5);
    Y(3, 0) = Y(9, 1) = Y(10, 1) = missing;
  }
  SparseEvaluation evaluate(SweepGradient* g = nullptr) const {
    const MemoryRows rows(X, Y, point_noise);
    const Sweep sweep = group_sweep(rows, starts, features->size());
    const SparseProblem problem{"pitc", features.get(), &kernel,
                                &mean,  &sweep,         columns_by_pattern(rows)};
    Jitter j;
    return evaluate_pitc(problem, starts, values, j, g);
  }
  SparseEvaluation fitc(SweepGradient* g = nullptr) const {
    const MemoryRows rows(X, Y, point_noise);
    const Sweep sweep = Sweep::for_features(rows, features->size());
    const SparseProblem problem{"fitc", features.get(), &kernel,
                                &mean,  &sweep,         columns_by_pattern(rows)};
    Jitter j;
    return evaluate_sparse(problem, values, j, g);
  }
};

// The same by N×N matrices, one output at a time.
double dense_value(const Case& t) {
  const Matrix Kuu = t.features->Kuu(t.values.theta.data(), t.values.z.data());
  const Matrix Kuf = cross(t.kernel, t.values.theta, t.Z, t.X);
  const Matrix K = gram(t.kernel, t.values.theta, t.X);
  Matrix S = product(Kuf, cholesky(Kuu).solve(Kuf), Op::transpose);
  for (std::size_t g = 0; g < t.starts.size(); ++g) {
    const Index at = t.starts[g];
    const Index n = (g + 1 < t.starts.size() ? t.starts[g + 1] : t.X.rows()) - at;
    S.block(at, at, n, n) = K.block(at, at, n, n);
  }
  S.diagonal().array() += t.values.noise;
  if (t.point_noise.size()) S.diagonal() += t.point_noise;
  Matrix R = t.Y;
  if (!t.mean.is_zero()) R -= product(t.mean.basis(t.X), t.values.mean_weights);
  double total = 0.0;
  for (Index p = 0; p < t.Y.cols(); ++p) {
    std::vector<Index> seen;
    for (Index i = 0; i < t.Y.rows(); ++i)
      if (!std::isnan(t.Y(i, p))) seen.push_back(i);
    const Vector y = R.col(p)(seen);
    const Cholesky f = cholesky(S(seen, seen));
    total += -0.5 * static_cast<double>(seen.size()) * std::log(2 * std::numbers::pi) -
             0.5 * f.log_determinant() - 0.5 * dot(y, f.solve(y).col(0));
  }
  return total;
}

void check_gradients(const Case& t) {
  const Index K = t.values.theta.size(), Zs = t.values.z.size(), W = t.values.mean_weights.size();
  const Index N = t.point_noise.size();
  Vector x(K + Zs + 1 + W + N);
  x << t.values.theta, t.values.z, t.values.noise,
      Eigen::Map<const Vector>(t.values.mean_weights.data(), W), t.point_noise;
  SweepGradient g;
  g.want_point_noise = N > 0;
  t.evaluate(&g);
  Vector gradient(x.size());
  gradient << g.theta_bar, g.z_bar, g.noise_bar, Eigen::Map<const Vector>(g.mean_bar.data(), W),
      g.point_noise_bar;
  expect_gradient(
      [&](const Vector& v) {
        Case moved = t;
        moved.values.theta = v.head(K);
        moved.values.z = v.segment(K, Zs);
        moved.values.noise = v(K + Zs);
        moved.values.mean_weights = Eigen::Map<const Matrix>(
            v.data() + K + Zs + 1, t.values.mean_weights.rows(), t.values.mean_weights.cols());
        moved.point_noise = v.tail(N);
        return moved.evaluate().value;
      },
      gradient, x);
}

TEST(Pitc, ValueEqualsDenseAlgebra) {
  Case t(70, 9, 2, 2, 5, {0, 1, 12, 30, 31, 55});
  EXPECT_NEAR(t.evaluate().value, dense_value(t), 1e-9);
  t.add_everything();
  EXPECT_NEAR(t.evaluate().value, dense_value(t), 1e-9);
}

TEST(Pitc, TermsAddUp) {
  const Case t(60, 7, 1, 2, 8, every(60, 7));
  const SparseEvaluation e = t.evaluate();
  EXPECT_NEAR(-e.value, e.terms.complexity + e.terms.fit + e.terms.trace, 1e-10);
  EXPECT_EQ(e.terms.trace, 0.0);
  EXPECT_GT(e.terms.rho, 0.0);
}

TEST(Pitc, GradientsMatchDifferences) {
  Case t(24, 4, 2, 2, 21, {0, 1, 9, 15});
  check_gradients(t);
  t.add_everything();
  check_gradients(t);
}

// One group keeps all covariances: the exact evidence, whatever Z is.
TEST(Pitc, OneGroupIsExact) {
  Case t(50, 6, 2, 2, 3, {0});
  t.Y(4, 1) = missing;
  Jitter j;
  ExactGradient exact;
  const double value =
      exact_log_evidence(t.kernel, t.values.theta, t.X, t.Y, t.values.noise, Vector(), j, &exact);
  SweepGradient g;
  EXPECT_NEAR(t.evaluate(&g).value, value, 1e-10 * std::abs(value));
  EXPECT_LT(g.z_bar.cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT((g.theta_bar - exact.theta_bar).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_NEAR(g.noise_bar, exact.noise_bar, 1e-8);
}

TEST(Pitc, GroupsOfOneRowAreFitc) {
  Case t(90, 8, 2, 2, 6, every(90, 1));
  t.add_everything();
  SweepGradient pitc, fitc;
  const SparseEvaluation a = t.evaluate(&pitc), b = t.fitc(&fitc);
  EXPECT_NEAR(a.value, b.value, 1e-12 * std::abs(b.value));
  EXPECT_NEAR(a.terms.mean_ratio, b.terms.mean_ratio, 1e-12);
  EXPECT_NEAR(a.terms.residual, b.terms.residual, 1e-11);
  const auto near = [](const Vector& x, const Vector& y) {
    EXPECT_LT((x - y).cwiseAbs().maxCoeff(), 1e-11 * std::max(1.0, y.cwiseAbs().maxCoeff()));
  };
  near(pitc.theta_bar, fitc.theta_bar);
  near(pitc.z_bar, fitc.z_bar);
  EXPECT_NEAR(pitc.noise_bar, fitc.noise_bar, 1e-10);
  ASSERT_EQ(a.factors.size(), b.factors.size());
  for (std::size_t i = 0; i < a.factors.size(); ++i) {
    EXPECT_LT((a.factors[i].LB - b.factors[i].LB).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LT((a.factors[i].c - b.factors[i].c).cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST(Pitc, SameBitsForAnyThreads) {
  const Case t(3000, 40, 2, 1, 77, every(3000, 37));
  set_threads(1);
  SweepGradient first;
  const double value = t.evaluate(&first).value;
  for (const int n : {2, 3, 7}) {
    set_threads(n);
    SweepGradient g;
    EXPECT_EQ(t.evaluate(&g).value, value);
    EXPECT_EQ(g.z_bar, first.z_bar);
    EXPECT_EQ(g.theta_bar, first.theta_bar);
    EXPECT_EQ(g.noise_bar, first.noise_bar);
  }
  set_threads(0);
}

TEST(Pitc, GroupsByCluster) {
  const RowMatrix X = Random(4).normal_matrix(200, 2);
  std::vector<Index> starts;
  const std::vector<Index> order = order_by_cluster(X, 8, 1, starts);
  EXPECT_EQ(std::set<Index>(order.begin(), order.end()).size(), 200u);
  EXPECT_EQ(*std::max_element(order.begin(), order.end()), 199);
  ASSERT_EQ(starts.size(), 8u);
  EXPECT_EQ(starts.front(), 0);
  // Rows of a group are nearer to its centre than rows of all are to theirs.
  double within = 0.0;
  const RowMatrix sorted = X(order, Eigen::all);
  for (std::size_t g = 0; g < starts.size(); ++g) {
    const Index n = (g + 1 < starts.size() ? starts[g + 1] : 200) - starts[g];
    ASSERT_GE(n, 1);
    const RowMatrix rows = sorted.middleRows(starts[g], n);
    within += (rows.rowwise() - rows.colwise().mean()).squaredNorm();
  }
  EXPECT_LT(within, 0.25 * (X.rowwise() - X.colwise().mean()).squaredNorm());
  std::vector<Index> again;
  EXPECT_EQ(order_by_cluster(X, 8, 1, again), order);
  EXPECT_EQ(again, starts);
}

TEST(Pitc, CoincidentRowsGiveFewerGroups) {
  RowMatrix X = RowMatrix::Zero(10, 1);
  X.bottomRows(4).setOnes();
  std::vector<Index> starts;
  const std::vector<Index> order = order_by_cluster(X, 5, 1, starts);
  EXPECT_EQ(order.size(), 10u);
  EXPECT_EQ(starts.size(), 2u);
}

TEST(Pitc, Refusals) {
  Case t(20, 3, 1, 1, 1, {0, 5});
  t.values.noise = 0.0;
  EXPECT_THROW(t.evaluate(), InputError);
  t.values.noise = 0.1;
  for (const auto& bad :
       std::vector<std::vector<Index>>{{}, {1, 5}, {0, 5, 5}, {0, 20}, {0, 9, 4}}) {
    t.starts = bad;
    EXPECT_THROW(t.evaluate(), InputError);
  }
  // A sweep whose blocks cut a group.
  const MemoryRows rows(t.X, t.Y, Vector());
  const Sweep sweep(rows, 7);
  const SparseProblem problem{"pitc",  t.features.get(), &t.kernel,
                              &t.mean, &sweep,           columns_by_pattern(rows)};
  Jitter j;
  EXPECT_THROW(evaluate_pitc(problem, {0, 5}, t.values, j), InputError);
  std::vector<Index> starts;
  EXPECT_THROW(order_by_cluster(t.X, 0, 1, starts), InputError);
  EXPECT_THROW(order_by_cluster(t.X, 21, 1, starts), InputError);
}

}  // namespace
}  // namespace covary
