#include "features/stacked.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"

namespace covary {
namespace {

class StackedFeatures final : public Features {
 public:
  StackedFeatures(const Kernel& kernel, Index dims, const std::vector<FeaturesPtr>& parts)
      : dims_(dims) {
    const std::vector<KernelPart> own = kernel_parts(kernel, dims);
    if (own.empty() || own.size() != parts.size())
      throw InputError(fmt::format(
          "{} has {} smooth parts over {} columns, but {} features were given; give one for each",
          kernel.print(), own.size(), dims, parts.size()));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto count = static_cast<Index>(own[i].columns.size());
      if (!parts[i] || parts[i]->dims() != count)
        throw InputError(
            fmt::format("part {} of stacked features is for {} columns of the inputs and has {}", i,
                        count, parts[i] ? parts[i]->dims() : 0));
      parts_.push_back(
          {parts[i], own[i].columns, own[i].offset, size_, parameters_, own[i].term, true});
      size_ += parts[i]->size();
      parameters_ += parts[i]->parameter_count();
    }
    for (const auto& term : kernel.terms(dims)) terms_.push_back(term);
  }

  std::string name() const override { return "stacked"; }
  Index size() const override { return size_; }
  Index dims() const override { return dims_; }
  Index parameter_count() const override { return parameters_; }

  void declare(Parameters& out) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Parameters own;
      parts_[i].features->declare(own);
      for (Parameter p : own.all()) {
        p.path = fmt::format("features.{}.{}", i, p.path.substr(std::string("features.").size()));
        out.add(std::move(p));
      }
    }
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    Matrix out = Matrix::Zero(size_, size_);
    for (const Part& p : parts_)
      out.block(p.first, p.first, p.size(), p.size()) = p.features->Kuu(theta + p.theta, z + p.z);
    return out;
  }
  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    for (const Part& p : parts_)
      p.features->Kuu_pullback(theta + p.theta, z + p.z,
                               Matrix(Kuu_bar.block(p.first, p.first, p.size(), p.size())),
                               theta_bar + p.theta, z_bar + p.z);
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    Eigen::Map<Matrix> out(K, size_, x.n);
    for (const Part& p : parts_) {
      auto rows = out.middleRows(p.first, p.size());
      if (!p.seen) {
        rows.setZero();
        continue;
      }
      const Chosen own(p, x);
      Matrix block(p.size(), x.n);
      p.features->Kuf(theta + p.theta, z + p.z, own.block, block.data());
      rows = block;
    }
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Eigen::Map<const Matrix> bar(Kuf_bar, size_, x.n);
    for (const Part& p : parts_) {
      if (!p.seen) continue;
      const Chosen own(p, x);
      const Matrix block = bar.middleRows(p.first, p.size());
      RowMatrix moved = RowMatrix::Zero(x_bar ? x.n : 0, own.block.dims);
      p.features->Kuf_pullback(theta + p.theta, z + p.z, own.block, nullptr, block.data(),
                               theta_bar + p.theta, z_bar + p.z, x_bar ? moved.data() : nullptr);
      for (Index i = 0; i < moved.rows(); ++i)
        for (Index d = 0; d < moved.cols(); ++d)
          x_bar[i * x.dims + p.columns[static_cast<std::size_t>(d)]] += moved(i, d);
    }
  }

  // Row r has what each part says of its columns; of a column that no part sees, zero.
  RowMatrix where(const double* z) const override {
    std::vector<RowMatrix> own;
    Index rows = 0;
    for (const Part& p : parts_) {
      own.push_back(p.features->where(z + p.z));
      rows = std::max(rows, own.back().rows());
    }
    RowMatrix out = RowMatrix::Zero(rows, dims_);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (Index r = 0; r < rows; ++r)
        for (Index d = 0; d < own[i].cols(); ++d)
          out(r, parts_[i].columns[static_cast<std::size_t>(d)]) =
              own[i](std::min(r, own[i].rows() - 1), d);
    return out;
  }

  bool is_white() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const Part& p) { return p.features->is_white(); });
  }
  std::vector<KuuBlock> blocks() const override {
    std::vector<KuuBlock> out;
    for (const Part& p : parts_)
      for (KuuBlock b : p.features->blocks()) {
        b.first += p.first;
        out.push_back(b);
      }
    return out;
  }

  // A term's theta begins at that term.
  FeaturesPtr for_term(const Kernel& term) const override {
    const auto found = std::find_if(terms_.begin(), terms_.end(), [&](const Kernel::Term& t) {
      return t.node == term.pointer();
    });
    if (found == terms_.end())
      throw InputError(
          fmt::format("{} is not a term of the kernel of these stacked features", term.print()));
    auto out = std::make_shared<StackedFeatures>(*this);
    for (Part& p : out->parts_) {
      p.seen = p.term == found->node.get();
      p.theta -= found->offset;
    }
    return out;
  }

  std::vector<FeaturesPtr> parts() const {
    std::vector<FeaturesPtr> out;
    out.reserve(parts_.size());
    for (const Part& p : parts_) out.push_back(p.features);
    return out;
  }

 private:
  struct Part {
    FeaturesPtr features;
    std::vector<Index> columns;
    Index theta, first, z;  // where its share begins: of theta, of u, of z
    const KernelNode* term;
    bool seen;

    Index size() const { return features->size(); }
  };
  // The columns of a part, side by side; in place where there is one.
  struct Chosen {
    RowMatrix values;
    RowBlock block;
    Chosen(const Part& p, const RowBlock& x) : block{x.data, x.n, 1, x.stride, x.first} {
      const auto count = static_cast<Index>(p.columns.size());
      if (count == 1) {
        block.data += p.columns.front();
        return;
      }
      values.resize(x.n, count);
      for (Index i = 0; i < x.n; ++i)
        for (Index d = 0; d < count; ++d)
          values(i, d) = x.row(i)[p.columns[static_cast<std::size_t>(d)]];
      block = {values.data(), x.n, count, count, x.first};
    }
    Chosen(const Chosen&) = delete;
    Chosen& operator=(const Chosen&) = delete;
  };

  Index dims_, size_ = 0, parameters_ = 0;
  std::vector<Part> parts_;
  std::vector<Kernel::Term> terms_;
};

}  // namespace

FeaturesPtr stacked_features(const Kernel& kernel, Index dims,
                             const std::vector<FeaturesPtr>& parts) {
  return std::make_shared<StackedFeatures>(kernel, dims, parts);
}

std::vector<FeaturesPtr> stacked_parts(const Features& features) {
  const auto* own = dynamic_cast<const StackedFeatures*>(&features);
  return own ? own->parts() : std::vector<FeaturesPtr>{};
}

FeaturesPtr start_stacked(FeatureChoice kind, const FeatureStart& s) {
  kind.stacked = false;
  const std::vector<KernelPart> parts = kernel_parts(s.kernel, s.X.cols());
  const auto count = static_cast<Index>(parts.size());
  if (count == 0 || s.M < count)
    throw InputError(fmt::format(
        "{} inducing variables for the {} smooth parts of {}; give at least one for each", s.M,
        count, s.kernel.print()));
  std::vector<FeaturesPtr> own;
  for (Index i = 0; i < count; ++i) {
    const KernelPart& p = parts[static_cast<std::size_t>(i)];
    const RowMatrix columns = s.X(Eigen::all, p.columns);
    const Vector values = s.theta.segment(p.offset, p.kernel.parameter_count(columns.cols()));
    const Index share = s.M / count + (i < s.M % count ? 1 : 0);
    // Inputs of a part are chosen as its kernel says.
    const auto choose = [&](Index n) {
      return select_inducing(Selection::greedy_variance, n, columns, p.kernel, values, s.seed).Z;
    };
    own.push_back(start_features(kind, {.kernel = p.kernel,
                                        .theta = values,
                                        .X = columns,
                                        .M = share,
                                        .seed = s.seed + static_cast<std::uint64_t>(i),
                                        .choose = choose}));
  }
  return stacked_features(s.kernel, s.X.cols(), own);
}

}  // namespace covary
