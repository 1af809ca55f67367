#pragma once

#include <string>

#include "covary/parameters/parameters.hpp"

namespace covary {

// What a user has said of the parameters of a model whose parts choose theirs anew: flags, priors,
// bounds and ties go to every part by path, and a value that was set or fixed is the one to start
// from.
class UserSettings {
 public:
  UserSettings() = default;  // nothing
  // `chosen`: as the model showed them; `now`: as the user left them.
  UserSettings(Parameters chosen, Parameters now)
      : chosen_(std::move(chosen)), now_(std::move(now)) {}

  // Whether this value was set or fixed; whether all were whose path begins so.
  bool holds(const std::string& path) const;
  bool holds_all(const std::string& room) const;
  const Vector& value(const std::string& path) const { return now_.at(path).value; }

  // To the parameters of a part, whose paths here have this prefix.
  void give(Parameters& part, const std::string& prefix = "") const;
  // A value that the model finds by itself, unless the user holds it.
  void choose(Parameters& part, const std::string& path, ConstVector value) const;

 private:
  Parameters chosen_, now_;
};

}  // namespace covary
