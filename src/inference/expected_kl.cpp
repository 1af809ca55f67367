#include "inference/expected_kl.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "covary/error.hpp"

namespace covary {

// E KL = E log p(y) − E F(y). The bound F depends on y through yyᵀ alone, so that its mean over y
// is the mean of F over N outputs √N·L e_n, whose second moments are those of y.
ExpectedKl::ExpectedKl(const Kernel& kernel, Vector theta, RowMatrix X, double noise,
                       Vector point_noise)
    : kernel_(kernel),
      theta_(std::move(theta)),
      X_(std::move(X)),
      noise_(noise),
      point_noise_(std::move(point_noise)) {
  const Index N = X_.rows();
  if (!(noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", noise));
  Matrix K = gram(kernel_, theta_, X_);
  K.diagonal().array() += noise;
  if (point_noise_.size()) K.diagonal() += point_noise_;
  const Cholesky factor = cholesky(std::move(K), "K + Σ");
  const double n = static_cast<double>(N);
  mean_log_evidence_ = -0.5 * (n * std::log(2.0 * std::numbers::pi) + factor.log_determinant() + n);
  outputs_ = std::sqrt(n) * factor.L;
  rows_.emplace(X_, outputs_, point_noise_);
}

ExpectedKl::Value ExpectedKl::operator()(const Features& features, ConstVector z, Jitter& jitter,
                                         Vector* z_bar) const {
  static const Mean zero;
  const Index N = rows();
  std::vector<Index> all(static_cast<std::size_t>(N));
  std::iota(all.begin(), all.end(), Index{0});
  const Sweep sweep = Sweep::for_features(*rows_, features.size());
  const SparseProblem problem{
      Approximation::Kind::vfe, &features,        &kernel_,        &zero, &sweep,
      {std::move(all)},         Route::automatic, z_bar != nullptr};
  SweepGradient gradient;
  const SparseEvaluation e =
      evaluate_sparse(problem, {theta_, z, noise_, Matrix()}, jitter, z_bar ? &gradient : nullptr);
  const double n = static_cast<double>(N);
  if (z_bar) *z_bar = -gradient.z_bar / n;
  return {mean_log_evidence_ - e.value / n, 2.0 * e.terms.trace / n, e.jitter};
}

}  // namespace covary
