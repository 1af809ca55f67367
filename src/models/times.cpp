#include "models/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"

namespace covary {
namespace {

std::string text_of(const RowMatrix& times, Index row) {
  std::vector<double> values(times.row(row).begin(), times.row(row).end());
  return fmt::format("{}", fmt::join(values, ", "));
}

bool has_white_noise(const Kernel& kernel, const RowMatrix& times) {
  const Vector theta = kernel.parameters(times.cols()).values();
  const RowMatrix one = times.topRows(1);
  return diagonal(kernel, theta, one)(0) > smooth_diagonal(kernel, theta, one)(0);
}

// Two rows of [first, last) with the same time, or two of −1.
std::pair<Index, Index> repeated(const RowMatrix& times, Index first, Index last) {
  const auto before = [&](Index i, Index j) {
    return std::lexicographical_compare(times.row(i).begin(), times.row(i).end(),
                                        times.row(j).begin(), times.row(j).end());
  };
  std::vector<Index> rows(static_cast<std::size_t>(last - first));
  std::iota(rows.begin(), rows.end(), first);
  std::stable_sort(rows.begin(), rows.end(), before);
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (!before(rows[i - 1], rows[i])) return {rows[i - 1], rows[i]};
  return {-1, -1};
}

}  // namespace

void check_times(const RowMatrix& times, const std::vector<Index>& sequences, const Kernel& kernel,
                 std::vector<std::string>& warnings) {
  const Index N = times.rows();
  if (N > 1 && (times.rowwise() - times.row(0)).isZero(0.0))
    throw InputError(fmt::format("all {} times are {}; the dynamics need times that differ", N,
                                 text_of(times, 0)));
  std::vector<Index> starts = sequences.empty() ? std::vector<Index>{0} : sequences;
  starts.push_back(N);
  bool told_equal = false, told_order = false;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const Index first = starts[s], last = starts[s + 1];
    if (const auto [i, j] = repeated(times, first, last); i >= 0 && !told_equal) {
      const std::string what =
          fmt::format("rows {} and {} have the same time, {}", i, j, text_of(times, i));
      if (!has_white_noise(kernel, times))
        throw InputError(fmt::format(
            "{}, which makes the covariance of the dynamics singular; add white noise to their "
            "kernel ('{} + white'), tell sequences apart, or remove one",
            what, kernel.print()));
      warnings.push_back(what + ": they count as repetitions of one time");
      told_equal = true;
    }
    for (Index i = first + 1; i < last && !told_order && times.cols() == 1; ++i)
      if (times(i, 0) < times(i - 1, 0)) {
        warnings.push_back(
            fmt::format("the time falls from {} to {} at row {}: if a new sequence begins there, "
                        "use --sequences",
                        times(i - 1, 0), times(i, 0), i));
        told_order = true;
      }
  }
}

}  // namespace covary
