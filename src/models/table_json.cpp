#include "covary/models/table_json.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

namespace covary {
namespace {

std::vector<std::string> words(const std::string& list) {
  std::istringstream from(list);
  std::vector<std::string> out;
  for (std::string word; from >> word;) out.push_back(word);
  return out;
}

// In the order in which `fit` has them.
std::vector<std::string> options_of_fit(const ModelEntry& e) {
  std::vector<std::string> out;
  for (const FitOption& option : fit_options())
    if (e.reads("fit", option.name)) out.push_back(option.name);
  return out;
}

}  // namespace

std::string print(Targets targets) {
  switch (targets) {
    case Targets::gaussian:
      return "numbers with Gaussian noise";
    case Targets::any:
      return "any likelihood";
    case Targets::other:
      return "any likelihood but Gaussian noise";
    case Targets::classes:
      return "classes";
    case Targets::none:
      break;
  }
  return "none: all columns are outputs";
}

std::vector<std::string> abilities(const ModelEntry& e) {
  std::vector<std::string> out;
  for (const ModelCapability& c : model_capabilities())
    if (e.can(c)) out.push_back(c.name);
  return out;
}

std::string as_json(const ModelEntry& e) {
  nlohmann::json options{{"fit", options_of_fit(e)}};
  for (const auto& [verb, read] : e.verbs) options[verb] = words(read);
  return nlohmann::json{{"name", e.name},
                        {"label", e.label()},
                        {"written", e.written},
                        {"aliases", words(e.aliases)},
                        {"sentence", e.sentence},
                        {"use", e.use},
                        {"targets", print(e.targets)},
                        {"time", e.time},
                        {"memory", e.memory},
                        {"page", e.page},
                        {"capabilities", abilities(e)},
                        {"options", options}}
      .dump();
}

}  // namespace covary
