// Bayesian GP-LVMs, of one view or several.
#include "covary/error.hpp"
#include "covary/models/stochastic_gplvm.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"
#include "models/gplvm_request.hpp"

namespace covary {

GplvmOptions gplvm_options(const FitRequest& r) {
  GplvmOptions o;
  o.kernel = Kernel(r.options.kernel);
  o.inducing = r.inducing();
  o.features = r.options.features;
  o.scale_outputs = r.latent_scale();
  o.jitter = r.options.jitter;
  o.snr = r.options.snr;
  o.seed = r.options.seed;
  o.training = r.training();
  return o;
}

Kernel dynamics_kernel(const FitRequest& r) {
  if (!r.options.dynamics_kernel.empty()) return Kernel(r.options.dynamics_kernel);
  return r.data.times.cols() > 1 ? "se(ard) + white" : "se + white";
}

namespace {

GplvmOptions all_options(const FitRequest& r) {
  GplvmOptions o = gplvm_options(r);
  o.latent = r.options.latent ? r.options.latent : std::min<Index>(10, r.data.Y.cols());
  o.times = r.data.times;
  o.sequences = r.data.sequences;
  o.dynamics = dynamics_kernel(r);
  o.fixed_point = r.options.fixed_point;
  o.views = r.data.views;
  o.start_view = r.options.start_view;
  if (!r.options.back_constraint.empty())
    o.back_constraint =
        RecognitionOptions{.form = r.options.back_constraint, .seed = r.options.seed};
  return o;
}

Fit named(const FitRequest& r, GplvmFit fit) {
  fit.row_labels = r.data.row_labels;
  fit.time_names = r.data.time_names;
  return fit;
}

Fit make_gplvm(FitRequest& r) {
  if (r.entry->name == "mrd" && r.data.views.size() < 2)
    throw InputError("--model mrd needs two views or more: --view a=COL,… --view b=COL,…");
  Gplvm model(r.data.Y, all_options(r));
  return named(r, r.train(model));
}

Fit make_stochastic(FitRequest& r) {
  StochasticGplvmOptions o;
  o.likelihood = r.options.likelihood == "auto" ? "gaussian" : r.options.likelihood;
  o.gplvm = all_options(r);
  StochasticGplvm model(r.data.Y, std::move(o));
  return named(r, r.train(model));
}

const std::string of_gplvm =
    reads::latent +
    " inducing features restarts dynamics dynamics-kernel sequences view start-view fixed-point "
    "back-constraint";
const auto verbs = with_any({{"predict", "correspond"},
                             {"evaluate", ""},
                             {"sample", "draws seed posterior burn-in thin"},
                             {"explore", "draw title"}});

}  // namespace

std::vector<ModelEntry> latent_entries() {
  ModelEntry bayesian{"gplvm",
                      "gplvm",
                      "",
                      Targets::none,
                      Form::plain,
                      "Bayesian GP-LVM: finds latent inputs of the rows, with their uncertainty.",
                      "tables without inputs: structure, missing cells, dynamics, views",
                      "4·N·M²·Q for each view",
                      "N·Q + M²·Q for each view",
                      "latent-variables.md",
                      costs::gplvm,
                      "missing-outputs several-outputs",
                      of_gplvm,
                      verbs,
                      make_gplvm,
                      "gplvm",
                      restore_latent};
  ModelEntry mrd = bayesian;
  mrd.name = mrd.written = "mrd";
  mrd.sentence =
      "Manifold relevance determination: a GP-LVM with a mapping for each of several views.";
  mrd.use = "several groups of columns (--view) and what they share";
  ModelEntry batches = bayesian;
  batches.form = Form::minibatches;
  batches.make = make_stochastic;
  batches.sentence = "GP-LVM by minibatches (--batch, --epochs), or of another --likelihood.";
  batches.use = "many rows without inputs; binary columns, counts";
  batches.time = "4·B·M²·Q (a minibatch; other likelihoods 16·B·P·M²)";
  batches.page = "latent-variables.md#minibatches-and-other-likelihoods";
  batches.cost = costs::stochastic_gplvm;
  batches.properties += " likelihoods";
  batches.verbs = with_any({{"predict", ""},
                            {"evaluate", ""},
                            {"sample", "draws seed posterior burn-in thin"},
                            {"explore", "draw title"}});
  batches.fit = reads::latent +
                " inducing features restarts likelihood batch epochs steps learning-rate schedule "
                "decay every warm-up natural-step";
  return {bayesian, batches, mrd};
}

}  // namespace covary
