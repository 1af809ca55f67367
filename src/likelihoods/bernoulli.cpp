// Labels 0 and 1 by the logistic or the normal distribution function of f.
#include <cmath>
#include <numbers>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

// With s = ±1: log p = log F(s·f).
template <Link link>
class Bernoulli final : public JetLikelihood<Bernoulli<link>> {
 public:
  std::string print() const override { return expression_of("bernoulli", {covary::print(link)}); }
  Index classes() const override { return 2; }
  std::string complaint(double y, double) const override { return not_a_label(y, 2); }
  // σ has its poles at ±iπ; the first zeros of Φ are at 1.92 ± 2.82i.
  Singularity singularity(const Datum&) const override {
    if (link == Link::logit) return {0.0, std::numbers::pi};
    return {0.0, 2.8, 1.92};
  }
  Moments conditional(const Datum&, double f) const override {
    const double p = link == Link::logit ? sigmoid(f) : normal_cdf(f);
    const double q = link == Link::logit ? sigmoid(-f) : normal_cdf(-f);
    return {p, p * q};
  }

  template <class P>
  auto row(double y, double, const P*) const {
    const double s = y > 0.5 ? 1.0 : -1.0;
    return [=](const Jet<P>& f) {
      if constexpr (link == Link::logit)
        return -softplus(-s * f);
      else
        return normal_log_cdf(s * f);
    };
  }

  // The label is 0 or 1: its variance follows from its mean.
  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    double p[2];
    probabilities(d, m, v, p);
    return {p[1], p[0] * p[1]};
  }
  void probabilities(const Datum& d, const double* m, const double* v, double* p) const override {
    Datum one = d;
    one.y = *m > 0.0 ? 0.0 : 1.0;  // the less likely label, so that neither loses its figures
    const double small = std::exp(this->log_predictive(one, m, v));
    p[0] = *m > 0.0 ? small : 1.0 - small;
    p[1] = *m > 0.0 ? 1.0 - small : small;
  }
  // ∫ Φ(s·f) N(f; m, v) df = Φ(s·m/√(1 + v))
  Tilted tilted(const Datum& d, double alpha, double m, double v,
                double* theta_bar) const override {
    if (link == Link::logit || alpha != 1.0) return OneFunction::tilted(d, alpha, m, v, theta_bar);
    const double s = d.y > 0.5 ? 1.0 : -1.0, root = std::sqrt(1.0 + v), z = s * m / root;
    const auto [log_cdf, r, h] = normal_tail(z);
    return {log_cdf, s * r / root, -r * h / (1.0 + v)};
  }
};

}  // namespace

Likelihood bernoulli_likelihood(Link link) {
  if (link == Link::logit) return {std::make_shared<Bernoulli<Link::logit>>()};
  return {std::make_shared<Bernoulli<Link::probit>>()};
}

}  // namespace covary
