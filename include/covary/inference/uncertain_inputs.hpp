#pragma once

#include <functional>
#include <vector>

#include "covary/inference/exact_posterior.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/kernels/input_moments.hpp"

namespace covary {

class SitePosterior;

// A posterior seen from inputs x ~ N(mean, S): the moments of f(x), over both, and how well a row
// of outputs is explained. Thread-safe; what it keeps is O(M² + M·P), and of an exact
// posterior, whose training inputs stand for the inducing ones, O(N² + N·P).
// Where the posterior knows no noise it is zero: outputs are functions.
class UncertainInputs {
 public:
  // Unsupported unless the features have expectations under Gaussian inputs, the mean function is
  // zero and the variance is that of a Gaussian process (neither "sor" nor "cglb").
  explicit UncertainInputs(const SparsePosterior& posterior);
  // Girard et al. (2003): moment matching with the exact posterior.
  explicit UncertainInputs(const ExactPosterior& posterior);
  // The same through other sites, of one kernel.
  explicit UncertainInputs(const SitePosterior& posterior);
  explicit UncertainInputs(const Posterior& posterior);

  Index dims() const { return dims_; }
  Index outputs() const { return outputs_; }
  double noise() const { return noise_; }
  Matrix weights() const;  // M×P: E f = weightsᵀ·k_u(x) at a known x
  // M×M: at a known x, var f = k(x, x) − k_uᵀ·reduced·k_u, of the first group of outputs.
  const Matrix& reduced() const { return groups_.front().reduced; }

  // With C = cov k_u(x), E f = bᵀψ1, var f = bᵀCb + (ψ0 − ψ1ᵀRψ1) − tr(RC), b the weights of k_u
  // and R = L⁻ᵀ(I − B⁻¹)L⁻¹, or (K + σ²I)⁻¹ of an exact posterior. Rows cost O(M²·D), and O(M³)
  // where Kuu is ill-conditioned. S = diag(variance).
  Prediction predict(ConstRows mean, ConstRows variance) const;
  // The same with a covariance for each row: D×D, or the D×1 of its diagonal.
  Prediction predict(ConstRows mean, const std::vector<Matrix>& S) const;
  // Of one row: f, whose outputs share the input's uncertainty, and the input it depends on.
  struct Joint {
    Vector mean;        // P
    Matrix covariance;  // P×P, without noise
    Matrix with_input;  // cov(x, f), D×P
  };
  Joint joint(ConstVector mean, ConstMatrix S) const;
  // That of the outputs alone, of one row with S = diag(variance).
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
    // R = L⁻ᵀ(I − B⁻¹)L⁻¹ over all of Z, or of an exact posterior L⁻ᵀL⁻¹ over the rows seen; of
    // other sites there is no L.
    Matrix L, LB;
    std::vector<Index> rows;
    Matrix shrunk;  // I − B⁻¹, where Kuu is ill-conditioned; else empty
    double own_variance(const KernelMoments& m) const;  // ψ0 − tr(RΨ2)
  };
  void check(Index row, ConstVector mean, ConstMatrix S) const;
  Prediction predict(ConstRows mean, const std::function<Matrix(Index)>& S) const;
  Index M() const { return features_->size(); }

  FeaturesPtr features_;  // of a posterior through rows, points at these
  Vector theta_, z_;
  InputMoments moments_;
  double noise_;
  Index dims_, outputs_;
  std::vector<Group> groups_;
};

// Conditioned on further rows whose inputs are Gaussian, S as in predict(), with the inducing
// variables and parameters as they are: their Ψ statistics are added to those of the data. Of VFE
// only. NumericalError where Kuu is so ill-conditioned that the rounding of Ψ2 would show.
SparsePosterior with_gaussian_rows(const SparsePosterior& posterior, ConstRows mean,
                                   const std::vector<Matrix>& S, ConstRows Y);

}  // namespace covary
