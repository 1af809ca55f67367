#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/kernels/kernels.hpp"
#include "kernels/product_feature.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

class Sum final : public KernelNode {
 public:
  explicit Sum(std::vector<KernelPtr> parts) : parts_(std::move(parts)) {}

  std::string print() const override {
    std::vector<std::string> texts;
    for (const auto& part : parts_) texts.push_back(part->print());
    return fmt::format("{}", fmt::join(texts, " + "));
  }
  int precedence() const override { return 0; }
  std::vector<KernelPtr> terms() const override { return parts_; }

  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    DataScale share = scale;  // the terms share the variance of the outputs
    share.y_variance /= static_cast<double>(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i)
      parts_[i]->declare(out, fmt::format("{}.{}", path, i), share);
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
    Scratch term(n);
    for (std::size_t t = 0; t < parts_.size(); ++t) {
      parts_[t]->evaluate(theta, p, t == 0 ? K : term.get());
      for (Index i = 0; t > 0 && i < n; ++i) K[i] += term[i];
      theta += parts_[t]->parameter_count(p.x.dims);
    }
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    for (const auto& part : parts_) {
      part->pullback(theta, p, Kbar, theta_bar, xbar, zbar);
      theta += part->parameter_count(p.x.dims);
      theta_bar += part->parameter_count(p.x.dims);
    }
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    Scratch term(x.n);
    std::fill_n(k, x.n, 0.0);
    for (const auto& part : parts_) {
      part->diagonal(theta, x, term.get());
      for (Index i = 0; i < x.n; ++i) k[i] += term[i];
      theta += part->parameter_count(x.dims);
    }
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override {
    for (const auto& part : parts_) {
      part->diagonal_pullback(theta, x, kbar, theta_bar, xbar);
      theta += part->parameter_count(x.dims);
      theta_bar += part->parameter_count(x.dims);
    }
  }
  // One smooth term drawn at random stands for all S of them, √S times as large.
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    std::vector<std::pair<KernelPtr, const double*>> smooth;
    for (const auto& part : parts_) {
      if (!part->is_white()) smooth.emplace_back(part, theta);
      theta += part->parameter_count(dims);
    }
    if (smooth.empty()) return nullptr;
    const auto count = static_cast<Index>(smooth.size());
    const auto& [part, values] = smooth[static_cast<std::size_t>(random.integer(count))];
    auto feature = part->random_feature(values, dims, random);
    if (!feature) return nullptr;
    auto out = std::make_unique<ProductFeature>(std::sqrt(static_cast<double>(count)));
    out->add(std::move(feature));
    return out;
  }
  std::optional<GaussianForm> gaussian_form(Index dims) const override {
    GaussianForm out;
    Index offset = 0;
    for (const auto& part : parts_) {
      auto form = part->gaussian_form(dims);
      if (!form) return {};
      form->shift(offset);
      out.add(std::move(*form));
      offset += part->parameter_count(dims);
    }
    return out;
  }
  bool is_white() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->is_white(); });
  }

 private:
  std::vector<KernelPtr> parts_;
};

void append(std::vector<KernelPtr>& parts, const Kernel& k) {
  const auto inner = k.node().terms();
  if (inner.empty())
    parts.push_back(k.pointer());
  else
    parts.insert(parts.end(), inner.begin(), inner.end());
}

}  // namespace

Kernel operator+(const Kernel& a, const Kernel& b) {
  std::vector<KernelPtr> parts;
  append(parts, a);
  append(parts, b);
  return {std::make_shared<Sum>(std::move(parts))};
}

}  // namespace covary
