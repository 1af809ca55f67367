#include "features/stationary_kernel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"

namespace covary {

StationaryKernel::StationaryKernel(const Kernel& kernel, Index dims, const std::string& feature)
    : dims_(dims) {
  Index found = 0;
  double order = 0.0;
  for (const auto& term : kernel.terms(dims)) {
    if (term.node->is_white()) continue;
    ++found;
    order = term.node->matern_order();
    offset_ = term.offset;
    lengths_ = term.node->parameter_count(dims) - 1;
  }
  if (found == 1 && order > 0.0) {
    order_ = order;
    return;
  }
  const auto form = kernel.node().gaussian_form(dims);
  if (found != 1 || !form || form->terms.size() != 1 || form->terms.front().is_linear())
    throw InputError(
        fmt::format("{} features are not available for kernel {}; they take se, matern12, matern32 "
                    "or matern52, or a product of se over "
                    "columns, with or without white",
                    feature, kernel.print()));
  gaussian_.emplace(kernel, dims, feature);
}

StationaryKernel::Values StationaryKernel::at(const double* theta) const {
  if (gaussian_) return gaussian_->at(0, theta);
  Values out{theta[offset_], Vector(dims_)};
  for (Index d = 0; d < dims_; ++d) {
    const double l = theta[offset_ + 1 + (lengths_ > 1 ? d : 0)];
    out.w(d) = 1.0 / (l * l);
  }
  return out;
}

void StationaryKernel::pullback(const double* theta, double log_v_bar, const Vector& w_bar,
                                double* theta_bar) const {
  if (gaussian_) {
    gaussian_->pullback(0, theta, log_v_bar, w_bar, theta_bar);
    return;
  }
  theta_bar[offset_] += log_v_bar / theta[offset_];
  for (Index d = 0; d < dims_; ++d) {
    const Index i = offset_ + 1 + (lengths_ > 1 ? d : 0);
    theta_bar[i] -= 2.0 * w_bar(d) / (theta[i] * theta[i] * theta[i]);
  }
}

// With r = Σ ω_d²/w_d and D columns: Πℓ_d·(2π)^{D/2}·exp(−r/2) of se, and of a Matérn kernel
// Πℓ_d·2^D·π^{D/2}·Γ(ν + D/2)/Γ(ν)·(2ν)^ν·(2ν + r)^{−ν − D/2}.
StationaryKernel::Density StationaryKernel::density(const Vector& w, const Vector& omega) const {
  Density out{0.0, Vector::Zero(dims_), Vector::Zero(dims_)};
  double r = 0.0, columns = 0.0;
  for (Index d = 0; d < dims_; ++d) {
    if (w(d) == 0.0) continue;
    columns += 1.0;
    r += omega(d) * omega(d) / w(d);
    out.log_value -= 0.5 * std::log(w(d));
  }
  double slope = -0.5;
  if (std::isinf(order_)) {
    out.log_value += 0.5 * columns * std::log(2.0 * std::numbers::pi) - 0.5 * r;
  } else {
    const double power = order_ + 0.5 * columns;
    out.log_value += columns * std::log(2.0) + 0.5 * columns * std::log(std::numbers::pi) +
                     std::lgamma(power) - std::lgamma(order_) + order_ * std::log(2.0 * order_) -
                     power * std::log(2.0 * order_ + r);
    slope = -power / (2.0 * order_ + r);
  }
  for (Index d = 0; d < dims_; ++d) {
    if (w(d) == 0.0) continue;
    out.by_square(d) = slope / w(d);
    out.by_log_w(d) = -0.5 - slope * omega(d) * omega(d) / w(d);
  }
  return out;
}

// Matérn: a t distribution with 2ν degrees of freedom.
Vector StationaryKernel::draw(Random& random) const {
  Vector out(dims_);
  for (double& value : out) value = random.normal();
  if (std::isinf(order_)) return out;
  double sum = 0.0;
  for (int i = 0; i < static_cast<int>(2.0 * order_ + 0.5); ++i) {
    const double g = random.normal();
    sum += g * g;
  }
  return out / std::sqrt(sum / (2.0 * order_));
}

double order_in_one_column(const KernelNode& node) {
  const auto own = node.over_columns(1);
  return own.inner ? order_in_one_column(*own.inner) : node.matern_order();
}

bool is_exponential(const Kernel& kernel, Index D) {
  if (D != 1) return false;
  Index found = 0, exponential = 0;
  for (const auto& term : kernel.terms(D)) {
    if (term.node->is_white()) continue;
    ++found;
    exponential += order_in_one_column(*term.node) == 0.5;
  }
  return found == 1 && exponential == 1;
}

}  // namespace covary
