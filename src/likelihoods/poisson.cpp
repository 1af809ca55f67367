// Counts of mean aux·exp(f); in bins of volume aux, the log-Gaussian Cox process.
#include <cmath>
#include <numbers>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class Poisson final : public JetLikelihood<Poisson> {
 public:
  Poisson(std::string name, Given volume) : name_(std::move(name)), volume_(volume) {}

  std::string print() const override { return expression_of(name_, {argument("volume", volume_)}); }
  Aux aux() const override { return Aux::exposure; }
  double default_aux() const override { return volume_.value_or(1.0); }
  std::string complaint(double y, double) const override { return not_a_count(y); }
  // exp(f) is entire, but exp(−exp(f)) is bounded only for |Im f| < π/2.
  Singularity singularity(const Datum&) const override { return {0.0, 0.5 * std::numbers::pi}; }
  Moments conditional(const Datum& d, double f) const override {
    return {d.aux * std::exp(f), d.aux * std::exp(f)};
  }

  template <class P>
  auto row(double y, double aux, const P*) const {
    const double constant = y * std::log(aux) - log_gamma(y + 1.0);
    return [=](const Jet<P>& f) { return y * f - aux * exp(f) + constant; };
  }

  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double*) const override {
    const double mean = d.aux * std::exp(*m + 0.5 * *v);
    *m_bar = d.y - mean;
    *v_bar = -0.5 * mean;
    return d.y * (*m + std::log(d.aux)) - mean - log_gamma(d.y + 1.0);
  }
  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    return log_link_moments(*m, *v, d.aux, 1.0, 0.0);
  }

 private:
  std::string name_;
  Given volume_;
};

}  // namespace

Likelihood poisson_likelihood() { return {std::make_shared<Poisson>("poisson", Given())}; }

Likelihood lgcp_likelihood(Given volume) {
  return {std::make_shared<Poisson>("lgcp", positive(volume, "the bin volume of lgcp"))};
}

}  // namespace covary
