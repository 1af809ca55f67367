#include <fmt/format.h>

#include <set>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

// The chosen columns of some rows, gathered side by side.
struct Gathered {
  Scratch values;
  RowBlock block;
  Gathered(const RowBlock& x, const std::vector<Index>& dims)
      : values(x.n * static_cast<Index>(dims.size())),
        block{values.get(), x.n, static_cast<Index>(dims.size()), static_cast<Index>(dims.size()),
              x.first} {
    Index at = 0;
    for (Index i = 0; i < x.n; ++i)
      for (const Index d : dims) values[at++] = x.row(i)[d];
  }
};

// Adds a gathered gradient back to the columns it came from.
void scatter(double* from, Index n, const std::vector<Index>& dims, double* to, Index to_dims) {
  for (Index i = 0; i < n; ++i)
    for (const Index d : dims) to[i * to_dims + d] += *from++;
}

class OnDims final : public KernelNode {
 public:
  OnDims(KernelPtr inner, std::vector<Index> dims)
      : inner_(std::move(inner)), dims_(std::move(dims)) {
    if (dims_.empty()) throw InputError("a kernel needs at least one input column");
    for (const Index d : dims_)
      if (d < 0) throw InputError(fmt::format("input columns count from 0, got {}", d));
    if (std::set<Index>(dims_.begin(), dims_.end()).size() != dims_.size())
      throw InputError(fmt::format("an input column is named twice in @{}", fmt::join(dims_, ",")));
  }
  OverColumns over_columns(Index) const override { return {inner_, {dims_}}; }
  std::string print() const override {
    const std::string inner =
        inner_->precedence() < 2 ? "(" + inner_->print() + ")" : inner_->print();
    return fmt::format("{}@{}", inner, fmt::join(dims_, ","));
  }
  void check(Index dims) const override {
    for (const Index d : dims_)
      if (d >= dims)
        throw InputError(fmt::format("{}: there is no input column {}, the inputs have {} (0 … {})",
                                     print(), d, dims, dims - 1));
    inner_->check(count());
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    check(scale.dims());
    DataScale chosen{Vector(count()), Vector(count()), scale.y_variance};
    for (Index i = 0; i < count(); ++i) {
      chosen.x_sd(i) = scale.x_sd(dims_[static_cast<std::size_t>(i)]);
      chosen.x_range(i) = scale.x_range(dims_[static_cast<std::size_t>(i)]);
    }
    inner_->declare(out, path, chosen);
  }
  Index parameter_count(Index) const override { return inner_->parameter_count(count()); }
  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    Gathered x(p.x, dims_), z(p.z, dims_);
    inner_->evaluate(theta, {x.block, z.block, p.same}, K);
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    Gathered x(p.x, dims_), z(p.z, dims_);
    std::vector<double> xb(xbar ? static_cast<std::size_t>(p.x.n * count()) : 0),
        zb(zbar ? static_cast<std::size_t>(p.z.n * count()) : 0);
    inner_->pullback(theta, {x.block, z.block, p.same}, Kbar, theta_bar, xbar ? xb.data() : nullptr,
                     zbar ? zb.data() : nullptr);
    if (xbar) scatter(xb.data(), p.x.n, dims_, xbar, p.x.dims);
    if (zbar) scatter(zb.data(), p.z.n, dims_, zbar, p.z.dims);
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    Gathered chosen(x, dims_);
    inner_->diagonal(theta, chosen.block, k);
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override {
    Gathered chosen(x, dims_);
    std::vector<double> xb(xbar ? static_cast<std::size_t>(x.n * count()) : 0);
    inner_->diagonal_pullback(theta, chosen.block, kbar, theta_bar, xbar ? xb.data() : nullptr);
    if (xbar) scatter(xb.data(), x.n, dims_, xbar, x.dims);
  }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index,
                                                Random& random) const override {
    auto inner = inner_->random_feature(theta, count(), random);
    if (!inner) return nullptr;
    return std::make_unique<Feature>(std::move(inner), dims_);
  }
  std::optional<GaussianForm> gaussian_form(Index dims) const override {
    auto form = inner_->gaussian_form(count());
    if (form) form->place(dims_, dims);
    return form;
  }
  bool is_white() const override { return inner_->is_white(); }

 private:
  class Feature final : public RandomFeature {
   public:
    Feature(std::unique_ptr<RandomFeature> inner, std::vector<Index> dims)
        : inner_(std::move(inner)), dims_(std::move(dims)) {}
    void multiply(const RowBlock& x, double* out) const override {
      Gathered chosen(x, dims_);
      inner_->multiply(chosen.block, out);
    }

   private:
    std::unique_ptr<RandomFeature> inner_;
    std::vector<Index> dims_;
  };
  Index count() const { return static_cast<Index>(dims_.size()); }

  KernelPtr inner_;
  std::vector<Index> dims_;
};

}  // namespace

Kernel on_dims(const Kernel& k, std::vector<Index> dims) {
  return {std::make_shared<OnDims>(k.pointer(), std::move(dims))};
}

}  // namespace covary
