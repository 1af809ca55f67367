#include "kernels/support.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"

namespace covary {

DataScale DataScale::unit(Index dims) {
  return {Vector::Ones(dims), Vector::Constant(dims, 3.5), 1.0};
}

std::unique_ptr<RandomFeature> KernelNode::random_feature(const double*, Index, Random&) const {
  return nullptr;
}

void declare_positive(Parameters& out, const std::string& path, Index size,
                      const std::vector<double>& given, const Vector& fallback) {
  Vector start = fallback.size() == size ? fallback : Vector::Constant(size, fallback(0));
  if (given.size() == 1)
    start.setConstant(given[0]);
  else if (static_cast<Index>(given.size()) == size)
    start = Eigen::Map<const Vector>(given.data(), size);
  else if (!given.empty())
    throw InputError(
        fmt::format("{} has {} entries, but {} starts were given", path, size, given.size()));
  for (const double v : start)
    if (!(v > 0.0) || !std::isfinite(v))
      throw InputError(fmt::format("{} must be positive and finite, got {}", path, v));
  // The scale of the transform is the start's, so the optimiser sees numbers of order one.
  const double typical = std::exp(start.array().log().mean());
  const double floor = std::min(1e-10 * typical, 0.5 * start.minCoeff());
  out.add({path, start, Transform::positive(typical, floor), size, 1});
}

Vector default_lengthscales(const DataScale& scale, bool ard) {
  const double root = std::sqrt(static_cast<double>(scale.dims()));
  if (ard) return root * scale.x_sd;
  return Vector::Constant(1, scale.dims() ? root * scale.x_sd.mean() : 1.0);
}

void pack(const RowBlock& x, const double* factor, double* out) {
  for (Index i = 0; i < x.n; ++i) {
    const double* row = x.row(i);
    for (Index d = 0; d < x.dims; ++d) out[d * x.n + i] = row[d] * factor[d];
  }
}

namespace {

class CosineFeature final : public RandomFeature {
 public:
  CosineFeature(double amplitude, Vector omega, double phase)
      : amplitude_(amplitude), omega_(std::move(omega)), phase_(phase) {}
  void multiply(const RowBlock& x, double* out) const override {
    for (Index i = 0; i < x.n; ++i) {
      double angle = phase_;
      for (Index d = 0; d < x.dims; ++d) angle += omega_(d) * x.row(i)[d];
      out[i] *= amplitude_ * std::cos(angle);
    }
  }

 private:
  double amplitude_;
  Vector omega_;
  double phase_;
};

}  // namespace

std::unique_ptr<RandomFeature> cosine_feature(double amplitude, Vector omega, Random& random) {
  return std::make_unique<CosineFeature>(std::numbers::sqrt2 * amplitude, std::move(omega),
                                         2.0 * std::numbers::pi * random.uniform());
}

std::string call(const std::string& name, const std::vector<std::string>& arguments) {
  return arguments.empty() ? name : fmt::format("{}({})", name, fmt::join(arguments, ", "));
}

std::string argument(const std::string& name, const std::vector<double>& values) {
  return fmt::format("{}={}", name, fmt::join(values, ","));
}

}  // namespace covary
