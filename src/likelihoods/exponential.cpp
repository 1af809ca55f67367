// y > 0 of mean exp(f).
#include <cmath>
#include <numbers>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class Exponential final : public JetLikelihood<Exponential> {
 public:
  std::string print() const override { return "exponential"; }
  std::string complaint(double y, double) const override { return not_positive(y, "exponential"); }
  Singularity singularity(const Datum&) const override { return {0.0, 0.5 * std::numbers::pi}; }
  Moments conditional(const Datum&, double f) const override {
    return {std::exp(f), std::exp(2.0 * f)};
  }

  template <class P>
  auto row(double y, double, const P*) const {
    return [=](const Jet<P>& f) { return -f - y * exp(-f); };
  }

  double expectation(const Datum& d, const double* m, const double* v, double* m_bar, double* v_bar,
                     double*) const override {
    const double ratio = d.y * std::exp(0.5 * *v - *m);
    *m_bar = ratio - 1.0;
    *v_bar = -0.5 * ratio;
    return -*m - ratio;
  }
  Moments predictive(const Datum&, const double* m, const double* v) const override {
    return log_link_moments(*m, *v, 1.0, 0.0, 1.0);
  }
};

}  // namespace

Likelihood exponential_likelihood() { return {std::make_shared<Exponential>()}; }

}  // namespace covary
