#include "program.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Covary: Gaussian processes from the shell"};
  app.set_version_flag("--version", covary::cli::version_text, "The version and build facts");
  app.require_subcommand(1);
  app.footer(
      "Example:\n  covary fit train.csv --target y --out model.cov\n"
      "  covary predict model.cov new.csv --out predictions.csv");
  std::vector<std::unique_ptr<covary::cli::Verb>> verbs;
  covary::cli::add_fit(app, verbs);
  covary::cli::add_predict(app, verbs);
  covary::cli::add_evaluate(app, verbs);
  covary::cli::add_sample(app, verbs);
  covary::cli::add_update(app, verbs);
  covary::cli::add_compress(app, verbs);
  covary::cli::add_compare(app, verbs);
  covary::cli::add_show(app, verbs);
  covary::cli::add_report(app, verbs);
  covary::cli::add_explore(app, verbs);
  covary::cli::add_example(app, verbs);
  covary::cli::add_models(app, verbs);
  covary::cli::add_experiment(app, verbs);
  covary::cli::add_doctor(app, verbs);
  return covary::cli::run_program(app, verbs, argc, argv);
}
