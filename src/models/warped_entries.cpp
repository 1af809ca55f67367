// Regression through a warp: how it is made, kept and asked.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/warped_regression.hpp"
#include "models/costs.hpp"
#include "models/entries.hpp"
#include "models/fit_json.hpp"
#include "models/latent_answers.hpp"
#include "models/latent_arrays.hpp"
#include "storage/archive.hpp"

namespace covary {

using nlohmann::json;

Answer WarpedRegressionFit::details() const {
  const Vector relevance = layers.relevance().row(0);
  const Kernel& outer = layers.mappings.front().posterior.kernel();
  const std::string inner_kernel = layers.dynamics->options().kernel.print();
  const json object{{"kernel", outer.print()},
                    {"inner_kernel", inner_kernel},
                    {"likelihood", "gaussian"},
                    {"n", layers.mean.rows()},
                    {"d", layers.dynamics->options().times.cols()},
                    {"latent", layers.latent()},
                    {"inputs", input_names()},
                    {"relevance", numbers(relevance)},
                    {"scaling", {{"outputs", scaling_json(layers.mappings.front().scaling)}}}};
  return {object.dump(),
          fmt::format("warped regression of {} on {} inputs, {} rows, kernel {} of {} inner "
                      "dimensions with kernel {}\n",
                      fmt::join(output_names, ", "), input_names().size(), layers.mean.rows(),
                      outer.print(), layers.latent(), inner_kernel) +
              dimension_line(layers.latent()) + numbers_line("relevance", relevance)};
}

void WarpedRegressionFit::store(Archive& to) const {
  GplvmFit named = layers;
  named.output_names = output_names;
  named.time_names = input_names();
  Container own = container_of(named);
  to.json["layers"] = json::parse(own.metadata);
  put_nested(to.arrays, "layers.", std::move(own));
}

Fit restore_warped(const Archive& from) {
  WarpedRegressionFit fit(latent_from(get_nested(from.arrays, "layers."), from.json.at("layers")));
  if (!fit.layers.dynamics)
    throw FileError(fmt::format("{} has no inner layer", from.arrays.source));
  get_record(fit, from.arrays, from.json);
  check_names(fit, from.arrays, fit.layers.dynamics->options().times.cols(), fit.layers.outputs());
  return fit;
}

NamedColumns WarpedRegressionFit::predict(const Table& rows, TableQuestion& q) const {
  const Prediction p = predict(inputs_of(*this, rows));
  NamedColumns out;
  add_moments(*this, p, out);
  if (!q.loss.empty()) add_decisions(*this, p, q.loss, out);
  return out;
}

Answer WarpedRegressionFit::evaluate(const Table& rows, const TableQuestion&) const {
  return number_scores(outputs_of(*this, rows), predict(inputs_of(*this, rows)), output_names);
}

HeldOut WarpedRegressionFit::held_out(const ModelData& rows) const {
  return gaussian_held_out(rows.Y, predict(rows.X));
}

namespace {

Fit make_warped(FitRequest& r) {
  WarpedRegressionOptions o;
  if (r.options.latent) o.latent = r.options.latent;
  if (!r.options.dynamics_kernel.empty()) o.inner = Kernel(r.options.dynamics_kernel);
  o.kernel = Kernel(r.options.kernel);
  o.inducing = r.inducing();
  o.scale_outputs = r.output_scale();
  o.jitter = r.options.jitter;
  o.seed = r.options.seed;
  o.training = r.training();
  WarpedRegression model(r.data.X, r.data.Y, std::move(o));
  return r.train(model);
}

}  // namespace

std::vector<ModelEntry> warped_entries() {
  return {{"warped", "warped", "", Targets::gaussian, Form::plain,
           "Regression through a warp, y = g(h(x)): two layers.",
           "steps, levels, regions that vary faster than others; up to some thousands of rows",
           "4·N·M²·Q + 4·Q·N³", "Q·N²", "latent-variables.md#regression-through-a-warp",
           costs::warped, "missing-outputs several-outputs",
           reads::any_fit + reads::scaling + reads::settings + reads::kept +
               " inputs circular likelihood kernel missing folds jitter inducing latent "
               "dynamics-kernel "
               "restarts",
           with_any({{"predict", "loss"}, {"evaluate", ""}, {"compare", ""}}), make_warped,
           "warped", restore_warped}};
}

}  // namespace covary
