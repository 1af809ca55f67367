#pragma once

#include <span>

#include "covary/statistics/rows.hpp"

namespace covary {

// Fixed standard normal deviates of rows, by their numbers: draws × Q for each, one below the
// other, in pairs ±ε.
RowMatrix row_deviates(std::span<const Index> rows, Index Q, Index draws, std::uint64_t seed);

// Rows whose inputs are N(mean, diag(variance)), as points mean + √variance·ε of equal weights that
// sum to one a row: sums over them are means over the points, which is a bound of that rule. Where
// the variance is zero the input is known: its gradient by the variance is zero too.
class SampledRows : public RowSource {
 public:
  // n×Q, n×Q, n×P and n·draws×Q; of these the deviates are not copied.
  SampledRows(const RowMatrix& mean, const RowMatrix& variance, const RowMatrix& Y,
              const RowMatrix& deviates);
  SampledRows(const SampledRows&) = delete;
  SampledRows& operator=(const SampledRows&) = delete;

  Index rows() const override { return X_.rows(); }  // of points
  Index dims() const override { return X_.cols(); }
  Index outputs() const override { return Y_.cols(); }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override {
    return points_.read(first, n, buffer);
  }
  Reducer& reducer() const override { return points_.reducer(); }
  void pull_inputs(RowMatrix x_bar, GaussianRowGradient& out) const override;

 private:
  Eigen::Map<const RowMatrix> deviates_;
  RowMatrix sd_, X_, Y_;
  Vector weights_;
  MemoryRows points_;
};

}  // namespace covary
