// Where careless routes give a "lower bound" a nat above the evidence: 500 inducing inputs so close
// that Kuu is singular to rounding, without jitter.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/inference/sparse.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

TEST(PowerPlant, TheBoundIsABoundWithoutJitter) {
  std::string path;
  try {
    path = find_data("powerplant/data.csv");
  } catch (const FileError&) {
    GTEST_SKIP() << "powerplant/data.csv is not here; COVARY_DATA names the folder of powerplant";
  }
  RowMatrix table = read_table(path).values;
  for (Index j = 0; j < table.cols(); ++j) {
    table.col(j).array() -= table.col(j).mean();
    table.col(j) /= std::sqrt(table.col(j).squaredNorm() / static_cast<double>(table.rows()));
  }
  const RowMatrix X = table.leftCols(4), Y = table.rightCols(1);
  Random random(1);
  const RowMatrix Z = X(random.permutation(X.rows()), Eigen::all).topRows(500);
  const Kernel kernel = "se(ard)";
  const Mean mean;
  const MemoryRows rows(X, Y, Vector());
  const FeaturesPtr features = inducing_points(kernel, Z);
  const Sweep sweep = Sweep::for_features(rows, 500);
  const Vector theta = (Vector(5) << 1.0, 2.0, 2.0, 2.0, 2.0).finished();
  const double noise = 0.05;

  Jitter none;
  const double evidence = exact_log_evidence(kernel, theta, X, Y, noise, Vector(), none);
  for (const Route route : {Route::automatic, Route::safe, Route::stable}) {
    const SparseProblem problem{
        Approximation::Kind::vfe, features.get(), &kernel, &mean, &sweep, {{0}}, route};
    Jitter jitter;
    const SparseValues values{theta, Eigen::Map<const Vector>(Z.data(), Z.size()), noise, {}};
    const SparseEvaluation e = evaluate_sparse(problem, values, jitter);
    EXPECT_LE(e.value, evidence + 1e-8 * std::abs(evidence)) << "jitter " << e.jitter;
    EXPECT_GT(e.value, evidence - 50.0) << "far below, it would show nothing";
  }
}

}  // namespace
}  // namespace covary
