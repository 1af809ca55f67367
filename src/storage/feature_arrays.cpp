#include "storage/feature_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/features/eigen.hpp"

namespace covary {

using nlohmann::json;

void put_features(const StoredFeatures& u, const std::string& prefix, Container& c, json& j) {
  const Features& f = *u.features;
  j["features"] = f.name();
  if (f.name() == "points") {
    c.put_rows(prefix + "Z", Eigen::Map<const RowMatrix>(u.z.data(), f.size(), f.dims()));
    return;
  }
  j["feature_size"] = f.size();
  j["feature_dims"] = f.dims();
  c.put_vector(prefix + "z", u.z);
  if (const auto degrees = degrees_of(f); !degrees.empty())
    c.put_integers(prefix + "degrees", degrees);
}

StoredFeatures get_features(const Container& c, const json& j, const std::string& prefix,
                            const Kernel& kernel) {
  StoredFeatures out;
  const auto name = j.at("features").get<std::string>();
  try {
    if (name == "points") {
      const RowMatrix Z = c.rows(prefix + "Z");
      out.z = Eigen::Map<const Vector>(Z.data(), Z.size());
      out.features = inducing_points(kernel, Z);
      return out;
    }
    out.z = c.vector(prefix + "z");
    std::vector<std::int64_t> degrees;
    if (name == "eigen") degrees = c.integers(prefix + "degrees");
    out.features = restore_features(name, kernel, j.at("feature_size").get<Index>(),
                                    j.at("feature_dims").get<Index>(), out.z, degrees);
  } catch (const InputError& e) {
    throw FileError(fmt::format("{}: {}", c.source, e.what()));
  }
  return out;
}

}  // namespace covary
