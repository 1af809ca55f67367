#pragma once

#include <cstdint>

#include "covary/likelihoods/likelihood.hpp"
#include "covary/parameters/parameters.hpp"

namespace covary {

// The free vector that restart number `restart` ≥ 1 begins at. Start 1 looks for what the first
// overlooks: detail a fifth as long beneath little noise. The others are the first times
// exp(normal) for positive parameters, uniform between bounds.
Vector perturbed_start(const Parameters& parameters, Index restart, std::uint64_t seed);

// The constant f under which the targets are most likely, for a likelihood of one latent function:
// where a mean function starts, and how far from zero the functions have to reach. Zero for others.
double typical_latent(const Likelihood& likelihood, ConstVector y, ConstVector aux,
                      ConstVector weights = Vector());

}  // namespace covary
