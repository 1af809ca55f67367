#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "covary/likelihoods/expression.hpp"
#include "covary/likelihoods/formula.hpp"
#include "covary/likelihoods/likelihoods.hpp"

namespace covary::testing {

// What the conformance suite tries: a likelihood, parameters that are not its starts, some targets
// and their entries of the optional column (empty: the default). A new likelihood is one more line.
enum class Support { real, unit, positive, counts, labels };
struct Case {
  std::string expression;
  std::vector<double> theta;
  std::vector<double> y;
  Support support;
  std::vector<double> aux = {};
};
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.expression; }

inline const std::vector<Case>& one_function_cases() {
  static const std::vector<Case> cases{
      {"gaussian", {0.4}, {0.3, -1.2}, Support::real},
      {"gaussian(variance=2)", {1.5}, {0.3, -1.2}, Support::real, {0.2, 1.0}},  // known noise
      {"bernoulli(logit)", {}, {0, 1}, Support::labels},
      {"bernoulli(probit)", {}, {0, 1}, Support::labels},
      {"student_t", {0.7, 4.0}, {0.3, -5.0}, Support::real},
      {"student_t(scale=0.1, degrees=3)", {0.1, 2.5}, {0.3, 4.0}, Support::real},
      {"binomial", {}, {0, 3}, Support::counts, {2, 7}},
      {"binomial(probit, trials=5)", {}, {5, 2}, Support::counts},
      {"poisson", {}, {0, 4}, Support::counts},
      {"poisson", {}, {3, 1}, Support::counts, {2.5, 0.3}},
      {"lgcp(volume=0.25)", {}, {0, 2}, Support::counts},
      {"negative_binomial(shape=3)", {1.7}, {0, 6}, Support::counts, {1.0, 2.0}},
      {"beta", {3.5}, {0.2, 0.9}, Support::unit},
      {"gamma", {2.3}, {0.4, 3.0}, Support::positive},
      {"exponential", {}, {0.4, 3.0}, Support::positive},
      {"ordinal(2)", {0.3}, {0, 1}, Support::labels},
      {"ordinal(4)", {-0.8, 0.1, 1.5}, {1, 2}, Support::labels},
      {"ordinal(3)", {-0.8, 1.1}, {0, 2}, Support::labels},
      {"logistic", {0.6}, {0.3, -2.0}, Support::real},  // from its formula alone
  };
  return cases;
}

// The same of several latent functions.
struct SeveralCase {
  const char* expression;
  std::vector<double> theta, y;
};
inline void PrintTo(const SeveralCase& c, std::ostream* out) { *out << c.expression; }

inline const std::vector<SeveralCase>& several_latents_cases() {
  static const std::vector<SeveralCase> cases{{"softmax(2)", {}, {0, 1}},
                                              {"softmax(4)", {}, {0, 2}},
                                              {"robust_max(2)", {1e-3}, {0, 1}},
                                              {"robust_max(4, epsilon=0.02)", {0.05}, {1, 3}},
                                              {"one_vs_rest(2)", {}, {0, 1}},
                                              {"one_vs_rest(4, probit)", {}, {0, 2}},
                                              {"heteroscedastic", {0.7}, {0.3, -2.0}}};
  return cases;
}

// y = f + logistic noise
inline Likelihood logistic() {
  FormulaSettings settings;
  settings.width = 1.5;  // π·scale, and a little less
  settings.conditional = [](double f, double, std::span<const double> theta) {
    return Moments{f, 9.869604401089358 / 3.0 * theta[0] * theta[0]};
  };
  return formula_likelihood(
      "logistic", {{"scale", 1.0}},
      [](double y, double, auto f, auto theta) {
        using std::log;
        auto z = (y - f) / theta[0];
        return -z - 2.0 * softplus(-z) - log(theta[0]);
      },
      settings);
}

inline Likelihood make(const Case& c) {
  return parse_likelihood(c.expression, {{"logistic", logistic}});
}
inline Vector theta_of(const Case& c) {
  return Eigen::Map<const Vector>(c.theta.data(), static_cast<Index>(c.theta.size()));
}
inline Datum datum(const Case& c, const Likelihood& l, std::size_t i, const double* theta) {
  return {c.y[i], c.aux.empty() ? l.node().default_aux() : c.aux[i], theta};
}

}  // namespace covary::testing
