// The table of models, for people and for programs.
#include <fmt/format.h>

#include "covary/models/table_json.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

std::vector<std::string> options_of(const ModelEntry& e, const std::string& verb) {
  std::vector<std::string> out;
  for (const auto& name : option_names(verb))
    if (e.reads(verb, name)) out.push_back(name);
  return out;
}

std::string in_short(const ModelEntry& e) {
  const std::string name = e.label() + (e.aliases.empty() ? "" : " (= " + e.aliases + ")");
  return fmt::format("{}\n    {}\n    time {}; memory {}\n    {}\n", name, e.use, e.time, e.memory,
                     fmt::join(abilities(e), ", "));
}

std::string in_full(const ModelEntry& e) {
  std::string out = fmt::format(
      "{}{}\n  {}\n  use it for  {}\n  targets     {}\n  time        {}\n  memory      {}\n"
      "  page        docs/{}\n",
      e.label(), e.aliases.empty() ? "" : " (= " + e.aliases + ")", e.sentence, e.use,
      print(e.targets), e.time, e.memory, e.page);
  out += "can\n";
  for (const ModelCapability& c : model_capabilities())
    if (e.can(c)) out += fmt::format("  {:<18} {}\n", c.name, c.meaning);
  std::vector<std::string> verbs{"fit"};
  for (const auto& [verb, unused] : e.verbs) verbs.push_back(verb);
  for (const auto& verb : verbs) {
    const auto options = options_of(e, verb);
    if (options.empty()) continue;
    out += fmt::format("options of {}\n", verb);
    for (const auto& name : options)
      out += fmt::format("  --{:<16} {}\n", name, help_of(verb, name));
  }
  return out;
}

Outcome run_models(const std::string& name) {
  Outcome out;
  out.object["models"] = json::array();
  std::vector<const ModelEntry*> shown;
  for (const ModelEntry& e : model_table())
    if (name.empty() || name == "auto" || (name == e.label() && name != e.name))
      shown.push_back(&e);
  if (shown.empty()) shown = parse_model(name == "pep" ? "pep(0.5)" : name).entries;
  for (const ModelEntry* e : shown) {
    out.object["models"].push_back(json::parse(as_json(*e)));
    if (!out.text.empty() && !name.empty()) out.text += "\n";
    out.text += name.empty() ? in_short(*e) : in_full(*e);
  }
  if (name.empty())
    out.text +=
        "N rows, M inducing inputs, B rows of a minibatch, Q latent dimensions, P outputs, D "
        "inputs\ncovary models NAME lists the options of a model\n";
  return out;
}

}  // namespace

void add_models(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub =
      app.add_subcommand("models", "List the models: what each is for, its cost and options");
  auto name = std::make_shared<std::string>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("NAME", *name, "Model to show in full, as in fit --model");
  sub->footer("Example:\n  covary models\n  covary models vfe");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [name](const Common&) { return run_models(*name); };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
