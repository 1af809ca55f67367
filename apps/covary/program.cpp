#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary::cli {
namespace {

// 0 done, 1 the work failed, 2 the call was wrong.
int status_of(const Error& e) {
  for (const char* kind : {"usage", "input", "expression", "unsupported"})
    if (e.kind() == kind) return 2;
  return 1;
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

// The first verb or option that does not exist, with the nearest that does; empty if all do.
std::string unknown_word(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> names;
  const CLI::App* verb = nullptr;
  for (const CLI::App* sub : app.get_subcommands({})) {
    names.push_back(sub->get_name());
    if (sub->get_name() == argv[1]) verb = sub;
  }
  if (!verb) return fmt::format("unknown command '{}'{}", argv[1], did_you_mean(argv[1], names));
  names.clear();
  for (const CLI::Option* option : verb->get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    if (name.size() > 2 && name.starts_with("--") &&
        std::find(names.begin(), names.end(), name) == names.end())
      return fmt::format("{} has no option {}{}", argv[1], name, did_you_mean(name, names));
  }
  return "";
}

}  // namespace

int run_program(CLI::App& app, const std::vector<std::unique_ptr<Verb>>& verbs, int argc,
                char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    const std::string unknown = unknown_word(app, argc, argv);
    return fail(asks_for_json(argc, argv),
                fmt::format("{} (see --help)", unknown.empty() ? e.what() : unknown), "usage", 2);
  }
  for (const auto& verb : verbs) {
    if (!verb->app->parsed()) continue;
    const bool as_json = verb->common.as_json;
    try {
      if (verb->common.threads) set_threads(*verb->common.threads);
      const auto outcome = verb->run(verb->common);
      const std::string text = as_json ? outcome.object.dump() + "\n" : outcome.text;
      const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
      if (std::fflush(stdout) != 0 || !written)
        return fail(false, "standard output could not be written", "file", 1);
      return outcome.status;
    } catch (const Error& e) {
      return fail(as_json, e.what(), e.kind(), status_of(e));
    } catch (const std::bad_alloc&) {
      return fail(as_json, "out of memory; use fewer rows", "memory", 1);
    } catch (const std::exception& e) {
      return fail(as_json, e.what(), "internal", 1);
    }
  }
  return 2;
}

}  // namespace covary::cli
