#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "inference/function_case.hpp"
#include "inference/inducing_posterior.hpp"
#include "inference/site_posterior.hpp"
#include "inference/softmax_laplace.hpp"
#include "inference/sparse_ep.hpp"

namespace covary {
namespace {

constexpr Index many = 40000;

struct Moments {
  Matrix mean, covariance;  // of the functions stacked, n·L
};
Moments moments_of(const std::vector<RowMatrix>& draws) {
  const Index n = draws.front().rows(), L = draws.front().cols();
  Matrix all(n * L, static_cast<Index>(draws.size()));
  for (std::size_t s = 0; s < draws.size(); ++s)
    for (Index l = 0; l < L; ++l)
      all.col(static_cast<Index>(s)).segment(l * n, n) = draws[s].col(l);
  Moments out{all.rowwise().mean(), {}};
  all.colwise() -= out.mean.col(0);
  out.covariance = product(all, all, Op::none, Op::transpose) / static_cast<double>(draws.size());
  return out;
}

// K(X*) − k(X*, X)(K + Λ⁻¹)⁻¹k(X, X*), by the definition.
Matrix covariance(const FunctionPosterior& p, const RowMatrix& X) {
  const Matrix k = cross(p.kernel, p.parameters.kernel, p.X, X);
  return gram(p.kernel, p.parameters.kernel, X) -
         product(k, product(p.factor.dense(), k), Op::transpose);
}

void expect_same(const Matrix& got, const Matrix& wanted) {
  const double scale = wanted.cwiseAbs().maxCoeff();
  EXPECT_LE((got - wanted).cwiseAbs().maxCoeff(), 0.03 * scale) << got << "\n\n" << wanted;
}

TEST(FunctionDraws, OfTheRowsAndOfInducingVariables) {
  auto c = testing::latent_case("bernoulli(logit)", 8);
  c.model.kernel = "matern32(ard)";
  const RowMatrix X = Random(4).normal_matrix(4, 2);
  const FunctionApproximation q = expectation_propagation(c.model, c.at);
  const Matrix wanted = covariance(q.posterior, X);
  const SitePosterior rows(q.posterior);
  const Moments a = moments_of(rows.sample(X, many, 1));
  expect_same(a.covariance, wanted);
  EXPECT_LE((a.mean - rows.marginals(X).mean).cwiseAbs().maxCoeff(), 0.02);

  // Inducing inputs at the observed rows have the same posterior.
  std::vector<Index> observed;
  for (Index n = 0; n < c.model.y.size(); ++n)
    if (!std::isnan(c.model.y(n))) observed.push_back(n);
  const RowMatrix Z = c.model.X(observed, Eigen::all);
  Jitter jitter;
  const SparseEpApproximation s =
      sparse_expectation_propagation(c.model, inducing_points(c.model.kernel, Z), c.at,
                                     Eigen::Map<const Vector>(Z.data(), Z.size()), jitter);
  const Posterior inducing(s.posterior);
  const Moments b = moments_of(inducing.sample(X, many, 1));
  expect_same(b.covariance, wanted);
  EXPECT_LE((b.mean - a.mean).cwiseAbs().maxCoeff(), 0.02);
}

// Two classes of the kernel k are one label of the difference f₁ − f₀, whose kernel is 2k.
TEST(FunctionDraws, CorrelatedClasses) {
  auto c = testing::latent_case("bernoulli(logit)", 9);
  c.model.mean = {};
  c.at.mean_weights = {};
  const MultiFunctionModel two{{"se(ard)"}, "softmax(2)", {}, c.model.X, c.model.y};
  const RowMatrix X = Random(4).normal_matrix(3, 2);
  const SoftmaxPosterior joint(
      laplace_approximation(two, {{c.at.kernel}, Vector(), Matrix(0, 2)}).posterior);
  FunctionParameters twice = c.at;
  twice.kernel(0) *= 2.0;
  const FunctionApproximation difference = laplace_approximation(c.model, twice);
  std::vector<RowMatrix> draws = joint.sample(X, many, 2), differences;
  for (const RowMatrix& f : draws) differences.emplace_back(f.col(1) - f.col(0));
  expect_same(moments_of(differences).covariance, covariance(difference.posterior, X));
  const Matrix at_rows = joint.marginals(X).between;
  const Matrix got = moments_of(draws).covariance;
  for (Index n = 0; n < 3; ++n) {
    EXPECT_NEAR(got(n, n), at_rows(n, 0), 0.03 * at_rows(n, 0));
    EXPECT_NEAR(got(n, 3 + n), at_rows(n, 1), 0.03 * at_rows(n, 0));
  }
}

TEST(FunctionDraws, SeedsAndBadInput) {
  const auto c = testing::latent_case("poisson", 10);
  const SitePosterior p(laplace_approximation(c.model, c.at).posterior);
  const RowMatrix X = Random(4).normal_matrix(3, 2);
  EXPECT_EQ(p.sample(X, 3, 5)[2], p.sample(X, 3, 5)[2]);
  EXPECT_NE(p.sample(X, 1, 5)[0], p.sample(X, 1, 6)[0]);
  EXPECT_THROW(p.sample(X, 0, 5), InputError);
  EXPECT_THROW(p.sample(RowMatrix::Zero(2, 3), 1, 5), InputError);
}

}  // namespace
}  // namespace covary
