#include "covary/models/forecast.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/memory.hpp"

namespace covary {
namespace {

ProblemSize with_rows(ProblemSize size, double share) {
  size.rows *= share;
  for (double& n : size.patterns) n *= share;
  return size;
}

ProblemSize with_inducing(ProblemSize size, double number) {
  size.inducing = number;
  return size;
}

// What to try where the memory is too small: fewer inducing inputs, if one would fit; else another
// model or fewer rows. With how many would fit, of the memory that is there nine tenths.
std::string way_out(const ModelEntry& entry, const ProblemSize& size, double there) {
  const auto fits = [&](const ProblemSize& some) { return entry.cost(some).bytes <= 0.9 * there; };
  const auto most = [](double low, double high, const auto& fit) {
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      (fit(middle) ? low : high) = middle;
    }
    return low;
  };
  const bool has_inducing = entry.reads("fit", "inducing");
  if (has_inducing && fits(with_inducing(size, 1.0)))
    return fmt::format("use fewer inducing inputs (--inducing): about {} fit",
                       std::floor(most(1.0, size.inducing > 0.0 ? size.inducing : size.rows,
                                       [&](double m) { return fits(with_inducing(size, m)); })));
  const double rows = std::round(
      size.rows * most(0.0, 1.0, [&](double share) { return fits(with_rows(size, share)); }));
  const std::string fewer = rows < 2.0 ? "" : fmt::format(": about {} fit", rows);
  // The model of the same targets that has inducing inputs.
  for (const ModelEntry& lighter : model_table())
    if (!has_inducing && lighter.targets == entry.targets && lighter.reads("fit", "inducing"))
      return fmt::format("use {} or fewer rows{}",
                         entry.targets == Targets::none
                             ? "--model " + lighter.name
                             : fmt::format("a sparse model (--model {})", lighter.name),
                         fewer);
  return "use fewer rows" + fewer;
}

}  // namespace

Cost forecast(const ModelEntry& entry, const ProblemSize& size, const FitOptions& options,
              const Tell& tell) {
  const Cost cost = entry.cost(size);
  const bool trains = entry.reads("fit", "max-iter");
  const double starts = options.restarts > 0 ? static_cast<double>(options.restarts) : cost.starts;
  const double there = available_memory();
  if (cost.bytes > there)
    throw Error("memory", fmt::format("{} with {} rows needs {} of memory and {} are available; {}",
                                      entry.label(), size.rows, memory::in_gigabytes(cost.bytes),
                                      memory::in_gigabytes(there), way_out(entry, size, there)));
  if (cost.flops > 2e10 && options.max_iter > 0)
    tell(fmt::format(
        "{} takes about {:.1e} flops{}{}{}; memory {} of {}", trains ? "an evaluation" : "the fit",
        cost.flops,
        cost.inducing > 0.0 ? fmt::format(" with {} inducing inputs", cost.inducing) : "",
        trains ? ", and training 30 to 100 of them" : "",
        starts > 1.0 ? fmt::format(" for each of {} starts", starts) : "",
        memory::in_gigabytes(cost.bytes), memory::in_gigabytes(there)));
  return cost;
}

}  // namespace covary
