#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "checkpointing.hpp"
#include "class_density.hpp"
#include "cost.hpp"
#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"
#include "cross_validation.hpp"
#include "describe.hpp"
#include "generalised.hpp"
#include "latent.hpp"
#include "map_gplvm.hpp"
#include "missing_inputs.hpp"
#include "model_choice.hpp"
#include "options.hpp"
#include "ppca.hpp"
#include "streaming.hpp"
#include "training_session.hpp"

namespace covary::cli {
namespace {

struct FitArguments {
  TrainingArguments training;
  SparseArguments sparse;
  LatentArguments latent;
  std::string kernel = "se(ard)", from, out, checkpoint, standard_errors = "auto";
  bool resume = false, without_outputs = false, stream = false;
  std::vector<std::string> given = {};  // options of the call
};

bool is_given(const FitArguments& a, const char* option) {
  return std::find(a.given.begin(), a.given.end(), option) != a.given.end();
}

void check_arguments(const FitArguments& a) {
  check_likelihood(a.training.likelihood);
  if (a.resume && a.checkpoint.empty())
    throw InputError("--resume needs the checkpoint; name it with --checkpoint FILE");
  if (is_given(a, "dynamics-kernel") && a.latent.dynamics.empty())
    throw InputError("--dynamics-kernel needs --dynamics; name the column of times");
  if (a.without_outputs && a.out.empty())
    throw InputError("--without-outputs needs a model file; name it with --out FILE");
  if (!a.out.empty() && a.out == a.checkpoint)
    throw InputError("--out and --checkpoint name the same file; give them different ones");
  check_folder(a.out);  // before the work, not after it
  check_folder(a.checkpoint);
}

// Minibatches count epochs, and training by all rows iterations.
void check_lengths(const FitArguments& a, const ModelEntry& entry, Index rows) {
  if (!entry.reads("fit", "batch")) return;
  constexpr Index most_full_rows = 20000;  // of svgp, unless --batch says otherwise
  const bool batches =
      entry.form == Form::minibatches || a.sparse.batch > 0 || rows > most_full_rows;
  if (batches && is_given(a, "max-iter") && a.training.max_iter > 0)
    throw InputError(fmt::format(
        "{} trains by minibatches here, for --epochs; --max-iter can only be 0", entry.written));
  for (const char* option : {"epochs", "steps", "learning-rate", "schedule", "natural-step"})
    if (!batches && is_given(a, option))
      throw InputError(fmt::format(
          "--{} is for minibatches, and {} trains {} rows at once; give --batch, or use --max-iter",
          option, entry.written, rows));
  if (is_given(a, "steps") && is_given(a, "epochs"))
    throw InputError("give either --steps or --epochs");
}

// The starting values that another model has to offer: those whose path and size match.
json start_from(const std::string& file, Parameters& parameters, const Common& common) {
  const Parameters other = std::visit(
      [&](const auto& m) -> Parameters {
        if constexpr (requires { m.fit.parameters; }) return m.fit.parameters;
        throw Unsupported(fmt::format("{} holds a model without parameters to start from", file));
      },
      load_any_model(file));
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

// What to do after an interruption, in words.
std::string how_to_go_on(const FitArguments& a, bool checkpointed) {
  if (checkpointed)
    return fmt::format("continue with the same command and --resume (state in {})", a.checkpoint);
  if (!a.out.empty()) return fmt::format("continue with the same command and --from {}", a.out);
  return "continue by giving the values above with --set; --checkpoint FILE keeps the state";
}

// Everything around the training of a model of inputs and outputs: starts from files, settings, the
// checkpoint, progress and Ctrl-C.
class Session {
 public:
  Session(const FitArguments& a, const TrainingData& d, const Common& common)
      : a_(a), d_(d), common_(common), around_(a.training, {a.checkpoint, a.resume}, common) {}

  void attach(TrainingOptions& training) { around_.attach(training); }

  GeneralisedFit run_generalised() {
    TrainingHooks hooks;
    hooks.attach = [this](TrainingOptions& training) { attach(training); };
    hooks.settings = [this](Parameters& p) { set_up(p); };
    hooks.resume = [&](const Parameters& parameters) {
      return saved_state(parameters, regression_options(a_.training, d_, a_.kernel));
    };
    around_.begin();
    GeneralisedFit fit = fit_generalised(a_.training, a_.sparse, d_, a_.kernel, hooks);
    around_.end();
    return fit;
  }

  template <class Model>
  RegressionFit run(Model& model, const RegressionOptions& options) {
    set_up(model.parameters());
    model.resume(saved_state(model.parameters(), options));
    around_.begin(-model.log_jacobian());
    RegressionFit fit = model.fit();
    around_.end();
    return fit;
  }
  bool has_checkpoint() const { return around_.has_checkpoint(); }

  json from;

 private:
  void set_up(Parameters& parameters) {
    if (!a_.from.empty()) from = start_from(a_.from, parameters, common_);
    apply_settings(a_.training, parameters);
  }

  // Where training goes on from, if that was asked for.
  TrainingState saved_state(const Parameters& parameters, const RegressionOptions& options) {
    if (!around_.keeps()) return {};
    std::string problem = problem_digest(d_, options, parameters) + a_.sparse.model +
                          a_.sparse.inducing + a_.sparse.features;
    if (d_.likelihood)
      problem += fmt::format(" {} {} {} {} {} {} {}", a_.sparse.batch, a_.sparse.epochs,
                             a_.sparse.steps, a_.sparse.learning_rate, a_.sparse.schedule,
                             a_.sparse.natural_step, a_.sparse.separate_kernels);
    return around_.resume(problem);
  }

  const FitArguments& a_;
  const TrainingData& d_;
  const Common& common_;
  TrainingSession around_;
};

RegressionFit train(const FitArguments& a, const TrainingData& d, Session& session) {
  const auto approximation = approximation_of(a.sparse);
  RegressionOptions options = regression_options(a.training, d, a.kernel);
  options.standard_errors = a.standard_errors == "yes"  ? Switch::on
                            : a.standard_errors == "no" ? Switch::off
                                                        : Switch::automatic;
  session.attach(options.training);
  if (!approximation) {
    Regression model(d.X, d.Y, options, d.noise);
    return session.run(model, options);
  }
  SparseRegressionOptions sparse = sparse_options(a.sparse, *approximation, options, d.inputs,
                                                  !a.from.empty() || a.training.max_iter == 0);
  SparseRegression model =
      d.file ? SparseRegression(d.file, sparse) : SparseRegression(d.X, d.Y, sparse, d.noise);
  return session.run(model, options);
}

// A model of another likelihood than Gaussian regression.
Outcome run_generalised(const FitArguments& a, const TrainingData& d, const json& cost,
                        const Common& common) {
  const auto folds = a.training.folds.empty() ? std::vector<Split>() : make_folds(a.training, d);
  Session session(a, d, common);
  SavedGeneralised saved{session.run_generalised(), d.inputs};
  saved.fit.input_names = d.inputs.names();
  saved.fit.output_name = d.output_names.front();
  for (const auto& w : saved.fit.summary.warnings) tell(common, "warning: " + w);
  Outcome out{describe_json(saved), describe_text(saved), 0};
  if (!a.out.empty()) save_model(a.out, saved);
  out.object["file"] = a.out.empty() ? json(nullptr) : json(a.out);
  out.object["cost"] = cost;
  if (d.file) out.object["stream"] = {{"from", d.file->name()}, {"bytes", d.file->bytes()}};
  if (!session.from.is_null()) out.object["from"] = session.from;
  out.text += a.out.empty() ? "not saved: give --out FILE to keep the model\n"
                            : fmt::format("saved to {}\n", a.out);
  out.object["interrupted"] = Interruption::requested();
  if (Interruption::requested()) {
    const bool checkpointed = session.has_checkpoint();
    tell(common, "interrupted: " + how_to_go_on(a, checkpointed));
    out.status = 1;
  } else if (!folds.empty()) {
    const auto scores = cross_validate_generalised(a.training, a.sparse, d, a.kernel, folds);
    out.object["cross_validation"] = scores.object;
    out.text += scores.text;
  }
  return out;
}

template <class Saved>
Outcome keep(const FitArguments& a, const Saved& saved, bool interrupted) {
  Outcome out{describe_json(saved), describe_text(saved), interrupted ? 1 : 0};
  if (!a.out.empty()) save_model(a.out, saved);
  out.object["file"] = a.out.empty() ? json(nullptr) : json(a.out);
  out.object["interrupted"] = interrupted;
  out.text += a.out.empty() ? "not saved: give --out FILE to keep the model\n"
                            : fmt::format("saved to {}\n", a.out);
  return out;
}

// A model of outputs alone, whose inputs are unknown.
Outcome run_latent(const FitArguments& a, const ModelEntry& entry, const Common& common) {
  json cost;
  const Forecast told = [&](const ProblemSize& size, Index starts) {
    cost = forecast(entry, size, a.training.max_iter, starts, common);
  };
  const auto kept = [&](const auto& saved, bool interrupted) {
    Outcome out = keep(a, saved, interrupted);
    out.object["cost"] = cost;
    return out;
  };
  const auto warned = [&](const auto& run) {
    if (run.interrupted && run.checkpointed) tell(common, "interrupted: " + how_to_go_on(a, true));
    for (const auto& w : run.saved.fit.summary.warnings) tell(common, "warning: " + w);
    return kept(run.saved, run.interrupted);
  };
  if (entry.family == Family::ppca)
    return kept(fit_ppca_of(a.latent, a.training, told, common), false);
  if (entry.family == Family::map_gplvm)
    return warned(
        fit_map_gplvm(a.latent, a.training, a.kernel, {a.checkpoint, a.resume}, told, common));
  return warned(
      fit_latent(a.latent, a.training, a.sparse, a.kernel, {a.checkpoint, a.resume}, told, common));
}

// A density of the inputs for each class.
Outcome run_class_density(const FitArguments& a, const ModelEntry& entry, const Common& common) {
  json cost;
  const ClassDensityRun run = fit_class_density_of(
      a.latent, a.training, a.sparse, a.kernel, {a.checkpoint, a.resume},
      [&](const ProblemSize& size, Index starts) {
        cost = forecast(entry, size, a.training.max_iter, starts, common);
      },
      common);
  if (run.interrupted && run.checkpointed) tell(common, "interrupted: " + how_to_go_on(a, true));
  for (std::size_t k = 0; k < run.saved.fit.densities.size(); ++k)
    for (const auto& w : run.saved.fit.densities[k].summary.warnings)
      tell(common, fmt::format("warning: class {}: {}", run.saved.fit.classes[k], w));
  Outcome out = keep(a, run.saved, run.interrupted);
  out.object["cost"] = cost;
  return out;
}

// What is said of a fit, and where it went.
Outcome give_fit(const FitArguments& a, SavedModel saved) {
  Outcome out{describe_json(saved), describe_text(saved), 0};
  if (a.without_outputs) saved.fit = without_outputs(std::move(saved.fit));
  if (!a.out.empty()) save_model(a.out, saved);
  out.object["file"] = a.out.empty() ? json(nullptr) : json(a.out);
  out.text += a.out.empty() ? "not saved: give --out FILE to keep the model\n"
                            : fmt::format("saved to {}\n", a.out);
  out.object["interrupted"] = Interruption::requested();
  return out;
}

// A regression whose inputs are known in part.
Outcome run_missing_inputs(const FitArguments& a, const TrainingData& d, const json& cost,
                           const Common& common) {
  bool checkpointed = false;
  SavedModel saved{fit_learned(a.training, a.sparse, d, a.kernel, {a.checkpoint, a.resume},
                               checkpointed, common),
                   d.inputs};
  saved.fit.input_names = d.inputs.names();
  saved.fit.output_names = d.output_names;
  for (const auto& w : saved.fit.summary.warnings) tell(common, "warning: " + w);
  Outcome out = give_fit(a, std::move(saved));
  out.object["cost"] = cost;
  out.object["missing_inputs"] = d.X.array().isNaN().count();
  if (Interruption::requested()) {
    if (checkpointed) tell(common, "interrupted: " + how_to_go_on(a, true));
    out.status = 1;
  }
  return out;
}

Outcome run_regression(const FitArguments& a, const TrainingData& d, const json& cost,
                       const Common& common) {
  const TrainingArguments& t = a.training;
  const auto folds = t.folds.empty() ? std::vector<Split>() : make_folds(t, d);
  Session session(a, d, common);
  SavedModel saved{train(a, d, session), d.inputs};
  saved.fit.input_names = d.inputs.names();
  saved.fit.output_names = d.output_names;
  for (const auto& w : saved.fit.summary.warnings) tell(common, "warning: " + w);
  Outcome out = give_fit(a, std::move(saved));
  out.object["cost"] = cost;
  if (d.file) out.object["stream"] = {{"from", d.file->name()}, {"bytes", d.file->bytes()}};
  if (!session.from.is_null()) out.object["from"] = session.from;
  if (Interruption::requested()) {
    const bool checkpointed = session.has_checkpoint();
    tell(common, "interrupted: " + how_to_go_on(a, checkpointed));
    out.status = 1;
  } else if (!folds.empty()) {
    const HeldOut held_out = cross_validate(d, folds, predictions_of([&](const TrainingData& rows) {
                                              return fit_rows(t, a.sparse, rows, a.kernel);
                                            }));
    const json scores = out.object["cross_validation"] = score_json(held_out, folds.size());
    out.text +=
        fmt::format("{} folds: nlpd {:.4f} ± {:.4f}, rmse {:.6g} ± {:.2g}\n", folds.size(),
                    scores["nlpd"].get<double>(), scores["nlpd_standard_error"].get<double>(),
                    scores["rmse"].get<double>(), scores["rmse_standard_error"].get<double>());
  }
  return out;
}

Outcome run_fit(FitArguments a, const Common& common) {
  const TrainingArguments& t = a.training;
  static_cast<void>(Kernel(a.kernel));  // a mistake shows before the data are read
  const ModelChoice choice(t, a.sparse, a.given);
  choice.check();
  check_arguments(a);
  if (!choice.has_inputs()) {
    check_lengths(a, *choice.only(), 0);
    return run_latent(a, *choice.only(), common);
  }
  if (t.target.empty()) throw Error("usage", "--target is required (see --help)");
  if (choice.only() && choice.only()->family == Family::class_density)
    return run_class_density(a, *choice.only(), common);
  TrainingData d =
      streams(a.stream, t, choice, common) ? stream_training(t, common) : read_training(t, common);
  if (!d.likelihood && choice.only() && choice.only()->targets == Targets::any)
    d.likelihood = Likelihood("gaussian");
  const ModelEntry& entry = choice.resolve(d);
  a.sparse.model = choice.name_of(entry);
  check_lengths(a, entry, d.count());
  const Index starts = t.restarts                                           ? t.restarts
                       : entry.family == Family::exact && d.count() <= 1000 ? 3
                                                                            : 1;
  ProblemSize size = size_of(d, a.sparse);
  size.standard_errors = a.standard_errors == "yes";
  const json cost = forecast(entry, size, t.max_iter, starts, common);
  if (d.likelihood) return run_generalised(a, d, cost, common);
  if (has_missing_inputs(t, d)) return run_missing_inputs(a, d, cost, common);
  return run_regression(a, d, cost, common);
}

}  // namespace

void add_fit(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("fit", "Train a model on a table");
  auto a = std::make_shared<FitArguments>();
  auto verb = std::make_unique<Verb>();
  add_training_options(*sub, a->training);
  add_sparse_options(*sub, a->sparse);
  add_latent_options(*sub, a->latent);
  OptionAdder add(*sub, "fit");
  add("model", a->sparse.model)->capture_default_str();
  add("kernel", a->kernel)->capture_default_str();
  add("from", a->from);
  add("standard-errors", a->standard_errors)
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  add("stream", a->stream);
  add("checkpoint", a->checkpoint);
  add("resume", a->resume);
  add("out", a->out);
  add("without-outputs", a->without_outputs);
  sub->footer(
      "Example:\n  covary fit train.csv --target y --kernel 'se(ard) + linear' --out model.cov\n"
      "  covary fit train.csv --target y --stream --inducing 20 --max-iter 10\n"
      "  covary fit train.csv --target y --likelihood student_t --model laplace --max-iter 10\n"
      "  covary fit train.csv --model gplvm --latent 1 --inducing 20 --max-iter 20\n"
      "  covary fit train.csv --model ppca --latent 1\n"
      "  covary fit train.csv --model map_gplvm --latent 1 --back-constraint kernel --max-iter 10");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_fit(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
