#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/kernels/kernels.hpp"
#include "kernels/support.hpp"

namespace covary {

// k = σ² g(r²), r² = Σ_d (x_d − x'_d)²/ℓ_d². A kernel gives g and its slope; all else is here.
// Parameters: variance, lengthscales (1 or D), then an optional shape parameter.
class Stationary : public KernelNode {
 public:
  Stationary(std::string name, bool ard, Start start);

  std::string print() const override;
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override;
  Index parameter_count(Index dims) const override;
  void check(Index dims) const override;
  void evaluate(const double* theta, const PairBlock& p, double* K) const override;
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override;
  void diagonal(const double* theta, const RowBlock& x, double* k) const override;
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override;
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override;

 protected:
  // σ²g(r²) in place for n values.
  virtual void profile(double shape, double variance, double* r2, Index n) const = 0;
  // g and dg/dr², and dg/dshape where not null.
  virtual void profile_slope(double shape, const double* r2, Index n, double* g, double* slope,
                             double* shape_slope) const = 0;
  // The pullback from W = ∂/∂r² to lengthscales and inputs.
  void pull_distances(const double* theta, const PairBlock& p, const double* W, double* theta_bar,
                      double* xbar, double* zbar) const;
  // A frequency's radius factor: ω_d = s·normal/ℓ_d with s drawn from the kernel's spectral
  // mixture.
  virtual double spectral_scale(double shape, Random& random) const = 0;
  // Name and start of the shape parameter; empty name for none.
  virtual std::string shape_name() const { return ""; }
  virtual std::optional<double> shape_start() const { return {}; }

 private:
  Index lengths(Index dims) const { return ard_ ? dims : 1; }
  std::vector<double> inverse_lengths(const double* theta, Index dims) const;
  double shape(const double* theta, Index dims) const;

  std::string name_;
  bool ard_;
  Start start_;
};

}  // namespace covary
