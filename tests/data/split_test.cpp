#include "covary/data/split.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

void expect_partition(const Split& split, Index n) {
  std::set<Index> all(split.train.begin(), split.train.end());
  all.insert(split.test.begin(), split.test.end());
  EXPECT_EQ(static_cast<Index>(split.train.size() + split.test.size()), n);
  EXPECT_EQ(static_cast<Index>(all.size()), n);
  EXPECT_EQ(*all.begin(), 0);
  EXPECT_EQ(*all.rbegin(), n - 1);
  EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
  EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
}

TEST(Split, TrainAndTest) {
  const Split split = train_test_split(101, 0.2, 4);
  expect_partition(split, 101);
  EXPECT_EQ(split.test.size(), 20U);
  EXPECT_EQ(train_test_split(101, 0.2, 4).test, split.test);
  EXPECT_NE(train_test_split(101, 0.2, 5).test, split.test);
  EXPECT_EQ(train_test_split(2, 0.999, 0).train.size(), 1U);
  EXPECT_EQ(train_test_split(3, 0.001, 0).test.size(), 1U);
}

TEST(Split, EveryRowIsATestRowOnce) {
  const std::vector<Split> folds = k_folds(23, 5, 1);
  ASSERT_EQ(folds.size(), 5U);
  std::vector<int> tested(23, 0);
  for (const Split& fold : folds) {
    expect_partition(fold, 23);
    EXPECT_GE(fold.test.size(), 4U);
    EXPECT_LE(fold.test.size(), 5U);
    for (Index i : fold.test) ++tested[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(tested, std::vector<int>(23, 1));
  EXPECT_EQ(k_folds(23, 5, 1)[2].test, folds[2].test);
  EXPECT_NE(k_folds(23, 5, 2)[2].test, folds[2].test);
}

TEST(Split, GroupsNeverStraddle) {
  std::vector<Index> groups;
  for (Index i = 0; i < 200; ++i) groups.push_back((i * i) % 37 - 5);
  const std::vector<Split> folds = grouped_folds(groups, 4, 9);
  std::map<Index, std::set<std::size_t>> folds_of_group;
  std::size_t tested = 0;
  for (std::size_t k = 0; k < folds.size(); ++k) {
    expect_partition(folds[k], 200);
    tested += folds[k].test.size();
    for (Index i : folds[k].test) folds_of_group[groups[static_cast<std::size_t>(i)]].insert(k);
    EXPECT_NEAR(static_cast<double>(folds[k].test.size()), 50, 8);  // the largest group has 12 rows
  }
  EXPECT_EQ(tested, 200U);
  for (const auto& [group, numbers] : folds_of_group) EXPECT_EQ(numbers.size(), 1U) << group;
  EXPECT_EQ(grouped_folds(groups, 4, 9)[1].test, folds[1].test);
  EXPECT_NE(grouped_folds(groups, 4, 10)[1].test, folds[1].test);
}

TEST(Split, BadInputIsRefused) {
  EXPECT_THROW(train_test_split(1, 0.5, 0), InputError);
  for (double fraction : {0.0, 1.0, -0.1, std::nan("")})
    EXPECT_THROW(train_test_split(10, fraction, 0), InputError);
  EXPECT_THROW(k_folds(10, 1, 0), InputError);
  EXPECT_THROW(k_folds(10, 11, 0), InputError);
  EXPECT_THROW(grouped_folds({1, 1, 2, 2}, 3, 0), InputError);
  EXPECT_THROW(grouped_folds({}, 2, 0), InputError);
}

TEST(Split, TakeRows) {
  const RowMatrix X{{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(take_rows(X, {2, 0}), (RowMatrix{{5, 6}, {1, 2}}));
  EXPECT_EQ(take_rows(X, {}).cols(), 2);
  EXPECT_THROW(take_rows(X, {3}), InputError);
  EXPECT_THROW(take_rows(X, {-1}), InputError);
}

}  // namespace
}  // namespace covary
