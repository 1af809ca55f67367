#include "missing_inputs.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/missing_inputs.hpp"
#include "progress.hpp"

namespace covary::cli {
namespace {

void check(const TrainingArguments& t, const SparseArguments& s) {
  if (s.model != "auto" && s.model != "vfe" && s.model != "sparse")
    throw Unsupported(fmt::format(
        "--missing learn trains a model by vfe; --model {} does not learn its inputs", s.model));
  const std::pair<const char*, bool> unable[] = {
      {"--mean", t.mean != "zero"},    {"--noise", !t.noise.empty()}, {"--folds", !t.folds.empty()},
      {"--set", !t.set.empty()},       {"--fix", !t.fix.empty()},     {"--prior", !t.prior.empty()},
      {"--bounds", !t.bounds.empty()}, {"--tie", !t.tie.empty()}};
  for (const auto& [option, given] : unable)
    if (given) throw Unsupported(fmt::format("{} is not offered with --missing learn", option));
}

}  // namespace

bool has_missing_inputs(const TrainingArguments& t, const TrainingData& d) {
  return t.missing == "learn" && d.X.array().isNaN().any();
}

RegressionFit fit_learned(const TrainingArguments& t, const SparseArguments& s,
                          const TrainingData& d, const std::string& kernel, const Common& common) {
  check(t, s);
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
