#include "covary/features/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "covary/data/kmeans.hpp"
#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "features/greedy_variance.hpp"
#include "features/leverage.hpp"

namespace covary {
namespace {

constexpr double most_bytes = 1e9;  // of N·M doubles
constexpr std::pair<const char*, Selection> names[] = {
    {"greedy_variance", Selection::greedy_variance},
    {"kmeans", Selection::kmeans},
    {"hierarchical_kmeans", Selection::hierarchical_kmeans},
    {"random", Selection::random},
    {"grid", Selection::grid},
    {"leverage", Selection::leverage},
    {"informative_vectors", Selection::informative_vectors},
    {"bound_gain", Selection::bound_gain},
    {"information_gain", Selection::information_gain}};

void check(Index M, ConstRows X, const Kernel& kernel, ConstVector theta) {
  if (M < 1)
    throw InputError(fmt::format("the number of inducing inputs is {}; it must be positive", M));
  if (X.rows() == 0 || X.cols() == 0)
    throw InputError(fmt::format("no inducing inputs can be chosen from {} rows and {} columns",
                                 X.rows(), X.cols()));
  for (Index i = 0; i < X.rows(); ++i)
    if (!X.row(i).allFinite())
      throw InputError(
          fmt::format("X has a non-finite value in row {}; drop such rows before "
                      "inducing inputs are chosen",
                      i));
  kernel.node().check(X.cols());
  if (theta.size() != kernel.parameter_count(X.cols()))
    throw InputError(fmt::format("{} on {} input columns has {} parameters, got {}", kernel.print(),
                                 X.cols(), kernel.parameter_count(X.cols()), theta.size()));
  if (!theta.allFinite()) throw InputError("the kernel's parameters must be finite");
}

// Row numbers of a table, each row once however often it is repeated.
class DistinctRows {
 public:
  explicit DistinctRows(ConstRows X) : seen_(Less{X.data(), X.outerStride(), X.cols()}) {}
  bool add(Index row) { return seen_.insert(row).second; }

 private:
  struct Less {
    const double* data;
    Index stride, cols;
    bool operator()(Index a, Index b) const {
      const double *x = data + a * stride, *y = data + b * stride;
      return std::lexicographical_compare(x, x + cols, y, y + cols);
    }
  };
  std::set<Index, Less> seen_;
};

void say(SelectionResult& out, const std::string& note) {
  out.note += (out.note.empty() ? "" : "; ") + note;
}

void say_fewer(SelectionResult& out, Index M, const char* why) {
  if (out.Z.rows() < M) say(out, fmt::format("chose {} inducing inputs: {}", out.Z.rows(), why));
}

constexpr const char* few_rows = "the rows have no more distinct values";

// The first M distinct rows in this order.
SelectionResult first_rows(Index M, ConstRows X, const std::vector<Index>& order) {
  SelectionResult out;
  DistinctRows distinct(X);
  for (const Index row : order) {
    if (static_cast<Index>(out.rows.size()) == M) break;
    if (distinct.add(row)) out.rows.push_back(row);
  }
  out.Z = take_rows(X, out.rows);
  say_fewer(out, M, few_rows);
  return out;
}

// Means of clusters and points of a grid are distinct but for rounding.
RowMatrix without_repeats(const RowMatrix& Z) {
  std::vector<Index> kept;
  DistinctRows distinct(Z);
  for (Index i = 0; i < Z.rows(); ++i)
    if (distinct.add(i)) kept.push_back(i);
  return take_rows(Z, kept);
}

SelectionResult centres(const Clusters& clusters, Index M) {
  SelectionResult out;
  out.Z = without_repeats(clusters.centres);
  say_fewer(out, M, few_rows);
  return out;
}

SelectionResult grid(Index M, ConstRows X) {
  const Index D = X.cols();
  if (D > 3)
    throw Unsupported(
        fmt::format("a grid of inducing inputs is for at most 3 input columns and X "
                    "has {}; choose greedy_variance or kmeans",
                    D));
  const Eigen::RowVectorXd lower = X.colwise().minCoeff(), upper = X.colwise().maxCoeff();
  std::vector<Index> size(static_cast<std::size_t>(D), 1);
  // One more point along each column in turn, while the whole stays within M.
  Index total = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (Index d = 0; d < D; ++d) {
      Index& n = size[static_cast<std::size_t>(d)];
      if (lower(d) == upper(d) || total / n * (n + 1) > M) continue;
      total = total / n * (n + 1);
      ++n;
      grown = true;
    }
  }
  SelectionResult out;
  out.Z.resize(total, D);
  for (Index i = 0; i < total; ++i)
    for (Index d = 0, rest = i; d < D; ++d) {
      const Index n = size[static_cast<std::size_t>(d)];
      const double t = n == 1 ? 0.5 : static_cast<double>(rest % n) / static_cast<double>(n - 1);
      out.Z(i, d) = (1.0 - t) * lower(d) + t * upper(d);
      rest /= n;
    }
  out.Z = without_repeats(out.Z);
  if (out.Z.rows() < M)
    say(out,
        fmt::format("chose {} inducing inputs, a grid of {}", out.Z.rows(), fmt::join(size, "×")));
  return out;
}

SelectionResult greedy(Index M, ConstRows X, const Kernel& kernel, ConstVector theta) {
  const GreedyVariance g = greedy_variance(kernel, theta, X, M);
  SelectionResult out;
  out.Z = take_rows(X, g.rows);
  out.rows = g.rows;
  out.residual = g.residual;
  say_fewer(out, M,
            out.Z.rows() == X.rows() ? "there are no more rows" : "the remaining rows add nothing");
  return out;
}

SelectionResult by_leverage(Index M, ConstRows X, const Kernel& kernel, ConstVector theta,
                            std::uint64_t seed) {
  const LeverageScores l = leverage_scores(kernel, theta, X, M, leverage_pilots(X.rows(), M), seed);
  return first_rows(M, X, order_by_draws(l.scores, seed));
}

}  // namespace

Selection parse_selection(const std::string& name) {
  std::string known;
  for (const auto& [text, how] : names) {
    if (name == text) return how;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw InputError(
      fmt::format("unknown selection '{}' of inducing inputs; choose {}", name, known));
}

std::string print(Selection how) {
  for (const auto& [text, value] : names)
    if (value == how) return text;
  throw InputError(fmt::format("{} is not a selection of inducing inputs", static_cast<int>(how)));
}

std::vector<Index> sample_rows(Index N, Index n, Random random) {
  // Floyd's method: the j-th draw is among the first N−n+j+1, and a repeat stands for the last.
  std::set<Index> rows;
  for (Index j = std::max<Index>(0, N - n); j < N; ++j)
    if (!rows.insert(random.integer(j + 1)).second) rows.insert(j);
  return {rows.begin(), rows.end()};
}

std::vector<Index> rows_to_look_at(Index N, Index M, std::uint64_t seed) {
  const Index few = std::max<Index>(20000, 40 * std::min(M, N));
  if (8.0 * static_cast<double>(N) * static_cast<double>(std::min(M, N)) > most_bytes && few < N)
    return sample_rows(N, few, Random(seed, 1));
  std::vector<Index> all(static_cast<std::size_t>(N));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

SelectionResult select_inducing(Selection how, Index M, ConstRows X, const Kernel& kernel,
                                ConstVector theta, std::uint64_t seed) {
  check(M, X, kernel, theta);
  switch (how) {
    case Selection::random:
      return first_rows(M, X, Random(seed).permutation(X.rows()));
    case Selection::grid:
      return grid(M, X);
    case Selection::hierarchical_kmeans:
      return centres(hierarchical_kmeans(X, M, seed), M);
    case Selection::informative_vectors:
      throw Unsupported(
          "informative_vectors is for non-Gaussian likelihoods; with Gaussian noise use "
          "greedy_variance");
    case Selection::bound_gain:
    case Selection::information_gain:
      throw Unsupported(
          fmt::format("'{}' is for sparse regression; choose greedy_variance", print(how)));
    case Selection::kmeans:
    case Selection::greedy_variance:
    case Selection::leverage:
      break;
  }
  const auto choose = [&](ConstRows rows) {
    return how == Selection::kmeans     ? centres(kmeans(rows, M, seed), M)
           : how == Selection::leverage ? by_leverage(M, rows, kernel, theta, seed)
                                        : greedy(M, rows, kernel, theta);
  };
  const std::vector<Index> looked_at = rows_to_look_at(X.rows(), M, seed);
  if (static_cast<Index>(looked_at.size()) == X.rows()) return choose(X);
  SelectionResult out = choose(take_rows(X, looked_at));
  for (Index& row : out.rows) row = looked_at[static_cast<std::size_t>(row)];
  out.on_subset = true;
  say(out, fmt::format("Z chosen on {} of {} rows", looked_at.size(), X.rows()));
  return out;
}

}  // namespace covary
