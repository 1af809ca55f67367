#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "covary/data/inputs.hpp"
#include "covary/models/class_density.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "covary/models/map_gplvm.hpp"
#include "covary/models/ppca.hpp"
#include "covary/models/regression.hpp"

namespace covary {

// A fit with what a table needs to reach it.
struct SavedModel {
  RegressionFit fit;
  InputColumns inputs;
};

// The same for a model of any likelihood.
struct SavedGeneralised {
  GeneralisedFit fit;
  InputColumns inputs;
};
// A latent-variable model, whose columns are all outputs.
struct SavedLatent {
  GplvmFit fit;
};
// Probabilistic principal components.
struct SavedPpca {
  PpcaFit fit;
};
// A GP-LVM whose latent inputs are points.
struct SavedMapGplvm {
  MapGplvmFit fit;
};
// A classifier by the densities of its classes.
struct SavedClassDensity {
  ClassDensityFit fit;
  InputColumns inputs;
};
using AnyModel = std::variant<SavedModel, SavedGeneralised, SavedLatent, SavedPpca, SavedMapGplvm,
                              SavedClassDensity>;

// The model file of docs/model-file.md. Predictions before and after are the same bits. A
// likelihood that no expression makes is an InputError on saving.
void save_model(const std::string& path, const AnyModel& model);
AnyModel load_any_model(const std::string& path);
SavedModel load_model(const std::string& path);  // Unsupported when it is no regression
// The regression that was loaded; Unsupported, naming the source, for anything else.
SavedModel regression_in(AnyModel model, const std::string& source);
// The same bytes in memory.
std::vector<std::byte> save_model_bytes(const AnyModel& model);
AnyModel load_any_model_bytes(std::span<const std::byte> bytes);
SavedModel load_model_bytes(std::span<const std::byte> bytes);

}  // namespace covary
