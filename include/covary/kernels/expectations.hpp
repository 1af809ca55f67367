#pragma once

#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// Inputs that are Gaussian: x_i ~ N(mean_i, diag(variance_i)).
struct GaussianBlock {
  RowBlock mean;
  const double* variance;  // mean.n × dims, dense
};

// Where pullbacks add to.
struct GaussianBars {
  double* theta;
  double* z;     // M × dims
  double* mean;  // n × dims, as the next
  double* variance;
};

// Expectations of a kernel under Gaussian inputs, for inducing inputs Z (Titsias & Lawrence 2010):
//   ψ0_i = ⟨k(x_i, x_i)⟩,  ψ1_i = ⟨k(Z, x_i)⟩,  Ψ2_i = ⟨k(Z, x_i) k(x_i, Z)⟩.
// For se and se(ard), alone or with white noise added, which belongs to the rows and is in ψ0 only;
// any other kernel is Unsupported.
class GaussianExpectations {
 public:
  GaussianExpectations(const Kernel& kernel, Index dims);

  // ψ0 does not depend on where a row lies: one value for all.
  double psi0(const double* theta) const;
  void psi0_pullback(double bar, double* theta_bar) const;
  // M×n, column-major, overwritten.
  void psi1(const double* theta, const RowBlock& Z, const GaussianBlock& x, double* out) const;
  void psi1_pullback(const double* theta, const RowBlock& Z, const GaussianBlock& x,
                     const double* bar, const GaussianBars& to) const;
  // Adds Ψ2 of the rows to the lower triangle of `sum`; rows with use[i] = 0 are left out.
  void psi2(const double* theta, const RowBlock& Z, const GaussianBlock& x,
            const std::vector<char>& use, MatrixOut sum) const;
  // For a symmetric bar, the same for all rows.
  void psi2_pullback(const double* theta, const RowBlock& Z, const GaussianBlock& x,
                     const std::vector<char>& use, ConstMatrix bar, const GaussianBars& to) const;

 private:
  Vector inverse_squares(const double* theta) const;  // w_d = 1/ℓ_d²
  void add_lengths(const double* theta, const Vector& w_bar, double* theta_bar) const;
  // Ψ2 of row i, lower triangle; `base` is what all rows share.
  void one_psi2(const double* theta, const Vector& w, const Matrix& base, const RowBlock& Z,
                const GaussianBlock& x, Index i, Matrix& scratch, Matrix& out) const;

  Index dims_, variance_ = 0, lengths_ = 0;  // where θ has them
  bool ard_ = false;
  std::vector<Index> white_;
};

}  // namespace covary
