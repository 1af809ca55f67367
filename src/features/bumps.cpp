#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/parametric.hpp"
#include "features/kinds.hpp"

namespace covary {
namespace {

class BumpFeatures final : public Features {
 public:
  BumpFeatures(const Kernel& kernel, ConstRows Z)
      : kernel_(kernel), Z_(Z), points_(inducing_points(kernel, Z)) {}

  std::string name() const override { return "bumps"; }
  Index size() const override { return Z_.rows(); }
  Index dims() const override { return Z_.cols(); }
  Index parameter_count() const override { return Z_.size(); }
  void declare(Parameters& out) const override { points_->declare(out); }

  Matrix Kuu(const double*, const double*) const override {
    return Matrix::Identity(size(), size());
  }
  void Kuu_pullback(const double*, const double*, ConstMatrix, double*, double*) const override {}

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    points_->Kuf(theta, z, x, K);
    Eigen::Map<Matrix>(K, size(), x.n).array().colwise() *= heights(theta, z).array().rsqrt();
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Vector v = heights(theta, z);
    Matrix K(size(), x.n);
    points_->Kuf(theta, z, x, K.data());
    const Eigen::Map<const Matrix> bar(Kuf_bar, size(), x.n);
    const Vector v_bar = -0.5 * bar.cwiseProduct(K).rowwise().sum().array() * v.array().pow(-1.5);
    const Matrix K_bar = bar.array().colwise() * v.array().rsqrt();
    points_->Kuf_pullback(theta, z, x, K.data(), K_bar.data(), theta_bar, z_bar, x_bar);
    kernel_.node().diagonal_pullback(theta, places(z), v_bar.data(), theta_bar, z_bar);
    // White noise is no part of a bump's height: what diagonal() has of it is taken off again.
    for (const auto& term : kernel_.terms(dims()))
      if (term.node->is_white())
        term.node->diagonal_pullback(theta + term.offset, places(z), Vector(-v_bar).data(),
                                     theta_bar + term.offset, nullptr);
  }

  RowMatrix where(const double* z) const override { return points_->where(z); }
  bool is_white() const override { return true; }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<BumpFeatures>(term, Z_);
  }

 private:
  RowBlock places(const double* z) const { return {z, Z_.rows(), Z_.cols(), Z_.cols()}; }
  // k(z_m, z_m) without white noise.
  Vector heights(const double* theta, const double* z) const {
    Vector out(size());
    kernel_.node().diagonal(theta, places(z), out.data());
    for (const auto& term : kernel_.terms(dims())) {
      if (!term.node->is_white()) continue;
      Vector own(size());
      term.node->diagonal(theta + term.offset, places(z), own.data());
      out -= own;
    }
    return out;
  }

  Kernel kernel_;
  RowMatrix Z_;
  FeaturesPtr points_;
};

}  // namespace

FeaturesPtr bump_features(const Kernel& kernel, ConstRows Z) {
  if (kernel.node().is_white())
    throw InputError(
        fmt::format("bumps are not available for kernel {}, which is white", kernel.print()));
  return std::make_shared<BumpFeatures>(kernel, Z);
}

const FeatureKind bumps_kind{
    "bumps",
    "bumps",
    "Z",
    true,
    true,
    false,
    [](const FeatureStart& s, Index) { return bump_features(s.kernel, s.inputs()); },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record);
      r.expect(r.S() == r.M() * r.D());
      return bump_features(kernel, r.rows(r.M(), r.D()));
    }};

}  // namespace covary
