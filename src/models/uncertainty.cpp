// Uncertainty about the parameters: the Hessian at the optimum and what follows from it.
#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/models/regression.hpp"

namespace covary {
namespace {

// Second derivatives by central differences of a gradient.
template <class Gradient>
Matrix hessian(const Gradient& gradient, const Vector& u) {
  const Index n = u.size();
  Matrix H(n, n);
  for (Index i = 0; i < n; ++i) {
    const double h = 1e-4 * std::max(1.0, std::abs(u(i)));
    Vector at = u;
    at(i) = u(i) + h;
    const Vector up = gradient(at);
    at(i) = u(i) - h;
    H.col(i) = (up - gradient(at)) / (2.0 * h);
  }
  return 0.5 * (H + H.transpose());
}

}  // namespace

// Parameters along which the objective is flat (a lengthscale that ran to infinity) have no
// standard error and are held; the rest get √(H⁻¹)_ii |dx/du|.
Vector Regression::find_standard_errors(const Vector& u, Jitter jitter,
                                        std::vector<std::string>& warnings) const {
  const Index n = u.size();
  Vector out = Vector::Constant(n, std::nan(""));
  const auto gradient = [&](const Vector& at) {
    Vector g(n);
    objective(at, &g, jitter);
    return g;
  };
  try {
    const Matrix H = hessian(gradient, u);
    std::vector<Index> curved;
    for (Index i = 0; i < n; ++i)
      if (H(i, i) > 1e-4) curved.push_back(i);
    if (curved.empty()) return out;
    Jitter none;
    const Cholesky factor = cholesky(H(curved, curved), none, "the Hessian at the optimum");
    if (none.rung > 0.0)
      throw NumericalError("the Hessian at the optimum is not positive definite");
    const Vector variance = factor.inverse().diagonal();
    Vector slope(n);  // dx/du of each free entry
    Index at = 0;
    for (const auto& p : parameters_.all())
      if (p.trainable && p.tied_to.empty()) {
        slope.segment(at, p.value.size()) =
            p.transform.pullback(u.segment(at, p.value.size()), Vector::Ones(p.value.size()));
        at += p.value.size();
      }
    for (std::size_t i = 0; i < curved.size(); ++i)
      out(curved[i]) = std::sqrt(variance(static_cast<Index>(i))) * std::abs(slope(curved[i]));
    if (static_cast<Index>(curved.size()) < n)
      warnings.push_back(fmt::format("{} parameter{} flat at the optimum and {} no standard error",
                                     n - static_cast<Index>(curved.size()),
                                     n - static_cast<Index>(curved.size()) == 1 ? " is" : "s are",
                                     n - static_cast<Index>(curved.size()) == 1 ? "has" : "have"));
  } catch (const NumericalError& e) {
    warnings.push_back(fmt::format("no standard errors: {}", e.what()));
  }
  return out;
}

double Regression::laplace_log_evidence() const {
  // φ: log θ of positive entries, θ itself of real ones, u of bounded ones.
  struct Entry {
    Index at;  // in values()
    Transform transform;
    Prior prior;
    bool user_prior;
  };
  std::vector<Entry> entries;
  Index at = 0;
  for (std::size_t i = 0; i < parameters_.all().size(); ++i) {
    const Parameter& p = parameters_.all()[i];
    for (Index k = 0; k < p.value.size(); ++k, ++at) {
      if (!p.trainable || !p.tied_to.empty()) continue;
      const double start = starts_.all()[i].value(k);
      const Prior wide = p.transform.kind() == Transform::Kind::real
                             ? Prior::normal(start, 10.0)
                             : Prior::log_normal(std::log(start), 2.0);
      entries.push_back({at, p.transform, p.prior ? *p.prior : wide, p.prior.has_value()});
    }
  }
  const Index n = static_cast<Index>(entries.size());
  Jitter jitter{options_.jitter};
  Vector phi(n);
  const Vector best = parameters_.values();
  for (Index i = 0; i < n; ++i) {
    const Entry& e = entries[static_cast<std::size_t>(i)];
    const double x = best(e.at);
    phi(i) = e.transform.kind() == Transform::Kind::positive ? std::log(x)
             : e.transform.kind() == Transform::Kind::real
                 ? x
                 : e.transform.unconstrain(Vector::Constant(1, x))(0);
  }
  // −log of the integrand p(Y|θ)p(θ)|dθ/dφ|
  const Objective f = [&](const Vector& p, Vector* gradient) -> std::optional<double> {
    Vector values = best;
    Vector slope(n), log_slope(n), log_slope_bar(n);
    for (Index i = 0; i < n; ++i) {
      const Entry& e = entries[static_cast<std::size_t>(i)];
      if (e.transform.kind() == Transform::Kind::positive) {
        values(e.at) = std::exp(p(i));
        slope(i) = values(e.at);
        log_slope(i) = p(i);
        log_slope_bar(i) = 1.0;
      } else if (e.transform.kind() == Transform::Kind::real) {
        values(e.at) = p(i);
        slope(i) = 1.0;
        log_slope(i) = log_slope_bar(i) = 0.0;
      } else {  // bounded: x = a + (b − a)s, s = sigmoid
        const Vector one = Vector::Constant(1, p(i));
        const double a = e.transform.low(), b = e.transform.high(),
                     x = e.transform.constrain(one)(0);
        values(e.at) = x;
        slope(i) = e.transform.pullback(one, Vector::Ones(1))(0);
        log_slope(i) = std::log(slope(i));
        log_slope_bar(i) = 1.0 - 2.0 * (x - a) / (b - a);
      }
    }
    if (!values.allFinite()) return std::nullopt;
    Parameters tied = parameters_;
    tied.set_values(values);  // followers of ties move along
    Vector bar;
    double value = evidence(tied.values(), jitter, gradient ? &bar : nullptr);
    Vector g(n);
    for (Index i = 0; i < n; ++i) {
      const Entry& e = entries[static_cast<std::size_t>(i)];
      value += e.prior.log_density(values(e.at)) + log_slope(i);
      if (gradient) g(i) = (bar(e.at) + e.prior.slope(values(e.at))) * slope(i) + log_slope_bar(i);
    }
    if (gradient) {  // what tied followers feel belongs to those they follow
      Index offset = 0;
      for (const Parameter& q : parameters_.all()) {
        if (!q.tied_to.empty())
          for (Index k = 0; k < q.value.size(); ++k)
            for (Index i = 0; i < n; ++i)
              if (entries[static_cast<std::size_t>(i)].at == parameters_.offset(q.tied_to) + k)
                g(i) += q.ratio * bar(offset + k) * slope(i);
        offset += q.value.size();
      }
      *gradient = -g;
    }
    return -value;
  };
  if (n == 0) return evidence(best, jitter, nullptr) - log_jacobian_;
  const Minimum mode = minimise(f, phi);
  const auto gradient = [&](const Vector& p) {
    Vector g(n);
    f(p, &g);
    return g;
  };
  const Cholesky factor =
      cholesky(hessian(gradient, mode.state.u), "the Hessian at the posterior mode");
  return -mode.state.value + 0.5 * static_cast<double>(n) * 1.83787706640934548356 -
         0.5 * factor.log_determinant() - log_jacobian_;
}

}  // namespace covary
