// What a model of any likelihood says of itself and of the rows of a table.
#include <fmt/format.h>

#include <cmath>

#include "covary/data/classification_metrics.hpp"
#include "covary/data/decisions.hpp"
#include "covary/data/labels.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/inference/slice_sampling.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/models/memory.hpp"
#include "covary/models/model_data.hpp"
#include "models/fit_json.hpp"
#include "models/further_rows.hpp"
#include "models/table_answers.hpp"

namespace covary {

using nlohmann::json;

namespace {

constexpr Index block = 512;  // rows predicted at a time

// "" of a single latent function, else "_" and the class it is of, or its number.
std::vector<std::string> function_suffixes(const GeneralisedFit& fit) {
  if (fit.posterior.functions() == 1) return {""};
  std::vector<std::string> out;
  for (Index l = 0; l < fit.posterior.functions(); ++l)
    out.push_back(fit.classes.empty() ? fmt::format("_{}", l)
                                      : "_" + fit.classes[static_cast<std::size_t>(l)]);
  return out;
}

void add_decisions(const GeneralisedFit& fit, const GeneralisedPrediction& p,
                   const std::string& expression, NamedColumns& out) {
  const Loss loss(expression);
  if (loss.kind != Loss::Kind::squared)
    throw Unsupported(
        fmt::format("--loss {} is for Gaussian regression; with the likelihood '{}' use squared",
                    expression, fit.likelihood.print()));
  const Decisions d = decide(loss, p.mean, p.variance);
  out.add("decision", d.decided);
  out.add("expected_loss", d.expected_loss);
}

// class, p_<class> for classes; else mean and variance of y. Then the latent functions.
NamedColumns predict_rows(const GeneralisedFit& fit, ConstRows X, ConstVector exposure,
                          const TableQuestion& q) {
  const GeneralisedPrediction p = fit.predict(X, exposure);
  NamedColumns out;
  if (p.probabilities.size()) {
    add_classes(p.probabilities, fit.classes, q, out);
  } else {
    out.add("mean", p.mean);
    out.add("variance", p.variance);
    if (!q.loss.empty()) add_decisions(fit, p, q.loss, out);
  }
  for (Index l = 0; l < p.f.mean.cols(); ++l) {
    const std::string suffix = p.f.mean.cols() == 1 ? "" : fmt::format("_{}", l);
    out.add("mean_f" + suffix, p.f.mean.col(l));
    out.add("variance_f" + suffix, p.f.variance.col(l));
  }
  const auto suffixes = function_suffixes(fit);
  if (q.components) add_components(fit.components(X), suffixes, out);
  if (q.gradients)
    for (Index l = 0; l < p.f.mean.cols(); ++l)
      add_gradients(fit.gradient(X, l), fit.input_names(), suffixes[static_cast<std::size_t>(l)],
                    out);
  return out;
}

Vector targets_of(const GeneralisedFit& fit, const Table& table) {
  const Index target = select_columns(table, fit.output_names).front();
  return fit.classes.empty() ? Vector(numeric_columns(table, {target}).col(0))
                             : Labels{fit.classes}.encode(table, target);
}

// What only some likelihoods have a use for.
void check(const GeneralisedFit& fit, const TableQuestion& q) {
  const std::string likelihood = fit.likelihood.print();
  if (q.threshold != TableQuestion().threshold && fit.likelihood.classes() == 0)
    throw Unsupported(fmt::format("--threshold is for classes, but '{}' has none", likelihood));
  const Aux aux = fit.likelihood.aux();
  if (!q.exposure.empty() && (aux == Aux::none || aux == Aux::noise))
    throw Unsupported(
        fmt::format("--exposure is for counts and trials; '{}' takes no such column", likelihood));
}

std::string seen_in_words(const InputMap& map) {
  if (const Pca* pca = map.pca())
    return fmt::format(", {} principal components with {:.3g} % of the variance", pca->size(),
                       100.0 * pca->explained().sum());
  if (const LatentFeatures* features = map.gplvm())
    return fmt::format(", {} of {} latent dimensions of their GP-LVM", features->size(),
                       features->fit().latent());
  return "";
}

}  // namespace

std::string GeneralisedFit::in_a_sentence() const {
  return fmt::format("{} model of {} on {} inputs{}, {} rows, likelihood {}{}, kernel {}, mean {}",
                     model, target(), inputs(), seen_in_words(input_map), rows, likelihood.print(),
                     classes.empty() ? "" : fmt::format(" ({})", fmt::join(classes, ", ")),
                     posterior.kernel().print(), posterior.mean().print());
}

Answer GeneralisedFit::details() const {
  json object{
      {"kernel", posterior.kernel().print()},
      {"mean", posterior.mean().print()},
      {"likelihood", likelihood.print()},
      {"n", rows},
      {"d", inputs()},
      {"inputs", input_names()},
      {"classes", classes},
      {"scaling",
       {{"inputs", scaling_json(input_scaling)}, {"outputs", scaling_json(output_scaling)}}}};
  if (const Pca* pca = input_map.pca())
    object["pca"] = {{"components", pca->size()}, {"explained", numbers(pca->explained())}};
  if (const LatentFeatures* features = input_map.gplvm())
    object["gplvm"] = {{"latent", features->fit().latent()},
                       {"active", features->used()},
                       {"relevance", numbers(Vector(features->fit().relevance().row(0)))},
                       {"n", features->fit().mean.rows()},
                       {"elbo", number(features->fit().value)}};
  return {object.dump(), in_a_sentence()};
}

NamedColumns GeneralisedFit::predict(const Table& table, TableQuestion& q) const {
  check(*this, q);
  const RowMatrix X = inputs_of(*this, table);
  const Vector exposure = exposure_of(table, q);
  NamedColumns out = in_blocks(X.rows(), block, [&](Index first, Index n) {
    return predict_rows(*this, X.middleRows(first, n),
                        exposure.size() ? Vector(exposure.segment(first, n)) : exposure, q);
  });
  if (q.components) tell_components(posterior, q, out);
  return out;
}

Answer GeneralisedFit::evaluate(const Table& table, const TableQuestion& q) const {
  check(*this, q);
  const Vector y = targets_of(*this, table);
  const RowMatrix X = inputs_of(*this, table);
  const Vector exposure = exposure_of(table, q);
  const GeneralisedPrediction p = predict(X, exposure);
  if (p.probabilities.size())
    return class_scores(RowMatrix(p.probabilities), y, classes, q.threshold);
  double sum = 0.0, count = 0.0;
  for (const double v : log_density(X, y, exposure))
    if (!std::isnan(v)) sum -= v, count += 1.0;
  json object{{"n", y.size()}};
  std::string text;
  add_score(object, text, "rmse", rmse(y, p.mean));
  add_score(object, text, "mae", mae(y, p.mean));
  add_score(object, text, "smse", smse_or_nan(y, p.mean));
  add_score(object, text, "nlpd", sum / count);
  return {object.dump(), std::move(text)};
}

NamedColumns GeneralisedFit::sample(const Table& table, const TableQuestion& q) const {
  check(*this, q);
  const RowMatrix X = inputs_of(*this, table);
  if (!q.posterior.empty()) {
    if (q.posterior != "elliptical")
      throw Unsupported(
          fmt::format("--posterior {} is for latent inputs; the functions of this model are drawn "
                      "by elliptical",
                      q.posterior));
    const auto N = static_cast<double>(X.rows());
    require_memory(24.0 * N * N, X.rows(),
                   fmt::format("the prior covariance of {} rows", X.rows()));
    NamedColumns out = named_draws(
        sample_exactly(X, targets_of(*this, table), exposure_of(table, q),
                       {.samples = q.draws, .burn_in = q.burn_in, .thin = q.thin, .seed = q.seed}),
        function_suffixes(*this));
    out.facts = {{"posterior", json(q.posterior).dump()}};
    return out;
  }
  require_memory(posterior.sample_bytes(static_cast<double>(X.rows())), X.rows(),
                 fmt::format("a joint draw at {} rows", X.rows()));
  return named_draws(sample(X, q.draws, q.seed), function_suffixes(*this));
}

Fit GeneralisedFit::update(const Table& table, const TableQuestion& q) const {
  if (likelihood.aux() != Aux::noise)
    throw Unsupported(fmt::format(
        "further rows join models of Gaussian noise alone, and the likelihood is {}; fit it again "
        "with all rows",
        likelihood.print()));
  const FurtherRows further(*this, table, q, std::nullopt);
  GeneralisedFit out = with(further.X, further.Y.col(0), further.noise);
  further.tell_of(out.summary);
  return out;
}

HeldOut GeneralisedFit::held_out(const ModelData& test) const {
  const Vector density = log_density(test.X, test.Y.col(0), test.aux);
  Vector decided;
  if (likelihood.classes() > 0) decided = decided_classes(RowMatrix(predict(test.X).probabilities));
  HeldOut out;
  for (Index n = 0; n < density.size(); ++n) {
    if (std::isnan(density(n))) continue;
    out.nlpd.push_back(-density(n));
    if (decided.size()) out.right.push_back(decided(n) == test.Y(n, 0) ? 1.0 : 0.0);
  }
  return out;
}

}  // namespace covary
