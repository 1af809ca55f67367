// Counts of mean μ = aux·exp(f) and variance μ + μ²/k: a Poisson whose rate is gamma distributed.
#include <cmath>
#include <numbers>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/log_gamma_ratio.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class NegativeBinomial final : public JetLikelihood<NegativeBinomial> {
 public:
  explicit NegativeBinomial(Given shape) : shape_(shape) {}

  std::string print() const override {
    return expression_of("negative_binomial", {argument("shape", shape_)});
  }
  Aux aux() const override { return Aux::exposure; }
  double default_aux() const override { return 1.0; }
  Index parameter_count() const override { return 1; }
  void declare(Parameters& out, const std::string& path) const override {
    declare_positive(out, path + ".shape", shape_, 1.0);
  }
  std::string complaint(double y, double) const override { return not_a_count(y); }
  Singularity singularity(const Datum& d) const override {
    return {std::log(d.theta[0] / d.aux), std::numbers::pi};
  }
  Moments conditional(const Datum& d, double f) const override {
    const double mean = d.aux * std::exp(f);
    return {mean, mean + mean * mean / d.theta[0]};
  }

  // With g = f + log(aux/k): y·log(μ/(k+μ)) + k·log(k/(k+μ)) = y·g − (y + k)·log(1 + e^g)
  template <class P>
  auto row(double y, double aux, const P* theta) const {
    using std::log;
    const P k = theta[0], shift = std::log(aux) - log(k), power = y + k;
    const P constant = log_gamma_ratio(k, y) - log_gamma(y + 1.0);
    return [=](const Jet<P>& f) {
      const Jet<P> g = f + shift;
      return y * g - power * softplus(g) + constant;
    };
  }

  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    return log_link_moments(*m, *v, d.aux, 1.0, 1.0 / d.theta[0]);
  }

 private:
  Given shape_;
};

}  // namespace

Likelihood negative_binomial_likelihood(Given shape) {
  return {std::make_shared<NegativeBinomial>(positive(shape, "the shape of negative_binomial"))};
}

}  // namespace covary
