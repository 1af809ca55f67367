#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "covary/error.hpp"

namespace covary::cli {

const std::vector<OptionText>& option_texts() {
  static const std::vector<OptionText> texts = {
      // predict
      {"predict", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"predict", "input-variance", "Data",
       "Columns of input variances, one for each input: predict at Gaussian inputs"},
      {"predict", "exposure", "Data", "Column of exposures or trials, as in fit"},
      {"predict", "steps", "Prediction",
       "Forecast of an autoregression: this many steps after the end of the series in DATA"},
      {"predict", "propagation", "Prediction",
       "How forecasts are fed back: moments, augmented, plug-in or draws"},
      {"predict", "draws", "Prediction", "Number of trajectories for --propagation draws"},
      {"predict", "seed", "Prediction", "Seed of the draws"},
      {"predict", "parameter-draws", "Prediction",
       "Average over this many draws of the parameters from their posterior"},
      {"predict", "correspond", "Prediction",
       "For rows in which one view is empty: that view, decoded with each of the K nearest "
       "training rows"},
      {"predict", "threshold", "Prediction", "Decision threshold for the second of two classes"},
      {"predict", "loss", "Prediction",
       "Decide by expected loss: squared, absolute or quantile(p); for classes a table of costs"},
      {"predict", "components", "Output", "Also mean_<i>, variance_<i> of each kernel term"},
      {"predict", "gradients", "Output", "Also dmean_<input>, dvariance_<input>, of f"},
      {"predict", "out", "Output", "CSV to write (default: standard output)"},
      // evaluate
      {"evaluate", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"evaluate", "exposure", "Data", "Column of exposures or trials, as in fit"},
      {"evaluate", "threshold", "Prediction", "Decision threshold for the second of two classes"},
      // sample
      {"sample", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"sample", "draws", "Sampling", "Number of draws"},
      {"sample", "seed", "Sampling", "Seed of the draws"},
      {"sample", "posterior", "Sampling",
       "Draw from the exact posterior by MCMC: slice or retrospective for latent inputs, "
       "elliptical for f of a non-Gaussian model"},
      {"sample", "burn-in", "Sampling", "Sweeps before the first draw of --posterior"},
      {"sample", "thin", "Sampling", "Sweeps between draws of --posterior"},
      {"sample", "exposure", "Data", "With --posterior: column of exposures or trials, as in fit"},
      {"sample", "out", "Output", "CSV to write (default: standard output)"},
      // update
      {"update", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"update", "noise", "Data", "Column of known noise variances, if training had one"},
      {"update", "out", "Output", "Model file to write"},
      {"update", "in-place", "Output", "Replace FILE"},
      // report, explore
      {"report", "data", "Data", "Held-out table with inputs and outputs, to score on"},
      {"report", "exposure", "Data", "Column of exposures or trials, as in fit"},
      {"report", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"report", "out", "Output", "HTML page to write"},
      {"report", "title", "Output", "Title of the page"},
      {"explore", "draw", "Output",
       "Draw the outputs as auto, curve, bars, image(ROWSxCOLUMNS), points(2) or points(3)"},
      {"explore", "out", "Output", "HTML page to write"},
      {"explore", "title", "Output", "Title of the page"},
  };
  return texts;
}

namespace {

// What CLI11 is to check; the library checks as well.
CLI::Validator positive() {
  return {[](const std::string& text) {
            double value = 0.0;
            return CLI::detail::lexical_cast(text, value) && value > 0.0
                       ? std::string()
                       : fmt::format("'{}' is not a positive number", text);
          },
          "POSITIVE"};
}

void check_value(CLI::Option& option, const FitOption& text) {
  if (!text.choices.empty()) option.check(CLI::IsMember(text.choices));
  if (text.takes == FitOption::Takes::at_least_zero) option.check(at_least_zero());
  if (text.takes == FitOption::Takes::at_least_one) option.check(at_least_one());
  if (text.takes == FitOption::Takes::positive) option.check(positive());
}

}  // namespace

void add_fit_options(CLI::App& sub, FitOptions& o, const std::vector<std::string>& without) {
  for (const FitOption& text : fit_options()) {
    if (std::find(without.begin(), without.end(), text.name) != without.end()) continue;
    std::visit(
        [&](auto member) {
          auto& value = o.*member;
          using Value = std::decay_t<decltype(value)>;
          CLI::Option* option = nullptr;
          if constexpr (std::is_same_v<Value, bool>)
            option = sub.add_flag("--" + text.name, value, text.help);
          else
            option = sub.add_option("--" + text.name, value, text.help);
          if constexpr (std::is_same_v<Value, std::vector<std::string>>)
            option->take_all()->allow_extra_args(false);
          else if constexpr (std::is_same_v<Value, std::string>) {
            if (!value.empty()) option->capture_default_str();
          } else if constexpr (!std::is_same_v<Value, bool>) {
            if (value > Value{}) option->capture_default_str();
          }
          check_value(*option->group(text.group), text);
        },
        text.member);
  }
}

std::string help_of(const std::string& verb, const std::string& name) {
  return verb == "fit" ? fit_option(name).help : option_text(verb, name).help;
}

std::vector<std::string> option_names(const std::string& verb) {
  std::vector<std::string> out;
  if (verb == "fit")
    for (const FitOption& option : fit_options()) out.push_back(option.name);
  for (const OptionText& text : option_texts())
    if (text.verb == verb) out.push_back(text.name);
  return out;
}

const OptionText& option_text(const std::string& verb, const std::string& name) {
  for (const OptionText& text : option_texts())
    if (text.verb == verb && text.name == name) return text;
  throw Error("internal", "option --" + name + " of " + verb + " is not declared");
}

std::vector<std::string> given_options(const CLI::App& sub) {
  std::vector<std::string> out;
  for (const CLI::Option* option : sub.get_options())
    if (option->count() > 0 && !option->get_lnames().empty())
      out.push_back(option->get_lnames().front());
  return out;
}

}  // namespace covary::cli
