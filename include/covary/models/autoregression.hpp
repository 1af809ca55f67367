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

  // "y[t-2]", "y[t-1]": of the columns of X, for series of these names.
  static std::vector<std::string> names(const std::vector<std::string>& series, Index lags);
};
LagWindows lag_windows(ConstRows series, Index lags);

// What a free simulation does with a prediction once it is a lag itself.
enum class Propagation {
  plug_in,    // its mean stands for it, as if it had been observed
  moments,    // its mean and its covariance with the other lags; the window is then Gaussian
  augmented,  // and the pair of Gaussian window and predicted mean joins the data, of VFE only
  draws       // none of these: many draws of f are each run by itself
};
// "plug-in", "moments", "augmented" or "draws"; InputError otherwise.
Propagation parse_propagation(const std::string& name);

struct DrawOptions {
  Index draws = 100;
  Index features = 1000;  // random features of each draw of f
  std::uint64_t seed = 0;
  // ParameterDraws::values of an exact fit: draw d has those of row d, from the first again after
  // the last, and what is not known of kernel and noise is in the spread. Empty: those of the fit.
  RowMatrix parameters = {};
};

// The steps after the end of a series, of which the last τ rows count and must be complete: means
// and variances, steps×P. Of an exact posterior `moments` is that of Girard et al. (2003). The
// options are those of `draws`.
Prediction simulate(const RegressionFit& fit, ConstRows series, Index steps,
                    Propagation how = Propagation::moments, const DrawOptions& options = {});
// What `draws` takes its moments of: series of steps×P, each along one draw of f with noise at
// every step.
std::vector<RowMatrix> simulate_draws(const RegressionFit& fit, ConstRows series, Index steps,
                                      const DrawOptions& options = {});

}  // namespace covary
