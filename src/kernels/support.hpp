#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/kernels/node.hpp"

namespace covary {

// Uninitialised doubles for the length of a tile.
class Scratch {
 public:
  explicit Scratch(Index n) : data_(new double[static_cast<std::size_t>(n)]) {}
  double* get() { return data_.get(); }
  double& operator[](Index i) { return data_[static_cast<std::size_t>(i)]; }

 private:
  std::unique_ptr<double[]> data_;
};

// Declares a positive parameter of `size` entries: the given start (one entry fills all), or
// `fallback`.
void declare_positive(Parameters& out, const std::string& path, Index size,
                      const std::vector<double>& given, const Vector& fallback);
inline void declare_positive(Parameters& out, const std::string& path,
                             const std::optional<double>& given, double fallback) {
  declare_positive(out, path, 1, given ? std::vector<double>{*given} : std::vector<double>{},
                   Vector::Constant(1, fallback));
}

// Lengthscales that suit the data: √D standard deviations, so that typical pairs are correlated.
Vector default_lengthscales(const DataScale& scale, bool ard);

// Rows packed dimension by dimension, column d multiplied by factor[d]: out[d·n + i].
void pack(const RowBlock& x, const double* factor, double* out);

// ξ(x) = √2·amplitude·cos(ωᵀx + b), the random feature of a stationary kernel.
std::unique_ptr<RandomFeature> cosine_feature(double amplitude, Vector omega, Random& random);

// "name(a, b, c)", or "name" without arguments.
std::string call(const std::string& name, const std::vector<std::string>& arguments);
std::string argument(const std::string& name, const std::vector<double>& values);

}  // namespace covary
