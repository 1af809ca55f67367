#pragma once

#include <vector>

#include "covary/models/map_gplvm.hpp"

namespace covary::experiments {

// Rows of the documents' tables that are of GP-LVMs whose latent inputs are points.

// A model of several sequences with dynamics, of every `every`-th frame of each: N³ an iteration.
MapGplvmFit train_map_dynamical(const RowMatrix& Y, const RowMatrix& times,
                                const std::vector<Index>& sequences, Index latent, Index every,
                                std::uint64_t seed);
// A further sequence, NaN where it is not observed, filled in: its latent inputs are at the maximum
// of the density of what is observed and of the dynamics, from those of the nearest training rows.
RowMatrix map_dynamical_completion(const MapGplvmFit& fit, const RowMatrix& Y,
                                   const RowMatrix& times);

// Poses of silhouettes by a shared GP-LVM: one X with a mapping to each, and test frames placed one
// by one by their silhouettes.
RowMatrix shared_gplvm_poses(const RowMatrix& poses, const RowMatrix& silhouettes,
                             const RowMatrix& test_silhouettes, Index latent, std::uint64_t seed);

}  // namespace covary::experiments
