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

namespace {

// A column's pattern is told by its number of missing rows and two sums of scrambled row numbers.
struct Print {
  std::uint64_t count = 0, a = 0, b = 0;
  bool operator==(const Print&) const = default;

  void add(std::uint64_t row) {
    std::uint64_t h = row + 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    ++count;
    a += h ^ (h >> 31);
    b ^= std::rotl(h, 17);
  }
};

// In a lane's sum as numbers of 32 bits, which doubles hold exactly.
constexpr Index numbers = 5;
void put(const Print& print, double* to) {
  const auto low = [](std::uint64_t v) { return static_cast<double>(v & 0xffffffffu); };
  const double all[numbers] = {static_cast<double>(print.count), low(print.a), low(print.a >> 32),
                               low(print.b), low(print.b >> 32)};
  std::copy_n(all, numbers, to);
}
Print get(const double* from) {
  const auto at = [&](int i) { return static_cast<std::uint64_t>(from[i]); };
  return {at(0), at(1) | at(2) << 32, at(3) | at(4) << 32};
}

}  // namespace

std::vector<std::vector<Index>> observed_columns(const RowSource& rows) {
  const Index P = rows.outputs();
  const Matrix lanes = Sweep(rows, 4096).of_lanes(P * numbers, [&]() -> Sweep::Body {
    return [P](const DataBlock& block, double* sum) {
      std::vector<Print> prints;
      for (Index p = 0; p < P; ++p) prints.push_back(get(sum + p * numbers));
      for (Index i = 0; i < block.x.n; ++i)
        for (Index p = 0; p < P; ++p)
          if (std::isnan(block.y[i * P + p]))
            prints[static_cast<std::size_t>(p)].add(static_cast<std::uint64_t>(block.x.first + i));
      for (Index p = 0; p < P; ++p) put(prints[static_cast<std::size_t>(p)], sum + p * numbers);
    };
  });
  std::vector<std::vector<Index>> groups;
  std::vector<Print> seen;
  for (Index p = 0; p < P; ++p) {
    Print print;
    for (Index lane = 0; lane < lanes.cols(); ++lane) {
      const Print own = get(lanes.col(lane).data() + p * numbers);
      print.count += own.count;
      print.a += own.a;
      print.b ^= own.b;
    }
    if (print.count == static_cast<std::uint64_t>(rows.rows())) continue;
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

std::vector<std::vector<Index>> columns_by_pattern(const RowSource& rows) {
  auto out = observed_columns(rows);
  std::vector<bool> seen(static_cast<std::size_t>(rows.outputs()), false);
  for (const auto& group : out)
    for (const Index p : group) seen[static_cast<std::size_t>(p)] = true;
  const auto none = std::find(seen.begin(), seen.end(), false);
  if (none != seen.end())
    throw InputError(
        fmt::format("output column {} has no observed value; leave it out", none - seen.begin()));
  return out;
}

}  // namespace covary
