// What a regression says of itself and of the rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/models/autoregression.hpp"
#include "covary/models/memory.hpp"
#include "covary/models/model_data.hpp"
#include "covary/models/parameter_draws.hpp"
#include "models/fit_json.hpp"
#include "models/further_rows.hpp"
#include "models/table_answers.hpp"
#include "models/words.hpp"

namespace covary {

using nlohmann::json;

namespace {

constexpr Index block = 512;  // rows predicted at a time

NamedColumns predict_rows(const RegressionFit& fit, ConstRows X, ConstRows variance,
                          const TableQuestion& q) {
  NamedColumns out;
  const Prediction p = q.drawn           ? covary::predict(fit, *q.drawn, X)
                       : variance.size() ? fit.predict(X, variance)
                                         : fit.predict(X);
  add_moments(fit, p, out);
  if (!q.loss.empty()) add_decisions(fit, p, q.loss, out);
  if (q.components) add_components(fit.components(X), suffixes_of(fit), out);
  const auto inputs = fit.input_names();
  if (q.gradients)
    for (Index k = 0; k < p.mean.cols(); ++k)
      add_gradients(fit.gradient(X, k), inputs, suffix_of(fit, k), out);
  return out;
}

void refuse_together(const TableQuestion& q, const std::string& with) {
  if (q.components || q.gradients || (with != "--input-variance" && !q.input_variance.empty()))
    throw Unsupported(fmt::format("--components{} --gradients{} are not available with {}",
                                  with == "--input-variance" ? " and" : ",",
                                  with == "--input-variance" ? "" : " and --input-variance", with));
}

void draw_parameters(const RegressionFit& fit, TableQuestion& q) {
  if (q.parameter_draws == 0 || q.drawn) return;
  refuse_together(q, "--parameter-draws");
  if (q.steps > 0 && q.propagation != "draws")
    throw InputError(fmt::format(
        "--parameter-draws with --steps needs --propagation draws, got '{}'", q.propagation));
  ParameterDrawOptions options;
  options.draws = q.parameter_draws;
  options.seed = q.seed;
  q.drawn = std::make_shared<ParameterDraws>(sample_parameters(fit, options));
  q.say(fmt::format("{} draws of the parameters, {} evaluations, R-hat {:.3f}{}", options.draws,
                    q.drawn->evaluations, q.drawn->r_hat,
                    q.drawn->r_hat > 1.1 ? ": the chains do not agree; take more draws" : ""));
}

// The series of a table, simulated beyond their end.
NamedColumns simulate_steps(const RegressionFit& fit, const Table& table, const TableQuestion& q) {
  refuse_together(q, "--steps");
  if (fit.lags() == 0)
    throw InputError("--steps needs a model trained with fit --lags; this one has other inputs");
  DrawOptions draws;
  draws.draws = q.draws;
  draws.seed = q.seed;
  if (q.drawn) draws.parameters = q.drawn->values;
  const RowMatrix series = columns_of(table, fit.output_names);
  const Prediction p = simulate(fit, series, q.steps, parse_propagation(q.propagation), draws);
  NamedColumns out;
  out.add("step", Vector::LinSpaced(q.steps, 1.0, static_cast<double>(q.steps)));
  add_moments(fit, p, out);
  return out;
}

}  // namespace

Answer RegressionFit::details() const {
  const Posterior& q = posterior;
  const Index n = data_rows > 0 ? data_rows : q.rows();
  json object{
      {"kernel", q.kernel().print()},
      {"mean", q.mean().print()},
      {"likelihood", "gaussian"},
      {"n", n},
      {"d", q.dims()},
      {"inputs", input_names()},
      {"scaling",
       {{"inputs", scaling_json(input_scaling)}, {"outputs", scaling_json(output_scaling)}}}};
  // The evidence of an exact model is its own upper bound.
  if (q.can(Capability::exact_evidence)) object["upper_bound"] = number(value);
  std::string variables;
  if (q.can(Capability::inducing)) {
    const InducingView u = q.inducing();
    const std::string kind = u.features->name();
    object.update({{"inducing", u.features->size()}, {"features", kind}});
    variables = kind == "points" ? fmt::format("{} inducing inputs, ", u.features->size())
                                 : fmt::format("{} {} features, ", u.features->size(), kind);
  }
  return {object.dump(),
          fmt::format("{} regression of {} on {} inputs, {} rows, {}kernel {}, mean {}", model,
                      fmt::join(output_names, ", "), q.dims(), n, variables, q.kernel().print(),
                      q.mean().print())};
}

NamedColumns RegressionFit::predict(const Table& rows, TableQuestion& q) const {
  draw_parameters(*this, q);
  if (q.steps > 0) return simulate_steps(*this, rows, q);
  const auto [X, variance] = input_rows_of(*this, rows, q, input_scaling);
  if (variance.size()) refuse_together(q, "--input-variance");
  NamedColumns out = in_blocks(X.rows(), block, [&](Index first, Index n) {
    return predict_rows(*this, X.middleRows(first, n),
                        variance.size() ? RowMatrix(variance.middleRows(first, n)) : variance, q);
  });
  if (q.components) tell_components(posterior, q, out);
  return out;
}

Answer RegressionFit::evaluate(const Table& rows, const TableQuestion& q) const {
  const RowMatrix Y = outputs_of(*this, rows);
  if (const Index lags = this->lags()) {
    const LagWindows windows = lag_windows(Y, lags);
    return number_scores(windows.Y, predict(windows.X), output_names);
  }
  const auto [X, variance] = input_rows_of(*this, rows, q, input_scaling);
  return number_scores(Y, variance.size() ? predict(X, variance) : predict(X), output_names);
}

NamedColumns RegressionFit::sample(const Table& rows, const TableQuestion& q) const {
  const RowMatrix X = inputs_of(*this, rows);
  require_memory(posterior.sample_bytes(static_cast<double>(X.rows())), X.rows(),
                 fmt::format("a joint draw at {} rows", X.rows()));
  return named_draws(sample(X, q.draws, q.seed), suffixes_of(*this));
}

Fit RegressionFit::update(const Table& rows, const TableQuestion& q) const {
  const bool exact = posterior.can(Capability::exact_evidence);
  const FurtherRows further(
      *this, rows, q, exact ? std::optional(posterior.point_noise().size() > 0) : std::nullopt);
  if (exact) {
    const Index after = posterior.rows() + further.X.rows();
    const double n = static_cast<double>(after);
    require_memory(16.0 * n * n, after, fmt::format("exact regression of {} rows", after));
  }
  RegressionFit out = with(further.X, further.Y, further.noise);
  further.tell_of(out.summary);
  return out;
}

namespace {

// How uncertain the inputs of held-out rows are, and what stands in for those that are missing,
// which have their prior: N(0, 1) in the units that the model sees.
RowMatrix held_out_variance(const RegressionFit& fit, const ModelData& rows, RowMatrix& X) {
  const Index D = X.cols();
  RowMatrix out = rows.input_variance.size() ? rows.input_variance : RowMatrix::Zero(X.rows(), D);
  const RowMatrix middle = fit.input_scaling.undo(RowMatrix::Zero(1, D)),
                  spread = fit.input_scaling.undo_variance(RowMatrix::Ones(1, D));
  for (Index d = 0; d < D; ++d) {
    for (const auto& [name, value] : fit.diagnostics) {
      if (name == input_variance_name(d)) out.col(d).setConstant(value);
      if (name == input_factor_name(d)) out.col(d) *= value;
    }
    for (Index i = 0; i < X.rows(); ++i)
      if (std::isnan(X(i, d))) {
        X(i, d) = middle(0, d);
        out(i, d) = spread(0, d);
      }
  }
  return out;
}

}  // namespace

HeldOut RegressionFit::held_out(const ModelData& rows) const {
  RowMatrix X = rows.X;
  const RowMatrix variance = held_out_variance(*this, rows, X);
  Prediction p{RowMatrix(rows.Y.rows(), rows.Y.cols()), {}, {}};
  p.variance_f = p.variance_y = p.mean;
  for (const bool known : {true, false}) {
    std::vector<Index> own;
    for (Index i = 0; i < X.rows(); ++i)
      if ((variance.row(i).maxCoeff() == 0.0) == known) own.push_back(i);
    if (own.empty()) continue;
    const RowMatrix at = take_rows(X, own);
    const Prediction part = known ? predict(at) : predict(at, take_rows(variance, own));
    p.mean(own, Eigen::all) = part.mean;
    p.variance_f(own, Eigen::all) = part.variance_f;
    p.variance_y(own, Eigen::all) = part.variance_y;
  }
  if (rows.noise.size()) p.variance_y.colwise() += rows.noise;
  return gaussian_held_out(rows.Y, p);
}

}  // namespace covary
