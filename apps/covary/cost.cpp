#include "cost.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/memory.hpp"

namespace covary::cli {
namespace {

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
  if (entry.reads("fit", "inducing")) return "use fewer inducing inputs (--inducing)";
  // The model of the same targets that has them.
  for (const ModelEntry& lighter : model_table())
    if (lighter.targets == entry.targets && lighter.reads("fit", "inducing"))
      return fmt::format("use {} or fewer rows{}",
                         entry.targets == Targets::none
                             ? "--model " + lighter.name
                             : fmt::format("a sparse model (--model {})", lighter.name),
                         fewer);
  return "use fewer rows" + fewer;
}

}  // namespace

json forecast(const ModelEntry& entry, const ProblemSize& size, Index max_iterations, Index starts,
              const Common& common) {
  const Cost cost = entry.cost(size);
  const bool trains = entry.reads("fit", "max-iter");
  const double there = available_memory();
  if (cost.bytes > there)
    throw Error("memory", fmt::format("{} with {} rows needs {} of memory and {} are available; {}",
                                      entry.label(), size.rows, in_gigabytes(cost.bytes),
                                      in_gigabytes(there), way_out(entry, size, there)));
  if (cost.flops > 2e10 && max_iterations > 0)
    tell(common, fmt::format("{} takes about {:.1e} flops{}{}{}; memory {} of {}",
                             trains ? "an evaluation" : "the fit", cost.flops,
                             entry.targets == Targets::gaussian && entry.reads("fit", "inducing") &&
                                     size.inducing == 0.0
                                 ? " with 500 inducing inputs"
                                 : "",
                             trains ? ", and training 30 to 100 of them" : "",
                             starts > 1 ? fmt::format(" for each of {} starts", starts) : "",
                             in_gigabytes(cost.bytes), in_gigabytes(there)));
  return {{"memory_bytes", cost.bytes}, {"flops_per_evaluation", cost.flops}};
}

}  // namespace covary::cli
