#pragma once

#include <memory>

#include "covary/kernels/kernel.hpp"

namespace covary {

// How a kernel's values at inducing inputs Z are spread when the other input is x ~ N(mean, S); or
// how sums of them are, which then stand in place of k(Z, x).
struct KernelMoments {
  double psi0 = 0.0;  // ⟨k(x, x)⟩, white noise included
  Vector psi1;        // ⟨k(Z, x)⟩, M
  Matrix covariance;  // cov k(Z, x) = Ψ2 − ψ1ψ1ᵀ, M×M
  Matrix with_input;  // cov(x, k(Z, x)), D×M
};

// The covariances are found as such and not as differences of second moments: they are of the order
// of S to their last digits, however small S is, so that what large weights make of them is not
// rounding. In closed form where GaussianExpectations has one, with
//   S̃ = (S⁻¹ + W)⁻¹,  log|I + S·W|
// for the weights W of one term and of each pair; by its fixed rule over normal deviates otherwise.
// Thread-safe. O(D³ + M·D² + M²·D) a row, O(M²·D) if S is diagonal, for M inputs.
class InputMoments {
 public:
  InputMoments(const Kernel& kernel, Vector theta, RowMatrix Z);
  // Of the M sums Σ_c w_mc k(z_m⁽ᶜ⁾, x), weights M×C; row c·M + m of Z is z_m⁽ᶜ⁾.
  InputMoments(const Kernel& kernel, Vector theta, RowMatrix Z, RowMatrix weights);

  // S: D×D, symmetric and positive semidefinite, or the D×1 of its diagonal.
  KernelMoments operator()(ConstVector mean, ConstMatrix S) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace covary
