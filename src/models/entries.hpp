#pragma once

#include <string>
#include <vector>

#include "covary/models/request.hpp"
#include "covary/models/table.hpp"

namespace covary {

// The entries of the table of models, each family in a file of its own with how it is made.
std::vector<ModelEntry> regression_entries();
ModelEntry missing_inputs_entry();
ModelEntry noisy_inputs_entry();
std::vector<ModelEntry> generalised_entries();
std::vector<ModelEntry> latent_entries();
std::vector<ModelEntry> map_gplvm_entries();
std::vector<ModelEntry> ppca_entries();
std::vector<ModelEntry> class_density_entries();
std::vector<ModelEntry> warped_entries();

// How fits of each kind are restored; FileError for what is none.
Fit restore_regression(const Archive& from);
Fit restore_generalised(const Archive& from);
Fit restore_latent(const Archive& from);
Fit restore_map_gplvm(const Archive& from);
Fit restore_ppca(const Archive& from);
Fit restore_class_density(const Archive& from);
Fit restore_warped(const Archive& from);

// The options that models of one kind read alike.
namespace reads {
inline const std::string any_fit = "target header seed out verbose max-iter max-seconds";
inline const std::string scaling = " scale no-scale";
inline const std::string settings = " set fix prior bounds tie";
inline const std::string kept = " from checkpoint resume";
inline const std::string supervised =
    any_fit + scaling + settings + kept +
    " inputs circular likelihood kernel mean missing folds restarts";
inline const std::string inducing = " inducing inducing-file selection";
inline const std::string latent =
    any_fit + scaling + settings + " kernel jitter latent label snr" + kept;
}  // namespace reads

// The verbs of a model, with those that every fit is given to.
std::vector<std::pair<std::string, std::string>> with_any(
    std::vector<std::pair<std::string, std::string>> verbs);

}  // namespace covary
