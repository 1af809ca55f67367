#include "kernels/stationary.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/vector_math.hpp"

namespace covary {

Stationary::Stationary(std::string name, bool ard, Start start)
    : name_(std::move(name)), ard_(ard), start_(std::move(start)) {}

std::string Stationary::print() const {
  std::vector<std::string> arguments;
  if (ard_) arguments.emplace_back("ard");
  if (start_.variance) arguments.push_back(argument("variance", {*start_.variance}));
  if (!start_.lengthscales.empty())
    arguments.push_back(argument("lengthscales", start_.lengthscales));
  if (const auto s = shape_start()) arguments.push_back(argument(shape_name(), {*s}));
  return call(name_, arguments);
}

void Stationary::declare(Parameters& out, const std::string& path, const DataScale& scale) const {
  declare_positive(out, path + ".variance", start_.variance, scale.y_variance);
  declare_positive(out, path + ".lengthscales", lengths(scale.dims()), start_.lengthscales,
                   default_lengthscales(scale, ard_));
  if (!shape_name().empty()) declare_positive(out, path + "." + shape_name(), shape_start(), 1.0);
}

Index Stationary::parameter_count(Index dims) const {
  return 1 + lengths(dims) + (shape_name().empty() ? 0 : 1);
}

void Stationary::check(Index dims) const {
  const auto given = static_cast<Index>(start_.lengthscales.size());
  if (given > 1 && given != lengths(dims))
    throw InputError(fmt::format("{}: {} lengthscales were given for {}", print(), given,
                                 ard_ ? fmt::format("{} input columns", dims)
                                      : std::string("one shared lengthscale; add 'ard'")));
}

std::vector<double> Stationary::inverse_lengths(const double* theta, Index dims) const {
  std::vector<double> inverse(static_cast<std::size_t>(dims));
  for (Index d = 0; d < dims; ++d)
    inverse[static_cast<std::size_t>(d)] = 1.0 / theta[1 + (ard_ ? d : 0)];
  return inverse;
}

double Stationary::shape(const double* theta, Index dims) const {
  return shape_name().empty() ? 0.0 : theta[1 + lengths(dims)];
}

void Stationary::evaluate(const double* theta, const PairBlock& p, double* K) const {
  const Index dims = p.x.dims, n = p.x.n * p.z.n;
  const auto inverse = inverse_lengths(theta, dims);
  Scratch x(p.x.n * dims), z(p.z.n * dims);
  pack(p.x, inverse.data(), x.get());
  pack(p.z, inverse.data(), z.get());
  squared_distances(x.get(), p.x.n, z.get(), p.z.n, dims, K);
  profile(shape(theta, dims), theta[0], K, n);
}

void Stationary::pullback(const double* theta, const PairBlock& p, const double* Kbar,
                          double* theta_bar, double* xbar, double* zbar) const {
  const Index dims = p.x.dims, n = p.x.n * p.z.n;
  const auto inverse = inverse_lengths(theta, dims);
  Scratch x(p.x.n * dims), z(p.z.n * dims), r2(n), g(n), slope(n);
  pack(p.x, inverse.data(), x.get());
  pack(p.z, inverse.data(), z.get());
  squared_distances(x.get(), p.x.n, z.get(), p.z.n, dims, r2.get());
  const bool shaped = !shape_name().empty();
  Scratch shape_slope(shaped ? n : 0);
  profile_slope(shape(theta, dims), r2.get(), n, g.get(), slope.get(),
                shaped ? shape_slope.get() : nullptr);

  const double variance = theta[0];
  theta_bar[0] += vector_product(1.0, Kbar, g.get(), g.get(), n);
  vector_product(variance, Kbar, slope.get(), slope.get(), n);  // now ∂/∂r²
  pull_distances(theta, p, slope.get(), theta_bar, xbar, zbar);
  if (shaped) {
    theta_bar[1 + lengths(dims)] +=
        vector_product(variance, Kbar, shape_slope.get(), shape_slope.get(), n);
  }
}

void Stationary::pull_distances(const double* theta, const PairBlock& p, const double* W,
                                double* theta_bar, double* xbar, double* zbar) const {
  const Index dims = p.x.dims;
  const auto inverse = inverse_lengths(theta, dims);
  Scratch x(p.x.n * dims), z(p.z.n * dims);
  pack(p.x, inverse.data(), x.get());
  pack(p.z, inverse.data(), z.get());
  std::vector<double> per_dim(static_cast<std::size_t>(dims), 0.0);
  Scratch xs(xbar ? p.x.n * dims : 0), zs(zbar ? p.z.n * dims : 0);
  if (xbar) std::fill_n(xs.get(), p.x.n * dims, 0.0);
  if (zbar) std::fill_n(zs.get(), p.z.n * dims, 0.0);
  squared_distances_pullback(x.get(), p.x.n, z.get(), p.z.n, dims, W, per_dim.data(),
                             xbar ? xs.get() : nullptr, zbar ? zs.get() : nullptr);
  for (Index d = 0; d < dims; ++d) {
    const double inv = inverse[static_cast<std::size_t>(d)];
    // r² holds (x_d − x'_d)²/ℓ_d²: its derivative by ℓ_d is −2/ℓ_d times that.
    theta_bar[1 + (ard_ ? d : 0)] -= 2.0 * inv * per_dim[static_cast<std::size_t>(d)];
    if (xbar)
      for (Index i = 0; i < p.x.n; ++i) xbar[i * dims + d] += inv * xs[d * p.x.n + i];
    if (zbar)
      for (Index j = 0; j < p.z.n; ++j) zbar[j * dims + d] += inv * zs[d * p.z.n + j];
  }
}

void Stationary::diagonal(const double* theta, const RowBlock& x, double* k) const {
  std::fill_n(k, x.n, theta[0]);
}

void Stationary::diagonal_pullback(const double*, const RowBlock& x, const double* kbar,
                                   double* theta_bar, double*) const {
  for (Index i = 0; i < x.n; ++i) theta_bar[0] += kbar[i];
}

std::unique_ptr<RandomFeature> Stationary::random_feature(const double* theta, Index dims,
                                                          Random& random) const {
  const double s = spectral_scale(shape(theta, dims), random);
  Vector omega = random.normal_vector(dims);
  for (Index d = 0; d < dims; ++d) omega(d) *= s / theta[1 + (ard_ ? d : 0)];
  return cosine_feature(std::sqrt(theta[0]), std::move(omega), random);
}

}  // namespace covary
