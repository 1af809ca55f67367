#pragma once

#include <string>
#include <variant>
#include <vector>

#include "covary/models/fit.hpp"
#include "covary/models/fit_options.hpp"

namespace covary {

// An option of a verb that asks a fit at the rows of a table. Which models read it is in the table
// of models.
struct QuestionOption {
  using Member =
      std::variant<bool TableQuestion::*, Index TableQuestion::*, double TableQuestion::*,
                   std::uint64_t TableQuestion::*, std::string TableQuestion::*,
                   std::vector<std::string> TableQuestion::*>;

  std::string verb, name, group, help;
  Member member;
  std::vector<std::string> choices = {};  // or none
  FitOption::Takes takes = FitOption::Takes::anything;
};
const std::vector<QuestionOption>& question_options();
// InputError with the nearest name of the verb's options.
const QuestionOption& question_option(const std::string& verb, const std::string& name);

// InputError for a value that an option does not take, or without the option that it needs; `given`
// are the names of those that the call has.
void check_question(const std::string& verb, const std::vector<std::string>& given,
                    const TableQuestion& question);

}  // namespace covary
