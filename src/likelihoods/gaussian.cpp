// N(y; f, σ² + aux), aux a known noise variance: everything in closed form.
#include <cmath>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class Gaussian final : public JetLikelihood<Gaussian> {
 public:
  explicit Gaussian(Given variance) : variance_(variance) {}

  std::string print() const override {
    return expression_of("gaussian", {argument("variance", variance_)});
  }
  Aux aux() const override { return Aux::noise; }
  Index parameter_count() const override { return 1; }
  void declare(Parameters& out, const std::string& path) const override {
    declare_positive(out, path + ".variance", variance_, 1.0);
  }
  std::string complaint(double, double) const override { return {}; }
  bool real_targets() const override { return true; }
  bool conjugate() const override { return true; }
  bool has_noise_start() const override { return variance_.has_value(); }
  Singularity singularity(const Datum&) const override { return {0.0, 1e300}; }
  Moments conditional(const Datum& d, double f) const override { return {f, d.theta[0] + d.aux}; }

  template <class P>
  auto row(double y, double aux, const P* theta) const {
    using std::log;
    const P s = theta[0] + aux;
    const P constant = -0.5 * (log_two_pi + log(s)), half = 0.5 / s;
    return [=](const Jet<P>& f) {
      const Jet<P> z = y - f;
      return constant - z * z * half;
    };
  }

  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double* theta_bar) const override {
    const double s = d.theta[0] + d.aux, z = d.y - *m, square = z * z + *v;
    *m_bar = z / s;
    *v_bar = -0.5 / s;
    if (theta_bar) theta_bar[0] += 0.5 * (square / s - 1.0) / s;
    return -0.5 * (log_two_pi + std::log(s) + square / s);
  }
  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    return {*m, *v + d.theta[0] + d.aux};
  }
  // ∫ N(y; f, s)^α N(f; m, v) df = (2πs)^(−α/2) (2πs/α)^½ N(y; m, v + s/α)
  Tilted tilted(const Datum& d, double alpha, double m, double v,
                double* theta_bar) const override {
    const double s = d.theta[0] + d.aux, total = v + s / alpha, z = d.y - m;
    const double log_normal = -0.5 * (log_two_pi + std::log(total) + z * z / total);
    if (theta_bar)
      theta_bar[0] += 0.5 * (1.0 - alpha) / s + 0.5 * (z * z / total - 1.0) / (total * alpha);
    return {0.5 * (1.0 - alpha) * (log_two_pi + std::log(s)) - 0.5 * std::log(alpha) + log_normal,
            z / total, -1.0 / total};
  }

 private:
  Given variance_;
};

}  // namespace

Likelihood gaussian_likelihood(Given variance) {
  return {std::make_shared<Gaussian>(positive(variance, "the variance of gaussian"))};
}

}  // namespace covary
