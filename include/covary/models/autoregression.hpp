#pragma once

#include <string>
#include <vector>

#include "covary/models/regression.hpp"

namespace covary {

// Autoregression y_t = f(y_{t−τ}, …, y_{t−1}) + noise is a regression on windows of lags: the rows
// of series (T×P, oldest first) become inputs of τ·P columns, the oldest lag first, and outputs of
// P. Windows with a missing input are left out; missing outputs stay NaN.
//
//   LagWindows w = lag_windows(series, 18);
//   RegressionFit fit = SparseRegression(w.X, w.Y, {.inducing = 30}).fit();
//   Prediction ahead = simulate(fit, series, 100);
struct LagWindows {
  RowMatrix X, Y;
};
LagWindows lag_windows(ConstRows series, Index lags);
// "y[t-2]", "y[t-1]": of the columns of X, for series of these names.
std::vector<std::string> lag_names(const std::vector<std::string>& series, Index lags);
// τ, where a model's inputs have these names; 0 where it is no autoregression.
Index lags_of(const RegressionFit& fit);

// What a free simulation does with a prediction once it is a lag itself.
enum class Propagation {
  plug_in,   // its mean stands for it, as if it had been observed
  moments,   // its mean and variance, noise included; the inputs are then Gaussian
  augmented  // and the pair of Gaussian input and predicted mean joins the data, of VFE only
};
// "plug-in", "moments" or "augmented"; InputError otherwise.
Propagation parse_propagation(const std::string& name);

// The steps after the end of a series, of which the last τ rows count and must be complete: means
// and variances, steps×P. Of an exact posterior `moments` is that of Girard et al. (2003). Lags are
// independent in the window, which they are not in truth.
Prediction simulate(const RegressionFit& fit, ConstRows series, Index steps,
                    Propagation how = Propagation::moments);

}  // namespace covary
