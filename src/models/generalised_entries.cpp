// Models of any likelihood.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/generalised.hpp"
#include "covary/models/svgp.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"

namespace covary {
namespace {

FunctionOptions shared_options(const FitRequest& r) {
  const ModelData& d = r.data;
  const Likelihood& likelihood = *d.likelihood;
  if (const Index P = d.file ? d.file->outputs() : d.Y.cols(); P != 1)
    throw InputError(fmt::format("{} targets were given; {} takes one", P, r.entry->label()));
  FunctionOptions o;
  o.kernel = Kernel(r.options.kernel);
  o.likelihood = likelihood;
  o.mean = Mean(r.options.mean);
  o.separate_kernels = functions_differ(likelihood);
  if (r.options.separate_kernels == "yes" && likelihood.functions() == 1)
    throw InputError(fmt::format("--separate-kernels needs several latent functions; '{}' has one",
                                 likelihood.print()));
  if (r.options.separate_kernels != "auto")
    o.separate_kernels = r.options.separate_kernels == "yes";
  if (d.noise.size() && likelihood.aux() != Aux::noise)
    throw Unsupported(
        fmt::format("--noise is for the likelihood 'gaussian'; '{}' takes no noise variances",
                    likelihood.print()));
  o.aux = likelihood.aux() == Aux::noise ? d.noise : d.aux;
  o.weights = d.weights;
  o.classes = d.labels.names;
  o.scale_inputs = r.input_scale();
  o.scale_outputs = r.output_scale();
  o.pca = r.options.pca;
  o.gplvm = r.options.gplvm;
  o.seed = r.options.seed;
  o.training = r.training();
  return o;
}

Inference method_of(const std::string& name) {
  return name == "vgp"                     ? Inference::vi
         : name == "ep"                    ? Inference::ep
         : name == "fitc" || name == "pep" ? Inference::sparse_ep
                                           : Inference::laplace;
}

Fit make_dense(FitRequest& r) {
  const Inference method = method_of(r.entry->name);
  r.data.likelihood->require(method);
  GeneralisedOptions o{shared_options(r)};
  o.method = method;
  o.power = parse_model(r.model).power.value_or(1.0);
  if (method == Inference::sparse_ep) {
    o.inducing = r.inducing();
    o.selection = parse_selection(r.options.selection);
    o.Z = r.inducing_rows();
    o.jitter = r.options.jitter;
  }
  Generalised model(r.data.X, Vector(r.data.Y.col(0)), std::move(o));
  return r.train(model);
}

Fit make_svgp(FitRequest& r) {
  r.data.likelihood->require(Inference::svgp);
  SvgpOptions o{shared_options(r)};
  o.inducing = r.inducing();
  o.selection = parse_selection(r.options.selection);
  o.features = r.options.features;
  o.covariance = r.options.covariance;
  o.Z = r.inducing_rows();
  o.jitter = r.options.jitter;
  Svgp model = r.data.file ? Svgp(r.data.file, std::move(o))
                           : Svgp(r.data.X, Vector(r.data.Y.col(0)), std::move(o));
  return r.train(model);
}

const std::string of_dense = reads::supervised + " exposure weights pca gplvm";
const std::string of_svgp =
    reads::any_fit + reads::scaling + reads::settings + reads::kept +
    " inputs likelihood kernel mean missing folds noise exposure weights "
    "pca gplvm jitter features covariance batch epochs steps "
    "learning-rate schedule decay every warm-up natural-step restarts separate-kernels stream" +
    reads::inducing;

using Verbs = std::vector<std::pair<std::string, std::string>>;
Verbs verbs(const Verbs& more = {}) {
  Verbs out = {{"report", "exposure data title"},
               {"predict", "exposure threshold loss components gradients"},
               {"evaluate", "exposure threshold"},
               {"sample", "draws seed posterior burn-in thin exposure"}};
  out.insert(out.end(), more.begin(), more.end());
  out.emplace_back("compare", "");
  return with_any(std::move(out));
}

}  // namespace

std::vector<ModelEntry> generalised_entries() {
  const auto dense = [](const char* name, const char* written, const char* sentence,
                        const char* use, Cost (*cost)(const ProblemSize&), const char* time,
                        const std::string& more, Power power = Power::none) {
    return ModelEntry{name,
                      written,
                      "",
                      Targets::any,
                      Form::plain,
                      sentence,
                      use,
                      time,
                      "5·N² for each latent function",
                      "latent-inference.md",
                      cost,
                      "likelihoods classes",
                      of_dense + " noise" + more,
                      verbs(),
                      make_dense,
                      "generalised",
                      restore_generalised,
                      power};
  };
  const auto sparse_ep = [](const char* name, const char* written, const char* sentence,
                            Power power) {
    return ModelEntry{name,
                      written,
                      "",
                      Targets::other,
                      Form::plain,
                      sentence,
                      "two classes and many rows, when the probabilities matter most",
                      "40·N·M²",
                      "N + M²",
                      "sparse-ep.md",
                      costs::sparse_ep,
                      "likelihoods classes",
                      of_dense + " jitter" + reads::inducing,
                      verbs({{"compress", ""}}),
                      make_dense,
                      "generalised",
                      restore_generalised,
                      power};
  };
  return {
      dense("laplace", "laplace", "Laplace's approximation: a Gaussian at the posterior's mode.",
            "classes, counts, outliers up to some thousands of rows: the fastest", costs::laplace,
            "5·N³ for each latent function", " separate-kernels"),
      dense("ep", "ep", "Expectation propagation; ep(α) is power-EP.",
            "two classes, when the probabilities matter most", costs::ep, "20·N³", "",
            Power::optional),
      dense("vgp", "vgp", "Variational inference with a full Gaussian over f: a lower bound.",
            "comparing models of any likelihood by a bound", costs::ep,
            "20·N³ for each latent function", " separate-kernels"),
      {"svgp", "svgp", "", Targets::any, Form::plain,
       "Sparse variational inference with q(u), by all rows or minibatches.",
       "many rows and any likelihood", "20·N·M² (all rows), 5·B·M² + 4·M³ (a minibatch)",
       "M² for each latent function", "svgp.md", costs::svgp, "likelihoods classes", of_svgp,
       verbs({{"update", "noise"}, {"compress", ""}}), make_svgp, "generalised",
       restore_generalised},
      sparse_ep("fitc", "fitc", "EP through inducing inputs (generalised FITC).", Power::none),
      sparse_ep("pep", "pep(α)", "Power-EP through inducing inputs.", Power::required)};
}

}  // namespace covary
