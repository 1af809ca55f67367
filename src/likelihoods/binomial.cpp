// y successes of aux trials, each with probability σ(f) or Φ(f).
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

template <Link link>
class Binomial final : public JetLikelihood<Binomial<link>> {
 public:
  explicit Binomial(Given trials) : trials_(trials) {}

  std::string print() const override {
    return expression_of("binomial", {covary::print(link), argument("trials", trials_)});
  }
  Aux aux() const override { return Aux::trials; }
  double default_aux() const override { return trials_.value_or(1.0); }
  std::string complaint(double y, double aux) const override {
    if (auto wrong = not_a_count(y); !wrong.empty()) return wrong;
    if (y > aux)
      return fmt::format(
          "{} successes of {} trials; give the trials as a column or as "
          "binomial(trials=…)",
          y, aux);
    return {};
  }
  Singularity singularity(const Datum&) const override {
    if (link == Link::logit) return {0.0, std::numbers::pi};
    return {0.0, 2.8, 1.92};
  }
  Moments conditional(const Datum& d, double f) const override {
    const double p = link == Link::logit ? sigmoid(f) : normal_cdf(f);
    const double q = link == Link::logit ? sigmoid(-f) : normal_cdf(-f);
    return {d.aux * p, d.aux * p * q};
  }

  template <class P>
  auto row(double y, double aux, const P*) const {
    const double constant = log_gamma(aux + 1.0) - log_gamma(y + 1.0) - log_gamma(aux - y + 1.0);
    return [=](const Jet<P>& f) {
      if constexpr (link == Link::logit)
        return y * f - aux * softplus(f) + constant;
      else
        return y * normal_log_cdf(f) + (aux - y) * normal_log_cdf(-f) + constant;
    };
  }

 private:
  Given trials_;
};

}  // namespace

Likelihood binomial_likelihood(Link link, Given trials) {
  if (trials && (!(*trials >= 1.0) || *trials != std::floor(*trials)))
    throw InputError(fmt::format("binomial with {} trials; it takes 1, 2, 3, …", *trials));
  if (link == Link::logit) return {std::make_shared<Binomial<Link::logit>>(trials)};
  return {std::make_shared<Binomial<Link::probit>>(trials)};
}

}  // namespace covary
