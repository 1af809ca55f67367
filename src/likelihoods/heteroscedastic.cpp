// y = f₁ + noise of variance σ²·exp(f₂): the noise has a function of its own.
#include <cmath>
#include <limits>
#include <numbers>

#include "covary/autodiff/jet.hpp"
#include "likelihoods/quadrature.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class Heteroscedastic final : public LikelihoodNode {
 public:
  explicit Heteroscedastic(Given variance) : variance_(variance) {}

  std::string print() const override {
    return expression_of("heteroscedastic", {argument("variance", variance_)});
  }
  Index functions() const override { return 2; }
  Index parameter_count() const override { return 1; }
  void declare(Parameters& out, const std::string& path) const override {
    declare_positive(out, path + ".variance", variance_, 1.0);
  }
  bool supports(Inference method) const override {
    return method == Inference::vi || method == Inference::svgp || method == Inference::mcmc;
  }
  std::string complaint(double, double) const override { return {}; }
  bool real_targets() const override { return true; }
  bool has_noise_start() const override { return variance_.has_value(); }

  double log_density(const Datum& d, const double* f, double* gradient,
                     double* hessian) const override {
    const double z = d.y - f[0], precision = std::exp(-f[1]) / d.theta[0], scaled = z * precision;
    if (gradient) {
      gradient[0] = scaled;
      gradient[1] = 0.5 * (z * scaled - 1.0);
    }
    if (hessian) {
      hessian[0] = -precision;
      hessian[1] = hessian[2] = -scaled;
      hessian[3] = -0.5 * z * scaled;
    }
    return -0.5 * (log_two_pi + std::log(d.theta[0]) + f[1] + z * scaled);
  }

  // E exp(−f₂) = exp(−m₂ + v₂/2), independent of f₁
  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double* theta_bar) const override {
    const double z = d.y - m[0], square = z * z + v[0];
    const double precision = std::exp(0.5 * v[1] - m[1]) / d.theta[0];
    m_bar[0] = z * precision;
    m_bar[1] = 0.5 * (square * precision - 1.0);
    v_bar[0] = -0.5 * precision;
    v_bar[1] = -0.25 * square * precision;
    if (theta_bar) theta_bar[0] += 0.5 * (square * precision - 1.0) / d.theta[0];
    return -0.5 * (log_two_pi + std::log(d.theta[0]) + m[1] + square * precision);
  }

  double coupled_expectation(const Datum& d, const double* m, const double* v, double* m_bar,
                             double* v_bar, double* theta_bar, double* coupling) const override {
    const double value = expectation(d, m, v, m_bar, v_bar, theta_bar);
    coupling[0] = -m_bar[0];
    return value;
  }

  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    return {m[0], v[0] + d.theta[0] * std::exp(m[1] + 0.5 * v[1])};
  }

  // f₁ is integrated by hand, which leaves ∫ N(y; m₁, v₁ + σ²e^f) N(f; m₂, v₂) df.
  double log_predictive(const Datum& d, const double* m, const double* v) const override {
    const double z = d.y - m[0];
    const auto density = [&](Index n, const double* f, Taylor* out) {
      for (Index i = 0; i < n; ++i) {
        const Jet<double> s = v[0] + d.theta[0] * exp(Jet<double>::variable(f[i]));
        const Jet<double> l = -0.5 * (log_two_pi + log(s) + z * z / s);
        out[i] = {l.value, l.first, l.second, l.third};
      }
    };
    return tilted_quadrature(density, 1.0, m[1], v[1],
                             {std::numeric_limits<double>::quiet_NaN(), std::numbers::pi}, true)
        .log_z;
  }

 private:
  Given variance_;
};

}  // namespace

Likelihood heteroscedastic_likelihood(Given variance) {
  return {std::make_shared<Heteroscedastic>(positive(variance, "the variance of heteroscedastic"))};
}

}  // namespace covary
