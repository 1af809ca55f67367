#pragma once

#include <memory>
#include <vector>

#include "covary/kernels/expectations.hpp"
#include "covary/statistics/weighted.hpp"
#include "linalg/aligned.hpp"

namespace covary {

// Rows in memory whose inputs are Gaussian, N(mean, diag(variance)); not copied. With deviates ε,
// n·draws × dims, the points mean + √variance·ε, draws for each row, stand for them where a sum has
// no closed form; these are made here.
class GaussianRows : public RowSource {
 public:
  GaussianRows(ConstRows means, ConstRows variances, ConstRows Y,
               const RowMatrix& deviates = RowMatrix());
  Index rows() const override { return means_.rows(); }
  Index dims() const override { return means_.dims(); }
  Index outputs() const override { return means_.outputs(); }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override;
  Reducer& reducer() const override { return means_.reducer(); }
  bool has_gaussian_inputs() const override { return true; }
  const RowSource* points() const override { return points_.get(); }

 private:
  MemoryRows means_;
  const double* variances_;
  std::unique_ptr<const RowSource> points_;
};

// Sums over Gaussian rows where a group of output columns is observed. Nothing here depends on Luu
// or on the noise, so the jitter can be chosen when tr Ψ2 is known.
struct PsiStatistics {
  std::vector<Index> columns;
  Matrix psi2;        // Σ ⟨k kᵀ⟩, lower triangle
  Matrix psi1y;       // Σ ⟨k⟩yᵀ, M×P
  double psi0 = 0.0;  // Σ ⟨k_nn⟩
  double rows = 0.0;
  double yy = 0.0;           // Σ |y|²
  double silent = 0.0;       // as in WeightedStatistics
  Vector psi1 = {}, y = {};  // Σ ⟨k⟩ and Σ y of each column, where the mean function is not zero
};

// Ψ2 of every row, from psi_statistics() for the psi_adjoint() that follows, while they are few:
// exponentials are half of the work of a gradient, and the memory does not grow with N beyond this.
class KeptPsi2 {
 public:
  static constexpr Index most_bytes = Index{1} << 26;
  // Room for rows × row_values × groups, or none if they are too many.
  void reserve(Index rows, Index row_values, Index groups);
  // Where those of a block begin, of its first row; null if they are not kept.
  double* of(Index group, Index first_row) {
    return kept_ ? memory_.data() + (group * rows_ + first_row) * row_values_ : nullptr;
  }

 private:
  AlignedDoubles memory_;
  Index rows_ = 0, row_values_ = 0;
  bool kept_ = false;
};

// y is the residual of a zero or constant mean function; any other, and features without
// expectations under Gaussian inputs, are Unsupported. c.Luu and c.noise are not used. Fills `keep`
// unless it is null.
std::vector<PsiStatistics> psi_statistics(const SweepContext& c, const Sweep& sweep,
                                          const std::vector<std::vector<Index>>& columns,
                                          KeptPsi2* keep = nullptr);

// What bounds take, for the rule of VFE: C = L⁻¹Ψ2L⁻ᵀ/σ², beta = L⁻¹ψ1ᵀY/σ², …
WeightedStatistics whitened(const PsiStatistics& s, const Matrix& Luu, double noise);

// As weighted_adjoint; c.Luu and c.noise are those that whitened() had, and `kept` is of the same
// kernel, inducing inputs and rows. out.noise_bar and, of a
// constant mean function, out.mean_bar are set too.
void psi_adjoint(const SweepContext& c, const Sweep& sweep,
                 const std::vector<PsiStatistics>& statistics,
                 const std::vector<WeightedAdjoint>& adjoints, SweepGradient& out,
                 GaussianRowGradient& rows, KeptPsi2* kept = nullptr);

}  // namespace covary
