#include <fmt/format.h>

#include "covary/error.hpp"
#include "likelihoods/quadrature.hpp"

namespace covary {

double LikelihoodNode::coupled_expectation(const Datum& d, const double* m, const double* v,
                                           double* m_bar, double* v_bar, double* theta_bar,
                                           double* coupling) const {
  std::fill_n(coupling, functions() * (functions() - 1) / 2, 0.0);
  return expectation(d, m, v, m_bar, v_bar, theta_bar);
}

void LikelihoodNode::probabilities(const Datum&, const double*, const double*, double*) const {
  throw Unsupported(fmt::format(
      "{} has no classes; ask for the predictive mean and variance, or use bernoulli, ordinal, "
      "softmax or robust_max",
      print()));
}

void OneFunction::parameter_pullback(const Datum&, Index, const double*, const Taylor*,
                                     double*) const {}

double OneFunction::log_density(const Datum& d, const double* f, double* gradient,
                                double* hessian) const {
  Taylor t;
  taylor(d, 1, f, &t);
  if (gradient) *gradient = t.first;
  if (hessian) *hessian = t.second;
  return t.value;
}

// ∂/∂m E ℓ = E ℓ′ and ∂/∂v E ℓ = ½ E ℓ″ (Bonnet; Price)
double OneFunction::expectation(const Datum& d, const double* m, const double* v, double* m_bar,
                                double* v_bar, double* theta_bar) const {
  constexpr auto chunk = static_cast<std::size_t>(GaussianRule::chunk);
  std::array<Taylor, chunk> t;
  double value = 0.0, first = 0.0, second = 0.0;
  GaussianRule(*m, *v, singularity(d)).visit([&](Index n, const double* f, const double* w) {
    taylor(d, n, f, t.data());
    for (Index i = 0; i < n; ++i) {
      const Taylor& at = t[static_cast<std::size_t>(i)];
      value += w[i] * at.value;
      first += w[i] * at.first;
      second += w[i] * at.second;
    }
    if (!theta_bar) return;
    for (Index i = 0; i < n; ++i) t[static_cast<std::size_t>(i)] = {w[i], 0.0, 0.0, 0.0};
    parameter_pullback(d, n, f, t.data(), theta_bar);
  });
  *m_bar = first;
  *v_bar = 0.5 * second;
  return value;
}

Moments OneFunction::predictive(const Datum& d, const double* m, const double* v) const {
  const double shift = conditional(d, *m).mean;  // so that the variance does not cancel
  double mean = 0.0, square = 0.0, within = 0.0;
  GaussianRule(*m, *v, singularity(d)).visit([&](Index n, const double* f, const double* w) {
    for (Index i = 0; i < n; ++i) {
      const Moments c = conditional(d, f[i]);
      mean += w[i] * (c.mean - shift);
      square += w[i] * (c.mean - shift) * (c.mean - shift);
      within += w[i] * c.variance;
    }
  });
  return {shift + mean, within + std::max(0.0, square - mean * mean)};
}

double OneFunction::log_predictive(const Datum& d, const double* m, const double* v) const {
  return tilted(d, 1.0, *m, *v, nullptr).log_z;
}

Tilted OneFunction::tilted(const Datum& d, double alpha, double m, double v,
                           double* theta_bar) const {
  const auto density = [&](Index n, const double* f, Taylor* out) { taylor(d, n, f, out); };
  const Singularity s = singularity(d);
  if (!theta_bar || parameter_count() == 0)
    return tilted_quadrature(density, alpha, m, v, s, log_concave());
  // ∂log Z/∂θ = α E ∂ℓ/∂θ under the tilted density
  struct Context {
    const OneFunction* self;
    const Datum* d;
    double alpha;
    double* theta_bar;
  } context{this, &d, alpha, theta_bar};
  const TiltedVisit visit = [](void* p, Index n, const double* f, const double* w) {
    const auto& c = *static_cast<const Context*>(p);
    std::array<Taylor, static_cast<std::size_t>(GaussianRule::chunk)> weights{};
    for (Index i = 0; i < n; ++i) weights[static_cast<std::size_t>(i)].value = c.alpha * w[i];
    c.self->parameter_pullback(*c.d, n, f, weights.data(), c.theta_bar);
  };
  return tilted_quadrature(density, alpha, m, v, s, log_concave(), visit, &context);
}

}  // namespace covary
