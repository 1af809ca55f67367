#include <fmt/format.h>

#include <algorithm>

#include "cost.hpp"
#include "covary/error.hpp"
#include "cross_validation.hpp"
#include "data_arguments.hpp"
#include "options.hpp"
#include "streaming.hpp"
#include "training_session.hpp"

namespace covary::cli {
namespace {

struct FitArguments {
  std::string train;
  FitOptions options;
};

void check_arguments(const FitOptions& o) {
  check_likelihood(o.likelihood);
  if (o.resume && o.checkpoint.empty())
    throw InputError("--resume needs the checkpoint; name it with --checkpoint FILE");
  if (o.without_outputs && o.out.empty())
    throw InputError("--without-outputs needs a model file; name it with --out FILE");
  if (!o.out.empty() && o.out == o.checkpoint)
    throw InputError("--out and --checkpoint name the same file; give them different ones");
  check_folder(o.out);  // before the work, not after it
  check_folder(o.checkpoint);
}

// What to do after an interruption, in words.
std::string how_to_go_on(const FitOptions& o, bool checkpointed) {
  if (checkpointed)
    return fmt::format("continue with the same command and --resume (state in {})", o.checkpoint);
  if (!o.out.empty()) return fmt::format("continue with the same command and --from {}", o.out);
  return "continue by giving the values above with --set; --checkpoint FILE keeps the state";
}

ModelData read(const std::string& train, const FitOptions& o, const ModelChoice& choice,
               const Common& common) {
  if (choice.has_inputs() && streams(train, o, choice, common))
    return stream_training(train, o, common);
  const Table table = read_table(train, {.header = parse_header(o.header)});
  for (const auto& note : table.notes) tell(common, note);
  return read_for(choice, table, o, [&](const std::string& line) { tell(common, line); });
}

Outcome run_fit(const FitArguments& a, const Common& common) {
  const FitOptions& o = a.options;
  static_cast<void>(Kernel(o.kernel));  // a mistake shows before the data are read
  const ModelChoice choice(o);
  choice.check();
  check_arguments(o);
  if (choice.has_inputs() && o.target.empty())
    throw Error("usage", "--target is required (see --help)");
  FitRequest request = prepare(choice, o, read(a.train, o, choice, common),
                               [&](const std::string& line) { tell(common, line); });
  const auto folds = o.folds.empty() ? std::vector<Split>() : make_folds(o, request.data);
  const json cost = forecast(*request.entry, problem_size(request.data, o), o, common);
  if (!o.from.empty()) request.from = load(o.from)->parameters;

  TrainingSession session(o, common);
  request.session = &session;
  const Fit fit = request.entry->make(request);
  for (const auto& w : fit->summary.warnings) tell(common, "warning: " + w);
  Outcome out = describe(*fit);
  if (!o.out.empty()) (o.without_outputs ? fit->stripped() : fit).save(o.out);
  out.object["file"] = o.out.empty() ? json(nullptr) : json(o.out);
  out.object["cost"] = cost;
  out.text += o.out.empty() ? "not saved: give --out FILE to keep the model\n"
                            : fmt::format("saved to {}\n", o.out);
  if (const auto& file = request.data.file)
    out.object["stream"] = {{"from", file->name()}, {"bytes", file->bytes()}};
  if (request.from)
    out.object["from"] = {
        {"file", o.from}, {"taken", request.taken}, {"not_found", request.not_found}};
  out.object["interrupted"] = Interruption::requested();
  if (Interruption::requested()) {
    tell(common, "interrupted: " + how_to_go_on(o, session.has_checkpoint()));
    out.status = 1;
  } else if (!folds.empty()) {
    const FoldScores scores = cross_validate(request, folds);
    out.object["cross_validation"] = scores.as_json();
    out.text += scores.in_words();
  }
  return out;
}

}  // namespace

void add_fit(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("fit", "Train a model on a table");
  auto a = std::make_shared<FitArguments>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("TRAIN", a->train, "CSV, TSV, NPY or IDX file, gzip too")
      ->required()
      ->group("Data");
  add_fit_options(*sub, a->options);
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
    a->options.given = given_options(*sub);
    return run_fit(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
