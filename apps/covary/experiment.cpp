#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common.hpp"
#include "covary/error.hpp"

namespace covary::cli {
namespace {

// The experiments are a program of their own, so that nobody who only fits models builds them.
constexpr const char* program = "covary-experiments";

std::filesystem::path beside_this_program() {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown ? std::filesystem::path() : self.parent_path() / program;
}

// Becomes that program, with its output, signals and exit status. Returns only if there is none.
void become(std::vector<std::string> words) {
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  const auto beside = beside_this_program();
  if (!beside.empty()) execv(beside.c_str(), argv.data());
  execvp(program, argv.data());
}

}  // namespace

void add_experiment(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("experiment", "Reproduce a published table or figure");
  auto verb = std::make_unique<Verb>();
  // Options, --help too, are the other program's.
  sub->set_help_flag();
  sub->prefix_command();
  verb->app = sub;
  sub->final_callback([sub, &common = verb->common] {
    const auto words = sub->remaining();
    common.as_json = std::find(words.begin(), words.end(), "--json") != words.end();
  });
  verb->run = [sub](const Common&) -> Outcome {
    become(sub->remaining());
    throw FileError(
        fmt::format("cannot start '{}': it is neither beside covary nor on PATH; build it with "
                    "'ninja covary_experiments' in the build directory, or with 'make build'",
                    program));
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
