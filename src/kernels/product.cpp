#include <fmt/format.h>

#include <algorithm>

#include "covary/kernels/kernels.hpp"
#include "kernels/product_feature.hpp"
#include "kernels/scaled.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

class Product final : public KernelNode {
 public:
  explicit Product(std::vector<KernelPtr> parts) : parts_(std::move(parts)) {}

  std::string print() const override {
    std::vector<std::string> texts;
    for (const auto& part : parts_)
      texts.push_back(part->precedence() == 0 ? "(" + part->print() + ")" : part->print());
    return fmt::format("{}", fmt::join(texts, " * "));
  }
  int precedence() const override { return 1; }
  std::vector<KernelPtr> factors() const override { return parts_; }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    DataScale unit = scale;
    unit.y_variance = 1.0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::string own = fmt::format("{}.{}", path, i);
      parts_[i]->declare(out, own, i == 0 ? scale : unit);
      // σ₁²σ₂² is one number: only the first factor's is free.
      if (i > 0 && out.contains(own + ".variance")) out.fix(own + ".variance");
    }
  }
  Index parameter_count(Index dims) const override {
    Index n = 0;
    for (const auto& part : parts_) n += part->parameter_count(dims);
    return n;
  }
  void check(Index dims) const override {
    for (const auto& part : parts_) part->check(dims);
  }

  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    const Index n = p.x.n * p.z.n;
    Scratch factor(n);
    for (std::size_t t = 0; t < parts_.size(); ++t) {
      parts_[t]->evaluate(theta, p, t == 0 ? K : factor.get());
      for (Index i = 0; t > 0 && i < n; ++i) K[i] *= factor[i];
      theta += parts_[t]->parameter_count(p.x.dims);
    }
  }
  // Each factor's weight is Kbar times the product of the others.
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    const Index n = p.x.n * p.z.n, count = static_cast<Index>(parts_.size());
    Scratch values(n * count), weight(n);
    const double* at = theta;
    for (Index t = 0; t < count; ++t) {
      part(t).evaluate(at, p, values.get() + t * n);
      at += part(t).parameter_count(p.x.dims);
    }
    for (Index t = 0; t < count; ++t) {
      std::copy_n(Kbar, n, weight.get());
      for (Index s = 0; s < count; ++s)
        for (Index i = 0; s != t && i < n; ++i) weight[i] *= values[s * n + i];
      part(t).pullback(theta, p, weight.get(), theta_bar, xbar, zbar);
      theta += part(t).parameter_count(p.x.dims);
      theta_bar += part(t).parameter_count(p.x.dims);
    }
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    Scratch factor(x.n);
    std::fill_n(k, x.n, 1.0);
    for (const auto& part : parts_) {
      part->diagonal(theta, x, factor.get());
      for (Index i = 0; i < x.n; ++i) k[i] *= factor[i];
      theta += part->parameter_count(x.dims);
    }
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override {
    const Index count = static_cast<Index>(parts_.size());
    Scratch values(x.n * count), weight(x.n);
    const double* at = theta;
    for (Index t = 0; t < count; ++t) {
      part(t).diagonal(at, x, values.get() + t * x.n);
      at += part(t).parameter_count(x.dims);
    }
    for (Index t = 0; t < count; ++t) {
      std::copy_n(kbar, x.n, weight.get());
      for (Index s = 0; s < count; ++s)
        for (Index i = 0; s != t && i < x.n; ++i) weight[i] *= values[s * x.n + i];
      part(t).diagonal_pullback(theta, x, weight.get(), theta_bar, xbar);
      theta += part(t).parameter_count(x.dims);
      theta_bar += part(t).parameter_count(x.dims);
    }
  }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    auto out = std::make_unique<ProductFeature>(1.0);
    for (const auto& part : parts_) {
      auto feature = part->random_feature(theta, dims, random);
      if (!feature) return nullptr;
      out->add(std::move(feature));
      theta += part->parameter_count(dims);
    }
    return out;
  }
  std::optional<GaussianForm> gaussian_form(Index dims) const override {
    std::optional<GaussianForm> out;
    Index offset = 0;
    for (const auto& part : parts_) {
      auto form = part->gaussian_form(dims);
      if (!form) return {};
      form->shift(offset);
      out = out ? covary::product(*out, *form) : std::move(form);
      if (!out) return {};
      offset += part->parameter_count(dims);
    }
    return out;
  }
  bool is_white() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->is_white(); });
  }

 private:
  const KernelNode& part(Index t) const { return *parts_[static_cast<std::size_t>(t)]; }

  std::vector<KernelPtr> parts_;
};

void append(std::vector<KernelPtr>& parts, const KernelPtr& k) {
  const std::vector<KernelPtr> own = k->factors();
  if (own.empty())
    parts.push_back(k);
  else
    parts.insert(parts.end(), own.begin(), own.end());
}

}  // namespace

Kernel operator*(const Kernel& a, const Kernel& b) {
  const auto [scale_a, inner_a] = split_scale(a.pointer());
  const auto [scale_b, inner_b] = split_scale(b.pointer());
  std::vector<KernelPtr> parts;
  append(parts, inner_a);
  append(parts, inner_b);
  Kernel product = KernelPtr(std::make_shared<Product>(std::move(parts)));
  const bool scaled = inner_a != a.pointer() || inner_b != b.pointer();
  return scaled ? scale_a * scale_b * product : product;
}

}  // namespace covary
