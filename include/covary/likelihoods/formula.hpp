#pragma once

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "covary/autodiff/jet.hpp"
#include "covary/likelihoods/likelihood.hpp"

namespace covary {

// A likelihood of one latent function whose derivatives come from its log density. Self gives
//
//   template <class P> auto row(double y, double aux, const P* theta) const;
//
// which works out what does not depend on f and returns a function of f, a Jet<P>. P is double, or
// Dual for the derivatives by the parameters. One density is all there is to get right.
template <class Self>
class JetLikelihood : public OneFunction {
 public:
  void taylor(const Datum& d, Index n, const double* f, Taylor* out) const final {
    const auto density = static_cast<const Self&>(*this).row(d.y, d.aux, d.theta);
    for (Index i = 0; i < n; ++i) {
      const Jet<double> l = density(Jet<double>::variable(f[i]));
      out[i] = {l.value, l.first, l.second, l.third};
    }
  }
  void parameter_pullback(const Datum& d, Index n, const double* f, const Taylor* w,
                          double* theta_bar) const final {
    const Index P = parameter_count();
    if (P == 0) return;
    std::array<Dual, max_parameters> theta;
    const auto at = [&](Index p) -> Dual& { return theta[static_cast<std::size_t>(p)]; };
    for (Index p = 0; p < P; ++p) at(p) = d.theta[p];
    for (Index begin = 0; begin < P; begin += Dual::lanes) {
      const Index end = std::min<Index>(P, begin + Dual::lanes);
      for (Index p = begin; p < end; ++p)
        at(p) = Dual::variable(d.theta[p], static_cast<int>(p - begin));
      const auto density = static_cast<const Self&>(*this).row(d.y, d.aux, theta.data());
      for (Index i = 0; i < n; ++i) {
        const Jet<Dual> l = density(Jet<Dual>::variable(f[i]));
        for (Index p = begin; p < end; ++p) {
          const auto lane = static_cast<std::size_t>(p - begin);
          theta_bar[p] += w[i].value * l.value.partial[lane] + w[i].first * l.first.partial[lane] +
                          w[i].second * l.second.partial[lane];
        }
      }
      for (Index p = begin; p < end; ++p) at(p) = d.theta[p];
    }
  }

 protected:
  static constexpr Index max_parameters = 64;
};

// A parameter of a likelihood written as a formula: its name and its start. All are positive.
struct LikelihoodParameter {
  std::string name;
  double start;
};

// What a formula cannot tell.
struct FormulaSettings {
  // How far from the real axis log p(y | f) stays analytic in f, at the starts of the parameters;
  // π for anything made of softplus(f) or exp(f). Too large a width costs accuracy of the
  // integrals, too small a width time.
  double width = 1.0;
  bool log_concave = true;
  // Mean and variance of y given f; refused without.
  std::function<Moments(double f, double aux, std::span<const double> theta)> conditional = nullptr;
  // What is wrong with a target, or empty.
  std::function<std::string(double y)> complaint = nullptr;
};

class FormulaBase {
 public:
  FormulaBase(std::string name, std::vector<LikelihoodParameter> parameters,
              FormulaSettings settings, Index limit);

 protected:
  void declare_all(Parameters& out, const std::string& path) const;
  Moments moments(const Datum& d, double f) const;
  std::string name_;
  std::vector<LikelihoodParameter> parameters_;
  FormulaSettings settings_;
};

template <class Formula>
class FormulaLikelihood final : public JetLikelihood<FormulaLikelihood<Formula>>,
                                private FormulaBase {
 public:
  FormulaLikelihood(std::string n, std::vector<LikelihoodParameter> p, Formula f, FormulaSettings s)
      : FormulaBase(std::move(n), std::move(p), std::move(s), FormulaLikelihood::max_parameters),
        formula_(std::move(f)) {}
  template <class P>
  auto row(double y, double aux, const P* theta) const {
    const std::span<const P> all(theta, parameters_.size());
    return [this, y, aux, all](const Jet<P>& f) { return Jet<P>(formula_(y, aux, f, all)); };
  }
  std::string print() const override { return name_; }
  Index parameter_count() const override { return static_cast<Index>(parameters_.size()); }
  void declare(Parameters& out, const std::string& path) const override { declare_all(out, path); }
  // The column beside y goes to the formula as it is.
  Aux aux() const override { return Aux::exposure; }
  double default_aux() const override { return 1.0; }
  std::string complaint(double y, double) const override {
    return settings_.complaint ? settings_.complaint(y) : std::string();
  }
  Singularity singularity(const Datum&) const override {
    return {std::numeric_limits<double>::quiet_NaN(), settings_.width};
  }
  bool log_concave() const override { return settings_.log_concave; }
  Moments conditional(const Datum& d, double f) const override { return moments(d, f); }

 private:
  Formula formula_;
};

// A likelihood from its log density alone; all derivatives and integrals follow.
//
//   auto l = formula_likelihood("logistic", {{"scale", 1.0}},
//                                     [](double y, double, auto f, auto theta) {
//     auto z = (y - f) / theta[0];
//     return -z - 2.0 * softplus(-z) - log(theta[0]);
//   });
//
// The function is called with f a Jet<double> and theta a span of double, and with Jet<Dual> and
// Dual: use auto, and unqualified exp, log, softplus, log_gamma, ….
template <class Formula>
Likelihood formula_likelihood(std::string name, std::vector<LikelihoodParameter> parameters,
                              Formula formula, FormulaSettings settings = {}) {
  return {std::make_shared<FormulaLikelihood<Formula>>(std::move(name), std::move(parameters),
                                                       std::move(formula), std::move(settings))};
}

}  // namespace covary
