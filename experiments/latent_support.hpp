#pragma once

#include <string>
#include <vector>

#include "covary/models/gplvm.hpp"

namespace covary::experiments {

// For each row of `of` the row of `among` that is nearest over the columns (all, when there are
// none).
std::vector<Index> nearest_rows(ConstRows of, ConstRows among,
                                const std::vector<Index>& columns = {});
RowMatrix above_and_below(ConstRows above, ConstRows below);
std::vector<Index> columns_between(Index first, Index end);

// A dynamical model of several sequences, and what it was trained with.
struct Dynamical {
  RowMatrix Y;
  GplvmOptions options;
  GplvmFit fit;
};
Dynamical train_dynamical(const RowMatrix& Y, GplvmOptions options, const std::string& name);

// A further sequence whose outputs are missing in part: all of q(X) goes on from where the model of
// the other rows ended, the new means from `start`; kernels, noise and inducing inputs are held.
// The outputs of its rows.
struct Completed {
  RowMatrix mean;
  double elbo = 0.0;
};
Completed complete(const Dynamical& trained, const RowMatrix& Y, const RowMatrix& times,
                   const RowMatrix& start, Index iterations);

}  // namespace covary::experiments
