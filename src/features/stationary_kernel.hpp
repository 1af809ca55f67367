#pragma once

#include <limits>
#include <optional>
#include <string>

#include "covary/random/random.hpp"
#include "features/gaussian_kernel.hpp"

namespace covary {

// One kernel with a spectral density, white noise left out: se, a product of them over columns, or
// a Matérn kernel of order ν; with the way back from v and w_d = 1/ℓ_d² to its parameters. A column
// that the kernel does not see has w = 0.
class StationaryKernel {
 public:
  using Values = GaussianKernel::Term;

  // Throws InputError that names the feature and the kernels it has.
  StationaryKernel(const Kernel& kernel, Index dims, const std::string& feature);
  double order() const { return order_; }  // ν; infinite of se
  Values at(const double* theta) const;
  // Adds ∂/∂θ for ∂/∂log v and ∂/∂w.
  void pullback(const double* theta, double log_v_bar, const Vector& w_bar,
                double* theta_bar) const;

  // log S(ω)/v with S(ω) = ∫ k(τ)e^{−iωᵀτ}dτ over the columns that count, and its derivatives by
  // log w_d and by ω_d².
  struct Density {
    double log_value = 0.0;
    Vector by_log_w, by_square;
  };
  Density density(const Vector& w, const Vector& omega) const;
  // A frequency of the kernel with lengthscales 1.
  Vector draw(Random& random) const;

 private:
  Index dims_;
  std::optional<GaussianKernel> gaussian_;
  double order_ = std::numeric_limits<double>::infinity();
  Index offset_ = 0, lengths_ = 0;  // of a Matérn kernel's parameters
};

// matern12 in one column, with or without white: the exponential kernel.
bool is_exponential(const Kernel& kernel, Index D);
// ν of a Matérn kernel, of chosen columns too where there is one; 0 of any other.
double order_in_one_column(const KernelNode& node);

}  // namespace covary
