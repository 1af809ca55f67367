#pragma once

#include <vector>

#include "covary/inference/regression_posterior.hpp"
#include "covary/kernels/expectations.hpp"

namespace covary {

// A posterior seen from inputs x ~ N(mean, diag(variance)): the moments of f(x), over both, and how
// well a row of outputs is explained. Thread-safe; what it keeps is O(M² + M·P), and of an exact
// posterior, whose training inputs stand for the inducing ones, O(N² + N·P).
class UncertainInputs {
 public:
  // Unsupported unless the features are inducing points, the mean function is zero and the
  // variance is that of a Gaussian process (neither "sor" nor "cglb").
  explicit UncertainInputs(const SparsePosterior& posterior);
  // Girard et al. (2003): moment matching with the exact posterior.
  explicit UncertainInputs(const ExactPosterior& posterior);
  explicit UncertainInputs(const RegressionPosterior& posterior);

  Index dims() const { return dims_; }
  Index outputs() const { return outputs_; }
  double noise() const { return noise_; }
  Matrix weights() const;  // M×P: E f = weightsᵀ·k_u(x) at a known x
  // M×M: at a known x, var f = k(x, x) − k_uᵀ·reduced·k_u, of the first group of outputs.
  const Matrix& reduced() const { return groups_.front().reduced; }

  // E f = bᵀψ1, var f = bᵀ(Ψ2 − ψ1ψ1ᵀ)b + ψ0 − tr(RΨ2), with b the weights of k_u and R = L⁻ᵀ(I −
  // B⁻¹)L⁻¹, or (K + σ²I)⁻¹ of an exact posterior. Rows cost O(M²·D), and O(M³) where Kuu is
  // ill-conditioned.
  Prediction predict(ConstRows mean, ConstRows variance) const;
  // Of one row: the covariance of the outputs, P×P, which share the input's uncertainty. Without
  // noise.
  Matrix covariance(ConstRows mean, ConstRows variance) const;

  // Σ_p ⟨log N(y_p | f_p(x), σ²)⟩ over the outputs of one row that are not NaN, for q(f) as it is
  // and x ~ N(mean, diag(variance)). What depends on the row of outputs alone is found once.
  class RowTerm {
   public:
    RowTerm(const UncertainInputs& of, const double* y);
    // Adds the gradients where not null.
    double operator()(const double* mean, const double* variance, double* mean_bar,
                      double* variance_bar) const;

   private:
    const UncertainInputs& of_;
    double constant_ = 0.0, count_ = 0.0;
    Vector psi1_bar_;
    Matrix psi2_bar_;
  };

 private:
  struct Group {
    std::vector<Index> columns;
    Matrix weights;  // b, M×P: L⁻ᵀLB⁻ᵀc
    Matrix reduced;  // R, M×M
    Matrix shrunk;   // I − B⁻¹, where Kuu is ill-conditioned; else empty
  };
  void check(ConstRows mean, ConstRows variance) const;
  RowBlock inducing() const { return {Z_.data(), Z_.rows(), dims_, dims_}; }

  Kernel kernel_;
  Vector theta_;
  RowMatrix Z_;
  Matrix Luu_;  // where Kuu is ill-conditioned: tr(RΨ2) is then by L⁻¹Ψ2L⁻ᵀ, O(M³) a row
  double noise_;
  Index dims_, outputs_;
  std::vector<Group> groups_;
};

// Conditioned on further rows whose inputs are Gaussian, with the inducing variables and parameters
// as they are: their Ψ statistics are added to those of the data. Of VFE only. NumericalError where
// Kuu is so ill-conditioned that the rounding of Ψ2 would show.
SparsePosterior with_gaussian_rows(const SparsePosterior& posterior, ConstRows mean,
                                   ConstRows variance, ConstRows Y);

}  // namespace covary
