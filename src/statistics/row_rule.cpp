#include <cmath>

#include "covary/statistics/weighted.hpp"

namespace covary {

RowRule::Row RowRule::operator()(double d, double s) const {
  const double w = 1.0 / (s + alpha * d);
  Row r{w, -alpha * w * w, -w * w, 0.0, 0.0, 0.0};
  switch (term) {
    case Term::none:
      break;
    case Term::trace:
      r.e = -0.5 * d / s;
      r.e_d = -0.5 / s;
      r.e_s = 0.5 * d / (s * s);
      break;
    case Term::log_trace:
      r.e = -0.5 * std::log1p(d / s);
      r.e_d = -0.5 / (s + d);
      r.e_s = 0.5 * d / (s * (s + d));
      break;
    case Term::power: {
      const double half = 0.5 * (1.0 - alpha);
      r.e = -half / alpha * std::log1p(alpha * d / s);
      r.e_d = -half * w;
      r.e_s = half * d * w / s;
      break;
    }
  }
  return r;
}

}  // namespace covary
