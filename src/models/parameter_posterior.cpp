#include "models/parameter_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/training/lbfgs.hpp"

namespace covary {

Matrix hessian(const std::function<Vector(const Vector&)>& gradient, const Vector& u) {
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

ParameterPosterior::ParameterPosterior(Parameters parameters, const Parameters& starts,
                                       Evidence evidence)
    : parameters_(std::move(parameters)), evidence_(std::move(evidence)) {
  Index at = 0;
  for (std::size_t i = 0; i < parameters_.all().size(); ++i) {
    const Parameter& p = parameters_.all()[i];
    for (Index k = 0; k < p.value.size(); ++k, ++at) {
      if (!p.trainable || !p.tied_to.empty()) continue;
      const double start = starts.all()[i].value(k);
      const Prior wide = p.transform.kind() == Transform::Kind::real
                             ? Prior::normal(start, 10.0)
                             : Prior::log_normal(std::log(start), 2.0);
      entries_.push_back({at, p.transform, p.prior ? *p.prior : wide});
    }
  }
}

Vector ParameterPosterior::at_parameters() const {
  const Vector values = parameters_.values();
  Vector phi(size());
  for (Index i = 0; i < size(); ++i) {
    const Entry& e = entries_[static_cast<std::size_t>(i)];
    const double x = values(e.at);
    const double floor = e.transform.low();
    phi(i) = e.transform.kind() == Transform::Kind::positive
                 ? std::log(std::max(x - floor, 1e-6 * x))  // a fit may end on the floor
             : e.transform.kind() == Transform::Kind::real
                 ? x
                 : e.transform.unconstrain(Vector::Constant(1, x))(0);
  }
  return phi;
}

ParameterPosterior::Point ParameterPosterior::at(const Vector& phi) const {
  const Index n = size();
  Point out{parameters_.values(), Vector(n), Vector(n), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const Entry& e = entries_[static_cast<std::size_t>(i)];
    double& value = out.values(e.at);
    if (e.transform.kind() == Transform::Kind::positive) {
      out.slope(i) = std::exp(phi(i));
      value = e.transform.low() + out.slope(i);
      out.log_slope(i) = phi(i);
      out.log_slope_bar(i) = 1.0;
    } else if (e.transform.kind() == Transform::Kind::real) {
      value = phi(i);
      out.slope(i) = 1.0;
      out.log_slope(i) = out.log_slope_bar(i) = 0.0;
    } else {  // bounded: x = a + (b − a)s, s = sigmoid
      const Vector one = Vector::Constant(1, phi(i));
      const double a = e.transform.low(), b = e.transform.high();
      value = e.transform.constrain(one)(0);
      out.slope(i) = e.transform.pullback(one, Vector::Ones(1))(0);
      out.log_slope(i) = std::log(out.slope(i));
      out.log_slope_bar(i) = 1.0 - 2.0 * (value - a) / (b - a);
    }
  }
  if (out.values.allFinite()) {
    Parameters tied = parameters_;
    tied.set_values(out.values);  // followers of ties move along
    out.values = tied.values();
  }
  return out;
}

Vector ParameterPosterior::values(const Vector& phi) const { return at(phi).values; }

std::optional<double> ParameterPosterior::operator()(const Vector& phi, Vector* gradient,
                                                     Jitter& jitter) const {
  const Index n = size();
  const Point p = at(phi);
  if (!p.values.allFinite() || !p.log_slope.allFinite()) return std::nullopt;
  Vector bar;
  double value = evidence_(p.values, jitter, gradient ? &bar : nullptr);
  Vector g(n);
  for (Index i = 0; i < n; ++i) {
    const Entry& e = entries_[static_cast<std::size_t>(i)];
    const double x = p.values(e.at);
    value += e.prior.log_density(x) + p.log_slope(i);
    if (gradient) g(i) = (bar(e.at) + e.prior.slope(x)) * p.slope(i) + p.log_slope_bar(i);
  }
  if (gradient) {  // what tied followers feel belongs to those they follow
    Index offset = 0;
    for (const Parameter& q : parameters_.all()) {
      if (!q.tied_to.empty())
        for (Index k = 0; k < q.value.size(); ++k)
          for (Index i = 0; i < n; ++i)
            if (entries_[static_cast<std::size_t>(i)].at == parameters_.offset(q.tied_to) + k)
              g(i) += q.ratio * bar(offset + k) * p.slope(i);
      offset += q.value.size();
    }
    *gradient = -g;
  }
  return -value;
}

ParameterPosterior::Mode ParameterPosterior::mode(double jitter) const {
  Jitter own{jitter};
  const auto f = [&](const Vector& phi, Vector* g) { return (*this)(phi, g, own); };
  LbfgsState found = minimise(f, at_parameters()).state;
  const auto gradient = [&](const Vector& phi) {
    Vector g = Vector::Zero(size());
    f(phi, &g);
    return g;
  };
  Matrix H = hessian(gradient, found.u);
  return {std::move(found.u), found.value, std::move(H)};
}

}  // namespace covary
