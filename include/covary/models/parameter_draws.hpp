#pragma once

#include <cstdint>

#include "covary/models/regression.hpp"

namespace covary {

// Draws of a regression's parameters from their posterior given the data, by slice sampling: what
// is predicted over them knows that kernel and noise are not known.
//
//   RegressionFit fit = Regression(X, Y).fit();
//   ParameterDraws draws = sample_parameters(fit);
//   Prediction p = predict(fit, draws, Xnew);
//
// Priors are those of Regression::laplace_log_evidence(): a parameter's own, or a wide one around
// its data-scaled start. Parameters that are fixed stay, tied ones follow.
struct ParameterDrawOptions {
  Index draws = 100;
  Index chains = 4;     // each from a draw of Laplace's approximation at the mode
  Index burn_in = 100;  // sweeps of each chain that are not kept
  Index thin = 5;       // sweeps from one draw to the next
  std::uint64_t seed = 0;

  void check() const;
};

struct ParameterDraws {
  RowMatrix values;  // a draw a row, as Parameters::values() has them
  // The largest of the free parameters' ratios of the spread over all chains to that within them,
  // each chain cut in half (Gelman et al. 2013, 11.4): 1 where they agree. Above 1.1 they have not
  // run for long enough, or there are several modes.
  double r_hat = 1.0;
  Index evaluations = 0;  // of the evidence, O(N³) each
};

// Of an exact fit that has its outputs, from a file or not. Unsupported of a sparse one.
ParameterDraws sample_parameters(const RegressionFit& fit,
                                 const ParameterDrawOptions& options = {});

// The fit of the same data with other values of its parameters, in the units the model sees.
RegressionFit with_parameters(const RegressionFit& fit, ConstVector values);

// The mean and the variance of the mixture of the predictions of all draws, O(N³) a draw. What is
// predicted is not Gaussian any more.
Prediction predict(const RegressionFit& fit, const ParameterDraws& draws, ConstRows X);

}  // namespace covary
