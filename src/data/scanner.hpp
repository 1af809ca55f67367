#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "covary/linalg/types.hpp"

namespace covary {

// Walks the rows and cells of a text table without copying:
//
//   while (scanner.begin_row()) do { … number() or cell() … } while (scanner.end_cell());
//
// The delimiter ' ' stands for any run of spaces and tabs.
class Scanner {
 public:
  Scanner(std::string_view text, char delimiter, const std::string& name, Index first_line = 1)
      : at_(text.data()),
        end_(text.data() + text.size()),
        delimiter_(delimiter),
        name_(name),
        line_(first_line) {}

  Index line() const { return line_; }                // of the cell to come, from 1
  Index blank_lines() const { return blank_lines_; }  // skipped before a row so far

  // Moves to the next row that is not blank; false at the end of the text.
  bool begin_row() {
    skip_spaces();
    Index blank = 0;
    while (at_ != end_ && ends_line(*at_)) {
      end_line();
      ++blank;
      skip_spaces();
    }
    if (at_ == end_) return false;
    blank_lines_ += blank;
    return true;
  }

  // Takes the cell if it is a plain number, else stays. This is where the time of a read goes.
  bool number(double& value) {
    skip_spaces();
    const auto [stop, error] = std::from_chars(at_, end_, value);
    if (error != std::errc{} || !(stop == end_ || ends_cell(*stop))) return false;
    at_ = stop;
    return true;
  }

  // Takes the cell as text, spaces around it and quotes removed. Valid until the next call.
  std::string_view cell() {
    skip_spaces();
    if (at_ != end_ && *at_ == '"') return quoted();
    const char* begin = at_;
    while (at_ != end_ && !ends_cell(*at_)) ++at_;
    const char* stop = at_;
    while (stop != begin && stop[-1] == ' ') --stop;
    return {begin, static_cast<std::size_t>(stop - begin)};
  }

  // Steps over what follows a cell; false when that was the end of the row.
  bool end_cell() {
    if (delimiter_ == ' ') {
      skip_spaces();
      if (at_ != end_ && !ends_line(*at_)) return true;
    } else if (at_ != end_ && *at_ == delimiter_) {
      ++at_;
      return true;
    }
    if (at_ != end_) end_line();
    return false;
  }

 private:
  static bool ends_line(char c) { return c == '\n' || c == '\r'; }
  bool ends_cell(char c) const {
    return c == delimiter_ || ends_line(c) || (delimiter_ == ' ' && c == '\t');
  }
  void skip_spaces() {
    while (at_ != end_ && (*at_ == ' ' || (*at_ == '\t' && delimiter_ == ' '))) ++at_;
  }
  void end_line() {
    if (*at_ == '\r' && at_ + 1 != end_ && at_[1] == '\n') ++at_;
    ++at_;
    ++line_;
  }
  std::string_view quoted();

  const char* at_;
  const char* end_;
  char delimiter_;
  const std::string& name_;
  Index line_;
  Index blank_lines_ = 0;
  std::string unquoted_;
};

}  // namespace covary
