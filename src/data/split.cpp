#include "covary/data/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "covary/error.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// Splits from the number of the fold in which each row is a test row.
std::vector<Split> splits_of(const std::vector<Index>& fold, Index K) {
  std::vector<Split> splits(static_cast<std::size_t>(K));
  for (std::size_t i = 0; i < fold.size(); ++i)
    for (Index k = 0; k < K; ++k) {
      Split& split = splits[static_cast<std::size_t>(k)];
      (fold[i] == k ? split.test : split.train).push_back(static_cast<Index>(i));
    }
  return splits;
}

void check_folds(Index K, Index n, const char* what) {
  if (K < 2 || K > n)
    throw InputError(
        fmt::format("{} folds of {} {}; choose 2 to the number of {}", K, n, what, what));
}

}  // namespace

Split train_test_split(Index n, double test_fraction, std::uint64_t seed) {
  if (n < 2) throw InputError(fmt::format("{} rows cannot be split; at least 2 are needed", n));
  if (!(test_fraction > 0 && test_fraction < 1))
    throw InputError(
        fmt::format("the test fraction is {}; it must lie between 0 and 1", test_fraction));
  const auto wanted = static_cast<Index>(std::llround(test_fraction * static_cast<double>(n)));
  const Index tests = std::clamp<Index>(wanted, 1, n - 1);
  const std::vector<Index> order = Random(seed).permutation(n);
  Split split;
  split.test.assign(order.begin(), order.begin() + tests);
  split.train.assign(order.begin() + tests, order.end());
  std::sort(split.test.begin(), split.test.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

std::vector<Split> k_folds(Index n, Index K, std::uint64_t seed) {
  check_folds(K, n, "rows");
  const std::vector<Index> order = Random(seed).permutation(n);
  std::vector<Index> fold(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    fold[static_cast<std::size_t>(order[i])] = static_cast<Index>(i) % K;
  return splits_of(fold, K);
}

std::vector<Split> grouped_folds(const std::vector<Index>& groups, Index K, std::uint64_t seed) {
  std::map<Index, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < groups.size(); ++i) rows_of[groups[i]].push_back(i);
  const auto count = static_cast<Index>(rows_of.size());
  check_folds(K, count, "groups");

  std::vector<const std::vector<std::size_t>*> members;
  members.reserve(rows_of.size());
  for (const auto& [label, rows] : rows_of) members.push_back(&rows);
  std::vector<const std::vector<std::size_t>*> shuffled;
  shuffled.reserve(members.size());
  for (Index g : Random(seed).permutation(count))
    shuffled.push_back(members[static_cast<std::size_t>(g)]);
  std::stable_sort(shuffled.begin(), shuffled.end(),
                   [](auto* a, auto* b) { return a->size() > b->size(); });

  std::vector<Index> fold(groups.size());
  std::vector<std::size_t> sizes(static_cast<std::size_t>(K), 0);
  for (const auto* rows : shuffled) {
    const auto smallest = std::min_element(sizes.begin(), sizes.end());
    for (std::size_t i : *rows) fold[i] = smallest - sizes.begin();
    *smallest += rows->size();
  }
  return splits_of(fold, K);
}

RowMatrix take_rows(ConstRows X, const std::vector<Index>& rows) {
  RowMatrix taken(static_cast<Index>(rows.size()), X.cols());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] < 0 || rows[k] >= X.rows())
      throw InputError(fmt::format("row {} is outside the {} rows of the data", rows[k], X.rows()));
    taken.row(static_cast<Index>(k)) = X.row(rows[k]);
  }
  return taken;
}

}  // namespace covary
