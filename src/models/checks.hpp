#pragma once

#include "covary/kernels/node.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

// Throws InputError naming what is wrong with the data of a regression, and the way out.
void check_regression_data(ConstRows X, ConstRows Y, ConstVector point_noise);
// Means of the observed entries of each column.
Vector column_means(ConstRows Y);
// Spreads of the data for starts; 1 stands in for the spread of a constant column.
DataScale data_scale(ConstRows X, ConstRows Y);

}  // namespace covary
