#pragma once

#include <stdexcept>
#include <string>

namespace covary {

// The one hierarchy of exceptions. what() names the thing, its value and the way out; kind() is a
// short word for programs ("input", "expression", ...).
class Error : public std::runtime_error {
 public:
  Error(std::string kind, const std::string& message)
      : std::runtime_error(message), kind_(std::move(kind)) {}
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

// Data or arguments that cannot be worked with: shapes, non-finite values, negative variances.
struct InputError : Error {
  explicit InputError(const std::string& m) : Error("input", m) {}
};
// A kernel, mean or likelihood expression with a mistake; the message points at the column.
struct ExpressionError : Error {
  explicit ExpressionError(const std::string& m) : Error("expression", m) {}
};
// A computation that could not be completed in double precision.
struct NumericalError : Error {
  explicit NumericalError(const std::string& m) : Error("numerical", m) {}
};
// A file that is missing, unreadable, corrupted or cannot be written.
struct FileError : Error {
  explicit FileError(const std::string& m) : Error("file", m) {}
};
// A combination that is well formed but not offered; the message names what is.
struct Unsupported : Error {
  explicit Unsupported(const std::string& m) : Error("unsupported", m) {}
};
// The work was stopped by its caller before it was done.
struct Interrupted : Error {
  explicit Interrupted(const std::string& m) : Error("interrupted", m) {}
};

}  // namespace covary
