// y = f + scale·t_ν. Not log-concave: an outlier is explained away, and a tilted density may have
// two modes.
#include <cmath>
#include <limits>
#include <numbers>

#include "covary/likelihoods/formula.hpp"
#include "likelihoods/log_gamma_ratio.hpp"
#include "likelihoods/support.hpp"

namespace covary {
namespace {

class StudentT final : public JetLikelihood<StudentT> {
 public:
  StudentT(Given scale, Given degrees) : scale_(scale), degrees_(degrees) {}

  std::string print() const override {
    return expression_of("student_t", {argument("scale", scale_), argument("degrees", degrees_)});
  }
  Index parameter_count() const override { return 2; }
  void declare(Parameters& out, const std::string& path) const override {
    declare_positive(out, path + ".scale", scale_, 1.0);
    declare_positive(out, path + ".degrees", degrees_, 4.0);
  }
  std::string complaint(double, double) const override { return {}; }
  bool real_targets() const override { return true; }
  bool has_noise_start() const override { return scale_.has_value(); }
  bool log_concave() const override { return false; }
  Singularity singularity(const Datum& d) const override {
    return {d.y, d.theta[0] * std::sqrt(d.theta[1])};
  }
  Moments conditional(const Datum& d, double f) const override { return {f, noise(d)}; }
  Moments predictive(const Datum& d, const double* m, const double* v) const override {
    return {*m, *v + noise(d)};
  }

  template <class P>
  auto row(double y, double, const P* theta) const {
    using std::log;
    const P scale = theta[0], nu = theta[1], power = 0.5 * (nu + 1.0);
    const P constant =
        log_gamma_ratio(P(0.5 * nu), 0.5) - 0.5 * log(nu * std::numbers::pi) - log(scale);
    const P factor = 1.0 / (scale * scale * nu);
    return [=](const Jet<P>& f) {
      const Jet<P> z = y - f;
      return constant - power * log1p(z * z * factor);
    };
  }

 private:
  // Infinite for two degrees of freedom or fewer.
  static double noise(const Datum& d) {
    const double nu = d.theta[1];
    return nu > 2.0 ? d.theta[0] * d.theta[0] * nu / (nu - 2.0)
                    : std::numeric_limits<double>::infinity();
  }
  Given scale_, degrees_;
};

}  // namespace

Likelihood student_t_likelihood(Given scale, Given degrees) {
  return {std::make_shared<StudentT>(positive(scale, "the scale of student_t"),
                                     positive(degrees, "the degrees of student_t"))};
}

}  // namespace covary
