#include "likelihoods/support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {

double* thread_scratch(Index n) {
  thread_local std::vector<double> memory;
  if (memory.size() < static_cast<std::size_t>(n)) memory.resize(static_cast<std::size_t>(n));
  return memory.data();
}

void declare_positive(Parameters& out, const std::string& path, const Given& given,
                      double fallback) {
  const double start = given.value_or(fallback);
  out.add({path, Vector::Constant(1, start), Transform::positive(start)});
}

Given positive(const Given& given, const char* what) {
  if (given && !(*given > 0.0 && std::isfinite(*given)))
    throw InputError(fmt::format("{} must be positive and finite, got {}", what, *given));
  return given;
}

std::string expression_of(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> some;
  for (const auto& a : arguments)
    if (!a.empty()) some.push_back(a);
  return some.empty() ? name : fmt::format("{}({})", name, fmt::join(some, ", "));
}

std::string argument(const char* key, const Given& value) {
  return value ? fmt::format("{}={}", key, *value) : std::string();
}

std::string print(Link link) { return link == Link::logit ? "logit" : "probit"; }

std::string not_a_count(double y) {
  if (y < 0.0) return fmt::format("{} is negative; counts are 0, 1, 2, …", y);
  if (y != std::floor(y)) return fmt::format("{} is not a whole number; counts are 0, 1, 2, …", y);
  return {};
}

std::string not_a_label(double y, Index classes) {
  if (y >= 0.0 && y < static_cast<double>(classes) && y == std::floor(y)) return {};
  return fmt::format("{} is not a label; labels are 0 to {}, recode the classes", y, classes - 1);
}

std::string not_positive(double y, const char* likelihood) {
  if (y > 0.0) return {};
  return fmt::format("{} is not positive; {} is for y > 0, shift the zeros or choose another", y,
                     likelihood);
}

Moments log_link_moments(double m, double v, double c, double linear, double square) {
  const double mean = c * std::exp(m + 0.5 * v);
  return {mean, linear * mean + mean * mean * (square * std::exp(v) + std::expm1(v))};
}

}  // namespace covary
