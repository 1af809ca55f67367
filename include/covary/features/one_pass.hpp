#pragma once

#include "covary/features/features.hpp"
#include "covary/linalg/low_rank_diagonal.hpp"

namespace covary {

// Σ over rows of what a Gaussian likelihood asks of features k(x) and of some columns T beside
// them.
struct FeatureSums {
  Matrix psi2;  // Σ k kᵀ, both triangles
  Matrix kT;    // Σ k tᵀ, M × columns
};

// What some features offer besides: over a region Kuf depends on z and on no parameter of the
// kernel, of which k(x, x) is the same everywhere, and Kuu is a diagonal with few rank-one terms.
// So while z is held all that regression needs of the rows can be gathered once.
class OnePassFeatures {
 public:
  virtual ~OnePassFeatures() = default;

  // Whether all these rows are in the region.
  virtual bool covers(const double* z, const RowBlock& x) const = 0;
  // The sums are gathered in so many numbers, which add up over blocks of rows. T: x.n × columns.
  virtual Index sum_size(Index columns) const = 0;
  virtual void add_sums(const double* z, const RowBlock& x, ConstMatrix T, double* sum) const = 0;
  virtual FeatureSums unpack(const double* sum, Index columns) const = 0;

  virtual LowRankDiagonal Kuu_parts(const double* theta, const double* z) const = 0;
  // Adds ∂/∂θ and ∂/∂z for an adjoint of d and U.
  virtual void Kuu_parts_pullback(const double* theta, const double* z, const LowRankDiagonal& bar,
                                  double* theta_bar, double* z_bar) const = 0;
};

}  // namespace covary
