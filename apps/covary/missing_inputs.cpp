#include "missing_inputs.hpp"

#include <fmt/format.h>

#include "checkpointing.hpp"
#include "covary/models/missing_inputs.hpp"

namespace covary::cli {
bool has_missing_inputs(const TrainingArguments& t, const TrainingData& d) {
  return t.missing == "learn" && d.X.array().isNaN().any();
}

RegressionFit fit_learned(const TrainingArguments& t, const SparseArguments& s,
                          const TrainingData& d, const std::string& kernel,
                          const CheckpointArguments& checkpoint, bool& checkpointed,
                          const Common& common) {
  const RegressionOptions plain = regression_options(t, d, kernel);
  MissingInputsOptions o;
  o.kernel = plain.kernel;
  if (const Index M = inducing_of(s)) o.inducing = M;
  o.scale_inputs = plain.scale_inputs;
  o.scale_outputs = plain.scale_outputs;
  o.jitter = plain.jitter;
  o.seed = plain.seed;
  o.training = plain.training;
  TrainingSession session(t, checkpoint, common);
  session.attach(o.training);
  tell(common, fmt::format("{} of {} inputs are missing and will be learned",
                           d.X.array().isNaN().count(), d.X.size()));
  TrainingState state;
  if (session.keeps())
    state = session.resume(problem_digest(d, plain, {}) + fmt::format("missing {}", o.inducing));
  session.begin();
  MissingInputsFit fit = MissingInputsRegression(d.X, d.Y, o).fit(std::move(state));
  checkpointed = session.has_checkpoint();
  session.end();
  return std::move(fit.regression);
}

}  // namespace covary::cli
