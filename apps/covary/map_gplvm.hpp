#pragma once

#include "covary/models/model_file.hpp"
#include "latent.hpp"

namespace covary::cli {

// A GP-LVM whose latent inputs are points.
struct MapGplvmRun {
  SavedMapGplvm saved;
  bool interrupted = false, checkpointed = false;
};
MapGplvmRun fit_map_gplvm(const LatentArguments& a, const TrainingArguments& t,
                          const std::string& kernel, const CheckpointArguments& checkpoint,
                          const Forecast& forecast, const Common& common);
Outcome evaluate_map_gplvm(const SavedMapGplvm& m, const DataArguments& a);

}  // namespace covary::cli
