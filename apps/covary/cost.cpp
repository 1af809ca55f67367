#include "cost.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "covary/error.hpp"
#include "covary/inference/exact.hpp"

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

// What to try where the memory is too small.
std::string way_out(const ModelEntry& entry, const ProblemSize& size, double there) {
  // The share of the rows that would fit.
  double low = 0.0, high = 1.0;
  for (int step = 0; step < 60; ++step) {
    const double share = 0.5 * (low + high);
    ProblemSize some = size;
    some.rows *= share;
    for (double& n : some.patterns) n *= share;
    (entry.cost(some).bytes <= 0.9 * there ? low : high) = share;
  }
  const double rows = std::round(low * size.rows);
  const std::string fewer = rows < 2.0 ? "" : fmt::format(": about {} fit", rows);
  if (entry.family == Family::exact)
    return "use a sparse model (--model vfe) or fewer rows" + fewer;
  if (entry.family == Family::map_gplvm) return "use --model gplvm or fewer rows" + fewer;
  if (entry.reads("fit", "inducing")) return "use fewer inducing inputs (--inducing)";
  if (entry.family == Family::generalised)
    return "use a sparse model (--model svgp) or fewer rows" + fewer;
  return "use fewer rows" + fewer;
}

}  // namespace

std::vector<double> patterns_of(const RowMatrix& Y) {
  std::vector<double> out;
  for (const Pattern& pattern : missing_patterns(Matrix(Y)))
    out.push_back(static_cast<double>(pattern.rows.size()));
  return out;
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

void require_memory(double bytes, Index rows, const std::string& what) {
  const double there = available_memory();
  if (bytes <= there) return;
  const double most = std::floor(static_cast<double>(rows) * std::sqrt(0.9 * there / bytes));
  throw Error("memory", fmt::format("{} needs {} of memory and {} are available; use fewer rows: "
                                    "about {} fit",
                                    what, in_gigabytes(bytes), in_gigabytes(there), most));
}

json forecast(const ModelEntry& entry, const ProblemSize& size, Index max_iterations, Index starts,
              const Common& common) {
  const Cost cost = entry.cost(size);
  const double there = available_memory();
  if (cost.bytes > there)
    throw Error("memory", fmt::format("{} with {} rows needs {} of memory and {} are available; {}",
                                      entry.label(), size.rows, in_gigabytes(cost.bytes),
                                      in_gigabytes(there), way_out(entry, size, there)));
  if (cost.flops > 2e10 && max_iterations > 0)
    tell(common, fmt::format("{} takes about {:.1e} flops{}{}{}; memory {} of {}",
                             entry.family == Family::ppca ? "the fit" : "an evaluation", cost.flops,
                             entry.family == Family::sparse && size.inducing == 0.0
                                 ? " with 500 inducing inputs"
                                 : "",
                             entry.family == Family::ppca ? "" : ", and training 30 to 100 of them",
                             starts > 1 ? fmt::format(" for each of {} starts", starts) : "",
                             in_gigabytes(cost.bytes), in_gigabytes(there)));
  return {{"memory_bytes", cost.bytes}, {"flops_per_evaluation", cost.flops}};
}

}  // namespace covary::cli
