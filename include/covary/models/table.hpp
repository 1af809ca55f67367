#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"
#include "covary/models/fit_options.hpp"

namespace covary {

class Fit;
struct Archive;
struct FitRequest;
struct ModelCapability;

// What a fit costs.
struct Cost {
  double bytes = 0.0;     // at its peak, besides the data
  double flops = 0.0;     // of one evaluation of the objective with gradients, or of one minibatch
  double starts = 1.0;    // of training, unless the user gives their number
  double inducing = 0.0;  // guessed, where the model finds their number by itself
};

// What a forecast of the cost is made from.
struct ProblemSize {
  double rows = 0.0, inputs = 1.0, outputs = 1.0;
  std::vector<double> patterns =
      {};                  // observed rows of each pattern of missing outputs; empty: all
  double inducing = 0.0;   // 0: as many as the model takes by itself
  double latent = 0.0;     // dimensions of a latent space; 0: likewise
  double functions = 1.0;  // latent functions of the likelihood
  double views = 1.0;
  double batch = 0.0;  // rows of a minibatch; 0: as the model takes them
  bool standard_errors = false, stream = false, dynamics = false;
};

// Which targets a model is for.
enum class Targets {
  gaussian,  // numbers with Gaussian noise
  any,       // any likelihood
  other,     // any likelihood, under a name that with Gaussian noise means another model
  classes,   // labels
  none       // rows without inputs, whose columns are the outputs
};

// Whether its name takes a number in brackets, as pep(0.5) does.
enum class Power { none, optional, required };

// Beside what a model's plain form reads, one of its forms may read fewer options or others.
enum class Form { plain, minibatches, missing_inputs };

// A model that a user asks for by name. Lists of words are separated by spaces; options are written
// without their dashes.
struct ModelEntry {
  std::string name;     // "vfe"
  std::string written;  // how --model has it: "pep(α)"
  std::string aliases;
  Targets targets;
  Form form;
  std::string sentence, use, time, memory, page;
  Cost (*cost)(const ProblemSize&);
  std::string properties;  // what the data may be, in words of model_capabilities()
  std::string fit;         // the options of `fit` that it reads
  // What its fits can be given to: each verb with those of its options that depend on the model.
  std::vector<std::pair<std::string, std::string>> verbs;
  Fit (*make)(FitRequest& request);  // trains one
  std::string kind;                  // of its fits in a file
  Fit (*restore)(const Archive& from);
  Power power = Power::none;

  std::string label()
      const;  // written, with its form or its targets where the name alone is not enough
  bool reads(const std::string& verb, const std::string& option) const;
  bool takes(const std::string& verb) const;
  bool can(const ModelCapability& capability) const;
};

const std::vector<ModelEntry>& model_table();
// Adds a model of your own; before the table is used.
void add_model(ModelEntry entry);

// Something that a model can or cannot do: a property of the data it takes, a verb, or an option.
struct ModelCapability {
  std::string name, verb, option, meaning;  // of a property, the verb is empty
};
const std::vector<ModelCapability>& model_capabilities();

// What an expression such as "vfe", "sparse", "pep(0.5)" or "auto" names: more than one entry where
// the data, or other options, decide between them. InputError, with the nearest of all names, if
// there is none.
struct NamedModel {
  std::string text;
  std::optional<double> power;  // the number in brackets
  std::vector<const ModelEntry*> entries;

  bool is_auto() const { return text == "auto"; }
};
NamedModel parse_model(const std::string& text);

// What is known when `auto` is decided.
struct AutoChoice {
  bool gaussian = true;  // else another likelihood
  bool laplace = true;   // whether that likelihood has Laplace's method
  Index rows = 0, functions = 1;
  bool in_memory = true;
  Index outputs = 1;
};
// The name that `auto` stands for: exact inference up to 2000 rows (of other likelihoods laplace,
// with several latent functions up to 1000, and one output), else inducing variables: vfe, svgp, or
// sor where the features are functions. An option that only the latter reads is a wish for them.
const ModelEntry& choose_model(const AutoChoice& data, const std::vector<std::string>& options,
                               bool parametric_features);

// Between which `auto` chooses.
std::vector<const ModelEntry*> auto_models(bool parametric_features);

// The entries that read an option, or with none take the verb, as "laplace, ep or svgp"; a name
// that stands for several entries comes once if all of them do.
std::string readers_of(const std::string& verb, const std::string& option);

}  // namespace covary
