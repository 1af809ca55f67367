#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "covary/error.hpp"

namespace covary::cli {

namespace {

const std::vector<OptionText>& option_texts() {
  static const std::vector<OptionText> texts = {
      {"predict", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"predict", "keep", "Output", "Columns of DATA to write beside the predictions, or all"},
      {"predict", "out", "Output", "CSV to write (default: standard output)"},
      {"evaluate", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"sample", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"sample", "out", "Output", "CSV to write (default: standard output)"},
      {"update", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"update", "out", "Output", "Model file to write"},
      {"update", "in-place", "Output", "Replace FILE"},
      {"report", "data", "Data", "Held-out table with inputs and outputs, to score on"},
      {"report", "missing", "Data", "Rows of --data with missing inputs: drop, or error (auto)"},
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

// CLI11's own message names no value.
CLI::Validator positive() {
  return {[](const std::string& text) {
            double value = 0.0;
            return CLI::detail::lexical_cast(text, value) && value > 0.0
                       ? std::string()
                       : fmt::format("'{}' is not a positive number", text);
          },
          "POSITIVE"};
}

// An option of the library: CLI11 checks its value, and the library checks as well.
template <class Option, class Options>
void add_option(CLI::App& sub, const Option& text, Options& options, const char* before = "--") {
  using Takes = FitOption::Takes;
  std::visit(
      [&](auto member) {
        auto& value = options.*member;
        using Value = std::decay_t<decltype(value)>;
        CLI::Option* option = nullptr;
        if constexpr (std::is_same_v<Value, bool>)
          option = sub.add_flag(before + text.name, value, text.help);
        else
          option = sub.add_option(before + text.name, value, text.help);
        if constexpr (std::is_same_v<Value, std::vector<std::string>>)
          option->take_all()->allow_extra_args(false);
        else if constexpr (std::is_same_v<Value, std::string>) {
          if (!value.empty()) option->capture_default_str();
        } else if constexpr (!std::is_same_v<Value, bool>) {
          if (value > Value{}) option->capture_default_str();
        }
        if (!text.choices.empty()) option->check(CLI::IsMember(text.choices));
        if (text.takes == Takes::at_least_zero) option->check(at_least_zero());
        if (text.takes == Takes::at_least_one) option->check(at_least_one());
        if (text.takes == Takes::positive) option->check(positive());
        option->group(text.group);
      },
      text.member);
}

}  // namespace

void add_fit_options(CLI::App& sub, FitOptions& o, const std::vector<std::string>& without) {
  for (const FitOption& text : fit_options())
    if (std::find(without.begin(), without.end(), text.name) == without.end())
      add_option(sub, text, o);
}

void add_question_options(CLI::App& sub, const std::string& verb, TableQuestion& q) {
  for (const QuestionOption& text : question_options())
    if (text.verb == verb)
      add_option(sub, text, q, verb == "sample" && text.name == "draws" ? "-n,--" : "--");
}

std::string help_of(const std::string& verb, const std::string& name) {
  if (verb == "fit") return fit_option(name).help;
  for (const QuestionOption& text : question_options())
    if (text.verb == verb && text.name == name) return text.help;
  return option_text(verb, name).help;
}

std::vector<std::string> option_names(const std::string& verb) {
  std::vector<std::string> out;
  if (verb == "fit")
    for (const FitOption& option : fit_options()) out.push_back(option.name);
  for (const QuestionOption& option : question_options())
    if (option.verb == verb) out.push_back(option.name);
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
