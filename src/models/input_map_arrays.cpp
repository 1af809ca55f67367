#include "models/input_map_arrays.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "models/fit_json.hpp"
#include "models/latent_arrays.hpp"

namespace covary {

using nlohmann::json;

namespace {

InputMap map_from(const Container& c, const json& j) {
  if (j.contains("pca")) return InputMap(get_pca(c, j.at("pca").get<Index>()));
  if (j.contains("gplvm"))
    return InputMap(LatentFeatures(latent_from(get_nested(c, "gplvm."), j.at("gplvm"))));
  return {};
}

}  // namespace

void put_input_map(const InputMap& map, Container& c, json& j) {
  if (const Pca* pca = map.pca()) {
    j["pca"] = pca->size();
    put_pca(c, *pca);
  } else if (const LatentFeatures* features = map.gplvm()) {
    Container own = container_of(features->fit());
    j["gplvm"] = json::parse(own.metadata);
    put_nested(c, "gplvm.", std::move(own));
  }
}

InputMap get_input_map(const Container& c, const json& j, Index features) {
  InputMap map = map_from(c, j);
  if (map && map.size() != features)
    throw FileError(fmt::format("{} has {} {}, its functions take {} inputs", c.source, map.size(),
                                map.pca() ? "principal components" : "latent dimensions in use",
                                features));
  return map;
}

}  // namespace covary
