#include "inference/row_density.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/random/random.hpp"
#include "inference/gaussian_rows.hpp"

namespace covary {
namespace {

// A bound over Gaussian rows with two outputs, and the posterior that it makes.
struct Case {
  FeaturesPtr features;
  SparseValues values;
  SparseEvaluation evaluation;
  SparsePosterior posterior;
};

Case bound_of(const RowMatrix& mean, const RowMatrix& variance, const RowMatrix& Y) {
  const Kernel kernel = "se(ard)";
  const Mean zero;
  const RowMatrix Z = Random(7).normal_matrix(4, 2);
  SparseValues values;
  values.theta = (Vector(3) << 1.3, 0.9, 0.7).finished();
  values.z = Eigen::Map<const Vector>(Z.data(), Z.size());
  values.noise = 0.2;
  const FeaturesPtr features = inducing_points(kernel, Z);
  const GaussianRows rows(mean, variance, Y);
  const Sweep sweep(rows, 32);
  const MemoryRows plain(mean, Y, Vector());
  const SparseProblem problem{"vfe", features.get(), &kernel,
                              &zero, &sweep,         columns_by_pattern(plain)};
  Jitter jitter;
  SparseEvaluation e = evaluate_gaussian_rows(problem, values, jitter);
  SparsePosterior posterior({"vfe", kernel, Mean(), features, values, e.Luu, e.jitter, e.factors});
  return {features, values, std::move(e), std::move(posterior)};
}

// Equation 3.33: the difference of two bounds, here by evaluating both; also of rows of which some
// outputs are not observed, and of outputs with patterns of their own.
TEST(RowDensity, IsTheDifferenceOfTheBounds) {
  Random random(3);
  const RowMatrix mean = random.normal_matrix(7, 2),
                  variance = random.normal_matrix(7, 2).array().square() + 0.05;
  RowMatrix Y = random.normal_matrix(7, 3);
  Y(2, 1) = std::nan("");
  for (const int hidden : {-1, 0, 2}) {
    RowMatrix all = Y;
    if (hidden >= 0) all(6, hidden) = std::nan("");
    const Case before = bound_of(mean.topRows(6), variance.topRows(6), Y.topRows(6)),
               after = bound_of(mean, variance, all);
    const RowDensity density(before.posterior);
    const double rise =
        density(mean.row(6).data(), variance.row(6).data(), RowMatrix(all.row(6)).data());
    EXPECT_NEAR(rise, after.evaluation.value - before.evaluation.value, 1e-9) << hidden;
    // Holding q(u) can only lower it.
    const UncertainInputs held(before.posterior);
    const RowMatrix y = all.row(6);
    const UncertainInputs::RowTerm term(held, y.data());
    EXPECT_LE(term(mean.row(6).data(), variance.row(6).data(), nullptr, nullptr), rise);
  }
}

}  // namespace
}  // namespace covary
