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
// The column of the largest variance: one to draw.
Index moves_most(const RowMatrix& Y);

// Trains a model of several sequences, and says how far it came.
GplvmFit train_dynamical(const RowMatrix& Y, const GplvmOptions& options, const std::string& name);
// Trains it on with a further sequence among the data, whose latent means start where they are
// given; Y and options are those of the fit.
GplvmFit train_with_sequence(const GplvmFit& fit, const RowMatrix& Y, GplvmOptions options,
                             const RowMatrix& further, const RowMatrix& times,
                             const RowMatrix& means, Index iterations);

}  // namespace covary::experiments
