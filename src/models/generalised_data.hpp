#pragma once

#include "covary/models/function_options.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/statistics/rows.hpp"
#include "models/checks.hpp"

namespace covary {

// The data of a model of any likelihood as it sees them, and the way back. X is scaled and, where
// asked for, its principal components or latent space. Y has a column for each output; aux and
// weights are the columns beside it, or empty.
struct GeneralisedData {
  ScaledData scaled;
  InputMap input_map = {};
  Vector aux, weights;
  double seconds = 0.0;  // that training the map took
};
// Checks data and targets, leaves out the rows that say nothing (no targets, or a weight of zero)
// and scales the others; outputs only where the likelihood takes any unit.
GeneralisedData generalised_data(ConstRows X, ConstRows Y, const FunctionOptions& options);
// The same of rows in a file, which come scaled from then on; X and Y are a sample of them.
GeneralisedData generalised_data(FileRows& rows, const FunctionOptions& options, Index sample);

// kernel.… (function.0.kernel.… of separate kernels), likelihood.… and mean.weights, at starts that
// suit the rows: how far the functions have to reach, where they lie, and how much of the targets
// is noise. `Y`, `aux` and `weights` are of all rows or a sample of them; `functions` are behind
// all outputs.
Parameters function_parameters(const FunctionOptions& options, const RowSource& rows, ConstRows Y,
                               ConstVector aux, ConstVector weights, Index functions);

}  // namespace covary
