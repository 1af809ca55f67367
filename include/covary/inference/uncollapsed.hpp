#pragma once

#include <vector>

#include "covary/inference/sparse.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "covary/statistics/row_terms.hpp"

namespace covary {

// E log p(y_n | f_n) of any likelihood, as a sweep asks for it. theta: its parameters.
RowLikelihood row_likelihood(const Likelihood& likelihood, ConstVector theta);

// The bound with q(u) explicit, for any likelihood and for minibatches (SVGP, Hensman et al. 2013):
//   elbo = scale·Σ_n w_n·E_q log p(y_n | f_n) − Σ_f KL(q(v_f) ‖ N(0, I)),   u = Luu·v,
// over F functions: those behind each output, or fewer or more that the likelihood sees mixed. With
// a Gaussian likelihood and the best q it is VFE; any other q gives less.
struct UncollapsedProblem {
  struct Part {
    const Features* features = nullptr;
    const Kernel* kernel = nullptr;
  };
  std::vector<Part> parts;  // one for all functions, or one for each
  const Mean* mean = nullptr;
  const Sweep* sweep = nullptr;  // over all rows, or those of a minibatch
  double scale = 1.0;            // rows of the data / rows of the sweep
  RowLikelihood likelihood;
  bool guard_eigenvalue = false;  // as in SparseProblem
};

struct UncollapsedValues {
  std::vector<Vector> theta, z;  // of each part
  Matrix mean_weights;           // basis × arguments of the likelihood, or empty
  WhitenedGaussian q;            // M×F
};

struct UncollapsedEvaluation {
  double value = 0.0;
  double fit = 0.0;  // scale·Σ E log p(y|f)
  double kl = 0.0;
  double jitter = 0.0;
  std::vector<Matrix> Luu;  // of each part
};

struct UncollapsedGradient {
  bool of_parameters = true;  // wanted: θ, z, the likelihood's and the mean's
  bool of_factors = true;     // wanted: m_bar and Ls_bar
  bool coupled = false;       // wanted: C, and not those of the parameters
  bool of_inputs = false;     // wanted with those of the parameters: inputs

  // Called with the bound once g and H are there, while other threads go on with the parameters.
  std::function<void(double value)> beside = nullptr;

  // Of the data's term alone, by m (M×F) and by S = Ls·Lsᵀ: what natural gradients are made of.
  Matrix g;
  std::vector<Matrix> H;  // of a thin q its diagonal, M×1
  std::vector<Matrix> C;  // ∂²/∂m_k∂m_l of the pairs k < l, as in RowTermSums; ∂²/∂m_k² is 2H_k

  std::vector<Vector> theta_bar, z_bar;
  Vector likelihood_bar;
  Matrix mixing_bar;           // like likelihood.mixing
  GaussianRowGradient inputs;  // of the rows, without `scale`
  Matrix mean_bar;
  Matrix m_bar;                // M×F
  std::vector<Matrix> Ls_bar;  // lower triangles
};

UncollapsedEvaluation evaluate_uncollapsed(const UncollapsedProblem& problem,
                                           const UncollapsedValues& values, Jitter& jitter,
                                           UncollapsedGradient* gradient = nullptr);

// Σ_f KL(N(m_f, Ls·Lsᵀ) ‖ N(0, I)). Adds −∂KL to m_bar and Ls_bar where given.
double whitened_kl(const WhitenedGaussian& q, UncollapsedGradient* gradient = nullptr);

// The best q for Gaussian noise, from the factors of a collapsed evaluation over P outputs.
WhitenedGaussian optimal_q(const std::vector<SparseFactors>& factors, Index outputs);

}  // namespace covary
