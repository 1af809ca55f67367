#include "covary/features/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "covary/error.hpp"
#include "covary/features/features.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr Selection all[] = {
    Selection::greedy_variance, Selection::kmeans, Selection::hierarchical_kmeans,
    Selection::random,          Selection::grid,   Selection::leverage};

SelectionResult choose(Selection how, Index M, const RowMatrix& X, const Kernel& kernel = "se",
                       std::uint64_t seed = 0) {
  return select_inducing(how, M, X, kernel, kernel.parameters(X.cols()).values(), seed);
}

std::size_t distinct(const RowMatrix& Z) {
  std::set<std::vector<double>> rows;
  for (Index i = 0; i < Z.rows(); ++i) rows.emplace(Z.row(i).data(), Z.row(i).data() + Z.cols());
  return rows.size();
}

// tr(Kff − Qff) by dense matrices, the diagonal without white noise.
double dense_residual(const Kernel& kernel, const RowMatrix& X, const RowMatrix& Z) {
  const Vector theta = kernel.parameters(X.cols()).values();
  const Matrix Kuf = cross(kernel, theta, Z, X);
  const Matrix Q = product(Kuf, cholesky(cross(kernel, theta, Z, Z)).solve(Kuf), Op::transpose);
  return cross(kernel, theta, X, X).trace() - Q.trace();
}

TEST(Selection, NamesComeBack) {
  for (const Selection how : all) EXPECT_EQ(parse_selection(print(how)), how);
  try {
    parse_selection("k-means");
    FAIL() << "a name that does not exist was read";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("k-means"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("hierarchical_kmeans"), std::string::npos);
  }
}

TEST(Selection, GivesAsManyDistinctInputsAsAsked) {
  const RowMatrix X = Random(3).normal_matrix(400, 2);
  for (const Selection how : all) {
    const SelectionResult s = choose(how, 25, X);
    EXPECT_EQ(s.Z.rows(), 25) << print(how);
    EXPECT_EQ(distinct(s.Z), 25u) << print(how);
    EXPECT_EQ(s.note, "") << print(how);
    EXPECT_FALSE(s.on_subset);
    const bool of_data =
        how == Selection::greedy_variance || how == Selection::random || how == Selection::leverage;
    ASSERT_EQ(s.rows.size(), of_data ? 25u : 0u);
    for (std::size_t i = 0; i < s.rows.size(); ++i)
      EXPECT_EQ(s.Z.row(static_cast<Index>(i)), X.row(s.rows[i]));
  }
}

TEST(Selection, GreedyResidualIsTheTraceOfWhatIsLeft) {
  const RowMatrix X = Random(5).normal_matrix(150, 2);
  for (const char* kernel : {"se(ard)", "matern32", "linear + constant + se", "se + white",
                             "2 * (matern12 + white(variance=0.4))", "se@0 * matern52@1"}) {
    const SelectionResult s = choose(Selection::greedy_variance, 12, X, kernel);
    const double total = smooth_diagonal(kernel, Kernel(kernel).parameters(2).values(), X).sum();
    EXPECT_NEAR(s.residual, dense_residual(kernel, X, s.Z), 1e-10 * total) << kernel;
    EXPECT_GT(s.residual, 0.0) << kernel;
  }
}

TEST(Selection, GreedyTakesTheLargestConditionalVariance) {
  const RowMatrix X = Random(6).normal_matrix(80, 2);
  const Kernel kernel = "linear + se + white";
  const Vector theta = kernel.parameters(2).values();
  const SelectionResult s = choose(Selection::greedy_variance, 8, X, kernel);
  const Matrix K = cross(kernel, theta, X, X);
  Matrix left = K;
  for (const Index row : s.rows) {
    EXPECT_NEAR(left(row, row), left.diagonal().maxCoeff(), 1e-12);
    const Vector column = left.col(row) / std::sqrt(left(row, row));
    left -= product(column, column, Op::none, Op::transpose);
  }
}

TEST(Selection, GreedyStartsAtTheFirstRowOnTies) {
  EXPECT_EQ(choose(Selection::greedy_variance, 3, Random(1).normal_matrix(50, 2)).rows.front(), 0);
}

TEST(Selection, WhiteNoiseChangesNothing) {
  const RowMatrix X = Random(9).normal_matrix(200, 2);
  const SelectionResult with = choose(Selection::greedy_variance, 20, X, "se(variance=1) + white");
  const SelectionResult without = choose(Selection::greedy_variance, 20, X, "se");
  EXPECT_EQ(with.rows, without.rows);
  EXPECT_EQ(with.residual, without.residual);
}

// 950 rows in one small cluster and 50 spread out: random rows mostly repeat the cluster.
RowMatrix clustered_rows() {
  Random random(7);
  RowMatrix X = random.normal_matrix(1000, 2) * 0.05;
  X.bottomRows(50) = 3.0 * random.normal_matrix(50, 2);
  return X;
}

TEST(Selection, GreedyBeatsRandomOnClusteredData) {
  const RowMatrix X = clustered_rows();
  const double greedy = choose(Selection::greedy_variance, 20, X).residual;
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    EXPECT_LT(greedy,
              0.5 * dense_residual("se", X, choose(Selection::random, 20, X, "se", seed).Z));
}

// By the median of 21 draws: a single one may miss the small cluster, whose rows share its score.
TEST(Selection, LeverageBeatsRandom) {
  for (const RowMatrix& X : {clustered_rows(), RowMatrix(Random(8).normal_matrix(600, 1))}) {
    std::vector<double> leverage, random;
    for (std::uint64_t seed = 0; seed < 21; ++seed) {
      leverage.push_back(dense_residual("se", X, choose(Selection::leverage, 20, X, "se", seed).Z));
      random.push_back(dense_residual("se", X, choose(Selection::random, 20, X, "se", seed).Z));
    }
    std::sort(leverage.begin(), leverage.end());
    std::sort(random.begin(), random.end());
    EXPECT_LT(leverage[10], 0.5 * random[10]);
  }
}

TEST(Selection, GreedyStopsWhereNothingNewIsLeft) {
  // A lengthscale of 30 over a unit interval: a dozen rows say all that doubles can hold.
  const RowMatrix X = Random(2).normal_matrix(300, 1);
  const Kernel kernel = "se(lengthscale=30)";
  const SelectionResult s = choose(Selection::greedy_variance, 100, X, kernel);
  EXPECT_LT(s.Z.rows(), 20);
  EXPECT_NE(s.note.find("inducing inputs: the remaining rows add nothing"), std::string::npos)
      << s.note;
  const Vector theta = kernel.parameters(1).values();
  Jitter jitter;
  const FeaturesPtr features = inducing_points(kernel, s.Z);
  EXPECT_EQ(cholesky(features->Kuu(theta.data(), s.Z.data()), jitter).jitter, 0.0);
  // A linear kernel of two columns has rank two.
  EXPECT_EQ(
      choose(Selection::greedy_variance, 9, Random(2).normal_matrix(50, 2), "linear").Z.rows(), 2);
}

TEST(Selection, RepeatedRowsNeverGiveCoincidentInputs) {
  RowMatrix X(370, 2);
  for (Index i = 0; i < 370; ++i)
    X.row(i) << 0.7 * static_cast<double>(i % 37), 0.1 * static_cast<double>(i % 37 % 5);
  for (const Selection how : all)
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const SelectionResult some = choose(how, 30, X, "matern12", seed);
      EXPECT_EQ(distinct(some.Z), static_cast<std::size_t>(some.Z.rows())) << print(how);
      if (how == Selection::grid) continue;
      EXPECT_EQ(some.Z.rows(), 30) << print(how);
      const SelectionResult every = choose(how, 50, X, "matern12", seed);
      EXPECT_EQ(every.Z.rows(), 37) << print(how);
      EXPECT_EQ(distinct(every.Z), 37u) << print(how);
      EXPECT_NE(every.note.find("chose 37 inducing inputs: "), std::string::npos) << every.note;
    }
}

TEST(Selection, MoreInputsThanRows) {
  const RowMatrix X = Random(4).normal_matrix(9, 2);
  for (const Selection how : all) {
    if (how == Selection::grid) continue;
    const SelectionResult s = choose(how, 1000000, X, "matern12");
    EXPECT_EQ(s.Z.rows(), 9) << print(how);
    EXPECT_FALSE(s.note.empty());
  }
}

TEST(Selection, GridIsRegularAndFitsTheBox) {
  RowMatrix X(3, 2);
  X << 0, 5, 4, 7, 1, 6;
  const SelectionResult s = choose(Selection::grid, 8, X);
  ASSERT_EQ(s.Z.rows(), 8);  // 4 × 2
  EXPECT_EQ(s.note, "");
  const SelectionResult seven = choose(Selection::grid, 7, X);
  RowMatrix expected(6, 2);  // 3 × 2
  expected << 0, 5, 2, 5, 4, 5, 0, 7, 2, 7, 4, 7;
  EXPECT_EQ(seven.Z, expected);
  EXPECT_NE(seven.note.find("chose 6 inducing inputs, a grid of 3×2"), std::string::npos)
      << seven.note;
  EXPECT_EQ(choose(Selection::grid, 1, X).Z, (RowMatrix(1, 2) << 2, 6).finished());
  // A constant column keeps its one value.
  X.col(1).setConstant(3.0);
  EXPECT_EQ(choose(Selection::grid, 3, X).Z, (RowMatrix(3, 2) << 0, 3, 2, 3, 4, 3).finished());
  EXPECT_EQ(choose(Selection::grid, 27, Random(1).normal_matrix(20, 3)).Z.rows(), 27);
  EXPECT_THROW(choose(Selection::grid, 27, Random(1).normal_matrix(20, 4)), Unsupported);
}

TEST(Selection, SameBitsForAnyThreads) {
  const RowMatrix X = Random(12).normal_matrix(4000, 3);
  for (const Selection how : all) {
    set_threads(1);
    const SelectionResult one = choose(how, 64, X);
    for (const int n : {2, 3, 7}) {
      set_threads(n);
      const SelectionResult s = choose(how, 64, X);
      EXPECT_EQ(s.Z, one.Z) << print(how);
      EXPECT_EQ(s.residual, one.residual) << print(how);
    }
    set_threads(0);
  }
}

TEST(Selection, SeedDecides) {
  const RowMatrix X = Random(13).normal_matrix(500, 2);
  for (const Selection how : {Selection::random, Selection::kmeans, Selection::hierarchical_kmeans,
                              Selection::leverage}) {
    EXPECT_EQ(choose(how, 20, X, "se", 4).Z, choose(how, 20, X, "se", 4).Z);
    EXPECT_NE(choose(how, 20, X, "se", 4).Z, choose(how, 20, X, "se", 5).Z);
  }
  // Fewer rows of one seed are the first of more.
  EXPECT_EQ(choose(Selection::random, 8, X).Z, choose(Selection::random, 20, X).Z.topRows(8));
}

TEST(Selection, LargeDataAreLookedAtInPart) {
  const Index N = 6300000;  // × 20 doubles is more than 1 GB
  RowMatrix X(N, 1);
  for (Index i = 0; i < N; ++i)
    X(i, 0) = static_cast<double>(i * 7919 % N) / static_cast<double>(N);
  const Kernel kernel = "matern12(lengthscale=0.1)";
  for (const Selection how : {Selection::greedy_variance, Selection::kmeans, Selection::leverage}) {
    const SelectionResult s = choose(how, 20, X, kernel, 1);
    EXPECT_EQ(s.Z.rows(), 20);
    EXPECT_TRUE(s.on_subset);
    EXPECT_EQ(s.note, "Z chosen on 20000 of 6300000 rows");
    for (std::size_t i = 0; i < s.rows.size(); ++i)
      EXPECT_EQ(s.Z(static_cast<Index>(i), 0), X(s.rows[i], 0));
    EXPECT_NE(choose(how, 20, X, kernel, 2).Z, s.Z);
  }
  EXPECT_FALSE(choose(Selection::random, 20, X, kernel).on_subset);
}

TEST(Selection, SampledRowsAreASetOfEachKind) {
  // Every pair of 5 rows, 4000 draws: 400 expected of each, sd 19.
  std::map<std::vector<Index>, int> times;
  for (std::uint64_t stream = 0; stream < 4000; ++stream)
    ++times[sample_rows(5, 2, Random(3, stream))];
  EXPECT_EQ(times.size(), 10u);
  for (const auto& [rows, count] : times) {
    EXPECT_LT(rows[0], rows[1]);
    EXPECT_NEAR(count, 400, 100);
  }
  EXPECT_EQ(sample_rows(3, 3, Random(0)), (std::vector<Index>{0, 1, 2}));
}

TEST(Selection, Refusals) {
  const RowMatrix X = Random(1).normal_matrix(20, 2);
  for (const Selection how : all) {
    EXPECT_THROW(choose(how, 0, X), InputError);
    EXPECT_THROW(choose(how, -1, X), InputError);
    EXPECT_THROW(choose(how, 3, RowMatrix(0, 2)), InputError);
    EXPECT_THROW(select_inducing(how, 3, RowMatrix(5, 0), "constant", Vector::Ones(1), 0),
                 InputError);
    EXPECT_THROW(select_inducing(how, 3, X, "se", Vector::Ones(5), 0), InputError);
    EXPECT_THROW(select_inducing(how, 3, X, "se",
                                 Vector::Constant(2, std::numeric_limits<double>::quiet_NaN()), 0),
                 InputError);
    RowMatrix bad = X;
    bad(17, 1) = std::numeric_limits<double>::infinity();
    try {
      choose(how, 3, bad);
      FAIL() << "an infinite input was accepted by " << print(how);
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("row 17"), std::string::npos) << e.what();
    }
  }
  for (const Selection how : {Selection::greedy_variance, Selection::leverage})
    EXPECT_THROW(choose(how, 3, X, "white"), InputError);
}

}  // namespace
}  // namespace covary
