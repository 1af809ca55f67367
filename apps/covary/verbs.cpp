#include "program.hpp"

namespace covary::cli {

int run_covary(int argc, char** argv) {
  CLI::App app{"Covary: Gaussian processes from the shell"};
  app.set_version_flag("--version", version_text, "The version and build facts");
  app.require_subcommand(1);
  app.footer(
      "Example:\n  covary fit train.csv --target y --out model.cov\n"
      "  covary predict model.cov new.csv --out predictions.csv");
  std::vector<std::unique_ptr<Verb>> verbs;
  add_fit(app, verbs);
  add_predict(app, verbs);
  add_evaluate(app, verbs);
  add_sample(app, verbs);
  add_update(app, verbs);
  add_compress(app, verbs);
  add_compare(app, verbs);
  add_show(app, verbs);
  add_report(app, verbs);
  add_explore(app, verbs);
  add_example(app, verbs);
  add_models(app, verbs);
  add_experiment(app, verbs);
  add_doctor(app, verbs);
  return run_program(app, verbs, argc, argv);
}

}  // namespace covary::cli
