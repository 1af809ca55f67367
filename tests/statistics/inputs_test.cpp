// Row terms by the inputs of rows: points, samples and Gaussians go the same way.
#include <gtest/gtest.h>

#include <numeric>

#include "covary/error.hpp"
#include "covary/statistics/expectations.hpp"
#include "covary/statistics/row_terms.hpp"
#include "statistics/sampled_rows.hpp"
#include "statistics/support.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

struct Case : SweepCase {
  WhitenedGaussian q;
  Mean linear = "linear";
  Matrix weights;
  RowMatrix variance, deviates;

  Case() : SweepCase(9, 4, 2, 2, 3) {
    Random random(2);
    q.m = random.normal_matrix(4, 2);
    q.Ls.assign(2, Matrix(0.5 * Matrix::Identity(4, 4)));
    weights = random.normal_matrix(3, 2);
    variance = random.normal_matrix(9, 2).array().square() + 0.1;
    std::vector<Index> all(9);
    std::iota(all.begin(), all.end(), Index{0});
    deviates = row_deviates(all, 2, 6, 1);
  }
  RowTermSums terms(const RowSource& rows, bool with_mean, GaussianRowGradient* g = nullptr) const {
    SweepContext c = context();
    if (with_mean) {
      c.mean = &linear;
      c.mean_weights = weights;
    }
    return row_terms({&c, 1}, gaussian_likelihood(0.3), q, Sweep(rows, 4), RowAdjoints::all, g);
  }
};

TEST(RowInputs, GradientOfPointsWithAnyMean) {
  const Case t;
  for (const bool with_mean : {false, true}) {
    GaussianRowGradient g;
    t.terms(MemoryRows(t.X, t.Y, Vector()), with_mean, &g);
    EXPECT_EQ(g.variance_bar.size(), 0);
    expect_gradient(
        [&](const Vector& x) {
          const RowMatrix X = Eigen::Map<const RowMatrix>(x.data(), 9, 2);
          return t.terms(MemoryRows(X, t.Y, Vector()), with_mean).value;
        },
        Eigen::Map<const Vector>(g.mean_bar.data(), 18), Eigen::Map<const Vector>(t.X.data(), 18));
  }
}

TEST(RowInputs, GradientOfSamplesWithAnyMean) {
  const Case t;
  for (const bool with_mean : {false, true}) {
    GaussianRowGradient g;
    t.terms(SampledRows(t.X, t.variance, t.Y, t.deviates), with_mean, &g);
    Vector at(36), bar(36);
    at << Eigen::Map<const Vector>(t.X.data(), 18), Eigen::Map<const Vector>(t.variance.data(), 18);
    bar << Eigen::Map<const Vector>(g.mean_bar.data(), 18),
        Eigen::Map<const Vector>(g.variance_bar.data(), 18);
    expect_gradient(
        [&](const Vector& x) {
          const RowMatrix m = Eigen::Map<const RowMatrix>(x.data(), 9, 2),
                          S = Eigen::Map<const RowMatrix>(x.data() + 18, 9, 2);
          return t.terms(SampledRows(m, S, t.Y, t.deviates), with_mean).value;
        },
        bar, at);
  }
}

// Without variance Gaussian rows, samples and points are the same.
TEST(RowInputs, KnownInputsAreOne) {
  const Case t;
  const RowMatrix none = RowMatrix::Zero(9, 2);
  GaussianRowGradient of_points, of_samples, of_gaussians;
  const RowTermSums points = t.terms(MemoryRows(t.X, t.Y, Vector()), false, &of_points),
                    samples = t.terms(SampledRows(t.X, none, t.Y, t.deviates), false, &of_samples),
                    gaussian = t.terms(GaussianRows(t.X, none, t.Y), false, &of_gaussians);
  for (const GaussianRowGradient* other : {&of_samples, &of_gaussians})
    EXPECT_LT((other->mean_bar - of_points.mean_bar).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_EQ(of_samples.variance_bar, none);  // of a known input there is none
  for (const RowTermSums* other : {&samples, &gaussian}) {
    EXPECT_NEAR(other->value, points.value, 1e-10 * std::abs(points.value));
    EXPECT_LT((other->A_m - points.A_m).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((other->z_bar[0] - points.z_bar[0]).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_NEAR(other->parameters_bar(0), points.parameters_bar(0), 1e-8);
  }
}

// In closed form for Gaussian noise alone.
TEST(RowInputs, GaussianRowsRefuseWhatHasNoClosedForm) {
  const Case t;
  const GaussianRows rows(t.X, t.variance, t.Y);
  const SweepContext c = t.context();
  const RowLikelihood other{gaussian_expectation(0.3)};
  EXPECT_THROW(row_terms({&c, 1}, other, t.q, Sweep(rows, 4), RowAdjoints::none), Unsupported);
  RowLikelihood mixed = gaussian_likelihood(0.3);
  mixed.mixing = Matrix::Identity(2, 2);
  EXPECT_THROW(row_terms({&c, 1}, mixed, t.q, Sweep(rows, 4), RowAdjoints::none), Unsupported);
  EXPECT_THROW(t.terms(rows, true), Unsupported);
}

}  // namespace
}  // namespace covary
