#pragma once

#include <string>

#include "covary/models/gplvm.hpp"
#include "covary/models/regression.hpp"
#include "covary/models/svgp.hpp"

namespace covary {

// Training under way in the container of docs/model-file.md, with the kind "checkpoint", "svgp
// checkpoint" or "gplvm checkpoint". `problem` is a digest of what the run depends on besides its
// state, so that a checkpoint is not continued with other data or options: that is an InputError.
void save_checkpoint(const std::string& path, const TrainingState& state,
                     const std::string& problem);
void save_checkpoint(const std::string& path, const SvgpState& state, const std::string& problem);
void save_checkpoint(const std::string& path, const GplvmState& state, const std::string& problem);
TrainingState load_checkpoint(const std::string& path, const std::string& problem);
SvgpState load_svgp_checkpoint(const std::string& path, const std::string& problem);
GplvmState load_gplvm_checkpoint(const std::string& path, const std::string& problem);

}  // namespace covary
