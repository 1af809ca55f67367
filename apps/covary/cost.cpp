#include "cost.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "covary/error.hpp"
#include "covary/inference/cglb.hpp"
#include "covary/inference/exact.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary::cli {
namespace {

// "MemAvailable:   22212344 kB" of /proc/meminfo, in bytes; infinity where there is no such file.
double meminfo(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (double kilobytes = 0.0; file >> name >> kilobytes;) {
    if (name == key + ":") return 1024.0 * kilobytes;
    std::getline(file, unit);
  }
  return std::numeric_limits<double>::infinity();
}

// One number of the container's accounts, or infinity ("max", or no container).
double cgroup(const char* file_name) {
  std::ifstream file(fmt::format("/sys/fs/cgroup/{}", file_name));
  double value = 0.0;
  return file >> value ? value : std::numeric_limits<double>::infinity();
}

Cost sparse_cost(double n, std::size_t missing_patterns, Index M) {
  const double m = std::min(static_cast<double>(M), n),
               patterns = static_cast<double>(missing_patterns);
  // Each lane under way has its sums and its blocks; some M×M besides.
  return {8.0 * ((patterns + 1.0) * m * m * (threads() + 2.0) + 12.0 * m * m + 3e6 * threads()),
          n * m * m * (1.0 + 3.0 * patterns)};
}

}  // namespace

Cost exact_cost(const RowMatrix& Y, bool standard_errors) {
  Cost cost;
  double largest = 0.0;
  for (const Pattern& pattern : missing_patterns(Matrix(Y))) {
    const double n = static_cast<double>(pattern.rows.size());
    cost.bytes += 8.0 * n * n;
    cost.flops += n * n * n;
    largest = std::max(largest, 8.0 * n * n);
  }
  if (standard_errors) cost.bytes += largest;  // evaluated beside the finished posterior
  return cost;
}

Cost sparse_cost(const RowMatrix& Y, Index M) {
  return sparse_cost(static_cast<double>(Y.rows()), missing_patterns(Matrix(Y)).size(), M);
}

double cglb_flops(Index rows, Index dims, Index outputs, Index M) {
  return 20.0 * cglb_step_flops(rows, dims, outputs, M);
}

Cost streaming_cost(const RowSource& rows, Index M) {
  const auto n = static_cast<double>(rows.rows());
  Cost cost = sparse_cost(n, columns_by_pattern(rows).size(), M);
  const double sample = std::min(n, std::max(20000.0, 40.0 * static_cast<double>(M)));
  const double subset = std::min(n, 2048.0);
  // The rows and the columns of Kuf that the greedy choice keeps; or the exact fit of a subset.
  cost.bytes += 8.0 * sample * static_cast<double>(rows.dims() + rows.outputs()) +
                8.0 * std::max(sample * static_cast<double>(M), 2.0 * subset * subset);
  return cost;
}

double available_memory() {
  double free = meminfo("MemAvailable");
  if (const double limit = cgroup("memory.max"); std::isfinite(limit))
    free = std::min(free, std::max(0.0, limit - cgroup("memory.current")));
  rlimit own{};
  if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
    free = std::min(free, static_cast<double>(own.rlim_cur));
  return free;
}

double total_memory() { return std::min(meminfo("MemTotal"), cgroup("memory.max")); }

std::string in_gigabytes(double bytes) {
  return bytes < 1e8 ? fmt::format("{:.1f} MB", bytes * 1e-6)
                     : fmt::format("{:.1f} GB", bytes * 1e-9);
}

void require_memory(double bytes, Index rows, const std::string& what, bool exact) {
  const double there = available_memory();
  if (bytes <= there) return;
  if (!exact)
    throw Error("memory", fmt::format("{} needs {} of memory and {} are available; use fewer "
                                      "inducing inputs (--inducing)",
                                      what, in_gigabytes(bytes), in_gigabytes(there)));
  const double most = std::floor(static_cast<double>(rows) * std::sqrt(0.9 * there / bytes));
  throw Error("memory", fmt::format("{} needs {} of memory and {} are available; use a sparse "
                                    "model (--model vfe) or fewer rows: about {} fit",
                                    what, in_gigabytes(bytes), in_gigabytes(there), most));
}

}  // namespace covary::cli
