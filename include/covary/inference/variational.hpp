#pragma once

#include "covary/inference/function_model.hpp"

namespace covary {

struct VariationalOptions {
  int max_iterations = 3000;
  double tolerance = 1e-11;  // of the sites, in units of the marginals of q
};

// The Gaussian q(f) with the highest lower bound of the log evidence,
//
//   Σ_n E_q log p(y_n | f_n) − KL(q ‖ N(m, K)).
//
// At the optimum its mean is m + K·alpha and its covariance (K⁻¹ + Λ)⁻¹, alpha = ∂E/∂mean and
// Λ = −2·∂E/∂variance (Opper & Archambeau 2009), so only 2N numbers are sought: by steps along the
// natural gradient, shortened where the bound would fall. N³ flops a step. Throws NumericalError
// where they do not settle.
FunctionApproximation variational_approximation(const FunctionModel& model,
                                                const FunctionParameters& parameters,
                                                FunctionParameters* gradient = nullptr,
                                                const VariationalOptions& options = {});

}  // namespace covary
