#include "covary/models/question_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "covary/error.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary {
namespace {

using Q = TableQuestion;
using Takes = FitOption::Takes;

template <class Value>
void check_value(const QuestionOption& option, const Value& value) {
  const auto refuse = [&](const auto& takes) {
    throw InputError(fmt::format("--{} takes {}, got '{}'", option.name, takes, value));
  };
  if constexpr (std::is_same_v<Value, std::string>) {
    const auto& known = option.choices;
    if (!known.empty() && std::find(known.begin(), known.end(), value) == known.end())
      refuse(fmt::format("{}", fmt::join(known, ", ")));
  } else if constexpr (std::is_same_v<Value, Index>) {
    if (option.takes == Takes::at_least_zero && value < 0) refuse("a number of at least 0");
    if (option.takes == Takes::at_least_one && value < 1) refuse("a number of at least 1");
  }
}

}  // namespace

const std::vector<QuestionOption>& question_options() {
  static const std::vector<QuestionOption> all = {
      {"predict", "input-variance", "Data",
       "Columns of input variances, one for each input: predict at Gaussian inputs",
       &Q::input_variance},
      {"predict",
       "missing",
       "Data",
       "Rows with missing inputs: learn (average over them), drop, error, or auto: learn if the "
       "model has learned missing inputs",
       &Q::missing,
       {"auto", "learn", "drop", "error"}},
      {"predict", "exposure", "Data", "Column of exposures or trials, as in fit", &Q::exposure},
      {"predict",
       "steps",
       "Prediction",
       "Forecast of an autoregression: this many steps after the end of the series in DATA",
       &Q::steps,
       {},
       Takes::at_least_one},
      {"predict",
       "propagation",
       "Prediction",
       "How forecasts are fed back: moments, augmented, plug-in or draws",
       &Q::propagation,
       {"moments", "augmented", "plug-in", "draws"}},
      {"predict",
       "draws",
       "Prediction",
       "Number of trajectories for --propagation draws",
       &Q::draws,
       {},
       Takes::at_least_one},
      {"predict", "seed", "Prediction", "Seed of the draws", &Q::seed},
      {"predict",
       "parameter-draws",
       "Prediction",
       "Average over this many draws of the parameters from their posterior",
       &Q::parameter_draws,
       {},
       Takes::at_least_one},
      {"predict",
       "correspond",
       "Prediction",
       "For rows in which one view is empty: that view, decoded with each of the K nearest "
       "training rows",
       &Q::correspond,
       {},
       Takes::at_least_one},
      {"predict", "threshold", "Prediction", "Decision threshold for the second of two classes",
       &Q::threshold},
      {"predict", "loss", "Prediction",
       "Decide by expected loss: squared, absolute or quantile(p); for classes a table of costs",
       &Q::loss},
      {"predict", "components", "Output", "Also mean_<i>, variance_<i> of each kernel term",
       &Q::components},
      {"predict", "gradients", "Output", "Also dmean_<input>, dvariance_<input>, of f",
       &Q::gradients},
      {"evaluate",
       "missing",
       "Data",
       "Rows with missing inputs, as in predict",
       &Q::missing,
       {"auto", "learn", "drop", "error"}},
      {"evaluate", "exposure", "Data", "Column of exposures or trials, as in fit", &Q::exposure},
      {"evaluate", "threshold", "Prediction", "Decision threshold for the second of two classes",
       &Q::threshold},
      {"sample", "draws", "Sampling", "Number of draws", &Q::draws, {}, Takes::at_least_one},
      {"sample", "seed", "Sampling", "Seed of the draws", &Q::seed},
      {"sample",
       "posterior",
       "Sampling",
       "Draw from the exact posterior by MCMC: slice or retrospective for latent inputs, "
       "elliptical for f of a non-Gaussian model",
       &Q::posterior,
       {"slice", "retrospective", "elliptical"}},
      {"sample",
       "burn-in",
       "Sampling",
       "Sweeps before the first draw of --posterior",
       &Q::burn_in,
       {},
       Takes::at_least_zero},
      {"sample",
       "thin",
       "Sampling",
       "Sweeps between draws of --posterior",
       &Q::thin,
       {},
       Takes::at_least_one},
      {"sample", "exposure", "Data", "With --posterior: column of exposures or trials, as in fit",
       &Q::exposure},
      {"update", "noise", "Data", "Column of known noise variances, if training had one",
       &Q::noise}};
  return all;
}

const QuestionOption& question_option(const std::string& verb, const std::string& name) {
  std::vector<std::string> names;
  for (const QuestionOption& option : question_options()) {
    if (option.verb != verb) continue;
    if (option.name == name) return option;
    names.push_back(option.name);
  }
  throw InputError(fmt::format("{} has no option '{}'{}", verb, name, did_you_mean(name, names)));
}

void check_question(const std::string& verb, const std::vector<std::string>& given,
                    const TableQuestion& q) {
  const auto has = [&](const char* option) {
    return std::find(given.begin(), given.end(), option) != given.end();
  };
  for (const QuestionOption& option : question_options())
    if (option.verb == verb && has(option.name.c_str()))
      std::visit([&](auto member) { check_value(option, q.*member); }, option.member);

  if (!(q.threshold > 0.0 && q.threshold < 1.0))
    throw InputError(fmt::format("--threshold must lie between 0 and 1, got {}", q.threshold));
  const auto needs = [&](bool there, std::initializer_list<const char*> options, const char* what) {
    for (const char* option : options)
      if (!there && has(option)) throw InputError(fmt::format("--{} needs {}", option, what));
  };
  if (verb == "sample") needs(!q.posterior.empty(), {"burn-in", "thin", "exposure"}, "--posterior");
  if (verb != "predict") return;
  needs(q.steps > 0, {"propagation"}, "--steps");
  const bool draws = q.steps > 0 && q.propagation == "draws";
  needs(draws, {"draws"}, "--steps and --propagation draws");
  needs(draws || q.parameter_draws > 0, {"seed"},
        "--steps with --propagation draws, or --parameter-draws");
  if (has("loss") && has("threshold"))
    throw InputError("give either --loss or --threshold, not both");
  if (has("loss") && q.steps > 0) throw Unsupported("--loss is not available with --steps");
}

}  // namespace covary
