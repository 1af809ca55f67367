#include "covary/inference/compression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "features/basis.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

constexpr double noise = 0.2;
constexpr Index N = 25, D = 2;

struct Case {
  Kernel kernel = "se(ard)";
  Vector theta = (Vector(3) << 1.3, 0.8, 1.1).finished();
  RowMatrix X = Random(1).normal_matrix(N, D), Y = Random(2).normal_matrix(N, 2);

  ExactPosterior exact() const {
    ExactPosteriorParts parts;
    parts.kernel = kernel;
    parts.theta = theta;
    parts.mean_weights = Matrix();
    parts.noise_variance = noise;
    parts.X = X;
    parts.Y = Y;
    return ExactPosterior(std::move(parts));
  }
  SparseEvaluation vfe(const Features& u, const Vector& z) const {
    const MemoryRows rows(X, Y, Vector());
    const Sweep sweep = Sweep::for_features(rows, u.size());
    const Mean mean;
    const SparseProblem problem{"vfe", &u, &kernel, &mean, &sweep, columns_by_pattern(rows)};
    Jitter jitter;
    return evaluate_sparse(problem, {theta, z, noise, Matrix()}, jitter);
  }
};

Vector start_of(const Features& u) {
  Parameters p;
  u.declare(p);
  return p.values();
}

double kl_of(const Gaussian& a, const Gaussian& b) {
  const Cholesky A = cholesky(a.covariance), B = cholesky(b.covariance);
  const Vector apart = a.mean - b.mean;
  return 0.5 * (B.solve(a.covariance).trace() + apart.dot(B.solve(apart).col(0)) -
                static_cast<double>(a.size()) + B.log_determinant() - A.log_determinant());
}

void expect_gradient_of(const CompressionTarget& target, const Features& u) {
  const Vector z = start_of(u);
  Jitter jitter;
  Vector g;
  target.divergence(u, z, jitter, &g);
  expect_gradient(
      [&](const Vector& at) {
        Jitter j;
        return target.divergence(u, at, j);
      },
      g, z);
}

// Of an exact posterior the divergence is evidence − elbo, and the best small one is VFE's.
TEST(Compression, OfAnExactPosteriorIsVfe) {
  Case t;
  const ExactPosterior exact = t.exact();
  const CompressionTarget target{Posterior(exact)};
  const FeaturesPtr u = inducing_points(t.kernel, t.X.topRows(6));
  const Vector z = start_of(*u);
  const SparseEvaluation vfe = t.vfe(*u, z);
  Jitter jitter;
  EXPECT_NEAR(target.divergence(*u, z, jitter), exact.log_evidence() - vfe.value, 1e-9);
  const SparsePosterior small = target.posterior(u, z, {});
  EXPECT_NEAR(small.log_evidence(), vfe.value, 1e-9);
  const SparsePosterior direct({"vfe",
                                t.kernel,
                                Mean(),
                                u,
                                {t.theta, z, noise, Matrix()},
                                vfe.Luu,
                                vfe.jitter,
                                vfe.factors});
  const RowMatrix at = Random(9).normal_matrix(7, D);
  EXPECT_LT((small.predict(at).mean - direct.predict(at).mean).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((small.predict(at).variance_f - direct.predict(at).variance_f).cwiseAbs().maxCoeff(),
            1e-10);
  expect_gradient_of(target, *u);
  expect_gradient_of(target, *basis_features(t.kernel, Random(4).normal_matrix(8, D),
                                             Random(5).normal_matrix(4, 2)));
}

// Missing outputs and white noise in the kernel: the same.
TEST(Compression, OfMissingOutputsAndWhiteNoise) {
  Case t;
  t.kernel = "se(ard) + white";
  t.theta = (Vector(4) << 1.3, 0.8, 1.1, 0.15).finished();
  t.Y(3, 0) = t.Y(7, 0) = t.Y(9, 1) = std::numeric_limits<double>::quiet_NaN();
  const CompressionTarget target{Posterior(t.exact())};
  const FeaturesPtr u = inducing_points(t.kernel, t.X);
  Jitter jitter;
  const Vector z = start_of(*u);
  EXPECT_NEAR(target.divergence(*u, z, jitter), 0.0, 1e-6);
  const RowMatrix at = Random(9).normal_matrix(7, D);
  const Prediction a = target.posterior(u, z, {}).predict(at), b = t.exact().predict(at);
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((a.variance_f - b.variance_f).cwiseAbs().maxCoeff(), 1e-5);
  expect_gradient_of(target, *inducing_points(t.kernel, t.X.topRows(5)));
}

// Of a sparse posterior: nothing is lost with its own inducing inputs, whatever the approximation;
// with fewer, KL is that of the Gaussians over both sets of inducing variables.
TEST(Compression, OfASparsePosterior) {
  Case t;
  const FeaturesPtr u = inducing_points(t.kernel, t.X.topRows(8));
  const Vector z = start_of(*u);
  const SparseEvaluation e = t.vfe(*u, z);
  const SparsePosterior given(
      {"fitc", t.kernel, Mean(), u, {t.theta, z, noise, Matrix()}, e.Luu, e.jitter, e.factors});
  const CompressionTarget target{Posterior(given)};
  Jitter jitter;
  EXPECT_NEAR(target.divergence(*u, z, jitter), 0.0, 1e-8);
  const RowMatrix at = Random(9).normal_matrix(7, D);
  EXPECT_LT(
      (target.posterior(u, z, {}).predict(at).mean - given.predict(at).mean).cwiseAbs().maxCoeff(),
      1e-8);
  const FeaturesPtr few = inducing_points(t.kernel, t.X.bottomRows(4));
  const double loss = target.divergence(*few, start_of(*few), jitter);
  EXPECT_GT(loss, 0.01);
  const SparsePosterior small = target.posterior(few, start_of(*few), {});
  EXPECT_NEAR(given.log_evidence() - small.log_evidence(), loss, 1e-8);
  RowMatrix joint(12, D);
  joint << t.X.topRows(8), t.X.bottomRows(4);
  double expected = 0.0;
  for (Index output = 0; output < 2; ++output) {
    const auto at_joint = [&](const SparsePosterior& p) {
      return Gaussian{Vector(p.predict_mean(joint).col(output)), p.covariance(joint, output)};
    };
    expected += kl_of(at_joint(small), at_joint(given));
  }
  EXPECT_NEAR(loss, expected, 1e-5 * loss);
  expect_gradient_of(target, *few);
}

TEST(Compression, Refuses) {
  Case t;
  const FeaturesPtr u = inducing_points(t.kernel, t.X.topRows(4));
  const Vector z = start_of(*u);
  const SparseEvaluation e = t.vfe(*u, z);
  const SparsePosterior sor(
      {"sor", t.kernel, Mean(), u, {t.theta, z, noise, Matrix()}, e.Luu, e.jitter, e.factors});
  EXPECT_THROW(CompressionTarget{Posterior(sor)}, Unsupported);
  EXPECT_EQ(stored_numbers(*u, 1), 4.0 + 16.0 + 8.0);
  EXPECT_EQ(t.exact().stored_numbers(), 25.0 * 4.0 + 625.0);
  EXPECT_EQ(stored_numbers(*basis_features(t.kernel, t.X.topRows(12), RowMatrix::Ones(4, 3)), 1),
            4.0 + 16.0 + 4.0 * 3.0 * 3.0);
}

}  // namespace
}  // namespace covary
