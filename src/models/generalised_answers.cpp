// What a model of any likelihood says of itself and of the rows of a table.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "covary/data/classification_metrics.hpp"
#include "covary/data/decisions.hpp"
#include "covary/data/labels.hpp"
#include "covary/data/metrics.hpp"
#include "covary/error.hpp"
#include "covary/inference/slice_sampling.hpp"
#include "covary/likelihoods/predictive.hpp"
#include "covary/linalg/parallel.hpp"
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

// Of the latent functions of each output: "_" and its name where there are several, and "_" and the
// number of the function, or the class it is of, where one has several.
std::vector<std::string> function_suffixes(const GeneralisedFit& fit, bool by_class = true) {
  const Index L = fit.likelihood.functions();
  std::vector<std::string> out;
  for (Index p = 0; p < fit.outputs(); ++p)
    for (Index l = 0; l < L; ++l) {
      const std::string own = by_class && !fit.classes.empty()
                                  ? fit.classes[static_cast<std::size_t>(l)]
                                  : fmt::format("{}", l);
      out.push_back(suffix_of(fit, p) + (L == 1 ? "" : "_" + own));
    }
  return out;
}

// For one output: of y ~ N(mean, variance), or by the quantiles of its predictive distribution.
Decisions decide_output(const GeneralisedFit& fit, const GeneralisedPrediction& p, Index output,
                        const Vector& exposure, const Loss& loss) {
  const Vector mean = p.mean.col(output), variance = p.variance.col(output);
  if (loss.kind == Loss::Kind::squared || fit.likelihood.node().conjugate())
    return decide(loss, mean, variance);
  const Index L = fit.likelihood.functions();
  const double scale = fit.output_scaling.scale(output), shift = fit.output_scaling.shift(output);
  const double weight = loss.kind == Loss::Kind::absolute ? 2.0 : 1.0;  // |y − a| is both sides
  Decisions out{mean, variance};
  parallel_for(mean.size(), [&](Index n) {
    const double aux = exposure.size() ? exposure(n) : fit.likelihood.node().default_aux();
    const PredictiveTable y(fit.likelihood, fit.likelihood_parameters,
                            p.f.mean.row(n).segment(output * L, L).transpose(),
                            p.f.variance.row(n).segment(output * L, L).transpose(), aux);
    const double a = y.quantile(loss.p);
    out.decided(n) = shift + scale * a;
    // E (p − 1[y < a])(y − a) = p(E y − a) + E max(a − y, 0)
    out.expected_loss(n) = weight * (loss.p * (mean(n) - out.decided(n)) + scale * y.shortfall(a));
  });
  return out;
}

// mean, variance and the decision of --loss, of each output.
void add_outputs(const GeneralisedFit& fit, const GeneralisedPrediction& p, const Vector& exposure,
                 const std::string& expression, NamedColumns& out) {
  for (Index k = 0; k < p.mean.cols(); ++k) {
    out.add("mean" + suffix_of(fit, k), p.mean.col(k));
    out.add("variance" + suffix_of(fit, k), p.variance.col(k));
    out.add("sd" + suffix_of(fit, k), p.variance.col(k).array().sqrt().matrix());
  }
  if (expression.empty()) return;
  const Loss loss(expression);
  for (Index k = 0; k < p.mean.cols(); ++k) {
    const Decisions d = decide_output(fit, p, k, exposure, loss);
    out.add("decision" + suffix_of(fit, k), d.decided);
    out.add("expected_loss" + suffix_of(fit, k), d.expected_loss);
  }
}

// class, p_<class> for classes; else mean and variance of y. Then the latent functions.
NamedColumns predict_rows(const GeneralisedFit& fit, ConstRows X, ConstRows variance,
                          ConstVector exposure, const TableQuestion& q) {
  const GeneralisedPrediction p =
      variance.size() ? fit.predict_gaussian(X, variance, exposure) : fit.predict(X, exposure);
  NamedColumns out;
  if (p.probabilities.size()) {
    add_classes(p.probabilities, fit.classes, q, out);
  } else {
    add_outputs(fit, p, exposure, q.loss, out);
  }
  const auto numbered = function_suffixes(fit, false);
  for (Index l = 0; l < p.f.mean.cols(); ++l) {
    const std::string& suffix = numbered[static_cast<std::size_t>(l)];
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

RowMatrix targets_of(const GeneralisedFit& fit, const Table& table) {
  const auto targets = select_columns(table, fit.output_names);
  return fit.classes.empty() ? numeric_columns(table, targets)
                             : RowMatrix(Labels{fit.classes}.encode(table, targets.front()));
}

// Means over the outputs, and of each where there are several.
Answer output_scores(const GeneralisedFit& fit, const RowMatrix& Y, const GeneralisedPrediction& p,
                     const Matrix& log_density) {
  const auto nlpd = [&](const Vector& y, const Vector&, Index k) {
    double sum = 0.0, count = 0.0;
    for (Index n = 0; n < y.size(); ++n)
      if (const double v = log_density(n, k); !std::isnan(v)) sum -= v, count += 1.0;
    return sum / count;
  };
  using Score = std::function<double(const Vector&, const Vector&, Index)>;
  const std::pair<const char*, Score> scores[] = {
      {"rmse", [](const auto& y, const auto& mean, Index) { return rmse(y, mean); }},
      {"mae", [](const auto& y, const auto& mean, Index) { return mae(y, mean); }},
      {"smse", [](const auto& y, const auto& mean, Index) { return smse_or_nan(y, mean); }},
      {"nlpd", nlpd}};
  json object{{"n", Y.rows()}}, each = json::object();
  std::string text;
  for (const auto& [name, score] : scores) {
    double sum = 0.0;
    for (Index k = 0; k < Y.cols(); ++k) {
      const double own = score(Y.col(k), p.mean.col(k), k);
      if (Y.cols() > 1) each[fit.output_names[static_cast<std::size_t>(k)]][name] = number(own);
      sum += own;
    }
    add_score(object, text, name, sum / static_cast<double>(Y.cols()));
  }
  if (Y.cols() > 1) object["outputs"] = each;
  return {object.dump(), std::move(text)};
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
  std::string mixed;
  if (parameters.contains("mixing.weights"))
    mixed = fmt::format(", mixtures of {} functions", parameters.at("mixing.weights").cols);
  return fmt::format(
      "{} model of {} on {} inputs{}, {} rows, likelihood {}{}, kernel {}, mean {}{}", model,
      output_names.empty() ? target() : fmt::format("{}", fmt::join(output_names, ", ")), inputs(),
      seen_in_words(input_map), rows, likelihood.print(),
      classes.empty() ? "" : fmt::format(" ({})", fmt::join(classes, ", ")),
      posterior.kernel().print(), posterior.mean().print(), mixed);
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
  const auto [X, variance] = input_rows_of(*this, table, q, input_scaling);
  if (variance.size() && (q.components || q.gradients))
    throw Unsupported("--components and --gradients are not available at Gaussian inputs");
  const Vector exposure = exposure_of(table, q);
  NamedColumns out = in_blocks(X.rows(), block, [&](Index first, Index n) {
    return predict_rows(*this, X.middleRows(first, n),
                        variance.size() ? RowMatrix(variance.middleRows(first, n)) : variance,
                        exposure.size() ? Vector(exposure.segment(first, n)) : exposure, q);
  });
  if (q.components) tell_components(posterior, q, out);
  return out;
}

Answer GeneralisedFit::evaluate(const Table& table, const TableQuestion& q) const {
  check(*this, q);
  const RowMatrix Y = targets_of(*this, table);
  if (q.missing == "learn")
    throw Unsupported("evaluate of this likelihood needs all inputs; use --missing drop");
  const RowMatrix X = inputs_of(*this, table);
  const Vector exposure = exposure_of(table, q);
  const GeneralisedPrediction p = predict(X, exposure);
  if (p.probabilities.size())
    return class_scores(RowMatrix(p.probabilities), Vector(Y.col(0)), classes, q.threshold);
  return output_scores(*this, Y, p, log_density(X, Y, exposure));
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
        sample_exactly(X, Vector(targets_of(*this, table).col(0)), exposure_of(table, q),
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
        "adding rows needs Gaussian noise, and the likelihood is {}; fit it again with all rows",
        likelihood.print()));
  const FurtherRows further(*this, table, q, std::nullopt);
  GeneralisedFit out = with(further.X, further.Y, further.noise);
  further.tell_of(out.summary);
  return out;
}

HeldOut GeneralisedFit::held_out(const ModelData& test) const {
  const Matrix density = log_density(test.X, test.Y, test.aux);
  Vector decided;
  if (likelihood.classes() > 0) decided = decided_classes(RowMatrix(predict(test.X).probabilities));
  HeldOut out;
  for (Index n = 0; n < density.rows(); ++n)
    for (Index p = 0; p < density.cols(); ++p) {
      if (std::isnan(density(n, p))) continue;
      out.nlpd.push_back(-density(n, p));
      if (decided.size()) out.right.push_back(decided(n) == test.Y(n, 0) ? 1.0 : 0.0);
    }
  return out;
}

}  // namespace covary
