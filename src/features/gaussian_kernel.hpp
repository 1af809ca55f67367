#pragma once

#include <string>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// A kernel that is a sum of v·exp(−½ Σ_d w_d (x_d − z_d)²), white noise left out, with the way back
// from v and w to its parameters: what integrals against Gaussian windows need.
class GaussianKernel {
 public:
  struct Term {
    double v = 0.0;
    Vector w;
  };

  // Throws InputError that names the feature and the kernels it has.
  GaussianKernel(const Kernel& kernel, Index dims, const std::string& feature);
  std::size_t size() const { return terms_.size(); }
  Term at(std::size_t i, const double* theta) const;
  // Adds ∂/∂θ for ∂/∂log v and ∂/∂w.
  void pullback(std::size_t i, const double* theta, double log_v_bar, const Vector& w_bar,
                double* theta_bar) const;

 private:
  std::vector<GaussianTerm> terms_;
};

}  // namespace covary
