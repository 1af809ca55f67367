#include "generalised.hpp"

#include <fmt/format.h>

#include "covary/data/classification_metrics.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/models/table.hpp"

namespace covary::cli {
namespace {

LatentOptions latent_options(const TrainingArguments& t, const TrainingData& d,
                             const std::string& kernel, const TrainingHooks& hooks) {
  const RegressionOptions shared = regression_options(t, d, kernel);
  LatentOptions o;
  o.kernel = shared.kernel;
  o.likelihood = *d.likelihood;
  o.mean = shared.mean;
  o.separate_kernels = functions_differ(*d.likelihood);
  if (d.noise.size() && d.likelihood->aux() != Aux::noise)
    throw Unsupported(
        fmt::format("--noise is for the likelihood 'gaussian'; '{}' takes no noise variances",
                    d.likelihood->print()));
  o.aux = d.likelihood->aux() == Aux::noise ? d.noise : d.aux;
  o.weights = d.weights;
  o.classes = d.labels.names;
  o.scale_inputs = shared.scale_inputs;
  o.scale_outputs = shared.scale_outputs;
  o.pca = t.pca;
  o.gplvm = t.gplvm;
  o.seed = shared.seed;
  o.training = shared.training;
  if (hooks.attach) hooks.attach(o.training);
  return o;
}

SvgpOptions svgp_options(LatentOptions shared, const TrainingArguments& t, const SparseArguments& a,
                         const TrainingData& d) {
  SvgpOptions o{std::move(shared)};
  if (const Index M = inducing_of(a)) o.inducing = M;
  o.selection = parse_selection(a.selection);
  o.features = a.features;
  o.covariance = a.covariance;
  if (!a.inducing_file.empty()) o.Z = d.inputs.apply(read_table(a.inducing_file));
  o.jitter = t.jitter;
  set_minibatches(a, o.training);
  return o;
}

}  // namespace

GeneralisedMethod method_of(const std::string& model, const TrainingData& d) {
  const NamedModel named = parse_model(model);
  GeneralisedMethod out{model, Inference::laplace, named.power.value_or(1.0)};
  const std::string& name = named.entries.front()->name;
  if (name == "vgp")
    out.method = Inference::vi;
  else if (name == "svgp")
    out.method = Inference::svgp;
  else if (name == "ep")
    out.method = Inference::ep;
  else if (name == "fitc" || name == "pep")
    out.method = Inference::sparse_ep;
  d.likelihood->require(out.method);
  return out;
}

GeneralisedFit fit_generalised(const TrainingArguments& t, const SparseArguments& a,
                               const TrainingData& d, const std::string& kernel,
                               const TrainingHooks& hooks) {
  const GeneralisedMethod method = method_of(a.model, d);
  LatentOptions shared = latent_options(t, d, kernel, hooks);
  if (a.separate_kernels == "yes" && d.likelihood->latents() == 1)
    throw InputError(fmt::format("--separate-kernels needs several latent functions; '{}' has one",
                                 d.likelihood->print()));
  if (a.separate_kernels != "auto") shared.separate_kernels = a.separate_kernels == "yes";
  if (method.method == Inference::svgp) {
    SvgpOptions options = svgp_options(std::move(shared), t, a, d);
    Svgp model = d.file ? Svgp(d.file, std::move(options))
                        : Svgp(d.X, Vector(d.Y.col(0)), std::move(options));
    if (hooks.settings) hooks.settings(model.parameters());
    if (hooks.resume) model.resume(hooks.resume(model.parameters()));
    return model.fit();
  }
  GeneralisedOptions options{std::move(shared)};
  options.method = method.method;
  options.power = method.power;
  if (method.method == Inference::sparse_ep) {
    if (const Index M = inducing_of(a)) options.inducing = M;
    options.selection = parse_selection(a.selection);
    if (!a.inducing_file.empty()) options.Z = d.inputs.apply(read_table(a.inducing_file));
    options.jitter = t.jitter;
  }
  Generalised model(d.X, Vector(d.Y.col(0)), std::move(options));
  if (hooks.settings) hooks.settings(model.parameters());
  if (hooks.resume) model.resume(hooks.resume(model.parameters()));
  return model.fit();
}

json generalised_scores(const GeneralisedFit& fit, ConstRows X, ConstVector y, ConstVector aux,
                        double threshold) {
  const GeneralisedPrediction p = fit.predict(X, aux);
  if (p.probabilities.size() == 0) {
    const Vector density = fit.log_density(X, y, aux);
    double sum = 0.0, count = 0.0;
    for (const double v : density)
      if (!std::isnan(v)) sum -= v, count += 1.0;
    return {{"rmse", finite(rmse(y, p.mean))},
            {"mae", finite(mae(y, p.mean))},
            {"smse", finite(smse(y, p.mean))},
            {"nlpd", finite(sum / count)}};
  }
  return class_scores(RowMatrix(p.probabilities), y, fit.classes, threshold);
}

json class_scores(const RowMatrix& probabilities, ConstVector y,
                  const std::vector<std::string>& classes, double threshold) {
  const ClassificationScores s = classification_scores(y, probabilities);
  json confusion = json::array();
  const Matrix counts = confusion_matrix(y, probabilities, threshold);
  for (Index i = 0; i < counts.rows(); ++i) confusion.push_back(finite(Vector(counts.row(i))));
  return {{"accuracy", finite(accuracy(y, probabilities, threshold))},
          {"nlpd", finite(s.nlpd)},
          {"auc", s.auc ? finite(*s.auc) : json(nullptr)},
          {"brier", finite(s.brier)},
          {"ece", finite(s.ece)},
          {"classes", classes},
          {"confusion", confusion}};
}

FoldScores cross_validate_generalised(const TrainingArguments& t, const SparseArguments& a,
                                      const TrainingData& d, const std::string& kernel,
                                      const std::vector<Split>& folds) {
  FoldScores out;
  TrainingHooks hooks;
  hooks.settings = [&](Parameters& p) { apply_settings(t, p); };
  Index right = 0;
  for (const Split& fold : folds) {
    const TrainingData train = d.rows(fold.train), test = d.rows(fold.test);
    const GeneralisedFit fit = fit_generalised(t, a, train, kernel, hooks);
    const Vector density = fit.log_density(test.X, test.Y.col(0), test.aux);
    Vector decided;
    if (fit.likelihood.classes() > 0)
      decided = decided_classes(RowMatrix(fit.predict(test.X).probabilities));
    for (Index n = 0; n < density.size(); ++n) {
      if (std::isnan(density(n))) continue;
      out.nlpd.push_back(-density(n));
      if (decided.size()) right += decided(n) == test.Y(n, 0);
    }
  }
  const Score nlpd = mean_score(out.nlpd);
  out.object = {{"folds", folds.size()},
                {"nlpd", finite(nlpd.mean)},
                {"nlpd_standard_error", finite(nlpd.error)}};
  out.text = fmt::format("{} folds: nlpd {:.4f} ± {:.4f}", folds.size(), nlpd.mean, nlpd.error);
  if (d.likelihood->classes() > 0) {
    const double rate = static_cast<double>(right) / static_cast<double>(out.nlpd.size());
    out.object["accuracy"] = rate;
    out.text += fmt::format(", accuracy {:.4f}", rate);
  }
  out.text += "\n";
  return out;
}

}  // namespace covary::cli
