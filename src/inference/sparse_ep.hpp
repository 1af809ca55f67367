#pragma once

#include "covary/inference/ep.hpp"
#include "covary/linalg/cholesky.hpp"
#include "inference/inducing_posterior.hpp"

namespace covary {

struct SparseEpGradient {
  FunctionParameters parameters;
  Vector z;  // by the parameters of the features
};

struct SparseEpApproximation {
  double value = 0.0;  // the approximate log evidence
  Vector nu, tau;      // the sites of the observed rows
  InducingPosterior posterior;
  double jitter = 0.0;  // of Kuu
  int iterations = 0;
};

// Power-EP through inducing variables (Bui, Yan & Turner 2017) for any likelihood of one latent
// function: power 1 is the generalised FITC of Naish-Guzman & Holden (2007), and towards 0 it
// becomes the best q of SVGP. With a_n = Luu⁻¹k_n, whitened variables u = Luu·v and f_n = m_n + s_n
// + ε_n, s_n = a_nᵀv, ε_n ~ N(0, d_n), d_n = k_nn − |a_n|²,
//
//   q(v) ∝ N(v; 0, I)·Π exp(ν_n s_n − ½τ_n s_n²) = N(B⁻¹c, B⁻¹),  B = I + Σ τ_n a_n a_nᵀ, c = Σ ν_n
//   a_n,
//
// each site^α such that q(s_n) has the moments of s_n under p(y_n | f_n)^α·N(ε_n)·q without it. The
// evidence is that of EP with s_n in the place of f_n, and stationary in the sites. For Gaussian
// noise τ_n = 1/(σ² + α·d_n) and it is that of `pep(α)`. Two passes of N·M² flops over the rows an
// iteration, in memory of N + M² numbers. Throws NumericalError where the sites do not settle.
SparseEpApproximation sparse_expectation_propagation(const FunctionModel& model,
                                                     const FeaturesPtr& features,
                                                     const FunctionParameters& parameters,
                                                     const Vector& z, Jitter& jitter,
                                                     SparseEpGradient* gradient = nullptr,
                                                     const EpOptions& options = {});

}  // namespace covary
