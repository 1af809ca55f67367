#pragma once

#include "covary/inference/unknown_inputs.hpp"
#include "covary/models/gplvm_fit.hpp"

namespace covary {

// Referees of a Bayesian GP-LVM: the same model with its parameters as they were trained, but
// without inducing inputs and without q. Y are the outputs of the training rows, which fits do not
// keep, N×P in the units of the data. The prior of X is standard normal, or that of the dynamics;
// Unsupported where inputs were known.
UnknownInputs unknown_inputs(const GplvmFit& fit, ConstRows Y);

// Draws from p(X | Y), from the means of q(X) on unless options.start says otherwise.
InputSamples sample_latent(const GplvmFit& fit, ConstRows Y, InputSamplingOptions options = {});

// log p(Y) in the units of the data, by importance sampling from q(X), broadened: what the bound is
// below.
EvidenceEstimate estimate_log_evidence(const GplvmFit& fit, ConstRows Y, Index samples = 10000,
                                       double broaden = 1.5, std::uint64_t seed = 0);

}  // namespace covary
