#include "covary/models/generalised_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/likelihoods/likelihoods.hpp"
#include "covary/random/random.hpp"
#include "inference/site_posterior.hpp"
#include "inference/softmax_laplace.hpp"

namespace covary {
namespace {

// Correlated latent functions are predicted with their correlations.
TEST(GeneralisedFit, JointPosterior) {
  const RowMatrix X = Random(1).normal_matrix(15, 2);
  Vector y(15);
  for (Index n = 0; n < 15; ++n) y(n) = X(n, 0) > 0.3 ? 2.0 : (X(n, 1) > 0.0 ? 1.0 : 0.0);
  const MultiFunctionModel model{{"se"}, "softmax(3)", {}, X, y};
  const MultiFunctionParameters at{{(Vector(2) << 9.0, 1.0).finished()}, Vector(), Matrix()};
  const JointPosterior q = laplace_approximation(model, at).posterior;
  GeneralisedFit fit("laplace", SoftmaxPosterior(q), "softmax(3)", Vector());
  fit.input_scaling = Scaling::identity(2);
  fit.output_scaling = Scaling::identity(1);
  fit.input_scaling.scale *= 2.0;

  const RowMatrix X_new = Random(2).normal_matrix(5, 2);
  const JointMarginals f = q.predict(0.5 * X_new);
  const Matrix expected = softmax_probabilities(f.mean, f.covariance);
  const GeneralisedPrediction p = fit.predict(X_new);
  EXPECT_EQ(p.probabilities, expected);
  EXPECT_EQ(p.f.mean, f.mean);
  EXPECT_EQ(p.f.variance, f.each().variance);
  EXPECT_EQ(p.mean.size(), 0);
  const Vector labels = (Vector(5) << 0, 1, 2, std::nan(""), 1).finished();
  const Vector density = fit.log_density(X_new, labels);
  EXPECT_DOUBLE_EQ(density(2), std::log(expected(2, 2)));
  EXPECT_DOUBLE_EQ(density(4), std::log(expected(4, 1)));
  EXPECT_TRUE(std::isnan(density(3)));
}

}  // namespace
}  // namespace covary
