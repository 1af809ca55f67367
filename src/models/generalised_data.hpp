#pragma once

#include "covary/kernels/kernel.hpp"
#include "covary/kernels/mean.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "models/checks.hpp"

namespace covary {

// The data of a model of any likelihood as it sees them, and the way back. Y has one column.
// `beside` is the column beside y, or empty.
struct GeneralisedData {
  ScaledData scaled;
  Vector aux;
};
// Checks data and targets and scales them; outputs only where the likelihood takes any unit.
GeneralisedData generalised_data(ConstRows X, ConstVector y, ConstVector aux,
                                 const Likelihood& likelihood, ScaleMode input_mode,
                                 ScaleMode output_mode);

// How far the functions have to reach, and where they lie, for the starts of parameters.
struct LatentStart {
  DataScale scale;
  double intercept = 0.0;
};
LatentStart latent_start(const GeneralisedData& data, const Likelihood& likelihood,
                         const Mean& mean);

}  // namespace covary
