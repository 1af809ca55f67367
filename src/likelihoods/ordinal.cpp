// Ordered labels 0 … K−1: label k where b_{k−1} < f + N(0, 1) ≤ b_k, with K − 1 thresholds b.
#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/likelihoods/formula.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

// log(Φ(upper) − Φ(lower)): in whichever tail the two are closer to, where Φ keeps its figures.
template <class T>
Jet<T> log_interval(const Jet<T>& lower, const Jet<T>& upper) {
  const bool flip = slopes::number(lower.value) + slopes::number(upper.value) > 0.0;
  const Jet<T> large = normal_log_cdf(flip ? -lower : upper);
  const Jet<T> small = normal_log_cdf(flip ? -upper : lower);
  return large + log_one_minus_exp(large - small);
}

class Ordinal final : public JetLikelihood<Ordinal> {
 public:
  explicit Ordinal(Index classes) : classes_(classes) {
    if (classes < 2 || classes > max_parameters)
      throw InputError(
          fmt::format("ordinal with {} classes; it takes 2 to {}", classes, max_parameters));
  }

  std::string print() const override { return fmt::format("ordinal({})", classes_); }
  Index classes() const override { return classes_; }
  Index parameter_count() const override { return classes_ - 1; }
  // Starts that make all labels equally likely under f ~ N(0, 1).
  void declare(Parameters& out, const std::string& path) const override {
    Vector b(classes_ - 1);
    for (Index k = 0; k < b.size(); ++k)
      b[k] = std::sqrt(2.0) *
             inverse_normal_cdf(static_cast<double>(k + 1) / static_cast<double>(classes_));
    out.add({path + ".thresholds", b, Transform::ordered(), classes_ - 1, 1});
  }
  std::string complaint(double y, double) const override { return not_a_label(y, classes_); }
  // Each threshold brings the zeros of Φ, 1.92 to its sides; an interval those of a difference,
  // which are further from the axis the narrower it is.
  Singularity singularity(const Datum& d) const override {
    const double first = d.theta[0], last = d.theta[classes_ - 2];
    return {0.5 * (first + last), 2.0, 0.5 * (last - first) + 1.92};
  }
  Moments conditional(const Datum& d, double f) const override {
    return label_moments(d.theta, f, 1.0);
  }

  template <class P>
  auto row(double y, double, const P* theta) const {
    const auto k = static_cast<Index>(y);
    const Index last = classes_ - 1;
    const P lower = k > 0 ? theta[k - 1] : P(0.0), upper = k < last ? theta[k] : P(0.0);
    return [=](const Jet<P>& f) {
      if (k == 0) return normal_log_cdf(upper - f);
      if (k == last) return normal_log_cdf(f - lower);
      return log_interval(lower - f, upper - f);
    };
  }

  // f and the N(0, 1) make one Gaussian of variance 1 + v: everything about y is closed.
  void probabilities(const Datum& d, const double* m, const double* v, double* p) const override {
    double below = 0.0;
    const double scale = std::sqrt(1.0 + *v);
    for (Index k = 0; k < classes_; ++k) {
      const double up = cumulative(d.theta, k, *m, scale);
      p[k] = up - below;
      below = up;
    }
  }
  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    return label_moments(d.theta, *m, std::sqrt(1.0 + *v));
  }
  Tilted tilted(const Datum& d, double alpha, double m, double v,
                double* theta_bar) const override {
    if (alpha != 1.0 || theta_bar) return OneFunction::tilted(d, alpha, m, v, theta_bar);
    const double scale = std::sqrt(1.0 + v);
    const auto k = static_cast<Index>(d.y);
    const Jet<double> f = Jet<double>::variable(m);
    Jet<double> out;
    if (k == 0)
      out = normal_log_cdf((d.theta[0] - f) / scale);
    else if (k == classes_ - 1)
      out = normal_log_cdf((f - d.theta[k - 1]) / scale);
    else
      out = log_interval((d.theta[k - 1] - f) / scale, (d.theta[k] - f) / scale);
    return {out.value, out.first, out.second};
  }

 private:
  // P(y ≤ k)
  double cumulative(const double* b, Index k, double m, double scale) const {
    return k == classes_ - 1 ? 1.0 : normal_cdf((b[k] - m) / scale);
  }
  // E y = Σ_k P(y > k), E y² = Σ_k (2k + 1) P(y > k)
  Moments label_moments(const double* b, double m, double scale) const {
    double mean = 0.0, square = 0.0;
    for (Index k = 0; k + 1 < classes_; ++k) {
      const double above = normal_cdf((m - b[k]) / scale);
      mean += above;
      square += (2.0 * static_cast<double>(k) + 1.0) * above;
    }
    return {mean, std::max(0.0, square - mean * mean)};
  }

  Index classes_;
};

}  // namespace

Likelihood ordinal_likelihood(Index classes) { return {std::make_shared<Ordinal>(classes)}; }

}  // namespace covary
