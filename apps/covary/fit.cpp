#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "checkpointing.hpp"
#include "cost.hpp"
#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"
#include "covary/storage/checkpoint.hpp"
#include "cross_validation.hpp"
#include "describe.hpp"
#include "progress.hpp"
#include "training_arguments.hpp"

namespace covary::cli {
namespace {

struct FitArguments {
  TrainingArguments training;
  std::string model = "exact", kernel = "se(ard)", from, out, checkpoint, standard_errors = "auto";
  bool resume = false, without_outputs = false;
};

void check_arguments(const FitArguments& a) {
  if (a.model != "exact" && a.model != "auto")
    throw Unsupported(fmt::format("model '{}' is not offered by this version{}; it has: exact",
                                  a.model, did_you_mean(a.model, {"exact", "auto"})));
  if (a.resume && a.checkpoint.empty())
    throw InputError("--resume goes on from a checkpoint; name it with --checkpoint FILE");
  if (a.without_outputs && a.out.empty())
    throw InputError("--without-outputs is about the model file; name it with --out FILE");
  if (!a.out.empty() && a.out == a.checkpoint)
    throw InputError("--out and --checkpoint name the same file; give them different ones");
  check_folder(a.out);  // before the work, not after it
  check_folder(a.checkpoint);
}

// The starting values that another model has to offer: those whose path and size match.
json start_from(const std::string& file, Parameters& parameters, const Common& common) {
  const Parameters other = load_model(file).fit.parameters;
  std::vector<std::string> taken, left;
  for (const Parameter& p : std::vector<Parameter>(parameters.all())) {
    const bool matches = other.contains(p.path) && other.at(p.path).value.size() == p.value.size();
    (matches ? taken : left).push_back(p.path);
    if (matches) parameters.set(p.path, other.at(p.path).value);
  }
  tell(common,
       fmt::format("start from {}: {}{}", file,
                   taken.empty() ? "nothing" : fmt::format("{}", fmt::join(taken, ", ")),
                   left.empty() ? "" : fmt::format("; not in it: {}", fmt::join(left, ", "))));
  return {{"file", file}, {"taken", taken}, {"not_found", left}};
}

// Tells what a long run will cost, and refuses one that cannot fit.
json forecast(const TrainingData& d, const FitArguments& a, Index starts, const Common& common) {
  const Cost cost = exact_cost(d.Y, a.standard_errors == "yes");
  require_memory(cost.bytes, d.X.rows(), fmt::format("exact regression of {} rows", d.X.rows()));
  if (cost.flops > 2e10 && a.training.max_iter > 0)
    tell(common,
         fmt::format("an evaluation takes {:.1e} flops, a fit some 30 to 100 of them{}; "
                     "memory {} of {}",
                     cost.flops, starts > 1 ? fmt::format(" for each of {} starts", starts) : "",
                     in_gigabytes(cost.bytes), in_gigabytes(available_memory())));
  return {{"memory_bytes", cost.bytes}, {"flops_per_evaluation", cost.flops}};
}

// What to do after an interruption, in words.
std::string how_to_go_on(const FitArguments& a, bool checkpointed) {
  if (checkpointed)
    return fmt::format("go on with the same command and --resume (state in {})", a.checkpoint);
  if (!a.out.empty()) return fmt::format("go on with the same command and --from {}", a.out);
  return "go on by giving the values above with --set; --checkpoint FILE would have kept the state";
}

Outcome run_fit(const FitArguments& a, const Common& common) {
  check_arguments(a);
  const TrainingArguments& t = a.training;
  static_cast<void>(Kernel(a.kernel));  // a mistake shows before the data are read
  const TrainingData d = read_training(t, common);
  const auto folds = t.folds.empty() ? std::vector<Split>() : make_folds(t, d);
  RegressionOptions options = regression_options(t, d, a.kernel);
  options.standard_errors = a.standard_errors == "yes"  ? Switch::on
                            : a.standard_errors == "no" ? Switch::off
                                                        : Switch::automatic;
  const Index starts = t.restarts ? t.restarts : (d.X.rows() <= 1000 ? 3 : 1);
  const json cost = forecast(d, a, starts, common);

  std::optional<Interruption> interruption(std::in_place);
  Checkpointing checkpointing(a.checkpoint, common);
  std::optional<Progress> progress;
  options.training.stop = Interruption::requested;
  options.after_iteration = [&](const TrainingState& state) {
    progress->show(state);
    checkpointing.keep(state);
  };
  Regression model(d.X, d.Y, options, d.noise);
  json from;
  if (!a.from.empty()) from = start_from(a.from, model.parameters(), common);
  apply_settings(t, model.parameters());
  if (!a.checkpoint.empty()) checkpointing.problem = problem_digest(d, options, model.parameters());
  if (a.resume &&
      !std::filesystem::exists(a.checkpoint)) {  // one command serves first and later runs
    tell(common, fmt::format("no checkpoint yet in {}: training begins anew", a.checkpoint));
  } else if (a.resume) {
    TrainingState state = load_checkpoint(a.checkpoint, checkpointing.problem);
    tell(common, fmt::format("resumed at iteration {} of start {}", state.restarts.run->iterations,
                             state.restarts.start));
    model.resume(std::move(state));
  }
  const auto kind = t.verbose                    ? Progress::Kind::lines
                    : !common.quiet && isatty(2) ? Progress::Kind::bar
                                                 : Progress::Kind::none;
  progress.emplace(kind, starts, options.training.gradient_tolerance, t.max_iter,
                   -model.output_scaling().log_jacobian(d.Y));
  SavedModel saved{model.fit(), d.inputs};
  progress->clear();
  interruption.reset();  // from here on Ctrl-C ends the process, as usual
  saved.fit.input_names = d.inputs.names();
  saved.fit.output_names = d.output_names;
  for (const auto& w : saved.fit.summary.warnings) tell(common, "warning: " + w);
  Outcome out{describe_json(saved), describe_text(saved), 0};
  if (a.without_outputs) saved.fit = without_outputs(std::move(saved.fit));
  if (!a.out.empty()) save_model(a.out, saved);
  out.object["file"] = a.out.empty() ? json(nullptr) : json(a.out);
  out.object["cost"] = cost;
  if (!from.is_null()) out.object["from"] = from;
  out.text += a.out.empty() ? "not saved: give --out FILE to keep the model\n"
                            : fmt::format("saved to {}\n", a.out);
  out.object["interrupted"] = Interruption::requested();
  if (Interruption::requested()) {
    const bool checkpointed = checkpointing.save();
    tell(common, "interrupted: " + how_to_go_on(a, checkpointed));
    out.status = 1;
  } else if (!folds.empty()) {
    const HeldOut held_out = cross_validate(t, d, a.kernel, folds);
    const json scores = out.object["cross_validation"] = score_json(held_out, folds.size());
    out.text +=
        fmt::format("{} folds: nlpd {:.4f} ± {:.4f}, rmse {:.6g} ± {:.2g}\n", folds.size(),
                    scores["nlpd"].get<double>(), scores["nlpd_standard_error"].get<double>(),
                    scores["rmse"].get<double>(), scores["rmse_standard_error"].get<double>());
  }
  return out;
}

}  // namespace

void add_fit(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("fit", "Train a model on a table");
  auto a = std::make_shared<FitArguments>();
  auto verb = std::make_unique<Verb>();
  add_training_options(*sub, a->training);
  sub->add_option("--model", a->model, "exact or auto")->capture_default_str();
  sub->add_option("--kernel", a->kernel, "Kernel expression")->capture_default_str();
  sub->add_option("--from", a->from, "Model file: start at its parameters where paths match");
  sub->add_option("--standard-errors", a->standard_errors, "auto, yes or no")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  sub->add_option("--checkpoint", a->checkpoint, "File that keeps the state of training");
  sub->add_flag("--resume", a->resume, "Go on from the checkpoint");
  sub->add_option("--out", a->out, "Model file to write");
  sub->add_flag("--without-outputs", a->without_outputs,
                "Leave the training outputs out of the model file");
  sub->footer(
      "Example:\n  covary fit train.csv --target y --kernel 'se(ard) + linear' --out model.cov");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a](const Common& common) { return run_fit(*a, common); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
