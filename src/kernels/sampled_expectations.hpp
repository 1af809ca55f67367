#pragma once

#include "covary/kernels/expectations.hpp"

namespace covary {

// Deviates of a standard normal in `dims` columns and weights that sum to one: Gauss–Hermite in one
// or two columns, a fixed set of draws and their opposites in more.
struct NormalRule {
  explicit NormalRule(Index dims);
  RowMatrix deviates;  // rule × dims
  Vector weights;
};

// Expectations of any kernel by a fixed rule x = μ + √S·ε. The same deviates serve every row and
// every call, so that values are smooth in the parameters and gradients are those of the values.
class SampledExpectations final : public GaussianExpectations {
 public:
  SampledExpectations(Kernel kernel, const double* theta, const RowBlock& Z);

  void psi0(const GaussianBlock& x, double* out) override;
  void psi0_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) override;
  void psi1(const GaussianBlock& x, double* out) override;
  void psi1_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) override;
  void psi2(const GaussianBlock& x, MatrixOut sum, double* keep) override;
  void psi2_pullback(const GaussianBlock& x, ConstMatrix bar, const GaussianBars& to,
                     const double* kept) override;

 private:
  RowBlock points(const GaussianBlock& x, Index i);  // where row i is evaluated
  // Adds ∂/∂points to the row's mean and variance.
  void pull_points(const GaussianBlock& x, Index i, const RowMatrix& bar,
                   const GaussianBars& to) const;
  const Matrix& values(const GaussianBlock& x, Index i);  // k(Z, points), M × rule

  Kernel kernel_;
  Index dims_;
  NormalRule rule_;
  const double* theta_;
  RowBlock Z_;
  RowMatrix points_;
  Matrix K_;
};

}  // namespace covary
