// What a Bayesian GP-LVM says of itself and of the rows of a table.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/correspondences.hpp"
#include "covary/models/gplvm_sampling.hpp"
#include "covary/models/memory.hpp"
#include "models/fit_json.hpp"
#include "models/latent_answers.hpp"

namespace covary {

using nlohmann::json;

namespace {

// Of a model of several views, some of which the table leaves empty: the nearest training rows of
// each row in the shared dimensions, and the outputs decoded with them.
NamedColumns corresponding(const GplvmFit& fit, ConstRows Y, Index neighbours) {
  const Correspondences found = correspondences(fit, Y, {.neighbours = neighbours});
  RowMatrix values(Y.rows() * neighbours, 4 + 2 * fit.outputs());
  for (Index k = 0; k < neighbours; ++k) {
    const Prediction p = fit.decode(found.latent[static_cast<std::size_t>(k)]);
    for (Index i = 0; i < Y.rows(); ++i) {
      const auto& rows = found.rows[static_cast<std::size_t>(i)];
      values.row(i * neighbours + k) << static_cast<double>(i), static_cast<double>(k + 1),
          static_cast<double>(rows[static_cast<std::size_t>(k)]), found.distances(i, k),
          p.mean.row(i), p.variance_y.row(i);
    }
  }
  NamedColumns out;
  std::vector<std::string> names{"row", "neighbour", "training_row", "distance"};
  for (const char* what : {"mean_", "variance_"})
    for (const auto& name : fit.output_names) names.push_back(what + name);
  for (std::size_t j = 0; j < names.size(); ++j)
    out.add(names[j], values.col(static_cast<Index>(j)));
  return out;
}

// Of the latent inputs of the training rows, whose outputs the table has.
NamedColumns sample_inputs(const GplvmFit& fit, ConstRows Y, const TableQuestion& q) {
  InputSamplingOptions options;
  options.method = q.posterior;
  options.samples = q.draws;
  options.burn_in = q.burn_in;
  options.thin = q.thin;
  options.seed = q.seed;
  const InputSamples samples = sample_latent(fit, Y, options);
  std::vector<std::string> suffixes;
  for (Index d = 0; d < fit.latent(); ++d) suffixes.push_back(fmt::format("_x{}", d));
  NamedColumns out = named_draws(samples.X, suffixes);
  out.facts = {{"posterior", json(q.posterior).dump()},
               {"acceptance", number(samples.acceptance).dump()}};
  return out;
}

}  // namespace

Answer GplvmFit::details() const {
  const Matrix weights = relevance();
  json views = json::array();
  std::string text =
      fmt::format("{} of {} outputs, {} rows, {} latent dimensions{}{}, kernel {}\n", model,
                  outputs(), mean.rows(), latent(), likelihood ? ", " + likelihood->print() : "",
                  dynamics ? fmt::format(", dynamics {}", dynamics->options().kernel.print()) : "",
                  mappings.front().posterior.kernel().print());
  text += dimension_line(latent());
  for (std::size_t v = 0; v < mappings.size(); ++v) {
    const auto& m = mappings[v];
    const Vector own = weights.row(static_cast<Index>(v));
    views.push_back({{"name", m.view.name},
                     {"outputs", names_in(m.view, output_names)},
                     {"relevance", numbers(own)},
                     {"scaling", scaling_json(m.scaling)}});
    text += numbers_line(m.view.name.empty() ? "relevance" : m.view.name, own);
  }
  text += fmt::format("{} in use: {}\n", active().size(), fmt::join(active(), ", "));
  json object{{"kernel", mappings.front().posterior.kernel().print()},
              {"likelihood", likelihood ? likelihood->print() : "gaussian"},
              {"n", mean.rows()},
              {"d", outputs()},
              {"latent", latent()},
              {"relevance", numbers(Vector(weights.colwise().maxCoeff()))},
              {"active", active()},
              {"views", views},
              {"scaling", {{"outputs", scaling_json(mappings.front().scaling)}}}};
  if (dynamics) object["dynamics"] = dynamics->options().kernel.print();
  add_label_errors(row_labels, scaled_mean(), object, text);
  return {object.dump(), std::move(text)};
}

NamedColumns GplvmFit::predict(const Table& rows, TableQuestion& q) const {
  if (q.correspond > 0) return corresponding(*this, outputs_of(*this, rows), q.correspond);
  return predict_outputs(*this, rows, q, [&](const RowMatrix& Y) {
    if (const auto times = times_in(rows, *this)) {
      q.say("the rows have times: placing them together, as one new sequence");
      auto found = infer_sequence(Y, *times);
      return std::pair(std::move(found.mean), std::move(found.variance));
    }
    auto found = infer(Y);
    return std::pair(std::move(found.mean), std::move(found.variance));
  });
}

Answer GplvmFit::evaluate(const Table& rows, const TableQuestion&) const {
  const RowMatrix Y = outputs_of(*this, rows);
  json object{{"n", Y.rows()}};
  std::string text;
  const auto add = [&](const RowMatrix& at, const RowMatrix& spread, double bound) {
    const double error = reconstruction_error(Y, decode(at, spread).mean);
    object.update({{"reconstruction_rmse", number(error)}, {"bound", number(bound)}});
    text += fmt::format(
        "reconstruction_rmse {:.6g} (of the outputs it was given)\nbound {:.6g} (of log p(y) a "
        "row)\n",
        error, bound);
  };
  if (const auto times = times_in(rows, *this)) {  // together, as predict() places them
    const auto found = infer_sequence(Y, *times);
    add(found.mean, found.variance, found.bound / static_cast<double>(Y.rows()));
    object["sequence"] = true;
    return {object.dump(), std::move(text)};
  }
  const auto found = infer(Y);
  add(found.mean, found.variance, found.bound.mean());
  const double density = log_density(Y).mean();
  object["log_density"] = number(density);
  text += fmt::format("log_density {:.6g} (an estimate of log p(y) a row)\n", density);
  return {object.dump(), std::move(text)};
}

NamedColumns GplvmFit::sample(const Table& rows, const TableQuestion& q) const {
  if (!q.posterior.empty()) return sample_inputs(*this, outputs_of(*this, rows), q);
  return sample_outputs(*this, rows, q);
}

}  // namespace covary
