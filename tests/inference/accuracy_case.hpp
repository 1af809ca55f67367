#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/sparse_case.hpp"
#include "inference/vfe_reference.hpp"

namespace covary::testing {

using WideReference = VfeReference<long double>;

// Inputs even over a box and inducing inputs among them, as selections leave them. Where inputs lie
// far beyond the inducing ones the bound itself magnifies the rounding of Kuu by up to 1/λmin, and
// no arithmetic on double-precision kernel values can do better than that.
inline SparseCase accuracy_case(Index N, Index M, Index D, double lengthscale) {
  SparseCase t(N, M, D, 1, 7, "se");
  t.X = t.X.unaryExpr([](double x) { return 2.0 * std::erf(x / std::sqrt(2.0)); });
  const RowMatrix noise = normal_rows(N, 1, 8);
  for (Index i = 0; i < N; ++i) t.Y(i, 0) = std::sin(2.0 * t.X.row(i).sum()) + 0.1 * noise(i, 0);
  t.Z = t.X.topRows(M);
  t.features = inducing_points(t.kernel, t.Z);
  t.values.z = Eigen::Map<const Vector>(t.Z.data(), t.Z.size());
  t.values.theta << 1.3, lengthscale;
  return t;
}
inline WideReference wide_reference(const SparseCase& t, double jitter) {
  return {t.X, t.Y, t.Z, t.values.theta(0), t.values.theta(1), jitter};
}

// Errors of an evaluation: of the value relative to it, of gradients relative to their largest
// entry where that exceeds 1.
struct AccuracyErrors {
  double value, theta, noise, z;
  double nats;  // value − reference
};

inline double relative_error(const Vector& g, const std::vector<long double>& reference) {
  long double largest = 1.0L, difference = 0.0L;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    largest = std::max(largest, std::abs(reference[i]));
    difference = std::max(difference, std::abs(g(static_cast<Index>(i)) - reference[i]));
  }
  return static_cast<double>(difference / largest);
}

inline AccuracyErrors accuracy_errors(const SparseEvaluation& e, const SweepGradient& g,
                                      const WideReference::Result& reference) {
  std::vector<long double> z;
  for (const auto& row : reference.Z_bar) z.insert(z.end(), row.begin(), row.end());
  return {static_cast<double>(std::abs((e.value - reference.value) / reference.value)),
          relative_error(g.theta_bar, {reference.variance_bar, reference.lengthscale_bar}),
          relative_error(Vector::Constant(1, g.noise_bar), {reference.noise_bar}),
          relative_error(g.z_bar, z), static_cast<double>(e.value - reference.value)};
}

}  // namespace covary::testing
