#include "storage/latent_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "storage/fit_json.hpp"
#include "storage/posterior_arrays.hpp"

namespace covary {

using nlohmann::json;

Container latent_container(const GplvmFit& fit) {
  Container c;
  json views = json::array();
  for (std::size_t v = 0; v < fit.mappings.size(); ++v) {
    const auto& m = fit.mappings[v];
    Container own;
    json j;
    put_posterior(m.posterior, own, j);
    put_scaling(own, "outputs", m.scaling);
    put_nested(c, fmt::format("view{}.", v), std::move(own));
    views.push_back({{"name", m.view.name}, {"columns", m.view.columns}, {"posterior", j}});
  }
  c.put_rows("latent.mean", fit.mean);
  c.put_rows("latent.variance", fit.variance);
  c.put_vector("latent.kl", fit.kl_of_dims);
  json j{{"model", fit.mappings.size() == 1 ? "gplvm" : "mrd"},
         {"views", views},
         {"elbo", number(fit.elbo)},
         {"log_prior", number(fit.log_prior)},
         {"parameters", to_json(fit.parameters, c)},
         {"summary", to_json(fit.summary)},
         {"output_names", fit.output_names},
         {"row_labels", fit.row_labels}};
  if (fit.dynamics) {
    const DynamicalOptions& o = fit.dynamics->options();
    j["dynamics"] = {
        {"kernel", o.kernel.print()}, {"sequences", o.sequences}, {"time_names", fit.time_names}};
    c.put_rows("dynamics.times", o.times);
    c.put_vector("dynamics.values", fit.dynamics_values);
  }
  if (fit.likelihood) {
    j["likelihood"] = fit.likelihood->print();
    c.put_vector("likelihood.values", fit.likelihood_values);
  }
  c.metadata = j.dump();
  return c;
}

namespace {

GplvmFit::Mapping mapping_from(const Container& c, const json& j, std::size_t v) {
  const Container own = get_nested(c, fmt::format("view{}.", v));
  LatentView view{j.at("name").get<std::string>(), j.at("columns").get<std::vector<Index>>()};
  const RegressionPosterior posterior = get_posterior(own, j.at("posterior"));
  const auto P = static_cast<Index>(view.columns.size());
  if (posterior.is_exact() || posterior.outputs() != P)
    throw FileError(
        fmt::format("{}: the mapping of view '{}' does not fit its columns", c.source, view.name));
  return {std::move(view), posterior.sparse(), get_scaling(own, "outputs", P)};
}

}  // namespace

GplvmFit latent_from(const Container& c, const json& j) {
  GplvmFit fit;
  const json& views = j.at("views");
  for (std::size_t v = 0; v < views.size(); ++v)
    fit.mappings.push_back(mapping_from(c, views[v], v));
  if (fit.mappings.empty()) throw FileError(fmt::format("{} has no views", c.source));
  const Index Q = fit.mappings.front().posterior.dims(), P = fit.outputs();
  std::vector<char> used(static_cast<std::size_t>(P), 0);
  for (const auto& m : fit.mappings) {
    bool fits = m.posterior.dims() == Q;
    for (const Index p : m.view.columns)
      fits = fits && p >= 0 && p < P && !used[static_cast<std::size_t>(p)]++;
    if (!fits) throw FileError(fmt::format("{}: its views do not fit each other", c.source));
  }
  fit.mean = c.rows("latent.mean", -1, Q);
  const Index N = fit.mean.rows();
  fit.variance = c.rows("latent.variance", N, Q);
  fit.kl_of_dims = c.vector("latent.kl", Q);
  if (N == 0 || !fit.mean.allFinite() || !fit.variance.allFinite() ||
      !(fit.variance.minCoeff() >= 0.0) || !fit.kl_of_dims.allFinite())
    throw FileError(fmt::format("{} has no usable latent inputs", c.source));
  fit.parameters = parameters_from(j.at("parameters"), c);
  fit.summary = summary_from(j.at("summary"));
  fit.elbo = number_or_nan(j.at("elbo"));
  fit.log_prior = number_or_nan(j.at("log_prior"));
  fit.output_names = j.at("output_names").get<std::vector<std::string>>();
  fit.row_labels = j.at("row_labels").get<std::vector<std::string>>();
  if (static_cast<Index>(fit.output_names.size()) != P ||
      (!fit.row_labels.empty() && static_cast<Index>(fit.row_labels.size()) != N))
    throw FileError(
        fmt::format("{}: the names of its columns or rows do not fit its arrays", c.source));
  if (j.contains("dynamics")) {
    const json& d = j.at("dynamics");
    DynamicalOptions o{Kernel(d.at("kernel").get<std::string>()), c.rows("dynamics.times", N),
                       d.at("sequences").get<std::vector<Index>>(), Q};
    fit.time_names = d.at("time_names").get<std::vector<std::string>>();
    fit.dynamics = std::make_shared<DynamicalInputs>(std::move(o));
    fit.dynamics_values = c.vector("dynamics.values", fit.dynamics->parameter_count());
    if (!fit.dynamics_values.allFinite() ||
        !(fit.dynamics_values.segment(N * Q, N * Q).minCoeff() >= 0.0) ||
        static_cast<Index>(fit.time_names.size()) != fit.dynamics->options().times.cols())
      throw FileError(fmt::format("{} has no usable dynamics", c.source));
  }
  if (j.contains("likelihood")) {
    fit.likelihood = Likelihood(j.at("likelihood").get<std::string>());
    fit.likelihood_values = c.vector("likelihood.values", fit.likelihood->parameter_count());
    if (fit.likelihood->latents() != 1 || !fit.likelihood_values.allFinite())
      throw FileError(fmt::format("{} has no usable likelihood", c.source));
  }
  return fit;
}

}  // namespace covary
