#pragma once

#include <memory>
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
  double* z;     // M × dims, or like the parameters of the inducing variables
  double* mean;  // n × dims, as the next
  double* variance;
};

// Expectations of a kernel under Gaussian inputs, for inducing inputs Z (Titsias & Lawrence 2010):
//   ψ0_i = ⟨k(x_i, x_i)⟩,  ψ1_i = ⟨k(Z, x_i)⟩,  Ψ2_i = ⟨k(Z, x_i) k(x_i, Z)⟩.
// Z stands for the parameters of whatever inducing variables these are of (features/features.hpp).
// White noise belongs to the rows and is in ψ0 only. An object is for one thread at a time: it
// keeps what all blocks of rows share.
class GaussianExpectations {
 public:
  virtual ~GaussianExpectations() = default;

  // In closed form where the kernel has one: sums and products of se, linear, constant and white,
  // two linear terms not multiplied. Any other kernel by a fixed rule over normal deviates, which
  // is exact for the rule's points and not for the Gaussian; closed() tells. Parameters and
  // inducing inputs must stay where they are.
  static std::unique_ptr<GaussianExpectations> make(const Kernel& kernel, const double* theta,
                                                    const RowBlock& Z);
  static bool closed(const Kernel& kernel, Index dims);

  virtual void psi0(const GaussianBlock& x, double* out) = 0;  // n
  virtual void psi0_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) = 0;
  // M×n, column-major, overwritten.
  virtual void psi1(const GaussianBlock& x, double* out) = 0;
  virtual void psi1_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) = 0;
  // Adds Ψ2 of the rows to the lower triangle of `sum`. What the pullback would compute again is
  // put into `keep`, unless it is null: n × row_values() doubles.
  virtual void psi2(const GaussianBlock& x, MatrixOut sum, double* keep = nullptr) = 0;
  // For a symmetric bar, the same for all rows. `kept` is what psi2() of the same rows kept.
  virtual void psi2_pullback(const GaussianBlock& x, ConstMatrix bar, const GaussianBars& to,
                             const double* kept = nullptr) = 0;
  virtual Index row_values() const { return 0; }
};

}  // namespace covary
