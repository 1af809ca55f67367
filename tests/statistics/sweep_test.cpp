#include "covary/statistics/sweep.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "statistics/support.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
const RowRule vfe{RowRule::Term::trace, 0.0}, fitc{RowRule::Term::power, 1.0};

TEST(Sweep, BlocksCoverTheRowsOnce) {
  const RowMatrix X = RowMatrix::Ones(1000, 1);
  RowMatrix Y(1000, 1);
  for (Index i = 0; i < 1000; ++i) Y(i, 0) = static_cast<double>(i);
  const MemoryRows rows(X, Y, Vector());
  for (const Index width : {1, 7, 64, 999, 1000, 5000}) {
    const Sweep sweep(rows, width);
    EXPECT_EQ(sweep.widest(), std::min<Index>(width, 1000));
    EXPECT_EQ(sweep.blocks(), (1000 + width - 1) / width);
    const Vector sums = sweep.sum(2, []() -> Sweep::Body {
      return [](const DataBlock& block, double* sum) {
        for (Index i = 0; i < block.x.n; ++i) {
          sum[0] += 1.0;
          sum[1] += block.y[i] == static_cast<double>(block.x.first + i) ? block.y[i] : -1e9;
        }
      };
    });
    EXPECT_EQ(sums(0), 1000.0);
    EXPECT_EQ(sums(1), 999.0 * 500.0);
  }
}

TEST(Sweep, LanesDependOnTheNumberOfBlocksAlone) {
  const RowMatrix X = RowMatrix::Ones(100000, 1), Y = X;
  struct Counting : Reducer {
    Index lanes = 0;
    Vector reduce(Index n, Index size, const Lane& body) override {
      lanes = n;
      return thread_reducer().reduce(n, size, body);
    }
  } counting;
  struct CountedRows : MemoryRows {
    CountedRows(const RowMatrix& inputs, const RowMatrix& outputs, Reducer& r)
        : MemoryRows(inputs, outputs, Vector()), own(r) {}
    Reducer& reducer() const override { return own; }
    Reducer& own;
  };
  const CountedRows rows(X, Y, counting);
  const auto count = [&](Index width) {
    (void)Sweep(rows, width).sum(1, []() -> Sweep::Body {
      return [](const DataBlock&, double*) {};
    });
    return counting.lanes;
  };
  EXPECT_EQ(count(50000), 2);
  EXPECT_EQ(count(1000), 16);
  EXPECT_EQ(count(100), 16);  // 1000 blocks
  EXPECT_EQ(count(10), 156);  // 10 000 blocks: one for every 64
}

TEST(Sweep, Refusals) {
  const RowMatrix X = RowMatrix::Ones(10, 1), Y = X;
  const MemoryRows rows(X, Y, Vector());
  for (const auto& bad : std::vector<std::vector<Index>>{{1, 5}, {0, 5, 5}, {0, 10}, {0, 7, 3}})
    EXPECT_THROW(Sweep(rows, bad), InputError);
  const RowMatrix none(0, 1);
  const MemoryRows empty(none, none, Vector());
  EXPECT_THROW(Sweep(empty, 4), InputError);
}

TEST(Sweep, ExceptionOfABlockReachesTheCaller) {
  const SweepCase t(300, 4, 1, 1, 1);
  const auto rows = t.rows();
  EXPECT_THROW(Sweep(rows, 10).sum(1,
                                   []() -> Sweep::Body {
                                     return [](const DataBlock& block, double*) {
                                       if (block.x.first == 120) throw InputError("row 120");
                                     };
                                   }),
               InputError);
}

// The statistics do not depend on how rows are cut into blocks, but for rounding.
TEST(Sweep, BlocksChangeOnlyRounding) {
  SweepCase t(500, 12, 2, 2, 3);
  t.Y(5, 0) = t.Y(6, 0) = missing;
  const auto rows = t.rows();
  const auto columns = columns_by_pattern(rows);
  const SweepContext c = t.context();
  const auto a = weighted_statistics(c, fitc, Sweep(rows, 500), columns);
  const auto b = weighted_statistics(c, fitc, Sweep(rows, 11), columns);
  for (std::size_t g = 0; g < a.size(); ++g) {
    EXPECT_LT((a[g].C - b[g].C).cwiseAbs().maxCoeff(), 1e-12 * a[g].C.cwiseAbs().maxCoeff());
    EXPECT_NEAR(a[g].rr, b[g].rr, 1e-12 * a[g].rr);
    EXPECT_EQ(a[g].rows, b[g].rows);
  }
  EXPECT_EQ(a[0].rows, 498.0);
  EXPECT_EQ(a[1].rows, 500.0);
}

TEST(Sweep, SameBitsForAnyThreadsAtFiftyThousandRows) {
  const SweepCase t(50000, 300, 3, 1, 9);
  const auto rows = t.rows();
  const Sweep sweep = Sweep::for_features(rows, 300);
  const SweepContext c = t.context();
  set_threads(1);
  const auto first = weighted_statistics(c, vfe, sweep, {{0}});
  for (const int n : {2, 3, 7}) {
    set_threads(n);
    expect_same_bits(weighted_statistics(c, vfe, sweep, {{0}}), first);
  }
  set_threads(0);
}

// Single rows in the lanes of their blocks, in the order that was asked for.
TEST(Sweep, SomeRows) {
  const SweepCase t(300, 4, 2, 2, 5);
  const Vector noise = Vector::Constant(300, 0.1);
  const MemoryRows rows(t.X, t.Y, noise);
  EXPECT_TRUE(rows.has_noise());
  EXPECT_FALSE(t.rows().has_noise());
  const Sweep sweep(rows, 7);
  const std::vector<Index> chosen{299, 0, 6, 7, 150, 7};
  const Sweep::Rows some = sweep.gather(chosen);
  EXPECT_EQ(some.X, t.X(chosen, Eigen::all));
  EXPECT_EQ(some.Y, t.Y(chosen, Eigen::all));
  const Vector numbers =
      sweep.sum_of_rows(chosen, 6, [](const DataBlock& row, Index place, double* sum) {
        sum[place] += static_cast<double>(row.x.n * row.x.first);
      });
  EXPECT_EQ(numbers, (Vector(6) << 299, 0, 6, 7, 150, 7).finished());
  EXPECT_EQ(sweep.gather({}).X.rows(), 0);
}

}  // namespace
}  // namespace covary
