#pragma once

#include <string>

#include "covary/linalg/types.hpp"

namespace covary {

// The letters of an expression, one thing after the other: what the grammars of kernels and
// likelihoods have in common. Spaces between things are skipped. Errors show the place.
class Scanner {
 public:
  // `what` it is, as errors call it, must outlive the scanner; so must the text.
  Scanner(const char* what, const std::string& text) : what_(what), text_(text) { skip(); }

  std::size_t at() const { return at_; }
  void back_to(std::size_t where) { at_ = where; }
  bool at_end() const { return at_ == text_.size(); }
  // Throws ExpressionError: the column, the message, the text and a caret below it.
  [[noreturn]] void fail(const std::string& message) const { fail_at(at_, message); }
  [[noreturn]] void fail_at(std::size_t where, const std::string& message) const;
  // "'x'", or "the end"
  std::string found() const;

  bool next_is(char c) const { return !at_end() && text_[at_] == c; }
  bool number_next() const;
  bool accept(char c);
  std::string name();                               // letters, digits and _; may be empty
  double number();                                  // finite
  Index integer(Index most, const char* expected);  // 0 … most
  void expect_end() const;

 private:
  void skip();

  const char* what_;
  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace covary
