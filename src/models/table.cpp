#include "covary/models/table.hpp"

#include <algorithm>

#include "models/costs.hpp"

namespace covary {
namespace {

// The options that models of one kind read alike.
const std::string any_fit = "target header seed out verbose max-iter max-seconds";
const std::string scaling = " scale no-scale";
const std::string settings = " set fix prior bounds tie";
const std::string kept = " from checkpoint resume";
const std::string supervised =
    any_fit + scaling + settings + kept + " inputs likelihood kernel mean missing folds restarts";
const std::string regression = supervised + " lags noise jitter";
const std::string inducing = " inducing inducing-file selection";
const std::string sparse = regression + inducing + " features";
const std::string other = supervised + " exposure weights pca gplvm";
const std::string svgp = any_fit + scaling + settings + kept +
                         " inputs likelihood kernel mean missing folds noise exposure weights pca "
                         "gplvm jitter features covariance batch epochs steps learning-rate "
                         "schedule natural-step separate-kernels stream" +
                         inducing;
const std::string latent = any_fit + scaling + settings + " kernel jitter latent label snr";
const std::string gplvm =
    latent +
    " inducing restarts dynamics dynamics-kernel sequences view start-view fixed-point "
    "back-constraint checkpoint resume";

using Verbs = std::vector<std::pair<std::string, std::string>>;
const Verbs of_any = {{"show", ""}, {"report", "data title"}};

Verbs with(Verbs verbs) {
  for (const auto& verb : of_any)
    if (std::none_of(verbs.begin(), verbs.end(),
                     [&](const auto& own) { return own.first == verb.first; }))
      verbs.push_back(verb);
  return verbs;
}

const std::string moments = "components gradients input-variance steps propagation draws seed loss";
const Verbs exact_verbs = with({{"predict", moments + " parameter-draws"},
                                {"evaluate", ""},
                                {"sample", "draws seed"},
                                {"update", "noise"},
                                {"compress", ""},
                                {"compare", ""}});
const Verbs sparse_verbs = with({{"predict", moments},
                                 {"evaluate", ""},
                                 {"sample", "draws seed"},
                                 {"update", "noise"},
                                 {"compress", ""},
                                 {"compare", ""}});
const Verbs other_verbs = with({{"report", "exposure data title"},
                                {"predict", "exposure threshold loss"},
                                {"evaluate", "exposure threshold"},
                                {"sample", "draws seed"},
                                {"compare", ""}});
const Verbs gplvm_verbs = with({{"predict", "correspond"},
                                {"evaluate", ""},
                                {"sample", "draws seed posterior burn-in thin"},
                                {"explore", "draw title"}});

// The plain form of a model of Gaussian regression with inducing inputs.
ModelEntry sparse_entry(const char* name, const char* written, const char* sentence,
                        const char* use, Cost (*cost)(const ProblemSize&), const char* time,
                        const char* page, const std::string& more) {
  return {name,
          written,
          "",
          Targets::gaussian,
          Form::plain,
          Family::sparse,
          sentence,
          use,
          time,
          "M² (rows in blocks)",
          std::string("approximations/") + page,
          cost,
          "missing-outputs several-outputs",
          sparse + more,
          sparse_verbs};
}

std::vector<ModelEntry> regressions() {
  ModelEntry vfe = sparse_entry(
      "vfe", "vfe",
      "Variational free energy: a lower bound of the evidence through inducing inputs.",
      "many rows with Gaussian noise: the sparse model to begin with", costs::vfe, "4·N·M²",
      "vfe.md", " stream warm-start route");
  vfe.aliases = "sparse";
  ModelEntry cglb =
      sparse_entry("cglb", "cglb", "Lower bound with the exact mean by conjugate gradients.",
                   "the exact model's mean where N² numbers do not fit in memory", costs::cglb,
                   "4·N·M² + 10·N²", "cglb.md", " warm-start");
  cglb.memory = "N·D + M²";
  cglb.verbs = with({{"predict", moments},
                     {"evaluate", ""},
                     {"sample", "draws seed"},
                     {"compress", ""},
                     {"compare", ""}});
  ModelEntry pitc =
      sparse_entry("pitc", "pitc", "As fitc, with exact covariances inside groups of rows.",
                   "rows in clusters; comparing with the literature", costs::pitc,
                   "7·N·M² + N·g², g rows a group", "pitc.md", " groups");
  return {
      {"exact", "exact", "", Targets::gaussian, Form::plain, Family::exact,
       "Exact Gaussian-process regression.", "up to some thousands of rows with Gaussian noise",
       "N³", "N²", "regression.md", costs::exact, "missing-outputs several-outputs",
       regression + " standard-errors without-outputs", exact_verbs},
      vfe,
      {"vfe", "vfe", "sparse", Targets::gaussian, Form::missing_inputs, Family::missing_inputs,
       "VFE with q(x) for inputs that are missing (--missing learn).",
       "tables with holes among the inputs", "4·N·M²·D", "M² + N·D",
       "uncertain-inputs.md#missing-inputs", costs::gplvm, "missing-inputs several-outputs",
       any_fit + scaling + " inputs likelihood kernel missing jitter inducing checkpoint resume",
       sparse_verbs},
      sparse_entry("vfe(tight)", "vfe(tight)", "VFE with a tighter correction for the trace.",
                   "a better bound than vfe where M is small", costs::power, "7·N·M²", "vfe.md",
                   " stream warm-start"),
      sparse_entry("fitc", "fitc", "Fully independent training conditional.",
                   "noise that depends on the input; comparing with the literature", costs::power,
                   "7·N·M²", "fitc.md", " stream warm-start"),
      sparse_entry("pep", "pep(α)", "Power-EP: between vfe (α → 0) and fitc (α = 1).",
                   "predictions between those of vfe and fitc", costs::power, "7·N·M²",
                   "power-ep.md", " stream warm-start"),
      sparse_entry("dtc", "dtc", "Deterministic training conditional: vfe without its trace term.",
                   "comparing with the literature", costs::vfe, "4·N·M²", "dtc-sor.md",
                   " stream warm-start route"),
      sparse_entry("sor", "sor", "Subset of regressors: a linear model in M basis functions.",
                   "feature models (rff, ssgp, hilbert, bumps); comparing with the literature",
                   costs::vfe, "4·N·M²", "dtc-sor.md", " stream warm-start route"),
      pitc,
      cglb};
}

std::vector<ModelEntry> generalised() {
  const auto dense = [](const char* name, const char* written, const char* sentence,
                        const char* use, Cost (*cost)(const ProblemSize&), const char* time,
                        const std::string& more) {
    return ModelEntry{name,
                      written,
                      "",
                      Targets::any,
                      Form::plain,
                      Family::generalised,
                      sentence,
                      use,
                      time,
                      "5·N² for each latent function",
                      "latent-inference.md",
                      cost,
                      "likelihoods classes",
                      other + " noise" + more,
                      other_verbs};
  };
  const auto sparse_ep = [](const char* name, const char* written, const char* sentence) {
    return ModelEntry{name,
                      written,
                      "",
                      Targets::other,
                      Form::plain,
                      Family::generalised,
                      sentence,
                      "two classes and many rows, when the probabilities matter most",
                      "40·N·M²",
                      "N + M²",
                      "sparse-ep.md",
                      costs::sparse_ep,
                      "likelihoods classes",
                      other + " jitter" + inducing,
                      other_verbs};
  };
  return {
      dense("laplace", "laplace", "Laplace's approximation: a Gaussian at the posterior's mode.",
            "classes, counts, outliers up to some thousands of rows: the quickest", costs::laplace,
            "5·N³ for each latent function", " separate-kernels"),
      dense("ep", "ep", "Expectation propagation; ep(α) is power-EP.",
            "two classes, when the probabilities matter most", costs::ep, "20·N³", ""),
      dense("vgp", "vgp", "Variational inference with a full Gaussian over f: a lower bound.",
            "comparing models of any likelihood by a bound", costs::ep,
            "20·N³ for each latent function", " separate-kernels"),
      {"svgp", "svgp", "", Targets::any, Form::plain, Family::svgp,
       "Sparse variational inference with q(u), by all rows or minibatches.",
       "many rows and any likelihood", "20·N·M² (all rows), 5·B·M² + 4·M³ (a minibatch)",
       "M² for each latent function", "svgp.md", costs::svgp, "likelihoods classes", svgp,
       other_verbs},
      sparse_ep("fitc", "fitc", "EP through inducing inputs (generalised FITC)."),
      sparse_ep("pep", "pep(α)", "Power-EP through inducing inputs.")};
}

std::vector<ModelEntry> latent_models() {
  ModelEntry bayesian{"gplvm",
                      "gplvm",
                      "",
                      Targets::none,
                      Form::plain,
                      Family::gplvm,
                      "Bayesian GP-LVM: finds latent inputs of the rows, with their uncertainty.",
                      "tables without inputs: structure, missing cells, dynamics, views",
                      "4·N·M²·Q for each view",
                      "N·Q + M²·Q for each view",
                      "latent-variables.md",
                      costs::gplvm,
                      "missing-outputs several-outputs",
                      gplvm,
                      gplvm_verbs};
  ModelEntry mrd = bayesian;
  mrd.name = mrd.written = "mrd";
  mrd.sentence =
      "Manifold relevance determination: a GP-LVM with a mapping for each of several views.";
  mrd.use = "several groups of columns (--view) and what they share";
  ModelEntry batches = bayesian;
  batches.form = Form::minibatches;
  batches.family = Family::stochastic_gplvm;
  batches.sentence = "GP-LVM by minibatches (--batch, --epochs), or of another --likelihood.";
  batches.use = "many rows without inputs; binary columns, counts";
  batches.time = "4·B·M²·Q (a minibatch; other likelihoods 16·B·P·M²)";
  batches.page = "latent-variables.md#minibatches-and-other-likelihoods";
  batches.cost = costs::stochastic_gplvm;
  batches.properties += " likelihoods";
  batches.fit = latent +
                " inducing likelihood batch epochs steps learning-rate schedule natural-step "
                "checkpoint resume";
  return {
      bayesian,
      batches,
      mrd,
      {"map_gplvm", "map_gplvm", "", Targets::none, Form::plain, Family::map_gplvm,
       "GP-LVM whose latent inputs are points.",
       "pictures of small tables; discriminative latent spaces", "N³ for each view",
       "N² for each view", "latent-variables.md#points-in-place-of-distributions", costs::map_gplvm,
       "missing-outputs several-outputs",
       latent + " restarts dynamics dynamics-kernel sequences view back-constraint discriminative "
                "checkpoint resume",
       with({{"predict", ""}, {"evaluate", ""}, {"sample", "draws seed"}})},
      {"ppca", "ppca", "", Targets::none, Form::plain, Family::ppca,
       "Probabilistic principal components, in closed form.",
       "a linear latent space: the first thing to try", "N·P·min(N, P)", "N·P",
       "latent-variables.md#probabilistic-principal-components", costs::ppca, "several-outputs",
       "target header out scale no-scale latent label", with({{"predict", ""}, {"evaluate", ""}})},
      {"class_density", "class_density", "", Targets::classes, Form::plain, Family::class_density,
       "A GP-LVM density of the inputs of each class.",
       "classes with few rows each and inputs on low-dimensional surfaces", "4·N·M²·Q",
       "N·Q + M²·Q", "latent-variables.md#densities-of-rows-and-classes-by-them", costs::gplvm,
       "classes missing-inputs",
       any_fit + scaling +
           " inputs kernel missing jitter inducing latent restarts snr checkpoint resume",
       with({{"predict", "threshold loss"}, {"evaluate", "threshold"}})}};
}

bool has_word(const std::string& words, const std::string& word) {
  return !word.empty() && (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

const std::vector<ModelEntry>& model_table() {
  static const std::vector<ModelEntry> table = [] {
    std::vector<ModelEntry> out;
    for (auto& part : {regressions(), generalised(), latent_models()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return table;
}

std::string ModelEntry::label() const {
  if (form == Form::minibatches) return written + " by minibatches";
  if (form == Form::missing_inputs) return written + " with --missing learn";
  return targets == Targets::other ? written + " of other likelihoods" : written;
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

bool can(const ModelEntry& entry, const ModelCapability& c) {
  if (c.verb.empty()) return has_word(entry.properties, c.option);
  return c.option.empty() ? entry.takes(c.verb) : entry.reads(c.verb, c.option);
}

}  // namespace covary
