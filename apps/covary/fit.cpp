#include <fmt/format.h>

#include "covary/models/run.hpp"
#include "data_arguments.hpp"
#include "options.hpp"
#include "training_session.hpp"

namespace covary::cli {
namespace {

struct FitArguments {
  std::string train;
  FitOptions options;
};

// What to do after an interruption, in words.
std::string how_to_go_on(const FitOptions& o, bool checkpointed) {
  if (checkpointed)
    return fmt::format("continue with the same command and --resume (state in {})", o.checkpoint);
  if (!o.out.empty()) return fmt::format("continue with the same command and --from {}", o.out);
  return "continue by giving the values above with --set; --checkpoint FILE keeps the state";
}

Outcome run_fit(const FitArguments& a, const Common& common) {
  const FitOptions& o = a.options;
  FitRun run(a.train, o, teller(common));
  TrainingSession session(o, common);
  const Fit fit = run.train(session);
  for (const auto& w : fit->summary.warnings) tell(common, "warning: " + w);
  Outcome out = describe(*fit);
  out.object["file"] = o.out.empty() ? json(nullptr) : json(o.out);
  out.object["cost"] = {{"memory_bytes", run.cost().bytes},
                        {"flops_per_evaluation", run.cost().flops}};
  out.text += o.out.empty() ? "not saved: give --out FILE to keep the model\n"
                            : fmt::format("saved to {}\n", o.out);
  const FitRequest& request = run.request();
  if (const auto& file = request.data.file)
    out.object["stream"] = {{"from", file->name()}, {"bytes", file->bytes()}};
  if (request.from)
    out.object["from"] = {
        {"file", o.from}, {"taken", request.taken}, {"not_found", request.not_found}};
  out.object["interrupted"] = Interruption::requested();
  if (Interruption::requested()) {
    tell(common, "interrupted: " + how_to_go_on(o, session.has_checkpoint()));
    out.status = 1;
  } else if (const auto scores = run.cross_validate()) {
    const Answer said = scores->answer();
    out.object["cross_validation"] = json::parse(said.json);
    out.text += said.text;
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
