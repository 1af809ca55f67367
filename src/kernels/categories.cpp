#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

std::vector<Index> categories(const RowBlock& x) {
  std::vector<Index> out;
  out.reserve(at(x.n));
  for (Index i = 0; i < x.n; ++i)
    out.push_back(std::max_element(x.row(i), x.row(i) + x.dims) - x.row(i));
  return out;
}

// A value for each category.
class CategoryFeature final : public RandomFeature {
 public:
  explicit CategoryFeature(Vector values) : values_(std::move(values)) {}
  void multiply(const RowBlock& x, double* out) const override {
    const auto c = categories(x);
    for (Index i = 0; i < x.n; ++i) out[i] *= values_(c[at(i)]);
  }

 private:
  Vector values_;
};

// A covariance of categories. A row is one of them by its largest entry: of a column of text that
// is coded one-hot, scaled or not, the indicator of its value. So nothing depends on how the
// indicators are scaled, and there is no slope in x.
class Categories : public KernelNode {
 public:
  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    const Matrix B = covariance(theta, p.x.dims);
    const auto x = categories(p.x), z = categories(p.z);
    for (Index j = 0; j < p.z.n; ++j)
      for (Index i = 0; i < p.x.n; ++i) K[i + j * p.x.n] = B(x[at(i)], z[at(j)]);
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double*, double*) const override {
    const auto x = categories(p.x), z = categories(p.z);
    Matrix Bbar = Matrix::Zero(p.x.dims, p.x.dims);
    for (Index j = 0; j < p.z.n; ++j)
      for (Index i = 0; i < p.x.n; ++i) Bbar(x[at(i)], z[at(j)]) += Kbar[i + j * p.x.n];
    covariance_pullback(theta, Bbar, theta_bar);
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    const Matrix B = covariance(theta, x.dims);
    const auto c = categories(x);
    for (Index i = 0; i < x.n; ++i) k[i] = B(c[at(i)], c[at(i)]);
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double*) const override {
    const auto c = categories(x);
    Matrix Bbar = Matrix::Zero(x.dims, x.dims);
    for (Index i = 0; i < x.n; ++i) Bbar(c[at(i)], c[at(i)]) += kbar[i];
    covariance_pullback(theta, Bbar, theta_bar);
  }

 protected:
  virtual Matrix covariance(const double* theta, Index count) const = 0;  // of the categories
  virtual void covariance_pullback(const double* theta, const Matrix& Bbar,
                                   double* theta_bar) const = 0;
};

// B = σ² I
class Overlap final : public Categories {
 public:
  explicit Overlap(std::optional<double> variance) : variance_(variance) {}

  std::string print() const override {
    return variance_ ? call("overlap", {argument("variance", {*variance_})}) : "overlap";
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    declare_positive(out, path + ".variance", variance_, scale.y_variance);
  }
  Index parameter_count(Index) const override { return 1; }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    return std::make_unique<CategoryFeature>(std::sqrt(theta[0]) * random.normal_vector(dims));
  }

 private:
  Matrix covariance(const double* theta, Index count) const override {
    return theta[0] * Matrix::Identity(count, count);
  }
  void covariance_pullback(const double*, const Matrix& Bbar, double* theta_bar) const override {
    theta_bar[0] += Bbar.diagonal().sum();
  }

  std::optional<double> variance_;
};

// B = W·Wᵀ + κ I, W with one row a category
class LowRank final : public Categories {
 public:
  LowRank(Index rank, std::optional<double> own) : rank_(rank), own_(own) {}

  std::string print() const override {
    std::vector<std::string> arguments{fmt::format("{}", rank_)};
    if (own_) arguments.push_back(argument("own", {*own_}));
    return call("lowrank", arguments);
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    // Columns of a cosine transform: different, and the first one the same for all.
    const Index count = scale.dims();
    const double size = std::sqrt(scale.y_variance / static_cast<double>(rank_));
    RowMatrix W(count, rank_);
    for (Index k = 0; k < count; ++k)
      for (Index q = 0; q < rank_; ++q)
        W(k, q) = size * std::cos(std::numbers::pi * static_cast<double>(q % count) *
                                  (static_cast<double>(k) + 0.5) / static_cast<double>(count));
    out.add({path + ".weights", Eigen::Map<const Vector>(W.data(), W.size()), Transform::real(),
             count, rank_});
    declare_positive(out, path + ".own", own_, 0.1 * scale.y_variance);
  }
  Index parameter_count(Index dims) const override { return dims * rank_ + 1; }
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    Vector values = std::sqrt(theta[dims * rank_]) * random.normal_vector(dims);
    const Weights W(theta, dims, rank_);
    for (Index q = 0; q < rank_; ++q) values += random.normal() * W.col(q);
    return std::make_unique<CategoryFeature>(std::move(values));
  }

 private:
  using Weights = Eigen::Map<const RowMatrix>;

  Matrix covariance(const double* theta, Index count) const override {
    const Weights W(theta, count, rank_);
    Matrix B(count, count);
    for (Index a = 0; a < count; ++a)
      for (Index b = 0; b < count; ++b)
        B(a, b) = W.row(a).dot(W.row(b)) + (a == b ? theta[count * rank_] : 0.0);
    return B;
  }
  void covariance_pullback(const double* theta, const Matrix& Bbar,
                           double* theta_bar) const override {
    const Index count = Bbar.rows();
    const Weights W(theta, count, rank_);
    Eigen::Map<RowMatrix> Wbar(theta_bar, count, rank_);
    for (Index a = 0; a < count; ++a)
      for (Index b = 0; b < count; ++b) Wbar.row(a) += (Bbar(a, b) + Bbar(b, a)) * W.row(b);
    theta_bar[count * rank_] += Bbar.diagonal().sum();
  }

  Index rank_;
  std::optional<double> own_;
};

}  // namespace

Kernel overlap(std::optional<double> variance) { return {std::make_shared<Overlap>(variance)}; }

Kernel lowrank(Index rank, std::optional<double> own) {
  if (rank < 1) throw InputError(fmt::format("lowrank needs a rank of at least 1, got {}", rank));
  return {std::make_shared<LowRank>(rank, own)};
}

}  // namespace covary
