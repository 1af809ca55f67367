#pragma once

#include "covary/kernels/node.hpp"

namespace covary {

// φ(x) = offset + wᵀx, the random feature of kernels that are functions of xᵀx'.
class DotFeature final : public RandomFeature {
 public:
  DotFeature(double offset, Vector weights) : offset_(offset), weights_(std::move(weights)) {}
  void multiply(const RowBlock& x, double* out) const override {
    for (Index i = 0; i < x.n; ++i) {
      double value = offset_;
      for (Index d = 0; d < x.dims; ++d) value += weights_(d) * x.row(i)[d];
      out[i] *= value;
    }
  }

 private:
  double offset_;
  Vector weights_;
};

}  // namespace covary
