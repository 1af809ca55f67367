#include "covary/data/kmeans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr Index width = 1024;  // rows of a task
constexpr int most_iterations = 50;
constexpr double least_fall = 1e-4;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

void check(ConstRows X, Index K) {
  if (X.rows() == 0 || X.cols() == 0)
    throw InputError(fmt::format("cannot cluster {} rows of {} columns", X.rows(), X.cols()));
  if (K < 1) throw InputError(fmt::format("the number of clusters is {}; it must be positive", K));
  if (!X.allFinite()) throw InputError("the rows to cluster must be finite");
}

// body(first, n, strip) over strips of rows whose shape does not depend on the threads.
template <class Body>
void for_strips(Index rows, const Body& body) {
  parallel_for((rows + width - 1) / width,
               [&](Index s) { body(s * width, std::min(width, rows - s * width), s); });
}

double squared_distance(ConstRows X, Index i, const double* centre) {
  const double* x = X.data() + i * X.outerStride();
  double sum = 0.0;
  for (Index d = 0; d < X.cols(); ++d) sum += (x[d] - centre[d]) * (x[d] - centre[d]);
  return sum;
}

// A row drawn with probability d(i)/Σd; `sums` are those of the strips. A row with d = 0 never is.
Index draw(const Vector& d, const Vector& sums, double target) {
  Index strip = 0;
  for (Index s = 0; s < sums.size(); ++s) {
    if (sums(s) == 0.0) continue;
    strip = s;
    if (target < sums(s)) break;
    target -= sums(s);
  }
  Index row = -1;
  for (Index i = strip * width; i < std::min(d.size(), (strip + 1) * width); ++i) {
    if (d(i) == 0.0) continue;
    row = i;
    if (target < d(i)) break;
    target -= d(i);
  }
  return row;
}

// k-means++: each centre a row drawn by its squared distance from those before, so never twice the
// same point; fewer than K when every row is one already.
RowMatrix start(ConstRows X, Index K, Random& random) {
  const Index N = X.rows();
  RowMatrix centres(std::min(K, N), X.cols());
  Vector d = Vector::Constant(N, std::numeric_limits<double>::infinity());
  Vector sums((N + width - 1) / width);
  Index row = random.integer(N);
  for (Index k = 0; k < centres.rows(); ++k) {
    centres.row(k) = X.row(row);
    for_strips(N, [&](Index first, Index n, Index s) {
      double sum = 0.0;
      for (Index i = first; i < first + n; ++i) {
        d(i) = std::min(d(i), squared_distance(X, i, centres.row(k).data()));
        sum += d(i);
      }
      sums(s) = sum;
    });
    const double total = sums.sum();
    if (!std::isfinite(total))
      throw InputError(
          fmt::format("the rows to cluster reach {:g}, and squares of that overflow; scale the "
                      "columns first",
                      X.cwiseAbs().maxCoeff()));
    if (total == 0.0) return centres.topRows(k + 1);
    row = draw(d, sums, random.uniform() * total);
  }
  return centres;
}

// The nearest centre of each row, the first on ties.
double assign(ConstRows X, Clusters& c) {
  const Index K = c.centres.rows();
  const Matrix centres = c.centres;  // by columns: a loop over the centres is contiguous
  Vector sums((X.rows() + width - 1) / width);
  for_strips(X.rows(), [&](Index first, Index n, Index s) {
    Eigen::ArrayXd distance(K);
    double sum = 0.0;
    for (Index i = first; i < first + n; ++i) {
      distance = (centres.col(0).array() - X(i, 0)).square();
      for (Index d = 1; d < X.cols(); ++d) distance += (centres.col(d).array() - X(i, d)).square();
      Index best = 0;
      for (Index k = 1; k < K; ++k)
        if (distance(k) < distance(best)) best = k;
      c.label[at(i)] = best;
      sum += distance(best);
    }
    sums(s) = sum;
  });
  return sums.sum();
}

// Each centre to the mean of its rows, taken about the first of them so that equal rows have
// exactly themselves for a mean. Returns the number of rows of each.
std::vector<Index> to_means(ConstRows X, Clusters& c) {
  const Index K = c.centres.rows();
  std::vector<Index> count(at(K), 0), end(at(K), 0), order(c.label.size());
  for (const Index k : c.label) ++count[at(k)];
  for (Index k = 1; k < K; ++k) end[at(k)] = end[at(k - 1)] + count[at(k - 1)];
  for (Index i = 0; i < X.rows(); ++i) order[at(end[at(c.label[at(i)])]++)] = i;
  parallel_for(K, [&](Index k) {
    if (count[at(k)] == 0) return;
    const Index first = end[at(k)] - count[at(k)];
    const Eigen::RowVectorXd origin = X.row(order[at(first)]);
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(X.cols());
    for (Index j = first; j < end[at(k)]; ++j) sum += X.row(order[at(j)]) - origin;
    c.centres.row(k) = origin + sum / static_cast<double>(count[at(k)]);
  });
  return count;
}

// Centres to the means; one without rows takes the row furthest from its own centre.
void update(ConstRows X, Clusters& c) {
  for (;;) {
    const std::vector<Index> count = to_means(X, c);
    const auto empty = std::find(count.begin(), count.end(), 0);
    if (empty == count.end()) return;
    double furthest = 0.0;
    Index row = -1;
    for (Index i = 0; i < X.rows(); ++i) {
      const double d = squared_distance(X, i, c.centres.row(c.label[at(i)]).data());
      if (d > furthest) {
        furthest = d;
        row = i;
      }
    }
    if (row < 0) return;  // every row is at its centre: there is nothing to divide
    c.label[at(row)] = empty - count.begin();
  }
}

Clusters lloyd(ConstRows X, Index K, Random random) {
  Clusters c;
  c.centres = start(X, K, random);
  c.label.resize(at(X.rows()));
  double before = std::numeric_limits<double>::infinity();
  while (c.iterations < most_iterations) {
    ++c.iterations;
    const double spread = assign(X, c);
    update(X, c);
    if (c.iterations > 1 && before - spread <= least_fall * before) break;
    before = spread;
  }
  Vector sums((X.rows() + width - 1) / width);
  for_strips(X.rows(), [&](Index first, Index n, Index s) {
    sums(s) = 0.0;
    for (Index i = first; i < first + n; ++i)
      sums(s) += squared_distance(X, i, c.centres.row(c.label[at(i)]).data());
  });
  c.spread = sums.sum();
  return c;
}

}  // namespace

Clusters kmeans(ConstRows X, Index K, std::uint64_t seed) {
  check(X, K);
  return lloyd(X, K, Random(seed));
}

Clusters hierarchical_kmeans(ConstRows X, Index K, std::uint64_t seed) {
  check(X, K);
  struct Leaf {
    std::vector<Index> rows;
    Eigen::RowVectorXd centre;
    double spread;
  };
  const Clusters all = lloyd(X, 1, Random(seed));
  std::vector<Leaf> leaves{{std::vector<Index>(at(X.rows())), all.centres.row(0), all.spread}};
  for (Index i = 0; i < X.rows(); ++i) leaves[0].rows[at(i)] = i;
  Clusters out;
  out.iterations = all.iterations;
  for (std::uint64_t split = 1; static_cast<Index>(leaves.size()) < K; ++split) {
    const auto widest = std::max_element(leaves.begin(), leaves.end(),
                                         [](auto& a, auto& b) { return a.spread < b.spread; });
    if (widest->spread == 0.0) break;  // every leaf is one point
    const std::vector<Index> rows = std::move(widest->rows);
    const Clusters two = lloyd(take_rows(X, rows), 2, Random(seed, split));
    out.iterations += two.iterations;
    Leaf half[2];
    for (Index h = 0; h < two.centres.rows(); ++h) half[h] = {{}, two.centres.row(h), 0.0};
    for (std::size_t j = 0; j < rows.size(); ++j) {
      Leaf& leaf = half[two.label[j]];
      leaf.rows.push_back(rows[j]);
      leaf.spread += squared_distance(X, rows[j], leaf.centre.data());
    }
    *widest = std::move(half[0]);
    if (two.centres.rows() == 2)
      leaves.push_back(std::move(half[1]));
    else
      widest->spread = 0.0;  // too close together to be told apart
  }
  out.label.resize(at(X.rows()));
  out.centres.resize(static_cast<Index>(leaves.size()), X.cols());
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    out.centres.row(static_cast<Index>(k)) = leaves[k].centre;
    out.spread += leaves[k].spread;
    for (const Index i : leaves[k].rows) out.label[at(i)] = static_cast<Index>(k);
  }
  return out;
}

}  // namespace covary
