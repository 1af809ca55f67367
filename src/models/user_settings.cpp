#include "models/user_settings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"

namespace covary {
namespace {

bool same(const Transform& a, const Transform& b) {
  return a.kind() == b.kind() && a.low() == b.low() && a.high() == b.high();
}

bool has_density(const Prior& prior, const Vector& values) {
  for (const double v : values)
    if (!std::isfinite(prior.log_density(v))) return false;
  return true;
}

}  // namespace

bool UserSettings::holds(const std::string& path) const {
  if (!now_.contains(path)) return false;
  const Parameter &before = chosen_.at(path), &now = now_.at(path);
  return now.value != before.value || (before.trainable && !now.trainable);
}

bool UserSettings::holds_all(const std::string& room) const {
  bool any = false;
  for (const Parameter& p : now_.all()) {
    if (!p.path.starts_with(room)) continue;
    if (!holds(p.path)) return false;
    any = true;
  }
  return any;
}

void UserSettings::give(Parameters& part, const std::string& prefix) const {
  const auto each = [&](const auto& act) {
    for (const Parameter& now : now_.all()) {
      if (!now.path.starts_with(prefix)) continue;
      const std::string path = now.path.substr(prefix.size());
      if (part.contains(path)) act(path, chosen_.at(now.path), now);
    }
  };
  each([&](const std::string& path, const Parameter& before, const Parameter& now) {
    if (now.transform.kind() == Transform::Kind::bounded && !same(now.transform, before.transform))
      part.set_bounds(path, now.transform.low(), now.transform.high());
    const Vector& there = part.at(path).value;
    if (!now.tied_to.empty() || now.value.size() != there.size()) return;
    if (holds(now.path) || (now.prior && !has_density(*now.prior, there)))
      part.set(path, now.value);
  });
  each([&](const std::string& path, const Parameter& before, const Parameter& now) {
    if (now.prior && !before.prior) part.set_prior(path, *now.prior);
    if (now.tied_to.empty()) return;
    if (!now.tied_to.starts_with(prefix))
      throw InputError(fmt::format("{} cannot follow {}: they are trained one after the other",
                                   now.path, now.tied_to));
    const std::string target = now.tied_to.substr(prefix.size());
    if (part.contains(target)) part.tie(path, target, now.ratio);
  });
  each([&](const std::string& path, const Parameter& before, const Parameter& now) {
    if (before.trainable && !now.trainable) part.fix(path);
  });
}

void UserSettings::choose(Parameters& part, const std::string& path, ConstVector value) const {
  if (!holds(path) && part.at(path).tied_to.empty()) part.set(path, value);
}

}  // namespace covary
