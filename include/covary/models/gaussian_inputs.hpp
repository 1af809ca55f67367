#pragma once

#include <vector>

#include "covary/models/regression.hpp"

namespace covary {

// As fit.predict(X, variance), at inputs x ~ N(X, S) whose columns are correlated: a covariance for
// each row, D×D in the units of the data, or the D×1 of its diagonal.
Prediction predict_gaussian_inputs(const RegressionFit& fit, ConstRows X,
                                   const std::vector<Matrix>& S);

}  // namespace covary
