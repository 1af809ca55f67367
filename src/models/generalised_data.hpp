#pragma once

#include "covary/kernels/kernel.hpp"
#include "covary/kernels/mean.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "models/checks.hpp"

namespace covary {

// Throws InputError for labels that are all of one class: a classifier would have nothing to say.
void check_classes(const Likelihood& likelihood, ConstVector y);

// The data of a model of any likelihood as it sees them, and the way back. Y has one column; aux is
// the column beside it, or empty.
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
