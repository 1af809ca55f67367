#pragma once

#include <cstdint>

#include "covary/statistics/rows.hpp"
#include "models/checks.hpp"

namespace covary {

// What a model has to know of all rows before it is trained, in passes over them and in memory that
// does not grow with them.

// Means of the observed entries of each output.
Vector column_means(const RowSource& rows);
// Spreads of the data for starts; 1 stands in for the spread of a constant column.
DataScale data_scale(const RowSource& rows);
// The log evidence of y ~ N(0, s²) with the best s for each output: what a model has to beat.
double noise_only_evidence(const RowSource& rows);

// Fits the scaling of rows in a file, from which on they come scaled. X and Y are `sample` of them,
// drawn by the seed, in their order; all if there are no more.
ScaledData scaled_data(FileRows& rows, ScaleMode input_mode, ScaleMode output_mode, Index sample,
                       std::uint64_t seed);

}  // namespace covary
