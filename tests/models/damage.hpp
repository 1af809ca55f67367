#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "covary/error.hpp"
#include "covary/models/fit.hpp"
#include "covary/storage/container.hpp"

namespace covary::testing {

// Damage behind checksums that are valid is a FileError.
inline void expect_refused(const Container& bad, const std::string& what) {
  EXPECT_THROW(load_bytes(serialise_container(bad)), FileError) << what;
}

// Every tensor left out or made nonsense, every key of the metadata but `free` ones made nonsense.
inline void expect_damage_refused(const Container& good, const std::set<std::string>& free = {}) {
  for (const auto& [name, tensor] : good.tensors) {
    Container bad = good;
    bad.tensors.erase(name);
    expect_refused(bad, name);
    bad.put_vector(name, Vector::Constant(3, std::nan("")));
    expect_refused(bad, name);
  }
  const auto j = nlohmann::json::parse(good.metadata);
  for (const auto& [key, value] : j.items()) {
    if (key.starts_with("sha256") || key == "format_version" || free.contains(key)) continue;
    Container bad = good;
    auto changed = j;
    changed[key] = nlohmann::json::array({7, "x"});
    bad.metadata = changed.dump();
    expect_refused(bad, key);
  }
}

}  // namespace covary::testing
