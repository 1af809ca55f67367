#include "parameters/scanner.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

void Scanner::fail_at(std::size_t where, const std::string& message) const {
  throw ExpressionError(fmt::format("{}, column {}: {}\n  {}\n  {}^", what_, where + 1, message,
                                    text_, std::string(where, ' ')));
}

std::string Scanner::found() const {
  return at_end() ? "the end" : fmt::format("'{}'", text_[at_]);
}

void Scanner::skip() {
  while (!at_end() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
}

bool Scanner::number_next() const {
  if (at_end()) return false;
  const char c = text_[at_];
  return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-';
}

bool Scanner::accept(char c) {
  if (!next_is(c)) return false;
  ++at_;
  skip();
  return true;
}

std::string Scanner::name() {
  const std::size_t first = at_;
  while (!at_end() && in_name(text_[at_])) ++at_;
  std::string out = text_.substr(first, at_ - first);
  skip();
  return out;
}

double Scanner::number() {
  double value = 0.0;
  const char* first = text_.data() + at_;
  const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
  if (error != std::errc() || !std::isfinite(value)) fail("expected a number");
  at_ += static_cast<std::size_t>(end - first);
  skip();
  return value;
}

Index Scanner::integer(Index most, const char* expected) {
  Index value = 0;
  const char* first = text_.data() + at_;
  const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
  if (error != std::errc() || value < 0 || value > most) fail(expected);
  at_ += static_cast<std::size_t>(end - first);
  skip();
  return value;
}

void Scanner::expect_end() const {
  if (!at_end()) fail(fmt::format("unexpected {}", found()));
}

}  // namespace covary
