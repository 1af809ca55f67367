#pragma once

#include <memory>
#include <string>

#include "covary/linalg/types.hpp"
#include "covary/parameters/parameters.hpp"

namespace covary {

// What the optional column beside y means to a likelihood.
enum class Aux { none, noise, exposure, trials };

// The ways of inference a likelihood may offer what they need. sparse_ep is EP through inducing
// variables: the models fitc and pep(α).
enum class Inference { laplace, ep, vi, sparse_ep, svgp, mcmc };

// One observation: its target, its entry of the optional column, and the likelihood's parameters.
struct Datum {
  double y = 0.0;
  double aux = 0.0;
  const double* theta = nullptr;
};

// log p(y | f) and its derivatives by f.
struct Taylor {
  double value = 0.0, first = 0.0, second = 0.0, third = 0.0;
};

struct Moments {
  double mean = 0.0, variance = 0.0;
};

// log Z = log ∫ p(y | f)^α N(f; m, v) df and its first two derivatives by m.
struct Tilted {
  double log_z = 0.0, first = 0.0, second = 0.0;
};

// Where log p is not smooth: it is analytic in |Im f| < width, and the singularities nearest to the
// axis lie above location ± spread. The integration rules choose their step by this. Without a
// location (NaN) they may be anywhere.
struct Singularity {
  double location = 0.0;
  double width = 1.0;
  double spread = 0.0;
};

// A likelihood p(y | f), f of functions() entries. Every method may be called from many threads at
// once, and none allocates memory for a row.
class LikelihoodNode {
 public:
  virtual ~LikelihoodNode() = default;

  virtual std::string print() const = 0;  // the expression that makes it
  virtual Index functions() const { return 1; }
  virtual Index classes() const { return 0; }  // labels are 0 … classes − 1; 0: not classes
  // Targets are real numbers in any unit: y ↦ a·y + b maps the family onto itself.
  virtual bool real_targets() const { return false; }
  // y is f with Gaussian noise, whose variance is the one parameter and what `aux` adds to it.
  virtual bool conjugate() const { return false; }
  // The noise has a start of its own, which then does not follow the spread of the targets.
  virtual bool has_noise_start() const { return false; }
  // log p(y | f) = f_y − log Σ_k exp f_k, whose curvature Laplace's method takes jointly.
  virtual bool multinomial_logit() const { return false; }
  virtual Aux aux() const { return Aux::none; }
  virtual double default_aux() const { return 0.0; }
  virtual Index parameter_count() const { return 0; }
  virtual void declare(Parameters&, const std::string& /*path*/) const {}
  virtual bool supports(Inference) const = 0;
  // What is wrong with a finite target, as in "-1 is negative"; empty when nothing is.
  virtual std::string complaint(double y, double aux) const = 0;

  // log p(y | f); gradient (L) and hessian (L×L) are overwritten where not null.
  virtual double log_density(const Datum& d, const double* f, double* gradient,
                             double* hessian) const = 0;
  // E log p(y | f) under independent f_l ~ N(m_l, v_l). m_bar and v_bar (L each) are overwritten;
  // theta_bar is added to unless null.
  virtual double expectation(const Datum& d, const double* m, const double* v, double* m_bar,
                             double* v_bar, double* theta_bar) const = 0;
  // expectation() with its ∂²/∂m_k∂m_l for the pairs (0,1), (0,2), …, (1,2), …; those of k = l are
  // 2·v_bar. Zeros unless overridden, which is right for one function and slow for several.
  virtual double coupled_expectation(const Datum& d, const double* m, const double* v,
                                     double* m_bar, double* v_bar, double* theta_bar,
                                     double* coupling) const;
  // Mean and variance of y under the same Gaussian; d.y is not used.
  virtual Moments predictive(const Datum& d, const double* m, const double* v) const = 0;
  virtual double log_predictive(const Datum& d, const double* m, const double* v) const = 0;
  // P(y = 0), …, P(y = classes − 1); refused when there are no classes.
  virtual void probabilities(const Datum& d, const double* m, const double* v, double* p) const;
};
using LikelihoodPtr = std::shared_ptr<const LikelihoodNode>;

// A likelihood of one function a datum. All integrals have defaults by quadrature; a
// closed form overrides them.
class OneFunction : public LikelihoodNode {
 public:
  bool supports(Inference) const override { return true; }

  // log p(y | f) at n values of f for one datum.
  virtual void taylor(const Datum& d, Index n, const double* f, Taylor* out) const = 0;
  // theta_bar[p] += Σ_i ∂/∂θ_p (w_i.value·ℓ_i + w_i.first·ℓ′_i + w_i.second·ℓ″_i): Laplace needs
  // all three.
  virtual void parameter_pullback(const Datum& d, Index n, const double* f, const Taylor* w,
                                  double* theta_bar) const;
  virtual Singularity singularity(const Datum& d) const = 0;
  // False lets the tilted density have a second mode, near singularity().location.
  virtual bool log_concave() const { return true; }
  // Mean and variance of y given f.
  virtual Moments conditional(const Datum& d, double f) const = 0;

  // For EP (power α) and predictive densities; theta_bar += ∂log Z/∂θ unless null.
  virtual Tilted tilted(const Datum& d, double alpha, double m, double v, double* theta_bar) const;

  double log_density(const Datum& d, const double* f, double* gradient,
                     double* hessian) const override;
  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double* theta_bar) const override;
  Moments predictive(const Datum& d, const double* m, const double* v) const override;
  double log_predictive(const Datum& d, const double* m, const double* v) const override;
};

}  // namespace covary
