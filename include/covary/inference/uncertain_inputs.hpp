#pragma once

#include <vector>

#include "covary/inference/sparse_posterior.hpp"
#include "covary/kernels/expectations.hpp"

namespace covary {

// A sparse posterior seen from inputs x ~ N(mean, diag(variance)): the moments of f(x), over both,
// and how well a row of outputs is explained. Thread-safe; what it keeps is O(M² + M·P).
class UncertainInputs {
 public:
  // The features must be inducing points and the mean function zero.
  explicit UncertainInputs(const SparsePosterior& posterior);

  Index dims() const { return dims_; }
  Index outputs() const { return outputs_; }
  double noise() const { return noise_; }
  Matrix weights() const;  // M×P: E f = weightsᵀ·k_u(x) at a known x
  // M×M: at a known x, var f = k(x, x) − k_uᵀ·reduced·k_u, of the first group of outputs.
  const Matrix& reduced() const { return groups_.front().reduced; }

  // E f = bᵀψ1, var f = bᵀ(Ψ2 − ψ1ψ1ᵀ)b + ψ0 − tr(L⁻ᵀ(I − B⁻¹)L⁻¹Ψ2), with b the weights of k_u.
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
    Matrix weights;  // M×P: L⁻ᵀLB⁻ᵀc
    Matrix reduced;  // M×M: L⁻ᵀ(I − B⁻¹)L⁻¹
  };
  RowBlock inducing() const { return {Z_.data(), Z_.rows(), dims_, dims_}; }

  Kernel kernel_;
  Vector theta_;
  RowMatrix Z_;
  double noise_;
  Index dims_, outputs_;
  std::vector<Group> groups_;
};

}  // namespace covary
