#include "covary/statistics/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "covary/error.hpp"
#include "covary/statistics/sweep.hpp"

namespace covary {

MemoryRows::MemoryRows(ConstRows X, ConstRows Y, ConstVector point_noise, ConstVector weights)
    : x_{X.data(), X.rows(), X.cols(), X.outerStride(), 0},
      y_(Y.data()),
      outputs_(Y.cols()),
      noise_(point_noise.size() ? point_noise.data() : nullptr),
      weights_(weights.size() ? weights.data() : nullptr) {
  if (Y.rows() != X.rows())
    throw InputError(fmt::format("X has {} rows and Y has {}", X.rows(), Y.rows()));
  if (Y.outerStride() != Y.cols())
    throw InputError("Y must be one dense row-major array; copy it first");
  if (point_noise.size() && point_noise.size() != X.rows())
    throw InputError(
        fmt::format("there are {} noise variances for {} rows", point_noise.size(), X.rows()));
  if (weights.size() && weights.size() != X.rows())
    throw InputError(fmt::format("there are {} weights for {} rows", weights.size(), X.rows()));
}

DataBlock MemoryRows::read(Index first, Index n, ReadBuffer&) const {
  return {{x_.row(first), n, x_.dims, x_.stride, first},
          y_ + first * outputs_,
          outputs_,
          noise_ ? noise_ + first : nullptr,
          nullptr,
          weights_ ? weights_ + first : nullptr};
}

std::vector<std::vector<Index>> columns_by_pattern(const RowSource& rows) {
  // A column's pattern is told by its number of missing rows and two sums of scrambled row numbers.
  const Index P = rows.outputs();
  const Sweep sweep(rows, 4096);
  struct Print {
    std::uint64_t count = 0, a = 0, b = 0;
    bool operator==(const Print&) const = default;
  };
  std::vector<Print> prints(static_cast<std::size_t>(P));
  sweep.for_each_block([&](const DataBlock& block) {
    for (Index i = 0; i < block.x.n; ++i)
      for (Index p = 0; p < P; ++p)
        if (std::isnan(block.y[i * P + p])) {
          std::uint64_t h = static_cast<std::uint64_t>(block.x.first + i) + 0x9e3779b97f4a7c15u;
          h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
          h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
          Print& print = prints[static_cast<std::size_t>(p)];
          ++print.count;
          print.a += h ^ (h >> 31);
          print.b ^= std::rotl(h, 17);
        }
  });
  std::vector<std::vector<Index>> groups;
  std::vector<Print> seen;
  for (Index p = 0; p < P; ++p) {
    const Print& print = prints[static_cast<std::size_t>(p)];
    if (print.count == static_cast<std::uint64_t>(rows.rows()))
      throw InputError(fmt::format("output column {} has no observed value; leave it out", p));
    const auto at = std::find(seen.begin(), seen.end(), print);
    if (at == seen.end()) {
      seen.push_back(print);
      groups.push_back({p});
    } else {
      groups[static_cast<std::size_t>(at - seen.begin())].push_back(p);
    }
  }
  return groups;
}

}  // namespace covary
