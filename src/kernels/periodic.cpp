#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/kernels/kernels.hpp"
#include "covary/linalg/vector_math.hpp"
#include "kernels/support.hpp"

namespace covary {
namespace {

constexpr double pi = std::numbers::pi;

// sin and cos of πx/τ for each entry, so that pairs need products only:
// sin(a − b) = sin a cos b − cos a sin b.
struct Angles {
  Scratch sine, cosine;
  Angles(const RowBlock& x, double period) : sine(x.n * x.dims), cosine(x.n * x.dims) {
    for (Index d = 0; d < x.dims; ++d)
      for (Index i = 0; i < x.n; ++i) {
        const double a = pi * x.row(i)[d] / period;
        sine[d * x.n + i] = std::sin(a);
        cosine[d * x.n + i] = std::cos(a);
      }
  }
};

// Poisson by exponential gaps; for large means a rounded normal, whose error is below what a random
// feature can show.
double poisson(double mean, Random& random) {
  if (mean > 200.0) return std::max(0.0, std::round(mean + std::sqrt(mean) * random.normal()));
  double count = -1.0;
  for (double t = 0.0; t <= mean; t += random.exponential()) count += 1.0;
  return count;
}

class Periodic final : public KernelNode {
 public:
  Periodic(bool ard, Start start, std::optional<double> period)
      : ard_(ard), start_(std::move(start)), period_(period) {}

  std::string print() const override {
    std::vector<std::string> arguments;
    if (ard_) arguments.emplace_back("ard");
    if (start_.variance) arguments.push_back(argument("variance", {*start_.variance}));
    if (!start_.lengthscales.empty())
      arguments.push_back(argument("lengthscales", start_.lengthscales));
    if (period_) arguments.push_back(argument("period", {*period_}));
    return call("periodic", arguments);
  }
  void declare(Parameters& out, const std::string& path, const DataScale& scale) const override {
    declare_positive(out, path + ".variance", start_.variance, scale.y_variance);
    declare_positive(out, path + ".lengthscales", lengths(scale.dims()), start_.lengthscales,
                     Vector::Constant(1, 1.0));
    declare_positive(out, path + ".period", period_, scale.x_range.mean() / 3.0);
  }
  Index parameter_count(Index dims) const override { return 2 + lengths(dims); }

  void evaluate(const double* theta, const PairBlock& p, double* K) const override {
    const Index nx = p.x.n, nz = p.z.n, dims = p.x.dims;
    Angles x(p.x, period(theta, dims)), z(p.z, period(theta, dims));
    std::fill_n(K, nx * nz, 0.0);
    for (Index d = 0; d < dims; ++d) {
      const double weight = -2.0 / square(length(theta, d));
      const double *sx = x.sine.get() + d * nx, *cx = x.cosine.get() + d * nx;
      for (Index j = 0; j < nz; ++j) {
        const double sz = z.sine[d * nz + j], cz = z.cosine[d * nz + j];
        for (Index i = 0; i < nx; ++i) K[i + j * nx] += weight * square(sx[i] * cz - cx[i] * sz);
      }
    }
    vector_exp(K, K, nx * nz);
    for (Index i = 0; i < nx * nz; ++i) K[i] *= theta[0];
  }

  void pullback(const double* theta, const PairBlock& p, const double* Kbar, double* theta_bar,
                double* xbar, double* zbar) const override {
    const Index nx = p.x.n, nz = p.z.n, dims = p.x.dims;
    const double tau = period(theta, dims);
    Scratch W(nx * nz);  // Kbar·k
    evaluate(theta, p, W.get());
    double sum = 0.0;
    for (Index i = 0; i < nx * nz; ++i) sum += W[i] *= Kbar[i];
    theta_bar[0] += sum / theta[0];
    Angles x(p.x, tau), z(p.z, tau);
    double period_bar = 0.0;
    for (Index d = 0; d < dims; ++d) {
      const double ell = length(theta, d), steep = 4.0 * pi / (tau * ell * ell);
      const double *sx = x.sine.get() + d * nx, *cx = x.cosine.get() + d * nx;
      double length_bar = 0.0;
      for (Index j = 0; j < nz; ++j) {
        const double sz = z.sine[d * nz + j], cz = z.cosine[d * nz + j], zj = p.z.row(j)[d];
        for (Index i = 0; i < nx; ++i) {
          const double s = sx[i] * cz - cx[i] * sz, c = cx[i] * cz + sx[i] * sz;
          const double w = W[i + j * nx], pull = w * steep * s * c, xi = p.x.row(i)[d];
          length_bar += w * s * s;
          period_bar += pull * (xi - zj) / tau;
          if (xbar) xbar[i * dims + d] -= pull;
          if (zbar) zbar[j * dims + d] += pull;
        }
      }
      theta_bar[1 + (ard_ ? d : 0)] += 4.0 * length_bar / (ell * ell * ell);
    }
    theta_bar[1 + lengths(dims)] += period_bar;
  }

  void diagonal(const double* theta, const RowBlock& x, double* k) const override {
    std::fill_n(k, x.n, theta[0]);
  }
  void diagonal_pullback(const double*, const RowBlock& x, const double* kbar, double* theta_bar,
                         double*) const override {
    for (Index i = 0; i < x.n; ++i) theta_bar[0] += kbar[i];
  }

  // exp(−2 sin²(πd/τ)/ℓ²) = Σ_n P(n) cos(2πnd/τ) with P Skellam of means 1/2ℓ² each.
  std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                Random& random) const override {
    Vector omega(dims);
    for (Index d = 0; d < dims; ++d) {
      const double mean = 0.5 / square(length(theta, d));
      omega(d) = 2.0 * pi * (poisson(mean, random) - poisson(mean, random)) / period(theta, dims);
    }
    return cosine_feature(std::sqrt(theta[0]), std::move(omega), random);
  }

 private:
  static double square(double v) { return v * v; }
  Index lengths(Index dims) const { return ard_ ? dims : 1; }
  double length(const double* theta, Index d) const { return theta[1 + (ard_ ? d : 0)]; }
  double period(const double* theta, Index dims) const { return theta[1 + lengths(dims)]; }

  bool ard_;
  Start start_;
  std::optional<double> period_;
};

}  // namespace

Kernel periodic(bool ard, Start start, std::optional<double> period) {
  return {std::make_shared<Periodic>(ard, std::move(start), period)};
}

}  // namespace covary
