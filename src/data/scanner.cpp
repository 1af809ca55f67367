#include "data/scanner.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"

namespace covary {

std::string_view Scanner::quoted() {
  const Index first_line = line_;
  unquoted_.clear();
  ++at_;
  for (;; ++at_) {
    if (at_ == end_)
      throw FileError(fmt::format("'{}', line {}: a quoted cell begins here and is never closed",
                                  name_, first_line));
    if (*at_ == '"') {
      if (at_ + 1 == end_ || at_[1] != '"') break;
      ++at_;  // a doubled quote stands for one
    }
    if (*at_ == '\n') ++line_;
    unquoted_.push_back(*at_);
  }
  ++at_;
  while (at_ != end_ && *at_ == ' ' && delimiter_ != ' ') ++at_;
  if (at_ != end_ && !ends_cell(*at_))
    throw FileError(fmt::format(
        "'{}', line {}: text follows a closing quote; double the quotes inside a quoted cell",
        name_, line_));
  return unquoted_;
}

}  // namespace covary
