#pragma once

#include <functional>
#include <string>
#include <utility>

#include "covary/features/eigen.hpp"

namespace covary {

// The eigenvalues of a kernel under a measure of the inputs: what M of them leave.
// Features::spectrum() has that of features that know theirs.
class Spectrum {
 public:
  // se, or a product of them over columns, under N(·, diag(sd²)): λ = v·Π(1 − B_d)B_d^{m_d}.
  static Spectrum squared_exponential(double variance, ConstVector lengthscales, ConstVector sd);
  // exp(−|x − x′|/ℓ) under the uniform measure over an interval of this length.
  static Spectrum exponential(double variance, double lengthscale, double length);

  double variance() const { return variance_; }  // Σ of all eigenvalues
  // Σ of all but the M largest, without cancellation.
  double tail(Index M) const;
  // The smallest M whose tail is at most `level`; most + 1 where none up to `most` is.
  Index first_below(double level, Index most) const;

 private:
  Spectrum(double variance, std::function<double(Index)> share);
  double variance_;
  std::function<double(Index)> share_;  // tail/variance
};

// The share of the variance of a product of columns with these ratios (see eigenvalue_ratio) that
// is left by the products of the degrees given. Along with a row they hold all rows of lower ones.
double eigen_tail(ConstVector ratios, const Eigen::MatrixX<Index>& degrees);

// How densely inputs may lie, as a multiple of the measure of the eigenfunctions: sup q/p. The
// trace that M features leave is then at most that multiple of N·tail (Burt 2018, section 4.2).
// Inputs N(·, inputs_sd²) under a measure at least as wide:
double normal_domination(double sd, double inputs_sd);
// Inputs uniform over ±half_width around the mean:
double uniform_domination(double sd, double half_width);

// How improbable a trace above (1 + excess)·κ·N·tail is, se in one column: of uniform inputs by
// Hoeffding's inequality (theorem 4.3.1),
double uniform_failure(Index N, double lengthscale, double sd, double half_width, double excess);
// and above (κ + excess)·N·tail of normal ones by von Bahr's and Esseen's (theorem 4.3.3).
double normal_failure(Index N, double lengthscale, double sd, double inputs_sd, double excess);

// Bounds on KL = log evidence − elbo from the trace t = tr(Kff − Qff) of one output.
// The mean of KL over y from the model: t/(2σ²) ≤ E[KL] ≤ t/σ².
std::pair<double, double> expected_kl(double trace, double noise);
namespace planning {
// For the y there are (lemma 4.1.2): t/(2σ²) + ½·energy·t/(σ² + t), energy = |y|²/σ².
double kl_bound(double trace, double noise, double energy);
}  // namespace planning

// ⌈4·log N⌉ to the base 1/B: with as many eigenfunctions KL → 0 as N grows (theorem 4.0.1).
Index eigenfunctions_for(Index N, double ratio);

// What is known before training, or at given parameters.
struct PlanRequest {
  double rows = 0.0, outputs = 1.0;
  double noise = 0.0;   // variance
  double energy = 0.0;  // Σ y²/noise over all outputs
  double kl = 0.01;     // nats that will do
  double domination = 1.0;
  double risk = 0.05;  // of the plan for the y there are
  Index most = 2000;
};

// How many eigenfunctions, and what is known of KL. Inputs are independent draws from the measure
// of the eigenfunctions, or from one that `domination` times it covers.
struct FeaturePlan {
  Index inducing = 0;   // E[KL] ≤ kl for y from the model; `most` where that is not enough
  bool within = false;  // it is
  double trace = 0.0;   // the mean of tr(Kff − Qff), of one output, that so many leave
  double low = 0.0, high = 0.0;  // the bracket of E[KL]; low is 0 where domination exceeds 1
  Index certain = 0;  // KL ≤ kl for the y there are, with probability 1 − risk; 0: beyond `most`

  std::string print(const PlanRequest& request) const;
};

FeaturePlan plan_features(const Spectrum& spectrum, const PlanRequest& request);
// The bracket that a number of features has.
FeaturePlan plan_of(const Spectrum& spectrum, const PlanRequest& request, Index inducing);

}  // namespace covary
