#include <fmt/format.h>

#include <charconv>

#include "covary/error.hpp"
#include "covary/inference/sparse.hpp"
#include "covary/parameters/suggest.hpp"

namespace covary {

Approximation::Approximation(Kind k, double a) : kind(k), alpha(a) {
  if (kind == Kind::fitc || kind == Kind::pitc) alpha = 1.0;
  if (kind == Kind::pep && !(a > 0.0 && a <= 1.0))
    throw InputError(fmt::format(
        "power-EP takes a power α with 0 < α ≤ 1, got {}; the limit α → 0 is vfe, α = 1 is fitc",
        a));
}

Approximation::Approximation(const std::string& e) {
  const auto power = [&]() -> double {
    double a = 0.0;
    const char *first = e.data() + 4, *last = e.data() + e.size() - 1;
    const auto [stop, error] = std::from_chars(first, last, a);
    if (error != std::errc{} || stop != last)
      throw InputError(fmt::format("cannot read the power of '{}'; write for example pep(0.5)", e));
    return a;
  };
  if (e == "sor")
    *this = Kind::sor;
  else if (e == "dtc")
    *this = Kind::dtc;
  else if (e == "fitc")
    *this = Kind::fitc;
  else if (e == "pitc")
    *this = Kind::pitc;
  else if (e == "vfe" || e == "sparse")
    *this = Kind::vfe;
  else if (e == "vfe(tight)")
    *this = Kind::vfe_tight;
  else if (e == "cglb")
    *this = Kind::cglb;
  else if (e.starts_with("pep(") && e.ends_with(")"))
    *this = {Kind::pep, power()};
  else
    throw InputError(fmt::format(
        "unknown approximation '{}'{}; choose sor, dtc, fitc, pitc, vfe, vfe(tight), pep(α) or "
        "cglb",
        e,
        did_you_mean(e, {"sor", "dtc", "fitc", "pitc", "vfe", "vfe(tight)", "pep(0.5)", "cglb"})));
}

std::string Approximation::print() const {
  switch (kind) {
    case Kind::sor:
      return "sor";
    case Kind::dtc:
      return "dtc";
    case Kind::fitc:
      return "fitc";
    case Kind::pitc:
      return "pitc";
    case Kind::vfe_tight:
      return "vfe(tight)";
    case Kind::cglb:
      return "cglb";
    case Kind::pep:
      return fmt::format("pep({})", alpha);
    case Kind::vfe:
      break;
  }
  return "vfe";
}

RowRule Approximation::rule() const {
  switch (kind) {
    case Kind::sor:
    case Kind::dtc:
      return {RowRule::Term::none, 0.0};
    case Kind::vfe:
      return {RowRule::Term::trace, 0.0};
    case Kind::vfe_tight:
    case Kind::cglb:
      return {RowRule::Term::log_trace, 0.0};
    case Kind::fitc:
    case Kind::pitc:
    case Kind::pep:
      break;
  }
  return {RowRule::Term::power, alpha};
}

}  // namespace covary
