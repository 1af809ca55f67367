#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/kernels/kernels.hpp"
#include "kernels/dot_feature.hpp"
#include "kernels/product_feature.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

double power(double base, int exponent) {
  double out = 1.0;
  for (int k = 0; k < exponent; ++k) out *= base;
  return out;
}

// σ² (offset + xᵀx')^m
class Polynomial final : public KernelNode {
 public:
  Polynomial(int degree, std::optional<double> variance, std::optional<double> offset)
      : degree_(degree), variance_(variance), offset_(offset) {
    if (degree < 1 || degree > 20)
      throw InputError(fmt::format("poly: the degree must be between 1 and 20, got {}", degree));
  }

  std::string print() const override {
    std::vector<std::string> arguments{fmt::format("{}", degree_)};
    if (variance_) arguments.push_back(argument("variance", {*variance_}));
    if (offset_) arguments.push_back(argument("offset", {*offset_}));
    return call("poly", arguments);
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    const double typical = 1.0 + scale.x_sd.squaredNorm();
    declare_positive(out, path + ".variance", variance_,
                     scale.y_variance / power(typical, degree_));
    declare_positive(out, path + ".offset", offset_, 1.0);
  }
  Index parameter_count(Index) const override { return 2; }

  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    for (Index j = 0; j < p.z.n; ++j)
      for (Index i = 0; i < p.x.n; ++i)
        K[i + j * p.x.n] = theta[0] * power(base(theta, p.x.row(i), p.z.row(j), p.x.dims), degree_);
  }
  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    const Index dims = p.x.dims;
    for (Index j = 0; j < p.z.n; ++j)
      for (Index i = 0; i < p.x.n; ++i) {
        const double *x = p.x.row(i), *z = p.z.row(j), b = base(theta, x, z, dims);
        const double lower = power(b, degree_ - 1), w = Kbar[i + j * p.x.n];
        const double slope = w * theta[0] * degree_ * lower;
        theta_bar[0] += w * lower * b;
        theta_bar[1] += slope;
        for (Index d = 0; d < dims; ++d) {
          if (xbar) xbar[i * dims + d] += slope * z[d];
          if (zbar) zbar[j * dims + d] += slope * x[d];
        }
      }
  }
  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    for (Index i = 0; i < x.n; ++i)
      k[i] = theta[0] * power(base(theta, x.row(i), x.row(i), x.dims), degree_);
  }
  void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                         double* theta_bar, double* xbar) const override {
    for (Index i = 0; i < x.n; ++i) {
      const double *row = x.row(i), b = base(theta, row, row, x.dims);
      const double lower = power(b, degree_ - 1), slope = kbar[i] * theta[0] * degree_ * lower;
      theta_bar[0] += kbar[i] * lower * b;
      theta_bar[1] += slope;
      for (Index d = 0; xbar && d < x.dims; ++d) xbar[i * x.dims + d] += 2.0 * slope * row[d];
    }
  }
  // A product of m independent features of offset + xᵀx'.
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    auto out = std::make_unique<ProductFeature>(std::sqrt(theta[0]));
    for (int k = 0; k < degree_; ++k) {
      const double offset = std::sqrt(theta[1]) * random.normal();
      out->add(std::make_unique<DotFeature>(offset, random.normal_vector(dims)));
    }
    return out;
  }

 private:
  static double base(const double* theta, const double* x, const double* z, Index dims) {
    double sum = theta[1];
    for (Index d = 0; d < dims; ++d) sum += x[d] * z[d];
    return sum;
  }

  int degree_;
  std::optional<double> variance_, offset_;
};

}  // namespace

Kernel polynomial(int degree, std::optional<double> variance, std::optional<double> offset) {
  return {std::make_shared<Polynomial>(degree, variance, offset)};
}

}  // namespace covary
