#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "covary/models/run.hpp"

namespace covary::cli {

using nlohmann::json;

// Options that every verb has.
struct Common {
  bool as_json = false;
  bool quiet = false;
  std::optional<int> threads;
};
void add_common(CLI::App& app, Common& common);
// Of an option that counts something: a whole number of at least one.
CLI::Validator at_least_one();
// A number of at least zero; CLI11's own message prints the largest double.
CLI::Validator at_least_zero();

// What a verb hands back: the JSON object, and the text for people.
struct Outcome {
  json object;
  std::string text;
  int status = 0;
};

// A verb is a set-up of its options and a run. main() deals with output and errors.
struct Verb {
  CLI::App* app;
  Common common;
  std::function<Outcome(const Common&)> run;
};
void add_fit(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_predict(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_evaluate(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_sample(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_update(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_compress(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_compare(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_show(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_report(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_explore(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_example(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_experiment(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_models(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
void add_doctor(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs);
std::string version_text();  // the version and what the build is made of

// JSON has no NaN: null stands for numbers that are not finite.
json finite(double v);
json finite(const Vector& v);

// A line on standard error for people, unless quiet.
void tell(const Common& common, const std::string& line);
// The same as what a call of the library tells.
Tell teller(const Common& common);

}  // namespace covary::cli
