// y > 0 of mean exp(f) and variance mean²/k: Gamma(k, rate k·exp(−f)).
#include <cmath>
#include <numbers>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class Gamma final : public JetLikelihood<Gamma> {
 public:
  explicit Gamma(Given shape) : shape_(shape) {}

  std::string print() const override { return expression_of("gamma", {argument("shape", shape_)}); }
  Index parameter_count() const override { return 1; }
  void declare(Parameters& out, const std::string& path) const override {
    declare_positive(out, path + ".shape", shape_, 1.0);
  }
  std::string complaint(double y, double) const override { return not_positive(y, "gamma"); }
  Singularity singularity(const Datum&) const override { return {0.0, 0.5 * std::numbers::pi}; }
  Moments conditional(const Datum& d, double f) const override {
    const double mean = std::exp(f);
    return {mean, mean * mean / d.theta[0]};
  }

  template <class P>
  auto row(double y, double, const P* theta) const {
    const P k = theta[0], constant = base(y, k);
    return [=](const Jet<P>& f) { return constant - k * (f + y * exp(-f)); };
  }

  // E exp(−f) = exp(−m + v/2)
  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double* theta_bar) const override {
    const double k = d.theta[0], ratio = d.y * std::exp(0.5 * *v - *m);
    *m_bar = k * (ratio - 1.0);
    *v_bar = -0.5 * k * ratio;
    if (theta_bar) theta_bar[0] += std::log(k * d.y) + 1.0 - polygamma(0, k) - *m - ratio;
    return base(d.y, k) - k * (*m + ratio);
  }
  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    return log_link_moments(*m, *v, 1.0, 0.0, 1.0 / d.theta[0]);
  }

 private:
  template <class P>
  static P base(double y, const P& k) {
    using std::log;
    return k * log(k) + (k - 1.0) * std::log(y) - log_gamma(k);
  }
  Given shape_;
};

}  // namespace

Likelihood gamma_likelihood(Given shape) {
  return {std::make_shared<Gamma>(positive(shape, "the shape of gamma"))};
}

}  // namespace covary
