// Row terms by the inputs of rows: points, samples and Gaussians go the same way.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "covary/error.hpp"
#include "covary/statistics/row_terms.hpp"
#include "statistics/expectations.hpp"
#include "statistics/sampled_rows.hpp"
#include "statistics/support.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

struct Case : SweepCase {
  WhitenedGaussian q;
  Mean linear = "linear", constant = "constant";
  Matrix weights;  // of the linear mean; the constant one has the first row
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
  SweepContext with(const Mean& m) const {
    SweepContext c = context();
    c.mean = &m;
    c.mean_weights = weights.topRows(m.basis_count(2));
    return c;
  }
  RowTermSums terms(const RowSource& rows, const Mean& m, GaussianRowGradient* g = nullptr) const {
    const SweepContext c = with(m);
    return row_terms({&c, 1}, gaussian_likelihood(0.3), q, Sweep(rows, 4), RowAdjoints::all, g);
  }
  RowTermSums terms(const RowSource& rows, bool with_mean, GaussianRowGradient* g = nullptr) const {
    return terms(rows, with_mean ? linear : mean, g);
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

// Of the means, variances and weights of a constant mean, some outputs missing.
TEST(RowInputs, GradientOfGaussiansWithConstantMean) {
  Case t;
  t.Y(2, 1) = std::numeric_limits<double>::quiet_NaN();
  GaussianRowGradient g;
  const RowTermSums sums = t.terms(GaussianRows(t.X, t.variance, t.Y), t.constant, &g);
  Vector at(38), bar(38);
  at << Eigen::Map<const Vector>(t.X.data(), 18), Eigen::Map<const Vector>(t.variance.data(), 18),
      t.weights.row(0).transpose();
  bar << Eigen::Map<const Vector>(g.mean_bar.data(), 18),
      Eigen::Map<const Vector>(g.variance_bar.data(), 18), sums.mean_bar.row(0).transpose();
  expect_gradient(
      [&](const Vector& x) {
        const RowMatrix m = Eigen::Map<const RowMatrix>(x.data(), 9, 2),
                        S = Eigen::Map<const RowMatrix>(x.data() + 18, 9, 2);
        Case moved = t;
        moved.weights.row(0) = x.tail(2).transpose();
        return moved.terms(GaussianRows(m, S, t.Y), t.constant).value;
      },
      bar, at);
}

// The closed form is what the mean over ever more points comes to.
TEST(RowInputs, ClosedFormAgreesWithManySamples) {
  const Case t;
  std::vector<Index> all(9);
  std::iota(all.begin(), all.end(), Index{0});
  constexpr Index draws = 20000;
  const RowMatrix many = row_deviates(all, 2, draws, 5);
  GaussianRowGradient of_closed, of_samples;
  const RowTermSums closed = t.terms(GaussianRows(t.X, t.variance, t.Y), t.constant, &of_closed),
                    samples =
                        t.terms(SampledRows(t.X, t.variance, t.Y, many), t.constant, &of_samples);
  // About five standard errors of means over 20000 draws.
  EXPECT_NEAR(samples.value, closed.value, 0.02 * std::abs(closed.value));
  EXPECT_LT((samples.mean_bar - closed.mean_bar).norm(), 0.02 * closed.mean_bar.norm());
  EXPECT_LT((samples.A_m - closed.A_m).norm(), 0.02 * closed.A_m.norm());
  EXPECT_LT((of_samples.mean_bar - of_closed.mean_bar).norm(), 0.05 * of_closed.mean_bar.norm());
  EXPECT_LT((of_samples.variance_bar - of_closed.variance_bar).norm(),
            0.05 * of_closed.variance_bar.norm());
}

// What has no closed form goes by the points that rows bring, and is refused without.
TEST(RowInputs, GaussianRowsWithoutClosedFormGoByTheirPoints) {
  const Case t;
  const GaussianRows bare(t.X, t.variance, t.Y), rows(t.X, t.variance, t.Y, t.deviates);
  const SampledRows points(t.X, t.variance, t.Y, t.deviates);
  const RowLikelihood other{gaussian_expectation(0.3)};
  RowLikelihood mixed = gaussian_likelihood(0.3);
  mixed.mixing = Matrix::Identity(2, 2);
  const SweepContext zero = t.context(), linear = t.with(t.linear);
  for (const auto& [c, likelihood] :
       {std::pair{&zero, &other}, {&zero, &mixed}, {&linear, &other}}) {
    const auto of = [&, c = c, &l = *likelihood](const RowSource& from, GaussianRowGradient* g) {
      return row_terms({c, 1}, l, t.q, Sweep(from, 4), RowAdjoints::all, g);
    };
    EXPECT_THROW(of(bare, nullptr), Unsupported);
    GaussianRowGradient of_rows, of_points;
    const RowTermSums a = of(rows, &of_rows), b = of(points, &of_points);
    EXPECT_NEAR(a.value, b.value, 1e-10 * std::abs(b.value));
    EXPECT_LT((of_rows.mean_bar - of_points.mean_bar).norm(), 1e-10 * of_points.mean_bar.norm());
    EXPECT_LT((of_rows.variance_bar - of_points.variance_bar).norm(),
              1e-10 * of_points.variance_bar.norm());
  }
}

}  // namespace
}  // namespace covary
