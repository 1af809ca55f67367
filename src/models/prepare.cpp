// From a table and options to a request.
#include <fmt/format.h>

#include "covary/data/columns.hpp"
#include "covary/error.hpp"
#include "covary/models/model_choice.hpp"
#include "covary/models/request.hpp"
#include "models/roles.hpp"

namespace covary {
namespace {

// Minibatches count epochs, and training by all rows iterations.
void check_lengths(const FitOptions& o, const ModelEntry& entry, Index rows) {
  if (!entry.reads("fit", "batch")) return;
  constexpr Index most_full_rows = 20000;  // of svgp, unless --batch says otherwise
  const bool batches = entry.form == Form::minibatches || o.batch > 0 || rows > most_full_rows;
  // A latent space of the inputs is found by all rows.
  if (batches && o.is_given("max-iter") && o.max_iter > 0 && o.gplvm == 0)
    throw InputError(fmt::format(
        "{} trains by minibatches here, for --epochs; --max-iter can only be 0", entry.written));
  for (const char* option : {"epochs", "steps", "learning-rate", "schedule", "decay", "every",
                             "warm-up", "natural-step"})
    if (!batches && o.is_given(option))
      throw InputError(fmt::format(
          "--{} is for minibatches, and {} trains {} rows at once; give --batch, or use --max-iter",
          option, entry.written, rows));
  if (o.is_given("steps") && o.is_given("epochs"))
    throw InputError("give either --steps or --epochs");
  for (const char* option : {"decay", "every"})
    if (o.schedule == "constant" && o.is_given(option))
      throw InputError(
          fmt::format("--{} needs a decaying schedule; --schedule constant has none", option));
}

}  // namespace

ModelData read_for(const ModelChoice& choice, const Table& table, FitOptions options,
                   const Tell& tell) {
  const ModelEntry* only = choice.only();
  if (!choice.has_inputs()) {
    ModelData d = read_outputs(table, options, tell);
    const bool takes_gaps = !only || only->properties.find("missing-outputs") != std::string::npos;
    for (Index i = 0; !takes_gaps && i < d.Y.rows(); ++i)
      if (d.Y.row(i).array().isNaN().any())
        throw InputError(fmt::format("{}; {} needs complete rows: drop it, or fit a gplvm",
                                     missing_cell(table, select_columns(table, d.output_names), i),
                                     only->written));
    return d;
  }
  if (only && only->targets == Targets::classes) {
    if (options.likelihood == "auto") options.likelihood = "softmax";  // numbers, too, are labels
    if (!is_of_classes(options.likelihood))
      throw Unsupported(fmt::format("--model {} takes classes, not the likelihood '{}'",
                                    only->written, options.likelihood));
  }
  return read_data(table, options, tell);
}

FitRequest prepare(const ModelChoice& choice, FitOptions options, ModelData data, Tell tell,
                   bool strict) {
  const ModelEntry* only = choice.only();
  if (!data.likelihood && only && only->targets == Targets::any)
    data.likelihood = Likelihood("gaussian");
  FitRequest out;
  out.entry = choice.has_inputs() ? &choice.resolve(data, strict) : only;
  out.model = choice.name_of(*out.entry);
  check_lengths(options, *out.entry, data.count());
  options.kernel = kernel_on_columns(options.kernel, data.inputs);
  out.options = std::move(options);
  out.data = std::move(data);
  out.tell = std::move(tell);
  return out;
}

}  // namespace covary
