// Models of Gaussian regression.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"
#include "models/regression_request.hpp"

namespace covary {
namespace {

Fit make_exact(FitRequest& r) {
  auto o = regression_options<RegressionOptions>(r);
  o.mean = Mean(r.options.mean);
  o.standard_errors = r.options.standard_errors == "yes"  ? Switch::on
                      : r.options.standard_errors == "no" ? Switch::off
                                                          : Switch::automatic;
  Regression model(r.data.X, r.data.Y, std::move(o), r.data.noise);
  return r.train(model, -model.log_jacobian());
}

Route parse_route(const std::string& name) {
  if (name == "auto") return Route::automatic;
  if (name == "fast") return Route::fast;
  return name == "safe" ? Route::safe : Route::stable;
}

// Of an automatic number of inducing variables, and of the certificate.
void set_limits(const FitRequest& r, SparseRegressionOptions& o) {
  const FitOptions& given = r.options;
  const bool planned = given.features == "eigen";
  for (const char* option : {"bracket", "most-inducing", "planned-kl"})
    if (given.is_given(option) && (given.inducing != "auto" || !given.inducing_file.empty()))
      throw InputError(fmt::format("--{} is for --inducing auto; their number is given", option));
  if (given.is_given("bracket") && planned)
    throw InputError("--bracket is not available with eigen features; use --planned-kl");
  if (given.is_given("planned-kl") && !planned)
    throw InputError("--planned-kl is for --features eigen; use --bracket with other features");
  if (given.bracket > 0.0) o.bracket = given.bracket;
  if (given.most_inducing > 0) o.most_inducing = given.most_inducing;
  if (given.planned_kl > 0.0) o.planned_kl = given.planned_kl;
  if (given.certificate_flops > 0.0) o.certificate_flops = given.certificate_flops;
  if (given.certificate_iterations > 0) o.certificate_iterations = given.certificate_iterations;
}

}  // namespace

RegressionFit fit_sparse(FitRequest& r) {
  auto o = regression_options<SparseRegressionOptions>(r);
  o.mean = Mean(r.options.mean);
  o.approximation = Approximation(r.model);
  o.inducing = r.inducing();
  o.selection = parse_selection(r.options.selection);
  o.features = r.options.features;
  o.route = parse_route(r.options.route);
  o.groups = r.options.groups;
  o.placement = parse_placement(r.options.placement);
  o.placement_rows = r.options.placement_rows;
  if (r.options.is_given("placement-rows") && r.options.placement != "expected_kl")
    throw InputError("--placement-rows needs --placement expected_kl");
  set_limits(r, o);
  if (!r.options.warm_start.empty()) o.warm_start = Approximation(r.options.warm_start);
  o.Z = r.inducing_rows();
  // From parameters that are given it starts as they are, without a fit of some rows.
  if (r.from || r.options.max_iter == 0) o.subset = 0;
  SparseRegression model = r.data.file
                               ? SparseRegression(r.data.file, std::move(o))
                               : SparseRegression(r.data.X, r.data.Y, std::move(o), r.data.noise);
  return r.train(model, -model.log_jacobian());
}

namespace {

Fit make_sparse(FitRequest& r) { return fit_sparse(r); }

const std::string of_regression = reads::supervised + " lags noise jitter";
const std::string of_sparse =
    of_regression + reads::inducing + " features bracket most-inducing planned-kl";
// Of lower bounds, whose fits have an upper one.
const std::string of_certificate = " certificate-flops certificate-iterations";

using Verbs = std::vector<std::pair<std::string, std::string>>;
const std::string moments = "components gradients input-variance steps propagation draws seed loss";

Verbs verbs(const std::string& more = "") {
  return with_any({{"predict", moments + more},
                   {"evaluate", ""},
                   {"sample", "draws seed"},
                   {"update", "noise"},
                   {"compress", ""},
                   {"compare", ""}});
}

// Of posteriors that are no q(u): predictions at Gaussian inputs and draws of functions need one.
Verbs verbs_without_q(bool update) {
  Verbs out = {{"predict", "components gradients steps propagation loss"},
               {"evaluate", ""},
               {"sample", "draws seed"},
               {"compare", ""}};
  if (update) out.emplace_back("update", "noise");
  return with_any(std::move(out));
}

// The plain form of a model with inducing inputs.
ModelEntry sparse_entry(const char* name, const char* written, const char* sentence,
                        const char* use, Cost (*cost)(const ProblemSize&), const char* time,
                        const char* page, const std::string& more) {
  return {name,
          written,
          "",
          Targets::gaussian,
          Form::plain,
          sentence,
          use,
          time,
          "M² (rows in blocks)",
          std::string("approximations/") + page,
          cost,
          "missing-outputs several-outputs",
          of_sparse + more,
          verbs(),
          make_sparse,
          "regression",
          restore_regression};
}

}  // namespace

std::vector<ModelEntry> regression_entries() {
  ModelEntry vfe = sparse_entry(
      "vfe", "vfe",
      "Variational free energy: a lower bound of the evidence through inducing inputs.",
      "many rows with Gaussian noise: the first sparse model to try", costs::vfe, "4·N·M²",
      "vfe.md", " stream warm-start route placement placement-rows" + of_certificate);
  vfe.aliases = "sparse";
  ModelEntry pep = sparse_entry("pep", "pep(α)", "Power-EP: between vfe (α → 0) and fitc (α = 1).",
                                "predictions between those of vfe and fitc", costs::power, "7·N·M²",
                                "power-ep.md", " stream warm-start");
  pep.power = Power::required;
  ModelEntry cglb =
      sparse_entry("cglb", "cglb", "Lower bound with the exact mean by conjugate gradients.",
                   "the exact model's mean where N² numbers do not fit in memory", costs::cglb,
                   "4·N·M² + 10·N²", "cglb.md", " warm-start" + of_certificate);
  cglb.memory = "N·D + M²";
  cglb.verbs = verbs_without_q(false);
  ModelEntry pitc =
      sparse_entry("pitc", "pitc", "Like fitc, with exact covariances within groups of rows.",
                   "rows in clusters; comparing with the literature", costs::pitc,
                   "7·N·M² + N·g², g rows a group", "pitc.md", " groups");
  ModelEntry sor =
      sparse_entry("sor", "sor", "Subset of regressors: a linear model in M basis functions.",
                   "feature models (rff, ssgp, hilbert, bumps); comparing with the literature",
                   costs::vfe, "4·N·M²", "dtc-sor.md", " stream warm-start route");
  sor.verbs = verbs_without_q(true);
  return {
      {"exact", "exact", "", Targets::gaussian, Form::plain, "Exact Gaussian-process regression.",
       "up to some thousands of rows with Gaussian noise", "N³", "N²", "regression.md",
       costs::exact, "missing-outputs several-outputs",
       of_regression + " standard-errors without-outputs", verbs(" parameter-draws"), make_exact,
       "regression", restore_regression},
      vfe,
      missing_inputs_entry(),
      noisy_inputs_entry(),
      sparse_entry("vfe(tight)", "vfe(tight)", "VFE with a tighter correction for the trace.",
                   "a better bound than vfe where M is small", costs::power, "7·N·M²", "vfe.md",
                   " stream warm-start" + of_certificate),
      sparse_entry("fitc", "fitc", "Fully independent training conditional.",
                   "noise that depends on the input; comparing with the literature", costs::power,
                   "7·N·M²", "fitc.md", " stream warm-start"),
      pep,
      sparse_entry("dtc", "dtc", "Deterministic training conditional: vfe without its trace term.",
                   "comparing with the literature", costs::vfe, "4·N·M²", "dtc-sor.md",
                   " stream warm-start route"),
      sor,
      pitc,
      cglb};
}

}  // namespace covary
