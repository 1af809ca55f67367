#include "models/target_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"

namespace covary {

void TargetClasses::add(const Table& table, Index column) {
  if (table.is_text(column)) {
    if (expression_ != "auto" && !wanted_) return;
    text_ = true;
    const auto& cells = table.text[static_cast<std::size_t>(column)];
    words_.insert(cells.begin(), cells.end());
  } else if (wanted_) {
    add(Vector(table.values.col(column)));
  }
}

void TargetClasses::add(ConstVector values) {
  constexpr std::size_t most = 100000;  // no likelihood has so many classes
  for (const double v : values)
    if (!std::isnan(v) && numbers_.size() < most) numbers_.insert(v);
}

Labels TargetClasses::labels() const {
  if (!are_there()) return {};
  if (text_) return Labels::from(std::vector<std::string>(words_.begin(), words_.end()));
  Vector numbers(static_cast<Index>(numbers_.size()));
  std::copy(numbers_.begin(), numbers_.end(), numbers.begin());
  return Labels::from(numbers);
}

std::optional<Likelihood> TargetClasses::likelihood(const std::vector<std::string>& targets,
                                                    const Tell& tell) const {
  if (!are_there() && (expression_ == "auto" || is_plain_gaussian(expression_)))
    return std::nullopt;
  if (!are_there()) return Likelihood(expression_);
  if (targets.size() != 1)
    throw InputError(fmt::format("{} targets were given; a model of likelihood {} takes one",
                                 targets.size(),
                                 expression_ == "auto" ? "bernoulli or softmax" : expression_));
  return likelihood_of(expression_, labels(), targets.front(), tell);
}

}  // namespace covary
