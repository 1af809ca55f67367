#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "kernels/product_feature.hpp"
#include "kernels/scaled.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

// c·k with a fixed number c: no parameter of its own, and its child's paths are unchanged.
class Scaled final : public KernelNode {
 public:
  Scaled(double factor, KernelPtr inner) : factor_(factor), inner_(std::move(inner)) {
    if (!(factor > 0.0) || !std::isfinite(factor))
      throw InputError(
          fmt::format("a kernel can only be scaled by a positive number, got {}", factor));
  }
  double factor() const { return factor_; }
  const KernelPtr& inner() const { return inner_; }
  std::string print() const override {
    return inner_->precedence() == 0 ? fmt::format("{} * ({})", factor_, inner_->print())
                                     : fmt::format("{} * {}", factor_, inner_->print());
  }
  int precedence() const override { return 1; }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    DataScale share = scale;
    share.y_variance /= factor_;
    inner_->declare(out, path, share);
  }
  Index parameter_count(Index dims) const override { return inner_->parameter_count(dims); }
  void check(Index dims) const override { inner_->check(dims); }
  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    inner_->evaluate(theta, p, K);
    for (Index i = 0; i < p.x.n * p.z.n; ++i) K[i] *= factor_;
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    const Index n = p.x.n * p.z.n;
    Scratch weight(n);
    for (Index i = 0; i < n; ++i) weight[i] = factor_ * Kbar[i];
    inner_->pullback(theta, p, weight.get(), theta_bar, xbar, zbar);
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    inner_->diagonal(theta, x, k);
    for (Index i = 0; i < x.n; ++i) k[i] *= factor_;
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override {
    Scratch weight(x.n);
    for (Index i = 0; i < x.n; ++i) weight[i] = factor_ * kbar[i];
    inner_->diagonal_pullback(theta, x, weight.get(), theta_bar, xbar);
  }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    auto feature = inner_->random_feature(theta, dims, random);
    if (!feature) return nullptr;
    auto out = std::make_unique<ProductFeature>(std::sqrt(factor_));
    out->add(std::move(feature));
    return out;
  }
  std::optional<GaussianForm> gaussian_form(Index dims) const override {
    auto form = inner_->gaussian_form(dims);
    if (form) form->scale(factor_);
    return form;
  }
  bool is_white() const override { return inner_->is_white(); }

 private:
  double factor_;
  KernelPtr inner_;
};

}  // namespace

std::pair<double, KernelPtr> split_scale(const KernelPtr& k) {
  if (const auto* scaled = dynamic_cast<const Scaled*>(k.get()))
    return {scaled->factor(), scaled->inner()};
  return {1.0, k};
}

Kernel operator*(double scale, const Kernel& k) {
  if (!(scale > 0.0))
    throw InputError(
        fmt::format("a kernel can only be scaled by a positive number, got {}", scale));
  const auto [factor, inner] = split_scale(k.pointer());
  return {std::make_shared<Scaled>(scale * factor, inner)};
}

}  // namespace covary
