#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "common.hpp"
#include "covary/models/question_options.hpp"

namespace covary::cli {

// An option that the library does not list: what --help says of it, and in which group. Which
// models read it is in the table of models.
struct OptionText {
  std::string verb, name, group, help;
};
const OptionText& option_text(const std::string& verb, const std::string& name);

// The options that the library lists: of a fit, but for some; and of a verb that asks a fit.
void add_fit_options(CLI::App& sub, FitOptions& o, const std::vector<std::string>& without = {});
void add_question_options(CLI::App& sub, const std::string& verb, TableQuestion& q);
// Of any verb: the names of its options, and what --help says of one.
std::vector<std::string> option_names(const std::string& verb);
std::string help_of(const std::string& verb, const std::string& name);

// Adds the options of a verb with the words of option_text(): flags for bool, lists for vectors,
// which take one argument each time they are given.
class OptionAdder {
 public:
  OptionAdder(CLI::App& sub, std::string verb) : sub_(sub), verb_(std::move(verb)) {}

  template <class T>
  CLI::Option* operator()(const std::string& name, T& value) {
    const OptionText& text = option_text(verb_, name);
    CLI::Option* out = nullptr;
    if constexpr (std::is_same_v<T, bool>)
      out = sub_.add_flag("--" + name, value, text.help);
    else
      out = sub_.add_option("--" + name, value, text.help);
    if constexpr (std::is_same_v<T, std::vector<std::string>>)
      out->take_all()->allow_extra_args(false);
    return out->group(text.group);
  }

 private:
  CLI::App& sub_;
  std::string verb_;
};

// The names, without dashes, of the options that a call gave.
std::vector<std::string> given_options(const CLI::App& sub);

}  // namespace covary::cli
