#pragma once

#include "covary/models/fit.hpp"
#include "covary/models/function_options.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/statistics/rows.hpp"
#include "covary/training/trainer.hpp"
#include "models/checks.hpp"

namespace covary {

// The data of a model of any likelihood as it sees them, and the way back. X is scaled and, where
// asked for, its principal components or latent space. Y has a column for each output; aux and
// weights are the columns beside it, or empty.
struct GeneralisedData {
  ScaledData scaled;
  InputMap input_map = {};
  Vector aux, weights;
};
// Checks data and targets, leaves out the rows that say nothing (no targets, or a weight of zero)
// and scales the others; outputs only where the likelihood takes any unit.
// A latent space that was not given is that of the GP-LVM where its training starts.
GeneralisedData generalised_data(ConstRows X, ConstRows Y, const FunctionOptions& options);
// The same of rows in a file, which come scaled from then on; X and Y are a sample of them.
GeneralisedData generalised_data(FileRows& rows, const FunctionOptions& options, Index sample);

// kernel.… (function.0.kernel.… of separate kernels), likelihood.… and mean.weights, at starts that
// suit the rows: how far the functions have to reach, where they lie, and how much of the targets
// is noise. `Y`, `aux` and `weights` are of all rows or a sample of them; `functions` are behind
// all outputs.
Parameters function_parameters(const FunctionOptions& options, const RowSource& rows, ConstRows Y,
                               ConstVector aux, ConstVector weights, Index functions);

// What a model is made from whose latent space is yet to be trained: the first stage of its fit().
struct UntrainedMap {
  RowMatrix X, Y;
  Parameters chosen;  // as the model has them at the start

  // Whether the options ask for one.
  static bool is_asked(const FunctionOptions& options) {
    return options.gplvm > 0 && !options.input_map;
  }
  InputMap train(const FunctionOptions& options, const Scaling& inputs, Trainer& trainer,
                 std::vector<std::string>& warnings) const;
  // That of another fit of these rows; none if it has none or is of others.
  InputMap of(const FitNode& fit, const FunctionOptions& options, const Scaling& inputs) const;
  // To the parameters of the model with the map: what was said of them before it was trained.
  void settle(const Parameters& said, Parameters& parameters) const;
};

}  // namespace covary
