#include "features/largest_products.hpp"

#include <fmt/format.h>

#include <cmath>
#include <queue>
#include <set>
#include <vector>

#include "covary/error.hpp"

namespace covary {

Eigen::MatrixX<Index> largest_products(Index D, Index M,
                                       const std::function<double(Index d, Index i)>& log_step) {
  struct Entry {
    double log_value;
    std::vector<Index> degrees;
    bool operator<(const Entry& o) const {  // the largest comes first
      if (log_value != o.log_value) return log_value < o.log_value;
      return degrees < o.degrees;
    }
  };
  std::priority_queue<Entry> next;
  std::set<std::vector<Index>> seen;
  next.push({0.0, std::vector<Index>(static_cast<std::size_t>(D), 0)});
  Eigen::MatrixX<Index> out(M, D);
  for (Index m = 0; m < M; ++m) {
    if (next.empty())
      throw InputError(fmt::format("only {} products exist, but {} were requested", m, M));
    const Entry best = next.top();
    next.pop();
    for (Index d = 0; d < D; ++d) {
      const auto at = static_cast<std::size_t>(d);
      out(m, d) = best.degrees[at];
      const double step = log_step(d, best.degrees[at]);
      if (std::isinf(step)) continue;
      Entry one = best;
      ++one.degrees[at];
      one.log_value += step;
      if (seen.insert(one.degrees).second) next.push(std::move(one));
    }
  }
  return out;
}

}  // namespace covary
