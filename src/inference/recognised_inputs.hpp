#pragma once

#include "covary/inference/latent_inputs.hpp"
#include "covary/inference/recognition.hpp"

namespace covary {

// q(X) = Π N(mean, variance) whose means are recognised, with the prior N(0, I): variances stay
// those of the rows. Parameters: those of the recognition, and latent.variance.
std::unique_ptr<LatentInputs> recognised_inputs(std::shared_ptr<const Recognition> recognition);

}  // namespace covary
