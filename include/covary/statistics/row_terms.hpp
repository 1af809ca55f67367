#pragma once

#include <functional>
#include <vector>

#include "covary/statistics/weighted.hpp"

namespace covary {

// Some rows of one output, all of them observed, with what q says of f there, and the room for the
// answer of a likelihood: E log p(y_n | f_n) under f_n ~ N(mean_n, variance_n), its derivatives,
// and the derivatives of the sum by the likelihood's parameters.
struct RowTerms {
  Index n = 0;
  const double* y = nullptr;
  const double* mean = nullptr;
  const double* variance = nullptr;
  const double* noise = nullptr;  // known noise variances, zero where there are none
  double* value = nullptr;        // overwritten, as the next two
  double* mean_bar = nullptr;
  double* variance_bar = nullptr;
  double* parameters_bar = nullptr;  // added to
};
// Called from many threads at once.
using RowExpectation = std::function<void(const RowTerms&)>;

// −½log 2πs − ((y − mean)² + variance)/(2s) with s = σ² + noise_n; one parameter, σ².
RowExpectation gaussian_expectation(double noise_variance);

// q(v) = N(m, Ls·Lsᵀ) of the whitened inducing variables u = Luu·v, one for each output.
struct WhitenedGaussian {
  Matrix m;                // M×P
  std::vector<Matrix> Ls;  // P lower factors
};

// Σ over rows and observed outputs of E log p(y | f) with f_n of mean m(x_n) + a_nᵀm and variance
// k_nn − |a_n|² + |Lsᵀa_n|², and with it what the gradient is made of: value and adjoints of a row
// come at once, so one sweep does. c.noise is not used.
struct RowTermSums {
  double value = 0.0;
  double rows = 0.0;         // observed (row, output) pairs
  std::vector<Matrix> A_vA;  // Σ v̄_n a_n a_nᵀ of each output, symmetric; empty without gradients
  Matrix A_m;                // Σ m̄_n a_n, M×P
  Vector theta_bar, z_bar;  // through Kuf and k_nn
  Vector parameters_bar;    // of the likelihood
  Matrix mean_bar;          // like c.mean_weights
};
RowTermSums row_terms(const SweepContext& c, const RowExpectation& expectation,
                      Index likelihood_parameters, const WhitenedGaussian& q, const Sweep& sweep,
                      bool gradient);

}  // namespace covary
