#include "describe.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/data/labels.hpp"
#include "covary/models/gplvm_fit.hpp"

namespace covary::cli {
namespace {

json scaling_json(const Scaling& s) {
  return {{"shift", finite(s.shift)}, {"scale", finite(s.scale)}};
}

std::vector<std::string> outputs_of(const LatentView& view, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  out.reserve(view.columns.size());
  for (const Index p : view.columns) out.push_back(names[static_cast<std::size_t>(p)]);
  return out;
}

// The evidence of an exact model is its own upper bound.
json upper_bound(const RegressionFit& fit) {
  if (fit.posterior.can(Capability::exact_evidence)) return finite(fit.log_marginal_likelihood);
  return fit.summary.upper_bound ? finite(*fit.summary.upper_bound) : json(nullptr);
}

// Hundreds of inducing inputs are for the JSON.
Parameters without_Z(const Parameters& all) {
  Parameters out;
  for (const Parameter& p : all.all())
    if (!p.path.ends_with("features.Z") && !p.path.starts_with("latent.")) out.add(p);
  return out;
}

}  // namespace

namespace {

// What every kind of fit has to say.
json describe_fit(const Parameters& parameters, const Vector& standard_errors, const Summary& s,
                  const std::vector<std::pair<std::string, double>>& diagnostics) {
  json values = json::object(), errors = json::object(), table = json::array();
  Index free = 0;
  for (const auto& p : parameters.all()) {
    values[p.path] = p.value.size() == 1 ? finite(p.value(0)) : finite(p.value);
    table.push_back({{"name", p.path},
                     {"transform", p.transform.describe()},
                     {"prior", p.prior ? json(p.prior->describe()) : json(nullptr)},
                     {"trainable", p.trainable},
                     {"tie", p.tied_to.empty() ? json(nullptr)
                                               : json(fmt::format("{}*{}", p.ratio, p.tied_to))},
                     {"shape", {p.rows, p.cols}}});
    if (p.trainable && p.tied_to.empty()) {
      if (standard_errors.size()) {
        const Vector e = standard_errors.segment(free, p.value.size());
        errors[p.path] = e.size() == 1 ? finite(e(0)) : finite(e);
      }
      free += p.value.size();
    }
  }
  json out{{"objective", s.objective},
           {"iterations", s.iterations},
           {"evaluations", s.evaluations},
           {"converged", s.converged},
           {"reason", s.reason},
           {"gradient_norm", finite(s.gradient_norm)},
           {"seconds", finite(s.seconds)},
           {"jitter", finite(s.jitter)},
           {"route", s.route},
           {"warnings", s.warnings},
           {"parameters", values},
           {"parameter_table", table},
           {"standard_errors", errors}};
  for (const auto& start : s.starts)
    out["starts"].push_back({{"index", start.index},
                             {"value", start.value ? finite(*start.value) : json(nullptr)},
                             {"iterations", start.iterations},
                             {"reason", start.reason}});
  if (!diagnostics.empty()) {
    json& d = out["diagnostics"] = json::object();
    for (const auto& [name, value] : diagnostics) d[name] = finite(value);
  }
  return out;
}

}  // namespace

json describe_json(const SavedModel& model) {
  const RegressionFit& fit = model.fit;
  const Posterior& posterior = fit.posterior;
  json out = describe_fit(fit.parameters, fit.standard_errors, fit.summary, fit.diagnostics);
  out.update({{"model", posterior.name()},
              {"kernel", posterior.kernel().print()},
              {"mean", posterior.mean().print()},
              {"likelihood", "gaussian"},
              {"n", posterior.rows()},
              {"d", posterior.dims()},
              {"outputs", fit.output_names},
              {"inputs", fit.input_names},
              {"value", finite(fit.log_marginal_likelihood)},
              {"upper_bound", upper_bound(fit)},
              {"log_prior", finite(fit.log_prior)},
              {"scaling",
               {{"inputs", scaling_json(fit.input_scaling)},
                {"outputs", scaling_json(fit.output_scaling)}}}});
  return out;
}

json describe_json(const SavedGeneralised& model) {
  const GeneralisedFit& fit = model.fit;
  json out = describe_fit(fit.parameters, Vector(), fit.summary, fit.diagnostics);
  out.update({{"model", fit.model},
              {"kernel", fit.posterior.kernel().print()},
              {"mean", fit.posterior.mean().print()},
              {"likelihood", fit.likelihood.print()},
              {"n", fit.rows},
              {"d", fit.inputs()},
              {"outputs", json::array({fit.output_name})},
              {"inputs", fit.input_names},
              {"classes", fit.classes},
              {"value", finite(fit.value)},
              {"upper_bound", nullptr},
              {"log_prior", finite(fit.log_prior)},
              {"scaling",
               {{"inputs", scaling_json(fit.input_scaling)},
                {"outputs", scaling_json(fit.output_scaling)}}}});
  if (const Pca* pca = fit.input_map.pca())
    out["pca"] = {{"components", pca->size()}, {"explained", finite(pca->explained())}};
  if (const LatentFeatures* features = fit.input_map.gplvm())
    out["gplvm"] = {{"latent", features->fit().latent()},
                    {"active", features->used()},
                    {"relevance", finite(Vector(features->fit().relevance().row(0)))},
                    {"n", features->fit().mean.rows()},
                    {"elbo", finite(features->fit().elbo)}};
  return out;
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

std::string describe_text(const SavedGeneralised& model) {
  const GeneralisedFit& fit = model.fit;
  const Posterior& p = fit.posterior;
  std::string out = fmt::format(
      "{} model of {} on {} inputs{}, {} rows, likelihood {}{}, kernel {}, mean {}\n{}\n\n{}\n",
      fit.model, fit.output_name, fit.inputs(), seen_in_words(fit.input_map), fit.rows,
      fit.likelihood.print(),
      fit.classes.empty() ? "" : fmt::format(" ({})", fmt::join(fit.classes, ", ")),
      p.kernel().print(), p.mean().print(), fit.summary.brief(), without_Z(fit.parameters).table());
  for (const auto& [name, value] : fit.diagnostics)
    out += fmt::format("{:<20} {:.6g}\n", name, value);
  return out;
}

std::string describe_text(const SavedModel& model) {
  const RegressionFit& fit = model.fit;
  const Posterior& p = fit.posterior;
  std::string out = fmt::format(
      "{} regression of {} on {} inputs, {} rows, kernel {}, mean {}\n{}\n\n{}\n", p.name(),
      fmt::join(fit.output_names, ", "), p.dims(), p.rows(), p.kernel().print(), p.mean().print(),
      fit.summary.brief(),
      without_Z(fit.parameters).table(fit.standard_errors.size() ? &fit.standard_errors : nullptr));
  for (const auto& [name, value] : fit.diagnostics)
    out += fmt::format("{:<20} {:.6g}\n", name, value);
  return out;
}

Index label_errors(const std::vector<std::string>& row_labels, ConstRows X) {
  const Labels labels = Labels::from(row_labels);
  std::vector<Index> codes;
  for (const double c : labels.encode(row_labels)) codes.push_back(static_cast<Index>(c));
  return neighbour_errors(X, codes);
}

std::string label_errors_in_words(const json& object) {
  if (!object.contains("neighbour_errors")) return "";
  return fmt::format("{} of {} rows have a nearest neighbour of another label\n",
                     object["neighbour_errors"].get<Index>(), object["n"].get<Index>());
}

json describe_json(const SavedLatent& model) {
  const GplvmFit& fit = model.fit;
  json out = describe_fit(fit.parameters, Vector(), fit.summary, {});
  const Matrix relevance = fit.relevance();
  json views = json::array();
  for (std::size_t v = 0; v < fit.mappings.size(); ++v) {
    const auto& m = fit.mappings[v];
    views.push_back({{"name", m.view.name},
                     {"outputs", outputs_of(m.view, fit.output_names)},
                     {"relevance", finite(Vector(relevance.row(static_cast<Index>(v))))},
                     {"scaling", scaling_json(m.scaling)}});
  }
  const auto& first = fit.mappings.front();
  out.update({{"model", fit.mappings.size() > 1 ? "mrd" : "gplvm"},
              {"kernel", first.posterior.kernel().print()},
              {"likelihood", fit.likelihood ? fit.likelihood->print() : "gaussian"},
              {"n", fit.mean.rows()},
              {"d", fit.outputs()},
              {"latent", fit.latent()},
              {"outputs", fit.output_names},
              {"value", finite(fit.elbo)},
              {"upper_bound", nullptr},
              {"log_prior", finite(fit.log_prior)},
              {"relevance", finite(Vector(relevance.colwise().maxCoeff()))},
              {"active", fit.active()},
              {"views", views},
              {"scaling", {{"outputs", scaling_json(first.scaling)}}}});
  if (fit.dynamics) out["dynamics"] = fit.dynamics->options().kernel.print();
  if (!fit.row_labels.empty())
    out["neighbour_errors"] = label_errors(fit.row_labels, fit.scaled_mean());
  return out;
}

std::string describe_text(const SavedLatent& model) {
  const GplvmFit& fit = model.fit;
  std::string out = fmt::format(
      "{} of {} outputs, {} rows, {} latent dimensions{}{}, kernel {}\n{}\n\n{}\n",
      fit.mappings.size() > 1 ? "mrd" : "gplvm", fit.outputs(), fit.mean.rows(), fit.latent(),
      fit.likelihood ? ", " + fit.likelihood->print() : "",
      fit.dynamics ? fmt::format(", dynamics {}", fit.dynamics->options().kernel.print()) : "",
      fit.mappings.front().posterior.kernel().print(), fit.summary.brief(),
      without_Z(fit.parameters).table());
  const Matrix relevance = fit.relevance();
  out += "dimension ";
  for (Index q = 0; q < fit.latent(); ++q) out += fmt::format("{:>8}", q);
  for (std::size_t v = 0; v < fit.mappings.size(); ++v) {
    const std::string& name = fit.mappings[v].view.name;
    out += fmt::format("\n{:<10}", name.empty() ? "relevance" : name);
    for (Index q = 0; q < fit.latent(); ++q)
      out += fmt::format("{:>8.4f}", relevance(static_cast<Index>(v), q));
  }
  out += fmt::format("\n{} in use: {}\n", fit.active().size(), fmt::join(fit.active(), ", "));
  out += label_errors_in_words(describe_json(model));
  return out;
}

json describe_json(const SavedPpca& model) {
  const PpcaFit& fit = model.fit;
  json out{{"model", "ppca"},
           {"n", fit.mean.rows()},
           {"d", fit.outputs()},
           {"latent", fit.latent()},
           {"outputs", fit.output_names},
           {"objective", "log_likelihood"},
           {"value", finite(fit.log_likelihood)},
           {"noise_variance", finite(fit.noise_variance)},
           {"variances", finite(fit.pca.variances)},
           {"explained", finite(fit.pca.explained())},
           {"converged", true},
           {"reason", "closed form"},
           {"scaling", {{"outputs", scaling_json(fit.scaling)}}}};
  if (!fit.row_labels.empty()) out["neighbour_errors"] = label_errors(fit.row_labels, fit.mean);
  return out;
}

std::string describe_text(const SavedPpca& model) {
  const PpcaFit& fit = model.fit;
  std::string out = fmt::format(
      "ppca of {} outputs, {} rows, {} latent dimensions\nlog likelihood {:.6g}, noise variance "
      "{:.6g}\n\ndimension ",
      fit.outputs(), fit.mean.rows(), fit.latent(), fit.log_likelihood, fit.noise_variance);
  for (Index q = 0; q < fit.latent(); ++q) out += fmt::format("{:>8}", q);
  out += "\nexplained ";
  for (const double share : fit.pca.explained()) out += fmt::format("{:>8.4f}", share);
  return out + "\n" + label_errors_in_words(describe_json(model));
}

json describe_json(const SavedMapGplvm& model) {
  const MapGplvmFit& fit = model.fit;
  json out = describe_fit(fit.parameters, Vector(), fit.summary, {});
  json views = json::array();
  for (const auto& m : fit.mappings) {
    views.push_back({{"name", m.view.name},
                     {"outputs", outputs_of(m.view, fit.output_names)},
                     {"scaling", scaling_json(m.scaling)}});
  }
  const auto& first = fit.mappings.front();
  out.update(
      {{"model", "map_gplvm"},
       {"kernel", first.posterior.kernel().print()},
       {"likelihood", "gaussian"},
       {"n", fit.X.rows()},
       {"d", fit.outputs()},
       {"latent", fit.latent()},
       {"outputs", fit.output_names},
       {"value", finite(fit.log_likelihood)},
       {"log_prior", finite(fit.log_prior)},
       {"spread", finite(fit.spread())},
       {"back_constraint", fit.recognition ? json(fit.recognition->options().form) : json(nullptr)},
       {"views", views},
       {"scaling", {{"outputs", scaling_json(first.scaling)}}}});
  if (fit.dynamics) out["dynamics"] = fit.dynamics->options().kernel.print();
  if (!fit.row_labels.empty()) out["neighbour_errors"] = label_errors(fit.row_labels, fit.X);
  return out;
}

std::string describe_text(const SavedMapGplvm& model) {
  const MapGplvmFit& fit = model.fit;
  std::string out = fmt::format(
      "map_gplvm of {} outputs, {} rows, {} latent dimensions{}{}, kernel {}\n{}\nlog p(Y | X) "
      "{:.6g}, log prior {:.6g}\n\n{}\ndimension ",
      fit.outputs(), fit.X.rows(), fit.latent(),
      fit.recognition ? fmt::format(", back constraint {}", fit.recognition->options().form) : "",
      fit.dynamics ? fmt::format(", dynamics {}", fit.dynamics->options().kernel.print()) : "",
      fit.mappings.front().posterior.kernel().print(), fit.summary.brief(), fit.log_likelihood,
      fit.log_prior, without_Z(fit.parameters).table());
  for (Index q = 0; q < fit.latent(); ++q) out += fmt::format("{:>8}", q);
  out += "\nspread    ";
  for (const double s : fit.spread()) out += fmt::format("{:>8.4f}", s);
  return out + "\n" + label_errors_in_words(describe_json(model));
}

json describe_json(const SavedClassDensity& model) {
  const ClassDensityFit& fit = model.fit;
  json classes = json::array();
  bool converged = true;
  double value = 0.0;
  for (Index k = 0; k < fit.size(); ++k) {
    const GplvmFit& density = fit.densities[static_cast<std::size_t>(k)];
    converged = converged && density.summary.converged;
    value += density.elbo;
    classes.push_back({{"class", fit.classes[static_cast<std::size_t>(k)]},
                       {"n", density.mean.rows()},
                       {"prior", finite(std::exp(fit.log_prior(k)))},
                       {"active", density.active()},
                       {"relevance", finite(Vector(density.relevance().row(0)))},
                       {"value", finite(density.elbo)},
                       {"iterations", density.summary.iterations},
                       {"reason", density.summary.reason},
                       {"seconds", finite(density.summary.seconds)}});
  }
  const InducingView mapping = fit.densities.front().mappings.front().posterior.inducing();
  return {{"model", "class_density"},
          {"kernel", mapping.kernel.print()},
          {"n", fit.rows()},
          {"d", fit.inputs()},
          {"latent", fit.densities.front().latent()},
          {"inputs", fit.input_names},
          {"outputs", json::array({fit.output_name})},
          {"classes", fit.classes},
          {"objective", "elbo"},
          {"value", finite(value)},
          {"converged", converged},
          {"densities", classes}};
}

std::string describe_text(const SavedClassDensity& model) {
  const ClassDensityFit& fit = model.fit;
  const InducingView mapping = fit.densities.front().mappings.front().posterior.inducing();
  std::string out = fmt::format(
      "class_density of {} on {} inputs, {} rows, {} latent dimensions, kernel {}\n\n{:<16}{:>8}"
      "{:>8}{:>8}{:>16}\n",
      fit.output_name, fit.inputs(), fit.rows(), fit.densities.front().latent(),
      mapping.kernel.print(), "class", "rows", "prior", "in use", "bound");
  for (Index k = 0; k < fit.size(); ++k) {
    const GplvmFit& density = fit.densities[static_cast<std::size_t>(k)];
    out += fmt::format("{:<16}{:>8}{:>8.4f}{:>8}{:>16.6g}\n",
                       fit.classes[static_cast<std::size_t>(k)], density.mean.rows(),
                       std::exp(fit.log_prior(k)), density.active().size(), density.elbo);
  }
  return out;
}

// What training did, where there was any.
template <class Saved>
std::string training_in_words(const Saved& m) {
  if constexpr (requires { m.fit.summary; })
    return m.fit.summary.full();
  else
    return "";
}

void add_show(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("show", "The parameters and the summary of a model file");
  auto path = std::make_shared<std::string>();
  auto verb = std::make_unique<Verb>();
  sub->add_option("FILE", *path, "Model file")->required();
  sub->footer("Example:\n  covary show model.cov");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [path](const Common&) -> Outcome {
    return std::visit(
        [](const auto& m) -> Outcome {
          return {describe_json(m), describe_text(m) + training_in_words(m), 0};
        },
        load_any_model(*path));
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
