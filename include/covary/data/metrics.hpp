#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Scores of predictions for targets y. Rows where y is NaN do not count. InputError when lengths
// differ, when no target is left, when a target or prediction is infinite or a prediction is NaN,
// and when a variance is not positive.

double rmse(ConstVector y, ConstVector mean);
double mae(ConstVector y, ConstVector mean);
// Mean squared error over the variance (divisor N) of the targets; 1 for the best constant.
double smse(ConstVector y, ConstVector mean);

// Of Gaussian predictions N(mean, variance), the noise included in `variance`:
// the mean of −log N(y | mean, variance), in nats,
double nlpd(ConstVector y, ConstVector mean, ConstVector variance);
// the mean continuous ranked probability score ∫(F(t) − 1[t ≥ y])² dt, in the units of y
// (Gneiting & Raftery, 2007): σ(z(2Φ(z) − 1) + 2φ(z) − 1/√π) with z = (y − mean)/σ,
double crps(ConstVector y, ConstVector mean, ConstVector variance);
// the fraction of targets within the central interval of probability `level`,
double coverage(ConstVector y, ConstVector mean, ConstVector variance, double level = 0.95);
// and Φ(z) of each target that is not NaN, in order: uniform when the predictions are calibrated.
Vector pit(ConstVector y, ConstVector mean, ConstVector variance);

}  // namespace covary
