#pragma once

#include "covary/models/model_file.hpp"
#include "latent.hpp"

namespace covary::cli {

struct ClassDensityRun {
  SavedClassDensity saved;
  bool interrupted = false, checkpointed = false;
};
// A latent-variable model of the inputs of each class of the target.
ClassDensityRun fit_class_density_of(const LatentArguments& a, TrainingArguments t,
                                     const SparseArguments& s, const std::string& kernel,
                                     const CheckpointArguments& checkpoint,
                                     const Forecast& forecast, const Common& common);

}  // namespace covary::cli
