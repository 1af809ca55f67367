#pragma once

#include <string>

namespace covary {

// A density of one constrained value. Parameters that are vectors take it entry by entry.
class Prior {
 public:
  static Prior normal(double mean, double sd);
  static Prior log_normal(double mu, double sigma);        // log x ~ N(mu, sigma²)
  static Prior gamma(double shape, double rate);           // ∝ x^(shape−1) exp(−rate·x)
  static Prior inverse_gamma(double shape, double scale);  // ∝ x^(−shape−1) exp(−scale/x)
  static Prior half_cauchy(double scale);                  // ∝ 1/(1 + x²/scale²), x > 0
  // "normal(0,1)", "lognormal(0,1)", "gamma(2,1)", "inversegamma(2,1)", "halfcauchy(1)"
  static Prior parse(const std::string& text);

  double log_density(double x) const;  // −∞ outside the support
  double slope(double x) const;        // d log density / dx
  std::string describe() const;        // the text that parse reads

 private:
  enum class Kind { normal, log_normal, gamma, inverse_gamma, half_cauchy };
  Prior(Kind kind, double a, double b) : kind_(kind), a_(a), b_(b) {}
  Kind kind_;
  double a_, b_;
};

}  // namespace covary
