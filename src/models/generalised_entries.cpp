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
  FunctionOptions o;
  o.kernel = Kernel(r.options.kernel);
  o.likelihood = likelihood;
  o.mean = Mean(r.options.mean);
  o.separate_kernels = functions_differ(likelihood);
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

void refuse_separate(const FitRequest& r) {
  if (r.options.separate_kernels == "yes")
    throw InputError(fmt::format("--separate-kernels needs several latent functions; '{}' has one",
                                 r.data.likelihood->print()));
}

Fit make_dense(FitRequest& r) {
  const Inference method = method_of(r.entry->name);
  r.data.likelihood->require(method);
  if (const Index P = r.data.Y.cols(); P != 1)
    throw InputError(
        fmt::format("{} targets were given; {} takes one, and svgp several", P, r.entry->label()));
  if (r.data.likelihood->functions() == 1) refuse_separate(r);
  auto o = with_function_options<GeneralisedOptions>(shared_options(r));
  o.method = method;
  o.power = parse_model(r.model).power.value_or(1.0);
  if (method == Inference::sparse_ep) {
    o.inducing = r.inducing();
    o.selection = parse_selection(r.options.selection);
    o.features = r.options.features;
    o.Z = r.inducing_rows();
    o.jitter = r.options.jitter;
  }
  Generalised model(r.data.X, Vector(r.data.Y.col(0)), std::move(o));
  return r.train(model);
}

Fit make_svgp(FitRequest& r) {
  r.data.likelihood->require(Inference::svgp);
  auto o = with_function_options<SvgpOptions>(shared_options(r));
  o.inducing = r.inducing();
  const Index P = r.data.file ? r.data.file->outputs() : r.data.Y.cols();
  const Index functions = r.options.functions ? r.options.functions : P * o.likelihood.functions();
  if (functions == 1) refuse_separate(r);
  // Outputs of their own functions share the kernel, and mixtures are of different ones.
  if (P > 1 && r.options.functions == 0 && o.likelihood.functions() == 1 &&
      r.options.separate_kernels == "auto")
    o.separate_kernels = false;
  o.functions = r.options.functions;
  o.selection = parse_selection(r.options.selection);
  o.features = r.options.features;
  o.covariance = r.options.covariance;
  o.Z = r.inducing_rows();
  o.jitter = r.options.jitter;
  Svgp model =
      r.data.file ? Svgp(r.data.file, std::move(o)) : Svgp(r.data.X, r.data.Y, std::move(o));
  return r.train(model);
}

const std::string of_dense = reads::supervised + " exposure weights pca gplvm";
const std::string of_svgp =
    reads::any_fit + reads::scaling + reads::settings + reads::kept +
    " inputs circular likelihood kernel mean missing folds noise exposure weights "
    "pca gplvm jitter features covariance batch epochs steps "
    "learning-rate schedule decay every warm-up natural-step restarts "
    "separate-kernels functions stream" +
    reads::inducing;

using Verbs = std::vector<std::pair<std::string, std::string>>;
// `gaussian_inputs`: whether predictions at these are offered, of Gaussian noise.
Verbs verbs(const Verbs& more = {}, bool gaussian_inputs = false) {
  Verbs out = {{"report", "exposure data title"},
               {"predict", std::string("exposure threshold loss components gradients") +
                               (gaussian_inputs ? " input-variance" : "")},
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
                      "other-likelihoods.md",
                      cost,
                      "likelihoods classes",
                      of_dense + " noise" + more,
                      verbs({}, true),
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
                      of_dense + " jitter features" + reads::inducing,
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
       "M² for each latent function", "svgp.md", costs::svgp,
       "several-outputs missing-outputs likelihoods classes", of_svgp,
       verbs({{"update", "noise"}, {"compress", ""}}, true), make_svgp, "generalised",
       restore_generalised},
      sparse_ep("fitc", "fitc", "EP through inducing inputs (generalised FITC).", Power::none),
      sparse_ep("pep", "pep(α)", "Power-EP through inducing inputs.", Power::required)};
}

}  // namespace covary
