#pragma once

#include <vector>

#include "covary/inference/sparse.hpp"
#include "covary/statistics/row_terms.hpp"

namespace covary {

// The bound with q(u) explicit, for any likelihood and for minibatches (SVGP, Hensman et al. 2013):
//   elbo = scale·Σ_n E_q log p(y_n | f_n) − Σ_p KL(q(v_p) ‖ N(0, I)),   u = Luu·v.
// With a Gaussian likelihood and the best q it is VFE; any other q gives less.
struct UncollapsedProblem {
  const Features* features = nullptr;
  const Kernel* kernel = nullptr;
  const Mean* mean = nullptr;
  const Sweep* sweep = nullptr;  // over all rows, or those of a minibatch
  double scale = 1.0;            // rows of the data / rows of the sweep
  RowExpectation expectation;    // at the likelihood's present parameters
  Index likelihood_parameters = 1;
  bool guard_eigenvalue = false;  // as in SparseProblem
};

struct UncollapsedValues {
  Vector theta, z;
  Matrix mean_weights;  // basis × P, or empty
  WhitenedGaussian q;
};

struct UncollapsedGradient {
  Vector theta_bar, z_bar, likelihood_bar;
  Matrix mean_bar;
  Matrix m_bar;                // M×P
  std::vector<Matrix> Ls_bar;  // lower triangles
};

struct UncollapsedEvaluation {
  double value = 0.0;
  double fit = 0.0;  // scale·Σ E log p(y|f)
  double kl = 0.0;
  double jitter = 0.0;
  Matrix Luu;
};

UncollapsedEvaluation evaluate_uncollapsed(const UncollapsedProblem& problem,
                                           const UncollapsedValues& values, Jitter& jitter,
                                           UncollapsedGradient* gradient = nullptr);

// Σ_p KL(N(m_p, Ls·Lsᵀ) ‖ N(0, I)). Adds −∂KL to m_bar and Ls_bar where given.
double whitened_kl(const WhitenedGaussian& q, UncollapsedGradient* gradient = nullptr);

// The best q for Gaussian noise, from the factors of a collapsed evaluation over P outputs.
WhitenedGaussian optimal_q(const std::vector<SparseFactors>& factors, Index outputs);

}  // namespace covary
