// Kernels and models side by side on the same folds, with what they have to beat.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "baselines.hpp"
#include "covary/error.hpp"
#include "covary/inference/gaussian.hpp"
#include "covary/models/forecast.hpp"
#include "data_arguments.hpp"
#include "options.hpp"

namespace covary::cli {
namespace {

struct CompareArguments {
  std::string train;
  FitOptions options;
  std::vector<std::string> kernels, models;
};

// The evidence, with its parameters integrated out where that is known, and the scores of a fit.
Candidate run_candidate(FitRequest request, const std::string& kernel, bool name_model,
                        const std::vector<Split>& folds, const Common& common) {
  const auto began = std::chrono::steady_clock::now();
  request.options.kernel = kernel_on_columns(kernel, request.data.inputs);
  request.options.standard_errors = "no";
  Candidate c;
  c.kernel = Kernel(request.options.kernel).print();
  FitRequest whole = request;
  const Fit fit = request.entry->make(whole);
  c.model = fit->model;
  c.name = name_model ? fmt::format("{} [{}]", c.kernel, c.model) : c.kernel;
  for (const auto& w : fit->summary.warnings) tell(common, fmt::format("{}: {}", c.name, w));
  c.value = fit->value;
  c.converged = fit->summary.converged;
  try {
    c.laplace = fit->laplace_log_evidence();
  } catch (const NumericalError& e) {
    tell(common, fmt::format("{}: no Laplace evidence: {}", c.name, e.what()));
  }
  c.scores = cross_validate(request, folds);
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  tell(common, fmt::format("{}: nlpd {:.4f} after {:.1f} s", c.name, c.nlpd().mean, c.seconds));
  return c;
}

// How much worse b predicts than a, observation by observation.
Score difference(const Candidate& a, const Candidate& b) {
  const auto &x = a.scores.held_out.nlpd, &y = b.scores.held_out.nlpd;
  if (x.size() != y.size()) return {std::nan(""), std::nan("")};
  std::vector<double> d(x.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = y[i] - x[i];
  return mean_score(d);
}

// All that cannot be told from the best: their difference is within two of its standard errors.
std::vector<std::string> ties_by_nlpd(const std::vector<Candidate>& ranked) {
  std::vector<std::string> out;
  for (const Candidate& c : ranked)
    if (const Score d = difference(ranked.front(), c);
        !c.scores.held_out.nlpd.empty() && !(d.mean > 2.0 * d.error))
      out.push_back(c.name);
  return out;
}

// The smallest set that holds 95 % of the posterior probability.
std::vector<std::string> ties_by_evidence(std::vector<Candidate> all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.probability > b.probability;
  });
  std::vector<std::string> out;
  double sum = 0.0;
  for (const Candidate& c : all) {
    if (sum >= 0.95 || !std::isfinite(c.laplace)) break;
    out.push_back(c.name);
    sum += c.probability;
  }
  return out;
}

void find_probabilities(std::vector<Candidate>& all) {
  std::vector<double> known;
  for (const Candidate& c : all)
    if (std::isfinite(c.laplace)) known.push_back(c.laplace);
  if (known.empty()) return;
  const Vector p =
      model_posterior(Eigen::Map<const Vector>(known.data(), static_cast<Index>(known.size())));
  Index at = 0;
  for (Candidate& c : all)
    if (std::isfinite(c.laplace)) c.probability = p(at++);
}

std::string verdict(const std::vector<std::string>& ties) {
  if (ties.empty()) return "not available: only exact models have a posterior probability";
  return ties.size() == 1 ? ties.front()
                          : fmt::format("undecided between {}", fmt::join(ties, " and "));
}

json as_json(const Candidate& c, const Candidate& best) {
  const Score d = difference(best, c), nlpd = c.nlpd(), rmse = c.rmse();
  return {{"kernel", c.kernel.empty() ? json(nullptr) : json(c.kernel)},
          {"model", c.model},
          {"value", finite(c.value)},
          {"laplace_log_evidence", finite(c.laplace)},
          {"probability", finite(c.probability)},
          {"nlpd", finite(nlpd.mean)},
          {"nlpd_standard_error", finite(nlpd.error)},
          {"nlpd_difference", finite(d.mean)},
          {"nlpd_difference_standard_error", finite(d.error)},
          {"rmse", finite(rmse.mean)},
          {"rmse_standard_error", finite(rmse.error)},
          {"accuracy", finite(c.scores.accuracy())},
          {"converged", c.converged},
          {"seconds", finite(c.seconds)},
          {"note", c.note.empty() ? json(nullptr) : json(c.note)}};
}

std::string shown(double v) { return std::isfinite(v) ? fmt::format("{:.4f}", v) : "-"; }

std::string shown(const Score& s, const char* format) {
  return std::isfinite(s.mean) ? fmt::format(fmt::runtime(format), s.mean, s.error) : "-";
}

Outcome report(const std::vector<Candidate>& ranked, std::size_t folds, bool classes) {
  Outcome out;
  const auto by_nlpd = ties_by_nlpd(ranked), by_evidence = ties_by_evidence(ranked);
  json models = json::array();
  std::size_t width = 6;
  for (const Candidate& c : ranked) width = std::max(width, c.name.size());
  out.text = fmt::format("{:<{}} {:>13} {:>13} {:>11} {:>20} {:>22} {:>8}\n", "model", width,
                         "log evidence", "Laplace", "probability", "nlpd",
                         classes ? "accuracy" : "rmse", "seconds");
  for (const Candidate& c : ranked) {
    models.push_back(as_json(c, ranked.front()));
    out.text += fmt::format(
        "{:<{}} {:>13} {:>13} {:>11} {:>20} {:>22} {:>8.2f}\n", c.name, width, shown(c.value),
        shown(c.laplace), std::isfinite(c.laplace) ? shown(c.probability) : "-",
        shown(c.nlpd(), "{:.4f} ± {:.4f}"),
        classes ? shown(c.scores.accuracy()) : shown(c.rmse(), "{:.5g} ± {:.2g}"), c.seconds);
    if (!c.note.empty()) out.text += fmt::format("  {}\n", c.note);
  }
  out.text += fmt::format("\nby held-out nlpd, {} folds: {}\nby evidence: {}\n", folds,
                          verdict(by_nlpd), verdict(by_evidence));
  const auto only = [](const std::vector<std::string>& ties) {
    return ties.size() == 1 ? json(ties.front()) : json(nullptr);
  };
  const auto several = [](const std::vector<std::string>& ties) {
    return ties.size() > 1 ? json(ties) : json::array();
  };
  out.object = {{"folds", folds},
                {"models", models},
                {"best_by_nlpd", only(by_nlpd)},
                {"best_by_evidence", only(by_evidence)},
                {"undecided_by_nlpd", several(by_nlpd)},
                {"undecided_by_evidence", several(by_evidence)}};
  return out;
}

// What the models of a call may be. An option must be read by one of them at least.
std::vector<ModelChoice> choices_of(const FitOptions& o, const std::vector<std::string>& models) {
  std::vector<ModelChoice> out;
  std::vector<const ModelEntry*> all;
  for (const auto& model : models) {
    FitOptions one = o;
    one.model = model;
    out.emplace_back(one);
    if (!out.back().compares())
      throw Unsupported(
          fmt::format("--model {} cannot be compared; compare takes models with inputs", model));
    all.insert(all.end(), out.back().entries().begin(), out.back().entries().end());
  }
  check_options("fit", o.given, all, fmt::format("{}", fmt::join(models, ", ")));
  check_pairs(o);
  return out;
}

// One request a model, for the data of a table.
std::vector<FitRequest> requests_of(const CompareArguments& a, const Common& common) {
  const FitOptions& o = a.options;
  auto models = a.models;
  const bool by_default = models.empty();
  if (by_default)
    models = {o.likelihood == "auto" || is_plain_gaussian(o.likelihood) ? "exact" : "auto"};
  std::vector<ModelChoice> choices = choices_of(o, models);
  const Table table = read_table(a.train, table_options(o));
  for (const auto& note : table.notes) tell(common, note);
  const Tell say = teller(common);
  ModelData d = read_data(table, o, say);
  if (d.likelihood && by_default) choices = choices_of(o, {"auto"});
  // All models see the same targets.
  for (const ModelChoice& c : choices)
    if (!d.likelihood && c.only() && c.only()->targets == Targets::any)
      d.likelihood = Likelihood("gaussian");
  std::vector<FitRequest> out;
  for (const ModelChoice& choice : choices) {
    out.push_back(prepare(choice, o, d, say, false));
    forecast(*out.back().entry, problem_size(d, o), o, say);
  }
  return out;
}

Outcome run_compare(const CompareArguments& a, const Common& common) {
  for (const auto& kernel : a.kernels)
    if (!names_columns(kernel)) static_cast<void>(Kernel(kernel));  // mistakes show before the work
  check_likelihood(a.options.likelihood);
  const std::vector<FitRequest> requests = requests_of(a, common);
  const ModelData& d = requests.front().data;
  const auto folds = make_folds(a.options, d);
  std::vector<Candidate> all;
  for (const FitRequest& request : requests)
    for (const auto& kernel : a.kernels)
      all.push_back(
          run_candidate(request, kernel, requests.size() > 1 || d.likelihood, folds, common));
  find_probabilities(all);
  for (Candidate& c : baselines(d, folds)) all.push_back(std::move(c));
  std::stable_sort(all.begin(), all.end(), [](const Candidate& x, const Candidate& y) {
    const double a_score = x.nlpd().mean, b_score = y.nlpd().mean;
    return std::isnan(b_score) ? !std::isnan(a_score) : a_score < b_score;
  });
  Outcome out = report(all, folds.size(), d.likelihood && d.likelihood->classes() > 0);
  out.object["likelihood"] = d.likelihood ? d.likelihood->print() : "gaussian";
  out.object["n"] = d.count();
  out.object["outputs"] = d.output_names;
  return out;
}

// Options of `fit` that are not of models side by side: those of one that is kept, those given
// here more than once, and those that no model reads which can be compared.
std::vector<std::string> not_compared() {
  std::vector<std::string> out = {"model",      "kernel", "from", "standard-errors", "stream",
                                  "checkpoint", "resume", "out",  "without-outputs"};
  for (const FitOption& option : fit_options())
    if (std::none_of(model_table().begin(), model_table().end(), [&](const ModelEntry& e) {
          return e.takes("compare") && e.reads("fit", option.name);
        }))
      out.push_back(option.name);
  return out;
}

}  // namespace

void add_compare(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub = app.add_subcommand("compare", "Compare kernels and models on the same folds");
  auto a = std::make_shared<CompareArguments>();
  auto verb = std::make_unique<Verb>();
  a->options.folds = "5";
  sub->add_option("TRAIN", a->train, "CSV, TSV, NPY or IDX file, gzip too")
      ->required()
      ->group("Data");
  add_fit_options(*sub, a->options, not_compared());
  sub->add_option("--model", a->models, fit_option("model").help)
      ->take_all()
      ->allow_extra_args(false)
      ->group("Model");
  sub->add_option("--kernel", a->kernels, fit_option("kernel").help)
      ->take_all()
      ->allow_extra_args(false)
      ->group("Model")
      ->required();
  sub->footer("Example:\n  covary compare train.csv --target y --kernel se --kernel linear");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->options.given = given_options(*sub);
    return run_compare(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
