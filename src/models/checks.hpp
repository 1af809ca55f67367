#pragma once

#include <string>
#include <vector>

#include "covary/data/scaling.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

// Throws InputError naming what is wrong with the data of a regression, and the way out.
void check_regression_data(ConstRows X, ConstRows Y, ConstVector point_noise);

// The data as a model sees them, and the way back.
struct ScaledData {
  RowMatrix X, Y;
  Vector point_noise;
  Scaling inputs, outputs;
  double log_jacobian = 0.0;
  std::vector<std::string> warnings;
};
// Checks the data and scales them. With noise given for each row, several outputs share one scale.
// Where the rows have weights, each counts as often as its own says.
ScaledData scaled_data(ConstRows X, ConstRows Y, ConstVector point_noise, ScaleMode input_mode,
                       ScaleMode output_mode, ConstVector weights = Vector());

}  // namespace covary
