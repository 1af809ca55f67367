#pragma once

#include <memory>
#include <vector>

#include "covary/kernels/node.hpp"

namespace covary {

// A factor times a product of features; independent features multiply as their kernels do.
class ProductFeature final : public RandomFeature {
 public:
  explicit ProductFeature(double factor) : factor_(factor) {}
  void add(std::unique_ptr<RandomFeature> f) { parts_.push_back(std::move(f)); }
  void multiply(const RowBlock& x, double* out) const override {
    for (Index i = 0; i < x.n; ++i) out[i] *= factor_;
    for (const auto& part : parts_) part->multiply(x, out);
  }

 private:
  double factor_;
  std::vector<std::unique_ptr<RandomFeature>> parts_;
};

}  // namespace covary
