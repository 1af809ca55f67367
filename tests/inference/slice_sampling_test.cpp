#include "covary/inference/slice_sampling.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/inference/ep.hpp"
#include "inference/function_case.hpp"

namespace covary {
namespace {

struct SampleMoments {
  Vector mean, variance;
};
SampleMoments moments(const RowMatrix& f) {
  const Vector mean = f.colwise().mean().transpose();
  return {mean, (f.rowwise() - mean.transpose()).colwise().squaredNorm().transpose() /
                    static_cast<double>(f.rows() - 1)};
}

// Against exact regression, where the posterior is known. A standard error of the mean is about
// √(variance/effective samples) < 0.01 here.
TEST(SliceSampling, GaussianLikelihoodHasTheExactPosterior) {
  testing::ThreePoints s;
  s.model.likelihood = "gaussian";
  s.at.likelihood = Vector::Constant(1, 0.5);
  SliceSamplingOptions options;
  options.samples = 40000;
  options.seed = 3;
  const SampleMoments m = moments(elliptical_slice_samples(s.model, s.at, options).f);
  const FunctionApproximation exact = expectation_propagation(s.model, s.at);
  EXPECT_LE((m.mean - exact.mean).cwiseAbs().maxCoeff(), 0.03);
  EXPECT_LE((m.variance - exact.variance).cwiseAbs().maxCoeff(), 0.03);
}

// The referee: EP's marginals of a classification are those of the samples.
TEST(SliceSampling, AgreesWithExpectationPropagation) {
  const testing::ThreePoints s;
  SliceSamplingOptions options;
  options.samples = 40000;
  const SampleMoments m = moments(elliptical_slice_samples(s.model, s.at, options).f);
  const FunctionApproximation q = expectation_propagation(s.model, s.at);
  EXPECT_LE((m.mean - q.mean).cwiseAbs().maxCoeff(), 0.05);
  EXPECT_LE((m.variance - q.variance).cwiseAbs().maxCoeff(), 0.08);
}

// Noise whose logarithm cannot move: the first function has the exact posterior, the second stays.
TEST(SliceSampling, SeveralLatentFunctions) {
  testing::ThreePoints s;
  s.model.likelihood = "gaussian";
  s.at.likelihood = Vector::Constant(1, 0.5);
  const MultiFunctionModel two{{"se", "se"}, "heteroscedastic", {}, s.model.X, s.model.y};
  const MultiFunctionParameters at{
      {s.at.kernel, (Vector(2) << 1e-8, 1.0).finished()}, s.at.likelihood, Matrix()};
  SliceSamplingOptions options;
  options.samples = 40000;
  options.seed = 5;
  const MultiFunctionSamples f = elliptical_slice_samples(two, at, options);
  const SampleMoments m = moments(f.f[0]);
  const FunctionApproximation exact = expectation_propagation(s.model, s.at);
  EXPECT_LE((m.mean - exact.mean).cwiseAbs().maxCoeff(), 0.03);
  EXPECT_LE((m.variance - exact.variance).cwiseAbs().maxCoeff(), 0.03);
  EXPECT_LE(f.f[1].cwiseAbs().maxCoeff(), 1e-3);
}

// Two classes against EP of the one label they are.
TEST(SliceSampling, TwoClassesAreOneLabel) {
  testing::ThreePoints s;
  const MultiFunctionModel two{{"se"}, "softmax(2)", {}, s.model.X, s.model.y};
  const MultiFunctionParameters at{{s.at.kernel}, Vector(), Matrix()};
  SliceSamplingOptions options;
  options.samples = 40000;
  const MultiFunctionSamples f = elliptical_slice_samples(two, at, options);
  s.at.kernel(0) *= 2.0;
  const FunctionApproximation q = expectation_propagation(s.model, s.at);
  const SampleMoments m = moments(f.f[1] - f.f[0]);
  EXPECT_LE((m.mean - q.mean).cwiseAbs().maxCoeff(), 0.06);
  EXPECT_LE((m.variance - q.variance).cwiseAbs().maxCoeff(), 0.15);
}

TEST(SliceSampling, T26_SameSeedSameSamples) {
  const testing::LatentCase c = testing::latent_case("student_t", 4);
  SliceSamplingOptions options;
  options.samples = 20;
  const RowMatrix first = elliptical_slice_samples(c.model, c.at, options).f;
  EXPECT_EQ(first.cols(), c.model.y.size() - 1);  // one target is missing
  EXPECT_EQ(elliptical_slice_samples(c.model, c.at, options).f, first);
  options.seed = 1;
  EXPECT_NE(elliptical_slice_samples(c.model, c.at, options).f, first);
}

TEST(SliceSampling, BadInput) {
  const testing::ThreePoints s;
  SliceSamplingOptions options;
  options.thin = 0;
  EXPECT_THROW(elliptical_slice_samples(s.model, s.at, options), InputError);
  FunctionModel m = s.model;
  m.likelihood = "robust_max(3)";
  EXPECT_THROW(elliptical_slice_samples(m, s.at), Unsupported);
}

}  // namespace
}  // namespace covary
