#include "checkpointing.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "covary/models/checkpoint.hpp"
#include "covary/statistics/sweep.hpp"
#include "covary/storage/sha256.hpp"

namespace covary::cli {
namespace {

void add(Sha256& digest, const char* name, const double* values, Index size) {
  digest.update(fmt::format("\n{} {}:", name, size));
  digest.update(std::as_bytes(std::span(values, static_cast<std::size_t>(size))));
}

}  // namespace

std::string problem_digest(const TrainingData& d, const RegressionOptions& options,
                           const Parameters& parameters) {
  Sha256 digest;
  digest.update(fmt::format(
      "{}×{} → {} {} | {} | {} {} | {} {} {}", d.count(), d.file ? d.file->dims() : d.X.cols(),
      d.file ? d.file->outputs() : d.Y.cols(), options.kernel.print(), options.mean.print(),
      static_cast<int>(options.scale_inputs), static_cast<int>(options.scale_outputs),
      options.jitter, options.training.starts, options.seed));
  if (d.file)
    Sweep(*d.file, 4096).for_each_block([&](const DataBlock& block) {
      add(digest, "x", block.x.data, block.x.n * block.x.dims);
      add(digest, "y", block.y, block.x.n * block.outputs);
    });
  add(digest, "X", d.X.data(), d.X.size());
  add(digest, "Y", d.Y.data(), d.Y.size());
  add(digest, "noise", d.noise.data(), d.noise.size());
  if (d.likelihood) {
    digest.update("\n" + d.likelihood->print());
    add(digest, "aux", d.aux.data(), d.aux.size());
    add(digest, "weights", d.weights.data(), d.weights.size());
  }
  for (const Parameter& p : parameters.all()) {
    digest.update(fmt::format("\n{} {} {} {} {} {} {} {}", p.path,
                              static_cast<int>(p.transform.kind()), p.transform.low(),
                              p.transform.high(), p.prior ? p.prior->describe() : "-", p.trainable,
                              p.tied_to, p.ratio));
    add(digest, "value", p.value.data(), p.value.size());
  }
  return digest.hex();
}

TrainingState resumed_state(const std::string& file, bool resume, const std::string& problem,
                            const Common& common) {
  if (!resume) return {};
  if (!std::filesystem::exists(file)) {
    // One command serves first and later runs.
    tell(common, fmt::format("no checkpoint in {} yet: training starts from the beginning", file));
    return {};
  }
  TrainingState state = load_checkpoint(file, problem);
  tell(common, state.minibatches
                   ? fmt::format("resumed at step {}", state.minibatches->step)
                   : fmt::format("resumed at iteration {} of part {}",
                                 state.run ? state.run->iterations : 0, state.done.size()));
  return state;
}

}  // namespace covary::cli
