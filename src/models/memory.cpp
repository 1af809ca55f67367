#include "covary/models/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "covary/error.hpp"

namespace covary {
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

}  // namespace

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

std::string memory::in_gigabytes(double bytes) {
  return bytes < 1e8 ? fmt::format("{:.1f} MB", bytes * 1e-6)
                     : fmt::format("{:.1f} GB", bytes * 1e-9);
}

void require_memory(double bytes, Index rows, const std::string& what) {
  const double there = available_memory();
  if (bytes <= there) return;
  const double most = std::floor(static_cast<double>(rows) * std::sqrt(0.9 * there / bytes));
  throw Error("memory",
              fmt::format("{} needs {} of memory and {} are available; use fewer rows: "
                          "about {} fit",
                          what, memory::in_gigabytes(bytes), memory::in_gigabytes(there), most));
}

}  // namespace covary
