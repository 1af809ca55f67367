#pragma once

#include <string>
#include <vector>

#include "covary/inference/uncollapsed.hpp"

namespace covary {

// What the covariance of q(v) may be: full, diagonal, or diagonal blocks of `block` rows.
struct CovarianceForm {
  enum class Kind { full, diagonal, blocks };
  Kind kind = Kind::full;
  Index block = 0;

  CovarianceForm() = default;
  CovarianceForm(Kind k, Index rows = 0);                            // NOLINT
  CovarianceForm(const std::string& expression);                     // NOLINT: "full", "blocks(20)"
  CovarianceForm(const char* e) : CovarianceForm(std::string(e)) {}  // NOLINT
  std::string print() const;
  // Zero outside the form.
  void mask(MatrixOut A) const;
  bool operator==(const CovarianceForm&) const = default;
};

// q(v) of every function in its natural parameters, whitened: steps along the natural gradient of
// the bound. With g = ∂/∂m and H = ∂/∂S of the data's term,
//   S⁻¹ ← (1 − γ)S⁻¹ + γ(I − 2H),   m ← m + γΛ⁻¹(g − m),
// where Λ is the blend on the right before anything is masked out of it. In the full form that is
// the natural gradient, S⁻¹m ← (1 − γ)S⁻¹m + γ(g − 2Hm); in the others the mean keeps the whole
// curvature, so that with a Gaussian likelihood one step of γ = 1 is the best q in every form.
class NaturalGaussian {
 public:
  // q is the prior: m = 0, S = I.
  NaturalGaussian(Index M, Index functions, CovarianceForm form = {});
  // From a given q; what its covariance has outside the form is left out.
  NaturalGaussian(const WhitenedGaussian& q, CovarianceForm form = {});

  // Of the diagonal form: from now on no more than diagonals are kept, of Λ too, so that a step
  // costs O(M) and moves the mean by Λ's diagonal alone; that takes small γ, as minibatches have.
  // q() is thin then, and step() takes the diagonals of H. keep_whole() goes back.
  void keep_diagonals();
  void keep_whole();

  const WhitenedGaussian& q() const { return q_; }
  const CovarianceForm& form() const { return form_; }
  Index size() const { return q_.m.rows(); }

  // Steps all functions; γ is halved until every precision is positive definite and all is finite.
  // Returns how often; the step that was made is γ/2^that. When nothing does, q stays and the
  // result is −1. Means move by γ times `move` where it is given.
  Index step(const Matrix& g, const std::vector<Matrix>& H, double gamma,
             const Matrix* move = nullptr);

  // Λ of every function, and q by it and its means; false, and nothing is changed, where that is
  // not positive definite.
  const std::vector<Matrix>& precision() const { return precision_; }
  bool set(const Matrix& m, std::vector<Matrix> precision);

  // How far a whole step would take q, in its own units: (2·KL)^½ to second order. Zero where the
  // bound is stationary in q.
  double distance(const Matrix& g, const std::vector<Matrix>& H) const;

 private:
  CovarianceForm form_;
  WhitenedGaussian q_;
  std::vector<Matrix> precision_;  // Λ
};

// The same with factors that are M×M.
WhitenedGaussian whole(WhitenedGaussian q);

struct QOptions {
  Index max_iterations = 500;
  double tolerance = 1e-7;  // of NaturalGaussian::distance
  // The likelihood is Gaussian: one whole step is known to do, and nothing is evaluated to see.
  bool conjugate = false;
};

struct QOptimum {
  UncollapsedEvaluation at;
  Index iterations = 0;
  Index halvings = 0;
  double distance = 0.0;
  bool converged = false;
};

// The q with the highest bound, the parameters held: natural-gradient steps from `q`, shortened
// where the bound would fall; the means of several functions of one kernel move together, by
// Newton's step, while the L(L − 1)/2 matrices of their pairs stay below 32 MB. One step does for a
// Gaussian likelihood. values.q and `q` become the optimum; the gradient, if asked for, is the one
// there.
QOptimum maximise_q(const UncollapsedProblem& problem, UncollapsedValues& values,
                    NaturalGaussian& q, Jitter& jitter, UncollapsedGradient* gradient = nullptr,
                    const QOptions& options = {});

}  // namespace covary
