#include "covary/likelihoods/formula.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "likelihoods/support.hpp"

namespace covary {

FormulaBase::FormulaBase(std::string name, std::vector<LikelihoodParameter> parameters,
                         FormulaSettings settings, Index limit)
    : name_(std::move(name)), parameters_(std::move(parameters)), settings_(std::move(settings)) {
  if (static_cast<Index>(parameters_.size()) > limit)
    throw InputError(
        fmt::format("{} has {} parameters; at most {}", name_, parameters_.size(), limit));
  if (!(settings_.width > 0.0))
    throw InputError(
        fmt::format("the width of {} is {}; it must be positive, π for a formula of "
                    "softplus(f) or exp(f)",
                    name_, settings_.width));
}

void FormulaBase::declare_all(Parameters& out, const std::string& path) const {
  for (const auto& p : parameters_) declare_positive(out, path + "." + p.name, p.start, p.start);
}

Moments FormulaBase::moments(const Datum& d, double f) const {
  if (!settings_.conditional)
    throw Unsupported(fmt::format(
        "{} has a density but no predictive mean; give FormulaSettings::conditional", name_));
  return settings_.conditional(f, d.aux, {d.theta, parameters_.size()});
}

}  // namespace covary
