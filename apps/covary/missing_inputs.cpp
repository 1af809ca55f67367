#include "missing_inputs.hpp"

#include <fmt/format.h>

#include "covary/models/missing_inputs.hpp"
#include "progress.hpp"

namespace covary::cli {
bool has_missing_inputs(const TrainingArguments& t, const TrainingData& d) {
  return t.missing == "learn" && d.X.array().isNaN().any();
}

RegressionFit fit_learned(const TrainingArguments& t, const SparseArguments& s,
                          const TrainingData& d, const std::string& kernel, const Common& common) {
  const RegressionOptions plain = regression_options(t, d, kernel);
  MissingInputsOptions o;
  o.kernel = plain.kernel;
  if (const Index M = inducing_of(s)) o.inducing = M;
  o.scale_inputs = plain.scale_inputs;
  o.scale_outputs = plain.scale_outputs;
  o.jitter = plain.jitter;
  o.seed = plain.seed;
  o.training = plain.training;
  o.training.stop = Interruption::requested;
  Progress progress(Progress::kind(t.verbose, common.quiet), o.training.gradient_tolerance,
                    t.max_iter, 0.0);
  o.training.after_iteration = [&](const TrainingProgress& now) { progress.show(now); };
  o.training.tell = [&](const std::string& text) { tell(common, text); };
  tell(common, fmt::format("{} of {} inputs are missing and will be learned",
                           d.X.array().isNaN().count(), d.X.size()));
  const Interruption interruption;
  MissingInputsFit fit = MissingInputsRegression(d.X, d.Y, o).fit();
  progress.clear();
  return std::move(fit.regression);
}

}  // namespace covary::cli
