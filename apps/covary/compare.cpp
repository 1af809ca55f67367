#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "cost.hpp"
#include "covary/error.hpp"
#include "covary/inference/gaussian.hpp"
#include "covary/models/baselines.hpp"
#include "cross_validation.hpp"
#include "generalised.hpp"
#include "model_choice.hpp"
#include "options.hpp"
#include "sparse_arguments.hpp"

namespace covary::cli {
namespace {

struct Candidate {
  std::string kernel, model, name;
  double value = 0.0;    // log evidence at the best parameters, or its bound
  double laplace = 0.0;  // with the parameters integrated out; NaN where that fails
  double probability = 0.0;
  bool converged = false;
  HeldOut held_out;
  Score nlpd, rmse;
  double seconds = 0.0;
};

// The evidence of an exact model, also with its parameters integrated out.
void exact_evidence(Candidate& c, const std::string& kernel, const TrainingArguments& a,
                    const TrainingData& d, const Common& common) {
  RegressionOptions options = regression_options(a, d, kernel);
  options.standard_errors = Switch::off;
  if (a.verbose)
    options.training.after_iteration = [&](const TrainingProgress& now) {
      if (now.run && !now.over)
        fmt::print(stderr, "{} start {} iteration {} value {:.6f}\n", kernel, now.start,
                   now.run->iterations, -now.run->value);
    };
  Regression model(d.X, d.Y, options, d.noise);
  apply_settings(a, model.parameters());
  const RegressionFit fit = model.fit();
  for (const auto& w : fit.summary.warnings) tell(common, fmt::format("{}: {}", c.name, w));
  c.value = fit.log_marginal_likelihood;
  c.converged = fit.summary.converged;
  try {
    c.laplace = model.laplace_log_evidence();
  } catch (const NumericalError& e) {
    c.laplace = std::nan("");
    tell(common, fmt::format("{}: no Laplace evidence: {}", c.name, e.what()));
  }
}

Candidate run_candidate(const std::string& kernel, const SparseArguments& sparse, bool name_model,
                        const TrainingArguments& a, const TrainingData& d,
                        const std::vector<Split>& folds, const Common& common) {
  const auto began = std::chrono::steady_clock::now();
  const auto approximation = approximation_of(sparse);
  Candidate c;
  c.kernel = Kernel(kernel).print();
  c.model = approximation ? approximation->print() : "exact";
  c.name = name_model ? fmt::format("{} [{}]", c.kernel, c.model) : c.kernel;
  if (approximation) {
    const RegressionFit fit = fit_rows(a, sparse, d, kernel);
    for (const auto& w : fit.summary.warnings) tell(common, fmt::format("{}: {}", c.name, w));
    c.value = fit.log_marginal_likelihood;
    c.laplace = std::nan("");
    c.converged = fit.summary.converged;
  } else {
    exact_evidence(c, kernel, a, d, common);
  }
  c.held_out = cross_validate(d, folds, predictions_of([&](const TrainingData& rows) {
                                return fit_rows(a, sparse, rows, kernel);
                              }));
  c.nlpd = mean_score(c.held_out.nlpd);
  c.rmse = root_mean_score(c.held_out.squared_error);
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  tell(common, fmt::format("{}: nlpd {:.4f} after {:.1f} s", c.name, c.nlpd.mean, c.seconds));
  return c;
}

// What is no Gaussian process: each output by itself.
Candidate run_baseline(const std::string& name, const TrainingData& d,
                       const std::vector<Split>& folds,
                       const std::function<MeanVariance(const TrainingData& train, ConstVector y,
                                                        ConstRows X)>& predict) {
  const auto began = std::chrono::steady_clock::now();
  Candidate c;
  c.model = c.name = name;
  c.value = c.laplace = std::nan("");
  c.converged = true;
  c.held_out = cross_validate(d, folds, [&](const TrainingData& train, const TrainingData& test) {
    const Index n = test.X.rows(), P = train.Y.cols();
    Prediction out{RowMatrix(n, P), RowMatrix::Zero(n, P), RowMatrix(n, P)};
    for (Index k = 0; k < P; ++k) {
      const MeanVariance p = predict(train, train.Y.col(k), test.X);
      out.mean.col(k) = p.mean;
      // Targets that are all alike have none, and a density needs some.
      out.variance_y.col(k) = p.variance.cwiseMax(std::numeric_limits<double>::min());
    }
    return out;
  });
  c.nlpd = mean_score(c.held_out.nlpd);
  c.rmse = root_mean_score(c.held_out.squared_error);
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return c;
}

// How much worse b predicts than a, observation by observation.
Score difference(const Candidate& a, const Candidate& b) {
  std::vector<double> d(a.held_out.nlpd.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = b.held_out.nlpd[i] - a.held_out.nlpd[i];
  return mean_score(d);
}

// All that cannot be told from the best: their difference is within two of its standard errors.
std::vector<std::string> ties_by_nlpd(const std::vector<Candidate>& ranked) {
  std::vector<std::string> out;
  for (const Candidate& c : ranked)
    if (const Score d = difference(ranked.front(), c); !(d.mean > 2.0 * d.error))
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

Outcome report(const std::vector<Candidate>& ranked, std::size_t folds) {
  Outcome out;
  const auto by_nlpd = ties_by_nlpd(ranked), by_evidence = ties_by_evidence(ranked);
  json models = json::array();
  std::size_t width = 6;
  for (const Candidate& c : ranked) width = std::max(width, c.name.size());
  out.text = fmt::format("{:<{}} {:>13} {:>13} {:>11} {:>20} {:>22} {:>8}\n", "kernel", width,
                         "log evidence", "Laplace", "probability", "nlpd", "rmse", "seconds");
  const auto shown = [](double v) {
    return std::isfinite(v) ? fmt::format("{:.4f}", v) : std::string("-");
  };
  for (const Candidate& c : ranked) {
    const Score d = difference(ranked.front(), c);
    models.push_back({{"kernel", c.kernel.empty() ? json(nullptr) : json(c.kernel)},
                      {"model", c.model},
                      {"value", finite(c.value)},
                      {"laplace_log_evidence", finite(c.laplace)},
                      {"probability", finite(c.probability)},
                      {"nlpd", finite(c.nlpd.mean)},
                      {"nlpd_standard_error", finite(c.nlpd.error)},
                      {"nlpd_difference", finite(d.mean)},
                      {"nlpd_difference_standard_error", finite(d.error)},
                      {"rmse", finite(c.rmse.mean)},
                      {"rmse_standard_error", finite(c.rmse.error)},
                      {"converged", c.converged},
                      {"seconds", finite(c.seconds)}});
    out.text += fmt::format("{:<{}} {:>13} {:>13} {:>11} {:>20} {:>22} {:>8.2f}\n", c.name, width,
                            shown(c.value), shown(c.laplace),
                            c.kernel.empty() ? "-" : fmt::format("{:.4f}", c.probability),
                            fmt::format("{:.4f} ± {:.4f}", c.nlpd.mean, c.nlpd.error),
                            fmt::format("{:.5g} ± {:.2g}", c.rmse.mean, c.rmse.error), c.seconds);
  }
  out.text += fmt::format("\nby held-out nlpd, {} folds: {}\nby evidence: {}\n", folds,
                          verdict(by_nlpd), verdict(by_evidence));
  out.object = {
      {"folds", folds},
      {"models", models},
      {"best_by_nlpd", by_nlpd.size() == 1 ? json(by_nlpd.front()) : json(nullptr)},
      {"best_by_evidence", by_evidence.size() == 1 ? json(by_evidence.front()) : json(nullptr)},
      {"undecided_by_nlpd", by_nlpd.size() > 1 ? json(by_nlpd) : json::array()},
      {"undecided_by_evidence", by_evidence.size() > 1 ? json(by_evidence) : json::array()}};
  return out;
}

struct CompareArguments {
  TrainingArguments training;
  SparseArguments sparse;
  std::vector<std::string> kernels, models;
  std::vector<std::string> given = {};  // options of the call
};

// What the models of a call may be. An option must be read by one of them at least.
std::vector<ModelChoice> choices_of(const CompareArguments& a,
                                    const std::vector<std::string>& models) {
  std::vector<ModelChoice> out;
  std::vector<const ModelEntry*> all;
  for (const auto& model : models) {
    SparseArguments one = a.sparse;
    one.model = model;
    out.emplace_back(a.training, one, a.given);
    if (!out.back().compares())
      throw Unsupported(
          fmt::format("--model {} cannot be compared; compare takes models with inputs", model));
    all.insert(all.end(), out.back().entries().begin(), out.back().entries().end());
  }
  check_options("fit", a.given, all, fmt::format("{}", fmt::join(models, ", ")));
  return out;
}

Outcome run_compare(const CompareArguments& all_arguments, const Common& common) {
  const TrainingArguments& a = all_arguments.training;
  const SparseArguments& sparse = all_arguments.sparse;
  const auto& kernels = all_arguments.kernels;
  auto models = all_arguments.models;
  for (const auto& kernel : kernels)
    static_cast<void>(Kernel(kernel));  // mistakes show before the work
  check_likelihood(a.likelihood);
  const bool by_default = models.empty();
  if (by_default)
    models = {a.likelihood == "auto" || a.likelihood == "gaussian" ? "exact" : "auto"};
  std::vector<ModelChoice> choices = choices_of(all_arguments, models);
  TrainingData d = read_training(a, common);
  if (d.likelihood && by_default) {
    models = {"auto"};
    choices = choices_of(all_arguments, models);
  }
  if (!d.likelihood && std::any_of(choices.begin(), choices.end(), [](const ModelChoice& c) {
        return c.only() && c.only()->targets == Targets::any;
      }))
    d.likelihood = Likelihood("gaussian");
  const auto folds = make_folds(a, d);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const ModelEntry& entry = choices[i].resolve(d, false);
    models[i] = choices[i].name_of(entry);
    forecast(entry, size_of(d, sparse), a.max_iter, std::max<Index>(1, a.restarts), common);
  }
  if (d.likelihood) return compare_generalised(a, sparse, kernels, models, d, folds, common);
  std::vector<Candidate> all;
  for (const auto& model : models) {
    SparseArguments one = sparse;
    one.model = model;
    for (const auto& kernel : kernels)
      all.push_back(run_candidate(kernel, one, models.size() > 1, a, d, folds, common));
  }
  find_probabilities(all);
  all.push_back(run_baseline("5 nearest neighbours", d, folds,
                             [](const TrainingData& train, ConstVector y, ConstRows X) {
                               return NeighbourRegressor(train.X, y).predict(X);
                             }));
  all.push_back(run_baseline("mean", d, folds, [](const TrainingData&, ConstVector y, ConstRows X) {
    return MeanPredictor(y).predict(X.rows());
  }));
  std::stable_sort(all.begin(), all.end(), [](const Candidate& x, const Candidate& y) {
    return x.nlpd.mean < y.nlpd.mean;
  });
  Outcome out = report(all, folds.size());
  out.object["n"] = d.X.rows();
  out.object["outputs"] = d.output_names;
  return out;
}

}  // namespace

void add_compare(CLI::App& app, std::vector<std::unique_ptr<Verb>>& verbs) {
  auto* sub =
      app.add_subcommand("compare", "Several kernels and models side by side on the same folds");
  auto a = std::make_shared<CompareArguments>();
  auto verb = std::make_unique<Verb>();
  a->training.folds = "5";
  add_training_options(*sub, a->training);
  add_sparse_options(*sub, a->sparse);
  OptionAdder add(*sub, "fit");
  add("model", a->models);
  add("kernel", a->kernels)->required();
  sub->footer("Example:\n  covary compare train.csv --target y --kernel se --kernel linear");
  add_common(*sub, verb->common);
  verb->app = sub;
  verb->run = [a, sub](const Common& common) {
    a->given = given_options(*sub);
    return run_compare(*a, common);
  };
  verbs.push_back(std::move(verb));
}

}  // namespace covary::cli
