#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "covary/parameters/parameters.hpp"

namespace covary {

// What a user has said of a parameter goes from the one before to that of the same path now, which
// was declared anew: whether it is trained, prior and bounds; and with `value` where it is.
inline void carry_settings(const Parameter& before, Parameter& now, bool value) {
  now.trainable = before.trainable;
  now.prior = before.prior;
  if (before.transform.kind() == Transform::Kind::bounded) {
    now.transform = before.transform;
    const double low = now.transform.low(), high = now.transform.high();
    for (double& v : now.value)  // a start outside moves inside, away from the flat ends
      if (!(v > low && v < high)) v = v <= low ? 0.9 * low + 0.1 * high : 0.1 * low + 0.9 * high;
  }
  if (value && now.value.size() == before.value.size()) {
    now.value = before.value;
    now.transform = before.transform;
  }
}

// Parameters of inducing variables come anew whenever the model chooses others. What the user has
// said of them stays: flags, priors and bounds go from the old to the new, and a value that was set
// is not chosen again.
class FeatureSettings {
 public:
  // The model chose these values by itself.
  void chosen(const Parameters& features) { chosen_ = features; }

  // Before training: paths of values that the user set, and with `fixed` of those that were fixed.
  void look(const Parameters& all, bool fixed) {
    held_.clear();
    for (const Parameter& own : chosen_.all()) {
      if (!all.contains(own.path)) continue;
      const Parameter& now = all.at(own.path);
      // Some, as the interval of Fourier features, are not trained in any case.
      const bool was_fixed = own.trainable && !now.trainable;
      if (now.value != own.value || (fixed && was_fixed)) held_.push_back(own.path);
    }
  }
  bool holds_any() const { return !held_.empty(); }
  bool holds(const std::string& path) const {
    return std::find(held_.begin(), held_.end(), path) != held_.end();
  }

  // What goes from the parameter of the features before to that of the same path now.
  void carry(const Parameter& before, Parameter& now) const {
    carry_settings(before, now, holds(now.path));
  }

 private:
  Parameters chosen_;
  std::vector<std::string> held_;
};

}  // namespace covary
