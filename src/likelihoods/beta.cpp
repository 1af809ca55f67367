// 0 < y < 1 of mean μ = σ(f): Beta(μφ, (1 − μ)φ), φ the concentration.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class Beta final : public JetLikelihood<Beta> {
 public:
  explicit Beta(Given concentration) : concentration_(concentration) {}

  std::string print() const override {
    return expression_of("beta", {argument("concentration", concentration_)});
  }
  Index parameter_count() const override { return 1; }
  void declare(Parameters& out, const std::string& path) const override {
    declare_positive(out, path + ".concentration", concentration_, 2.0);
  }
  std::string complaint(double y, double) const override {
    if (y > 0.0 && y < 1.0) return {};
    return fmt::format(
        "{} is not between 0 and 1, the ends excluded; shrink it, as in "
        "(y·(n − 1) + 0.5)/n",
        y);
  }
  // Γ(φσ(f)) has its poles where σ(f) = −j/φ: at log(j/(φ + j)) ± iπ.
  Singularity singularity(const Datum& d) const override {
    return {0.0, std::numbers::pi, std::log1p(d.theta[0])};
  }
  Moments conditional(const Datum& d, double f) const override {
    const double p = sigmoid(f);
    return {p, p * sigmoid(-f) / (1.0 + d.theta[0])};
  }

  template <class P>
  auto row(double y, double, const P* theta) const {
    const P phi = theta[0], constant = log_gamma(phi) - std::log(y) - std::log1p(-y);
    const double log_y = std::log(y), log_rest = std::log1p(-y);
    return [=](const Jet<P>& f) {
      const Jet<P> a = phi * sigmoid(f), b = phi * sigmoid(-f);
      return a * log_y + b * log_rest - log_gamma(a) - log_gamma(b) + constant;
    };
  }

 private:
  Given concentration_;
};

}  // namespace

Likelihood beta_likelihood(Given concentration) {
  return {std::make_shared<Beta>(positive(concentration, "the concentration of beta"))};
}

}  // namespace covary
