#include "covary/parameters/prior.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <vector>

#include "covary/error.hpp"

namespace covary {
namespace {

void positive(double v, const char* what) {
  if (!(v > 0.0) || !std::isfinite(v))
    throw InputError(fmt::format("prior: {} must be positive and finite, got {}", what, v));
}

void finite(double v, const char* what) {
  if (!std::isfinite(v)) throw InputError(fmt::format("prior: {} must be finite, got {}", what, v));
}

// Numbers with a comma between each two; empty when the text is anything else.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> out;
  const char* at = text.c_str();
  const auto skip = [&] {
    while (*at == ' ') ++at;
  };
  do {
    char* end = nullptr;
    out.push_back(std::strtod(at, &end));
    if (end == at) return {};
    at = end;
    skip();
  } while (*at == ',' && ++at);
  return at == text.c_str() + text.size() ? out : std::vector<double>{};
}

}  // namespace

Prior Prior::normal(double mean, double sd) {
  finite(mean, "mean of normal");
  positive(sd, "sd of normal");
  return {Kind::normal, mean, sd};
}
Prior Prior::log_normal(double mu, double sigma) {
  finite(mu, "mu of lognormal");
  positive(sigma, "sigma of lognormal");
  return {Kind::log_normal, mu, sigma};
}
Prior Prior::gamma(double shape, double rate) {
  positive(shape, "shape of gamma");
  positive(rate, "rate of gamma");
  return {Kind::gamma, shape, rate};
}
Prior Prior::inverse_gamma(double shape, double scale) {
  positive(shape, "shape of inversegamma");
  positive(scale, "scale of inversegamma");
  return {Kind::inverse_gamma, shape, scale};
}
Prior Prior::half_cauchy(double scale) {
  positive(scale, "scale of halfcauchy");
  return {Kind::half_cauchy, scale, 0.0};
}

Prior Prior::parse(const std::string& text) {
  const auto open = text.find('(');
  const std::string name = text.substr(0, open);
  std::vector<double> args;
  if (open != std::string::npos && text.back() == ')')
    args = numbers(text.substr(open + 1, text.size() - open - 2));
  const auto want = [&](std::size_t n) { return args.size() == n; };
  if (name == "normal" && want(2)) return normal(args[0], args[1]);
  if (name == "lognormal" && want(2)) return log_normal(args[0], args[1]);
  if (name == "gamma" && want(2)) return gamma(args[0], args[1]);
  if (name == "inversegamma" && want(2)) return inverse_gamma(args[0], args[1]);
  if (name == "halfcauchy" && want(1)) return half_cauchy(args[0]);
  throw ExpressionError(fmt::format(
      "cannot read the prior '{}'; write normal(mean,sd), lognormal(mu,sigma), gamma(shape,rate), "
      "inversegamma(shape,scale) or halfcauchy(scale)",
      text));
}

double Prior::log_density(double x) const {
  constexpr double half_log_2pi = 0.91893853320467274178;
  if (kind_ != Kind::normal && !(x > 0.0)) return -std::numeric_limits<double>::infinity();
  switch (kind_) {
    case Kind::normal: {
      const double z = (x - a_) / b_;
      return -0.5 * z * z - std::log(b_) - half_log_2pi;
    }
    case Kind::log_normal: {
      const double z = (std::log(x) - a_) / b_;
      return -0.5 * z * z - std::log(b_ * x) - half_log_2pi;
    }
    case Kind::gamma:
      return a_ * std::log(b_) - std::lgamma(a_) + (a_ - 1.0) * std::log(x) - b_ * x;
    case Kind::inverse_gamma:
      return a_ * std::log(b_) - std::lgamma(a_) - (a_ + 1.0) * std::log(x) - b_ / x;
    case Kind::half_cauchy:
      return std::log(2.0 / (std::numbers::pi * a_)) - std::log1p(x * x / (a_ * a_));
  }
  return 0.0;
}

double Prior::slope(double x) const {
  switch (kind_) {
    case Kind::normal:
      return -(x - a_) / (b_ * b_);
    case Kind::log_normal:
      return -((std::log(x) - a_) / (b_ * b_) + 1.0) / x;
    case Kind::gamma:
      return (a_ - 1.0) / x - b_;
    case Kind::inverse_gamma:
      return -(a_ + 1.0) / x + b_ / (x * x);
    case Kind::half_cauchy:
      return -2.0 * x / (a_ * a_ + x * x);
  }
  return 0.0;
}

std::string Prior::describe() const {
  switch (kind_) {
    case Kind::normal:
      return fmt::format("normal({},{})", a_, b_);
    case Kind::log_normal:
      return fmt::format("lognormal({},{})", a_, b_);
    case Kind::gamma:
      return fmt::format("gamma({},{})", a_, b_);
    case Kind::inverse_gamma:
      return fmt::format("inversegamma({},{})", a_, b_);
    case Kind::half_cauchy:
      return fmt::format("halfcauchy({})", a_);
  }
  return "";
}

}  // namespace covary
