#include <fmt/format.h>

#include <cmath>

#include "covary/kernels/kernels.hpp"
#include "kernels/product_feature.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

// One column of some rows: a view, since rows have a stride.
RowBlock column(const RowBlock& x, Index d) { return {x.data + d, x.n, 1, x.stride, x.first}; }

// Σ_d k(x_d, x'_d) with one k for all columns (van der Wilk 2018, eq. 5.3).
class Additive final : public KernelNode {
 public:
  explicit Additive(KernelPtr inner) : inner_(std::move(inner)) {}
  OverColumns over_columns(Index dims) const override {
    OverColumns out{inner_, {}};
    for (Index d = 0; d < dims; ++d) out.columns.push_back({d});
    return out;
  }
  std::string print() const override { return fmt::format("additive({})", inner_->print()); }
  void check(Index) const override { inner_->check(1); }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    DataScale one = DataScale::unit(1);
    one.x_sd(0) = scale.x_sd.mean();
    one.x_range(0) = scale.x_range.mean();
    one.y_variance = scale.y_variance / static_cast<double>(scale.dims());
    inner_->declare(out, path, one);
  }
  Index parameter_count(Index) const override { return inner_->parameter_count(1); }
  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    const Index n = p.x.n * p.z.n;
    Scratch term(n);
    std::fill_n(K, n, 0.0);
    for (Index d = 0; d < p.x.dims; ++d) {
      inner_->evaluate(theta, {column(p.x, d), column(p.z, d), p.same}, term.get());
      for (Index i = 0; i < n; ++i) K[i] += term[i];
    }
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    for (Index d = 0; d < p.x.dims; ++d) {
      std::vector<double> xb(xbar ? static_cast<std::size_t>(p.x.n) : 0),
          zb(zbar ? static_cast<std::size_t>(p.z.n) : 0);
      inner_->pullback(theta, {column(p.x, d), column(p.z, d), p.same}, Kbar, theta_bar,
                       xbar ? xb.data() : nullptr, zbar ? zb.data() : nullptr);
      for (Index i = 0; xbar && i < p.x.n; ++i)
        xbar[i * p.x.dims + d] += xb[static_cast<std::size_t>(i)];
      for (Index j = 0; zbar && j < p.z.n; ++j)
        zbar[j * p.z.dims + d] += zb[static_cast<std::size_t>(j)];
    }
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    Scratch term(x.n);
    std::fill_n(k, x.n, 0.0);
    for (Index d = 0; d < x.dims; ++d) {
      inner_->diagonal(theta, column(x, d), term.get());
      for (Index i = 0; i < x.n; ++i) k[i] += term[i];
    }
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override {
    for (Index d = 0; d < x.dims; ++d) {
      std::vector<double> xb(xbar ? static_cast<std::size_t>(x.n) : 0);
      inner_->diagonal_pullback(theta, column(x, d), kbar, theta_bar, xbar ? xb.data() : nullptr);
      for (Index i = 0; xbar && i < x.n; ++i)
        xbar[i * x.dims + d] += xb[static_cast<std::size_t>(i)];
    }
  }
  // One column drawn at random stands for all D of them, √D times as large.
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    const Index d = random.integer(dims);
    auto inner = inner_->random_feature(theta, 1, random);
    if (!inner) return nullptr;
    return std::make_unique<Feature>(std::move(inner), d, std::sqrt(static_cast<double>(dims)));
  }
  std::optional<GaussianForm> gaussian_form(Index dims) const override {
    GaussianForm out;
    for (Index d = 0; d < dims; ++d) {
      auto form = inner_->gaussian_form(1);
      if (!form) return {};
      form->place({d}, dims);
      out.add(std::move(*form));
    }
    return out;
  }
  bool is_white() const override { return inner_->is_white(); }

 private:
  class Feature final : public RandomFeature {
   public:
    Feature(std::unique_ptr<RandomFeature> inner, Index d, double factor)
        : inner_(std::move(inner)), d_(d), factor_(factor) {}
    void multiply(const RowBlock& x, double* out) const override {
      for (Index i = 0; i < x.n; ++i) out[i] *= factor_;
      inner_->multiply(column(x, d_), out);
    }

   private:
    std::unique_ptr<RandomFeature> inner_;
    Index d_;
    double factor_;
  };

  KernelPtr inner_;
};

}  // namespace

Kernel additive(const Kernel& k) { return {std::make_shared<Additive>(k.pointer())}; }

}  // namespace covary
