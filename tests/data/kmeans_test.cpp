#include "covary/data/kmeans.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

using Method = Clusters (*)(ConstRows, Index, std::uint64_t);
constexpr Method methods[] = {kmeans, hierarchical_kmeans};

// Groups of 50 rows about the corners of a rectangle of 10 × 100, which halving can find: of a
// square it may cut off two corners first, and divide the others.
RowMatrix four_groups(std::uint64_t seed) {
  RowMatrix X = Random(seed).normal_matrix(200, 2) * 0.3;
  for (Index i = 0; i < 200; ++i) {
    X(i, 0) += i % 2 ? 10.0 : 0.0;
    X(i, 1) += i % 4 > 1 ? 100.0 : 0.0;
  }
  return X;
}

std::set<std::vector<double>> distinct(const RowMatrix& Z) {
  std::set<std::vector<double>> rows;
  for (Index i = 0; i < Z.rows(); ++i) rows.emplace(Z.row(i).data(), Z.row(i).data() + Z.cols());
  return rows;
}

TEST(KMeans, FindsGroupsThatAreThere) {
  const RowMatrix X = four_groups(3);
  for (const Method method : methods)
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Clusters c = method(X, 4, seed);
      ASSERT_EQ(c.centres.rows(), 4);
      for (Index i = 0; i < 200; ++i)
        EXPECT_EQ(c.label[static_cast<std::size_t>(i)], c.label[static_cast<std::size_t>(i % 4)]);
      EXPECT_LT(c.spread, 200 * 2 * 0.09 * 1.5);
    }
}

TEST(KMeans, CentresAreMeansAndTheSpreadIsTheirs) {
  const RowMatrix X = Random(8).normal_matrix(3000, 3);
  for (const Method method : methods) {
    const Clusters c = method(X, 17, 1);
    RowMatrix sums = RowMatrix::Zero(17, 3);
    Vector count = Vector::Zero(17);
    double spread = 0.0;
    for (Index i = 0; i < X.rows(); ++i) {
      const Index k = c.label[static_cast<std::size_t>(i)];
      sums.row(k) += X.row(i);
      count(k) += 1.0;
      spread += (X.row(i) - c.centres.row(k)).squaredNorm();
    }
    EXPECT_GT(count.minCoeff(), 0.0);
    for (Index k = 0; k < 17; ++k)
      EXPECT_LT((sums.row(k) / count(k) - c.centres.row(k)).norm(), 1e-12);
    EXPECT_NEAR(c.spread, spread, 1e-9 * spread);
  }
}

TEST(KMeans, IteratingBeatsTheStart) {
  // The spread about random rows of standard normal data is larger than about 40 settled centres.
  const RowMatrix X = Random(4).normal_matrix(2000, 2);
  double before = 0.0;
  const RowMatrix rows = X.topRows(40);
  for (Index i = 0; i < X.rows(); ++i)
    before += (rows.rowwise() - X.row(i)).rowwise().squaredNorm().minCoeff();
  EXPECT_LT(kmeans(X, 40, 0).spread, 0.7 * before);
  EXPECT_LT(hierarchical_kmeans(X, 40, 0).spread, 0.8 * before);
}

TEST(KMeans, HasSettled) {
  // Every row to its nearest centre once more: next to nothing is gained.
  const RowMatrix X = Random(4).normal_matrix(2000, 2);
  const Clusters c = kmeans(X, 40, 0);
  EXPECT_GT(c.iterations, 2);
  double again = 0.0;
  for (Index i = 0; i < X.rows(); ++i)
    again += (c.centres.rowwise() - X.row(i)).rowwise().squaredNorm().minCoeff();
  EXPECT_LE(again, c.spread);
  EXPECT_GT(again, (1.0 - 1e-3) * c.spread);
}

TEST(KMeans, RepeatedRowsNeverGiveCoincidentCentres) {
  // 0.1, 0.2, … have no exact means in binary; a careless mean of equal rows would miss them.
  RowMatrix X(700, 2);
  for (Index i = 0; i < 700; ++i) X.row(i) << 0.1 * static_cast<double>(i % 7), 0.3;
  for (const Method method : methods)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      for (const Index K : {1, 3, 6, 7}) {
        const Clusters c = method(X, K, seed);
        EXPECT_EQ(c.centres.rows(), K);
        EXPECT_EQ(distinct(c.centres).size(), static_cast<std::size_t>(K));
      }
      const Clusters all = method(X, 12, seed);
      EXPECT_EQ(distinct(all.centres), distinct(X));
      EXPECT_EQ(all.centres.rows(), 7);
      EXPECT_EQ(all.spread, 0.0);
    }
}

TEST(KMeans, AsManyCentresAsRows) {
  const RowMatrix X = Random(2).normal_matrix(30, 2);
  for (const Method method : methods) EXPECT_EQ(distinct(method(X, 30, 5).centres), distinct(X));
}

TEST(KMeans, SameBitsForAnyThreadsAndOneSeed) {
  const RowMatrix X = Random(11).normal_matrix(5000, 3);
  for (const Method method : methods) {
    set_threads(1);
    const Clusters one = method(X, 60, 9);
    for (const int n : {2, 3, 7}) {
      set_threads(n);
      const Clusters c = method(X, 60, 9);
      EXPECT_EQ(c.centres, one.centres);
      EXPECT_EQ(c.label, one.label);
      EXPECT_EQ(c.spread, one.spread);
    }
    set_threads(0);
    EXPECT_NE(method(X, 60, 10).centres, one.centres);
  }
}

TEST(KMeans, Refusals) {
  RowMatrix X = RowMatrix::Ones(5, 2);
  for (const Method method : methods) {
    EXPECT_THROW(method(X, 0, 0), InputError);
    EXPECT_THROW(method(X, -3, 0), InputError);
    EXPECT_THROW(method(RowMatrix(0, 2), 1, 0), InputError);
    EXPECT_THROW(method(RowMatrix(5, 0), 1, 0), InputError);
    RowMatrix bad = X;
    bad(3, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(method(bad, 2, 0), InputError);
    bad(3, 1) = 1e200;  // finite, but its square is not
    EXPECT_THROW(method(bad, 2, 0), InputError);
  }
}

}  // namespace
}  // namespace covary
