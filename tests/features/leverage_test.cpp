#include "features/leverage.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// diag K(K + λI)⁻¹ by dense matrices.
Vector dense_scores(const Kernel& kernel, const RowMatrix& X, double ridge) {
  const Matrix K = cross(kernel, kernel.parameters(X.cols()).values(), X, X);
  Matrix A = K;
  A.diagonal().array() += ridge;
  return product(cholesky(std::move(A)).inverse(), K).diagonal();
}

LeverageScores scores_of(const Kernel& kernel, const RowMatrix& X, Index M, Index pilots,
                         std::uint64_t seed = 0) {
  return leverage_scores(kernel, kernel.parameters(X.cols()).values(), X, M, pilots, seed);
}

TEST(Leverage, AllRowsAsPilotsAreExactAndSumToM) {
  const RowMatrix X = Random(3).normal_matrix(150, 2);
  for (const char* kernel : {"se(ard)", "matern12", "se + linear", "se + white"})
    for (const Index M : {5, 20, 60}) {
      const LeverageScores l = scores_of(kernel, X, M, 150);
      const Vector dense = dense_scores(kernel, X, l.ridge);
      EXPECT_LT((l.scores - dense).cwiseAbs().maxCoeff(), 1e-7) << kernel << " " << M;
      EXPECT_NEAR(l.scores.sum(), static_cast<double>(M), 1e-5 * static_cast<double>(M)) << kernel;
    }
}

// A sample of the rows stands for all of them.
TEST(Leverage, PilotsComeNear) {
  const RowMatrix X = Random(4).normal_matrix(1500, 2);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const LeverageScores l = scores_of("se", X, 20, leverage_pilots(1500, 20), seed);
    const Vector dense = dense_scores("se", X, l.ridge);
    const Vector ratio = l.scores.cwiseQuotient(dense);
    EXPECT_NEAR(static_cast<double>(l.pilots), 128.0, 40.0) << seed;
    EXPECT_NEAR(dense.sum(), 20.0, 4.0) << seed;
    EXPECT_NEAR(l.scores.sum(), dense.sum(), 0.5 * dense.sum()) << seed;
    EXPECT_GT(ratio.minCoeff(), 0.3) << seed;
    EXPECT_LT(ratio.maxCoeff(), 5.0) << seed;
  }
}

// No pilot falls in the small cluster: its rows are badly explained, and are not overlooked.
TEST(Leverage, RowsThatNoPilotExplainsScoreHigh) {
  RowMatrix X = 0.3 * Random(5).normal_matrix(3000, 1);
  X.bottomRows(3).array() += 50.0;
  const LeverageScores l = scores_of("se", X, 10, 128);
  EXPECT_GT(l.scores.tail(3).minCoeff(), 10.0 * l.scores.head(2997).mean());
  EXPECT_LE(l.scores.maxCoeff(), 1.0);
}

// Of scores 1 : 2 : 5 the first row drawn, in 4000 draws: sd at most 32.
TEST(Leverage, DrawsAreInProportionToScores) {
  const Vector scores = (Vector(3) << 0.1, 0.2, 0.5).finished();
  Vector first = Vector::Zero(3), second = Vector::Zero(3);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const std::vector<Index> order = order_by_draws(scores, seed);
    first(order[0]) += 1.0;
    second(order[1]) += 1.0;
  }
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(first(i), 4000.0 * scores(i) / 0.8, 130.0);
    // Σ_j p_j·p_i/(1 − p_j), without replacement
    double p = 0.0;
    for (Index j = 0; j < 3; ++j)
      if (j != i) p += scores(j) / 0.8 * scores(i) / (0.8 - scores(j));
    EXPECT_NEAR(second(i), 4000.0 * p, 130.0);
  }
  EXPECT_EQ(order_by_draws(Vector::Zero(4), 1).size(), 4u);  // scores that underflow
}

}  // namespace
}  // namespace covary
