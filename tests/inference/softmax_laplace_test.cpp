#include "inference/softmax_laplace.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/inference/gaussian.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "inference/function_case.hpp"
#include "inference/inducing_posterior.hpp"
#include "inference/multi_function_case.hpp"
#include "inference/site_posterior.hpp"

namespace covary {
namespace {

double evidence(const MultiFunctionModel& m, const MultiFunctionParameters& p,
                MultiFunctionParameters* g) {
  return laplace_approximation(m, p, g).value;
}

// Everything from matrices of CN×CN.
TEST(SoftmaxFactor, DenseMatrices) {
  const Index N = 5, C = 3;
  const RowMatrix X = Random(1).normal_matrix(N, 2);
  std::vector<Matrix> K{gram("se + 0.3*white", (Vector(3) << 1.5, 0.8, 1).finished(), X),
                        gram("matern32 + 0.3*white", (Vector(3) << 0.7, 1.2, 1).finished(), X),
                        gram("linear + 0.3*white", (Vector(2) << 0.5, 1).finished(), X)};
  Matrix pi = Random(2).normal_matrix(N, C).array().exp();
  // Rows of weights ½, 1, 1½, ….
  for (Index n = 0; n < N; ++n) pi.row(n) *= 0.5 * static_cast<double>(n + 1) / pi.row(n).sum();
  Matrix big = Matrix::Zero(C * N, C * N), W = big;
  for (Index c = 0; c < C; ++c) {
    big.block(c * N, c * N, N, N) = K[static_cast<std::size_t>(c)];
    for (Index k = 0; k < C; ++k)
      for (Index n = 0; n < N; ++n)
        W(c * N + n, k * N + n) = (c == k ? pi(n, c) : 0.0) - pi(n, c) * pi(n, k) / pi.row(n).sum();
  }
  const Matrix inverse = cholesky(big).inverse();
  const Cholesky precision = cholesky(Matrix(inverse + W));
  const Matrix S = precision.inverse();
  const Matrix R = inverse - product(inverse, product(S, inverse));

  SoftmaxFactor factor;
  factor.compute({&K[0], &K[1], &K[2]}, pi);
  EXPECT_NEAR(factor.log_determinant(),
              precision.log_determinant() + cholesky(big).log_determinant(), 1e-10);
  const Matrix b = Random(3).normal_matrix(N, C);
  const Vector Rb = multiply(R, b.reshaped());
  EXPECT_LE((factor.apply(b).reshaped() - Rb).cwiseAbs().maxCoeff(), 1e-9);
  const Matrix reduction = factor.reduction({&K[0], &K[1], &K[2]});
  for (Index c = 0; c < C; ++c) {
    EXPECT_LE((factor.dense(c) - R.block(c * N, c * N, N, N)).cwiseAbs().maxCoeff(), 1e-9);
    for (Index k = 0; k < C; ++k)
      for (Index n = 0; n < N; ++n)
        EXPECT_NEAR(reduction(n, c * C + k), big(c * N + n, k * N + n) - S(c * N + n, k * N + n),
                    1e-9);
  }
}

TEST(SoftmaxLaplace, GradientsOfEverything) {
  for (const Index kernels : {1, 3})
    for (const std::uint64_t seed : {41u, 42u}) {
      SCOPED_TRACE(kernels);
      testing::expect_multi_latent_gradient(
          testing::multi_latent_case("softmax(3)", kernels, seed, 14), evidence);
    }
}

// Two classes of the kernel k are one label of f₁ − f₀ with 2k, and Laplace does not mind which way
// it is written.
TEST(SoftmaxLaplace, TwoClassesAreOneLabel) {
  testing::LatentCase label = testing::latent_case("bernoulli(logit)", 43);
  const MultiFunctionModel m{{"se(ard)"}, "softmax(2)", "constant", label.model.X, label.model.y};
  const MultiFunctionParameters at{
      {label.at.kernel}, Vector(), (Matrix(1, 2) << -0.1, 0.4).finished()};
  label.at.kernel(0) *= 2.0;
  label.at.mean_weights(0) = 0.5;
  const JointApproximation q = laplace_approximation(m, at);
  const FunctionApproximation p = laplace_approximation(label.model, label.at);
  EXPECT_NEAR(q.value, p.value, 1e-10);
  const RowMatrix X_new = Random(9).normal_matrix(6, 2);
  const JointMarginals f = q.posterior.predict(X_new);
  const FunctionMarginals g = p.posterior.predict(X_new);
  EXPECT_LE((f.mean.col(1) - f.mean.col(0) - g.mean).cwiseAbs().maxCoeff(), 1e-9);
  const Vector variance = f.covariance.col(0) + f.covariance.col(3) - 2.0 * f.covariance.col(1);
  EXPECT_LE((variance - g.variance).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LE((softmax_probabilities(f.mean, f.covariance) -
             class_probabilities("bernoulli(logit)", Vector(), g.mean, g.variance))
                .cwiseAbs()
                .maxCoeff(),
            1e-9);
}

// At the data, and at new rows as one would expect.
TEST(SoftmaxLaplace, PosteriorAtTheData) {
  const auto c = testing::multi_latent_case("softmax(4)", 4, 44, 12);
  const JointApproximation q = laplace_approximation(c.model, c.at);
  const JointMarginals again = q.posterior.predict(q.posterior.X);
  EXPECT_LE((again.mean - q.marginals.mean).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LE((again.covariance - q.marginals.covariance).cwiseAbs().maxCoeff(), 1e-9);
  // The mode: alpha = e_y − π.
  Matrix slope = -q.posterior.pi;
  Index at = 0;
  for (Index n = 0; n < c.model.y.size(); ++n)
    if (!std::isnan(c.model.y(n))) slope(at++, static_cast<Index>(c.model.y(n))) += 1.0;
  EXPECT_LE((slope - q.posterior.alpha).cwiseAbs().maxCoeff(), 1e-10);
  // Far away the prior, without correlations.
  const JointMarginals far = q.posterior.predict(RowMatrix::Constant(1, 2, 60.0));
  EXPECT_LE((far.mean - c.at.mean_weights).cwiseAbs().maxCoeff(), 1e-10);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j)
      EXPECT_NEAR(far.covariance(0, 4 * i + j),
                  i == j ? c.at.kernels[static_cast<std::size_t>(i)](0) : 0.0, 1e-10);
  const Posterior any = SoftmaxPosterior(q.posterior);
  EXPECT_EQ(any.functions(), 4);
  const FunctionMarginals f = any.marginals(RowMatrix::Constant(1, 2, 0.3));
  EXPECT_EQ(f.mean, q.posterior.predict(RowMatrix::Constant(1, 2, 0.3)).mean);
  EXPECT_EQ(f.between, q.posterior.predict(RowMatrix::Constant(1, 2, 0.3)).covariance);
  EXPECT_THROW(any.as<SitePosterior>(), Unsupported);
}

// The probabilities are those of draws from the joint Gaussian, and not those of its diagonal.
TEST(SoftmaxLaplace, CorrelationsMatterToProbabilities) {
  auto c = testing::multi_latent_case("softmax(3)", 1, 45, 20);
  c.at.kernels[0](0) = 20.0;
  const JointApproximation q = laplace_approximation(c.model, c.at);
  const JointMarginals f = q.posterior.predict(c.model.X.topRows(1));
  const Matrix joint = softmax_probabilities(f.mean, f.covariance);
  const FunctionMarginals alone = f.each();
  const Matrix apart = class_probabilities("softmax(3)", Vector(), alone.mean, alone.variance);
  const Index draws = 200000;
  const Matrix F = covary::sample(
      Gaussian{f.mean.row(0).transpose(), f.covariance.row(0).reshaped(3, 3)}, draws, 1);
  Vector drawn = Vector::Zero(3);
  for (Index s = 0; s < draws; ++s) {
    const Vector e = F.col(s).array().exp();
    drawn += e / e.sum();
  }
  drawn /= static_cast<double>(draws);
  const Vector of_joint = joint.row(0), of_apart = apart.row(0);
  EXPECT_LE((of_joint - drawn).cwiseAbs().maxCoeff(), 0.004);
  EXPECT_GE((of_apart - drawn).cwiseAbs().maxCoeff(), 0.02);
}

TEST(SoftmaxLaplace, BadInput) {
  auto c = testing::multi_latent_case("robust_max(3)", 1, 46);
  EXPECT_THROW(laplace_approximation(c.model, c.at), Unsupported);
  c = testing::multi_latent_case("softmax(3)", 1, 46);
  LaplaceOptions hasty;
  hasty.max_iterations = 1;
  EXPECT_THROW(laplace_approximation(c.model, c.at, nullptr, hasty), NumericalError);
  EXPECT_THROW(laplace_approximation(c.model, c.at).posterior.predict(RowMatrix::Zero(2, 3)),
               InputError);
}

}  // namespace
}  // namespace covary
