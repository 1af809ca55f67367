#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/likelihoods/likelihoods.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// Independent functions have exact integrals.
TEST(SoftmaxJoint, DiagonalCovariances) {
  struct Case {
    Index classes;
    double tolerance;
  };
  for (const auto& [K, tolerance] :
       {Case{2, 1e-9}, Case{3, 1e-9}, Case{4, 1e-3}, Case{6, 1e-3}, Case{10, 1.5e-3}}) {
    SCOPED_TRACE(K);
    const Index n = 20;
    const Matrix mean = Random(1).normal_matrix(n, K);
    const Matrix variance = (0.8 * Random(2).normal_matrix(n, K)).array().exp();
    Matrix covariance = Matrix::Zero(n, K * K);
    for (Index k = 0; k < K; ++k) covariance.col(k * K + k) = variance.col(k);
    EXPECT_LE((softmax_probabilities(mean, covariance) -
               class_probabilities(softmax_likelihood(K), Vector(), mean, variance))
                  .cwiseAbs()
                  .maxCoeff(),
              tolerance);
  }
}

// Correlated ones in the same way: f = g + c·1 + noise differs from independent f by a part that
// all functions share, which changes nothing.
TEST(SoftmaxJoint, SharedPartsDoNotMatter) {
  for (const Index K : {3, 5}) {
    const Index n = 8;
    const Matrix mean = Random(3).normal_matrix(n, K);
    Matrix covariance = Matrix::Zero(n, K * K);
    for (Index k = 0; k < K; ++k) covariance.col(k * K + k).setConstant(1.0 + 0.2 * k);
    const Matrix apart = softmax_probabilities(mean, covariance);
    covariance.array() += 30.0;
    EXPECT_LE((softmax_probabilities(mean, covariance) - apart).cwiseAbs().maxCoeff(), 1e-12);
    const Matrix still = softmax_probabilities(mean, Matrix::Constant(n, K * K, 7.0));
    for (Index i = 0; i < n; ++i) {
      const Vector e = mean.row(i).array().exp();
      const Vector p = still.row(i);
      EXPECT_LE((p - e / e.sum()).cwiseAbs().maxCoeff(), 1e-13);
    }
  }
}

TEST(SoftmaxJoint, BadInput) {
  EXPECT_THROW(softmax_probabilities(Matrix::Zero(2, 3), Matrix::Zero(2, 3)), InputError);
  EXPECT_THROW(softmax_probabilities(Matrix::Zero(2, 1), Matrix::Zero(2, 1)), InputError);
}

}  // namespace
}  // namespace covary
