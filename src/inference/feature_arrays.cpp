#include "inference/feature_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/features/record.hpp"

namespace covary {

using nlohmann::json;

namespace {

void put_record(const FeatureRecord& r, const std::string& prefix, Container& c, json& j) {
  j["features"] = r.name;
  if (r.name == "points") {
    c.put_rows(prefix + "Z", Eigen::Map<const RowMatrix>(r.z.data(), r.size, r.dims));
    return;
  }
  j["feature_dims"] = r.dims;
  if (!r.parts.empty()) {
    j["feature_parts"] = json::array();
    for (const FeatureRecord& part : r.parts) {
      json own;
      put_record(part, fmt::format("{}{}.", prefix, j["feature_parts"].size()), c, own);
      j["feature_parts"].push_back(std::move(own));
    }
    return;
  }
  j["feature_size"] = r.size;
  c.put_vector(prefix + "z", r.z);
  if (!r.degrees.empty()) c.put_integers(prefix + "degrees", r.degrees);
}

FeatureRecord get_record(const Container& c, const json& j, const std::string& prefix) {
  FeatureRecord r;
  r.name = j.at("features").get<std::string>();
  if (r.name == "points") {
    const RowMatrix Z = c.rows(prefix + "Z");
    r.size = Z.rows();
    r.dims = Z.cols();
    r.z = Eigen::Map<const Vector>(Z.data(), Z.size());
    return r;
  }
  r.dims = j.at("feature_dims").get<Index>();
  if (r.name == "stacked") {
    for (const json& part : j.at("feature_parts")) {
      if (part.at("features") == "stacked") throw InputError("stacked features are stacked once");
      r.parts.push_back(get_record(c, part, fmt::format("{}{}.", prefix, r.parts.size())));
      const Vector& own = r.parts.back().z;
      r.z.conservativeResize(r.z.size() + own.size());
      r.z.tail(own.size()) = own;
    }
    return r;
  }
  r.size = j.at("feature_size").get<Index>();
  r.z = c.vector(prefix + "z");
  if (c.has(prefix + "degrees")) r.degrees = c.integers(prefix + "degrees");
  return r;
}

}  // namespace

void put_features(const StoredFeatures& u, const std::string& prefix, Container& c, json& j) {
  put_record(record_features(*u.features, u.z), prefix, c, j);
}

StoredFeatures get_features(const Container& c, const json& j, const std::string& prefix,
                            const Kernel& kernel) {
  try {
    FeatureRecord record = get_record(c, j, prefix);
    FeaturesPtr features = restore_features(record, kernel);
    return {std::move(features), std::move(record.z)};
  } catch (const InputError& e) {
    throw FileError(fmt::format("{}: {}", c.source, e.what()));
  }
}

}  // namespace covary
