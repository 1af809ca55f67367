#include "models/latent_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "inference/posterior_arrays.hpp"
#include "models/entries.hpp"
#include "models/fit_json.hpp"
#include "storage/archive.hpp"

namespace covary {

using nlohmann::json;

json to_json(const std::vector<StoredView>& views, Container& c) {
  json out = json::array();
  for (std::size_t v = 0; v < views.size(); ++v) {
    Container own;
    json j;
    put_posterior(views[v].posterior, own, j);
    put_scaling(own, "outputs", views[v].scaling);
    put_nested(c, fmt::format("view{}.", v), std::move(own));
    out.push_back(
        {{"name", views[v].view.name}, {"columns", views[v].view.columns}, {"posterior", j}});
  }
  return out;
}

std::vector<StoredView> views_from(const Container& c, const json& views, bool exact) {
  std::vector<StoredView> out;
  std::size_t P = 0;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const json& j = views[v];
    const Container own = get_nested(c, fmt::format("view{}.", v));
    LatentView view{j.at("name").get<std::string>(), j.at("columns").get<std::vector<Index>>()};
    Posterior posterior = get_posterior(own, j.at("posterior"));
    const auto columns = static_cast<Index>(view.columns.size());
    if (posterior.can(Capability::training_inputs) != exact || posterior.functions() != columns)
      throw FileError(fmt::format("{}: the mapping of view '{}' does not fit its columns", c.source,
                                  view.name));
    P += view.columns.size();
    out.push_back({std::move(view), std::move(posterior), get_scaling(own, "outputs", columns)});
  }
  if (out.empty()) throw FileError(fmt::format("{} has no views", c.source));
  std::vector<char> used(P, 0);
  for (const StoredView& v : out) {
    bool fits = v.posterior.dims() == out.front().posterior.dims();
    for (const Index p : v.view.columns)
      fits = fits && p >= 0 && p < static_cast<Index>(P) && !used[static_cast<std::size_t>(p)]++;
    if (!fits) throw FileError(fmt::format("{}: its views do not fit each other", c.source));
  }
  return out;
}

json to_json(const DynamicalInputs& dynamics, const std::vector<std::string>& time_names,
             Container& c) {
  const DynamicalOptions& o = dynamics.options();
  c.put_rows("dynamics.times", o.times);
  return {{"kernel", o.kernel.print()}, {"sequences", o.sequences}, {"time_names", time_names}};
}

std::shared_ptr<const DynamicalInputs> dynamics_from(const Container& c, const json& j, Index rows,
                                                     Index dims,
                                                     std::vector<std::string>& time_names) {
  DynamicalOptions o{Kernel(j.at("kernel").get<std::string>()), c.rows("dynamics.times", rows),
                     j.at("sequences").get<std::vector<Index>>(), dims};
  time_names = j.at("time_names").get<std::vector<std::string>>();
  if (static_cast<Index>(time_names.size()) != o.times.cols())
    throw FileError(fmt::format("{} has no usable dynamics", c.source));
  return std::make_shared<DynamicalInputs>(std::move(o));
}

std::vector<std::string> row_labels_from(FitRecord& fit, const Container& c, const json& j, Index P,
                                         Index N) {
  auto out = j.at("row_labels").get<std::vector<std::string>>();
  check_names(fit, c, 0, P);
  if (!out.empty() && static_cast<Index>(out.size()) != N)
    throw FileError(fmt::format("{}: the labels of its rows do not fit its arrays", c.source));
  return out;
}

void GplvmFit::store(Archive& to) const {
  std::vector<StoredView> views;
  views.reserve(mappings.size());
  for (const auto& m : mappings) views.push_back({m.view, m.posterior, m.scaling});
  to.arrays.put_rows("latent.mean", mean);
  to.arrays.put_rows("latent.variance", variance);
  to.arrays.put_vector("latent.kl", kl_of_dims);
  to.json["views"] = to_json(views, to.arrays);
  to.json["row_labels"] = row_labels;
  if (dynamics) {
    to.json["dynamics"] = to_json(*dynamics, time_names, to.arrays);
    to.arrays.put_vector("dynamics.values", dynamics_values);
  }
  if (likelihood) {
    to.json["likelihood"] = likelihood->print();
    to.arrays.put_vector("likelihood.values", likelihood_values);
  }
}

GplvmFit latent_from(const Container& c, const json& j) {
  GplvmFit fit;
  for (StoredView& v : views_from(c, j.at("views"), false))
    fit.mappings.push_back({std::move(v.view), std::move(v.posterior), std::move(v.scaling)});
  const Index Q = fit.mappings.front().posterior.dims();
  fit.mean = c.rows("latent.mean", -1, Q);
  const Index N = fit.mean.rows();
  fit.variance = c.rows("latent.variance", N, Q);
  fit.kl_of_dims = c.vector("latent.kl", Q);
  if (N == 0 || !fit.mean.allFinite() || !fit.variance.allFinite() ||
      !(fit.variance.minCoeff() >= 0.0) || !fit.kl_of_dims.allFinite())
    throw FileError(fmt::format("{} has no usable latent inputs", c.source));
  get_record(fit, c, j);
  fit.row_labels = row_labels_from(fit, c, j, fit.outputs(), N);
  if (j.contains("dynamics")) {
    fit.dynamics = dynamics_from(c, j.at("dynamics"), N, Q, fit.time_names);
    fit.dynamics_values = c.vector("dynamics.values", fit.dynamics->parameter_count());
    if (!fit.dynamics_values.allFinite() ||
        !(fit.dynamics_values.segment(N * Q, N * Q).minCoeff() >= 0.0))
      throw FileError(fmt::format("{} has no usable dynamics", c.source));
  }
  if (j.contains("likelihood")) {
    fit.likelihood = Likelihood(j.at("likelihood").get<std::string>());
    fit.likelihood_values = c.vector("likelihood.values", fit.likelihood->parameter_count());
    if (fit.likelihood->functions() != 1 || !fit.likelihood_values.allFinite())
      throw FileError(fmt::format("{} has no usable likelihood", c.source));
  }
  return fit;
}

Fit restore_latent(const Archive& from) { return latent_from(from.arrays, from.json); }

}  // namespace covary
