#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "common.hpp"
#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"

namespace {

using covary::cli::json;

// 0 done, 1 the work failed, 2 the call was wrong.
int status_of(const covary::Error& e) {
  return e.kind() == "input" || e.kind() == "expression" || e.kind() == "unsupported" ? 2 : 1;
}

int fail(bool as_json, const std::string& message, const std::string& kind, int status) {
  if (as_json)
    fmt::print("{}\n", json{{"error", message}, {"kind", kind}}.dump());
  else
    fmt::print(stderr, "covary: {}\n", message);
  return status;
}

bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--json") return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Covary: Gaussian processes from the shell"};
  app.set_version_flag("--version", "covary " COVARY_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n  covary fit train.csv --target y --out model.cov\n"
      "  covary predict model.cov new.csv --out predictions.csv");
  std::vector<std::unique_ptr<covary::cli::Verb>> verbs;
  covary::cli::add_fit(app, verbs);
  covary::cli::add_predict(app, verbs);
  covary::cli::add_evaluate(app, verbs);
  covary::cli::add_show(app, verbs);
  covary::cli::add_example(app, verbs);
  covary::cli::add_experiment(app, verbs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return fail(asks_for_json(argc, argv), fmt::format("{} (see --help)", e.what()), "usage", 2);
  }
  for (const auto& verb : verbs) {
    if (!verb->app->parsed()) continue;
    const bool as_json = verb->common.as_json;
    try {
      covary::set_threads(verb->common.threads);
      const auto outcome = verb->run(verb->common);
      if (as_json)
        fmt::print("{}\n", outcome.object.dump());
      else
        fmt::print("{}", outcome.text);
      if (std::fflush(stdout) != 0)
        return fail(false, "standard output could not be written", "file", 1);
      return outcome.status;
    } catch (const covary::Error& e) {
      return fail(as_json, e.what(), e.kind(), status_of(e));
    } catch (const std::bad_alloc&) {
      return fail(as_json, "out of memory; use fewer rows", "memory", 1);
    } catch (const std::exception& e) {
      return fail(as_json, e.what(), "internal", 1);
    }
  }
  return 2;
}
