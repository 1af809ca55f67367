#include "covary/models/table.hpp"

#include <algorithm>

#include "models/entries.hpp"

namespace covary {
namespace {

std::vector<ModelEntry>& table() {
  static std::vector<ModelEntry> all = [] {
    std::vector<ModelEntry> out;
    for (auto& part :
         {regression_entries(), generalised_entries(), latent_entries(), map_gplvm_entries(),
          ppca_entries(), class_density_entries(), warped_entries()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

bool has_word(const std::string& words, const std::string& word) {
  return !word.empty() && (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

const std::vector<ModelEntry>& model_table() { return table(); }

void add_model(ModelEntry entry) { table().push_back(std::move(entry)); }

std::vector<std::pair<std::string, std::string>> with_any(
    std::vector<std::pair<std::string, std::string>> verbs) {
  for (const char* verb : {"show", "report"})
    if (std::none_of(verbs.begin(), verbs.end(),
                     [&](const auto& own) { return own.first == verb; }))
      verbs.emplace_back(verb, std::string(verb) == "report" ? "data title" : "");
  return verbs;
}

std::string ModelEntry::label() const {
  if (form == Form::minibatches) return written + " by minibatches";
  if (form == Form::missing_inputs) return written + " with --missing learn";
  return targets == Targets::other ? written + " (non-Gaussian)" : written;
}

bool ModelEntry::takes(const std::string& verb) const {
  for (const auto& [own, options] : verbs)
    if (own == verb) return true;
  return verb == "fit";
}

bool ModelEntry::reads(const std::string& verb, const std::string& option) const {
  if (verb == "fit") return has_word(fit, option);
  for (const auto& [own, options] : verbs)
    if (own == verb) return has_word(options, option);
  return false;
}

const std::vector<ModelCapability>& model_capabilities() {
  static const std::vector<ModelCapability> all = {
      {"several outputs", "", "several-outputs", "more than one target column"},
      {"missing outputs", "", "missing-outputs", "empty cells among the outputs of a row"},
      {"missing inputs", "", "missing-inputs", "empty cells among the inputs"},
      {"likelihoods", "", "likelihoods", "any likelihood (docs/likelihoods.md)"},
      {"classes", "", "classes", "labels as targets"},
      {"restarts", "fit", "restarts", "several starts of training"},
      {"checkpoint", "fit", "checkpoint", "training can be stopped and resumed with the same bits"},
      {"start from", "fit", "from", "starts at the parameters of another model"},
      {"stream", "fit", "stream", "rows that stay in a file"},
      {"folds", "fit", "folds", "cross-validation"},
      {"inducing features", "fit", "features", "inducing variables other than points"},
      {"views", "fit", "view", "groups of outputs with mappings of their own"},
      {"dynamics", "fit", "dynamics", "latent inputs that follow times"},
      {"components", "predict", "components", "predictions of each term of the kernel"},
      {"gradients", "predict", "gradients", "gradients of predictions by the inputs"},
      {"uncertain inputs", "predict", "input-variance", "predictions at Gaussian inputs"},
      {"parameter draws", "predict", "parameter-draws", "predictions over draws of the parameters"},
      {"sample", "sample", "", "joint draws of the function"},
      {"update", "update", "", "conditioning on further rows"},
      {"compress", "compress", "", "a smaller posterior"},
      {"compare", "compare", "", "side by side with other models"},
      {"explore", "explore", "", "a page to walk through the latent space"}};
  return all;
}

bool ModelEntry::can(const ModelCapability& c) const {
  if (c.verb.empty()) return has_word(properties, c.option);
  return c.option.empty() ? takes(c.verb) : reads(c.verb, c.option);
}

}  // namespace covary
