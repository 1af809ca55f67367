#include "features/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/features/eigen.hpp"
#include "covary/features/fourier.hpp"
#include "features/stationary_kernel.hpp"

namespace covary {
namespace {

using Lines = std::vector<std::string>;

// Rows outside low … high in some column.
Index outside(ConstRows X, const Vector& low, const Vector& high) {
  Index count = 0;
  for (const auto& row : X.rowwise()) {
    bool out = false;
    for (Index d = 0; d < X.cols(); ++d) out = out || row(d) < low(d) || row(d) > high(d);
    count += out;
  }
  return count;
}

void add_interval(double a, double b, ConstRows X, const std::string& how, Lines& out) {
  const Index rows = outside(X, Vector::Constant(1, a), Vector::Constant(1, b));
  if (rows > 0)
    out.push_back(
        fmt::format("{} of {} rows lie outside the interval from {:.4g} to {:.4g} of the "
                    "features, where they know no more than its end does: {}",
                    rows, X.rows(), a, b, how));
}

// The harmonics' own defect, which more of them do not mend.
void add_defect(const Kernel& kernel, ConstVector theta, ConstVector z, ConstRows X, Lines& out) {
  const StationaryKernel matern(kernel, 1, "fourier");
  if (matern.order() != 0.5) return;
  const auto k = matern.at(theta.data());
  double worst = 0.0, where = 0.0;
  for (Index i = 0; i < X.rows(); ++i) {
    const double x = std::clamp(X(i, 0), z(0), z(1)),
                 defect = periodic_defect(k.v, 1.0 / std::sqrt(k.w(0)), z(0), z(1), x);
    if (defect <= worst) continue;
    worst = defect;
    where = X(i, 0);
  }
  if (worst > 0.01 * k.v)
    out.push_back(fmt::format(
        "the harmonics are periodic and leave {:.3g} of the variance {:.3g} at x = {:.4g}, however "
        "many there are: set features.interval to reach further beyond the data",
        worst, k.v, where));
}

// π over the mean distance of rows in a column.
void add_nyquist(const Vector& largest, ConstRows X, Lines& out) {
  for (Index d = 0; d < X.cols(); ++d) {
    const double range = X.col(d).maxCoeff() - X.col(d).minCoeff();
    if (!(range > 0.0)) continue;
    const double limit = std::numbers::pi * static_cast<double>(X.rows() - 1) / range;
    if (largest(d) > limit)
      out.push_back(fmt::format(
          "frequencies up to {:.4g} in input column {} are beyond {:.4g}, the Nyquist frequency of "
          "{} rows over its range: the data cannot tell them from lower ones; take fewer features "
          "or a longer lengthscale",
          largest(d), d, limit, X.rows()));
  }
}

// Some thousand rows spread evenly, and those at the ends of each column.
std::vector<Index> rows_to_ask(ConstRows X) {
  constexpr Index many = 2000;
  const Index step = std::max<Index>(1, X.rows() / many);
  std::vector<Index> out;
  for (Index i = 0; i < X.rows(); i += step) out.push_back(i);
  for (Index d = 0; d < X.cols(); ++d) {
    Index low = 0, high = 0;
    X.col(d).minCoeff(&low);
    X.col(d).maxCoeff(&high);
    out.push_back(low);
    out.push_back(high);
  }
  return out;
}

// k(x, x) − q(x, x) at the worst row, of white features.
void add_measure(const Features& u, ConstVector theta, ConstVector z, ConstRows X, double variance,
                 Lines& out) {
  double worst = 0.0;
  Index at = 0;
  Vector k(u.size());
  for (const Index i : rows_to_ask(X)) {
    const RowMatrix row = X.row(i);
    u.Kuf(theta.data(), z.data(), {row.data(), 1, row.cols(), row.cols()}, k.data());
    const double left = 1.0 - k.squaredNorm() / variance;
    if (left <= worst) continue;
    worst = left;
    at = i;
  }
  if (worst > 0.5)
    out.push_back(fmt::format(
        "the measure of the eigenfunctions is narrower than the data, or they are too few: at row "
        "{} they leave {:.0f} % of the variance; take more of them or a larger features.sd",
        at, 100.0 * worst));
}

void add_underflow(const Features& u, const Vector& w, ConstVector z, Lines& out) {
  const auto degrees = degrees_of(u);
  const Index D = u.dims();
  Vector logs(D);
  for (Index d = 0; d < D; ++d)
    logs(d) = w(d) > 0.0 ? std::log(eigenvalue_ratio(1.0 / std::sqrt(w(d)), z(D + d))) : 0.0;
  Index idle = 0;
  for (Index m = 0; m < u.size(); ++m) {
    double log_value = 0.0;
    for (Index d = 0; d < D; ++d)
      log_value += logs(d) * static_cast<double>(degrees[static_cast<std::size_t>(m * D + d)]);
    idle += log_value < std::log(1e-32);
  }
  if (idle > 0)
    out.push_back(fmt::format(
        "{} of {} eigenfunctions have eigenvalues below 1e-32 of the largest: they add nothing and "
        "cost as much as others; {} would do",
        idle, u.size(), u.size() - idle));
}

}  // namespace

Lines feature_warnings(const Features& u, const Kernel& kernel, ConstVector theta, ConstVector z,
                       ConstRows X) {
  Lines out;
  const std::string name = u.name();
  const Index D = u.dims(), M = u.size();
  if (name == "fourier" && D > 1) {
    const Eigen::Map<const RowMatrix> intervals(z.data(), D, 2);
    if (const Index rows = outside(X, intervals.col(0), intervals.col(1)); rows > 0)
      out.push_back(
          fmt::format("{} of {} rows lie outside the intervals of the features: set "
                      "features.interval wider",
                      rows, X.rows()));
  } else if (name == "fourier") {
    add_interval(z(0), z(1), X, "set features.interval wider", out);
    add_defect(kernel, theta, z, X, out);
    add_nyquist(Vector::Constant(1, std::numbers::pi * static_cast<double>(M - 1) / (z(1) - z(0))),
                X, out);
  } else if (name == "fourier(l2)") {
    add_interval(z(0) - 0.5 * z(1), z(0) + 0.5 * z(1), X, "set features.length wider", out);
    add_nyquist(Vector::Constant(1, std::numbers::pi * static_cast<double>(M - 1) / z(1)), X, out);
  } else if (name == "hilbert") {
    const Vector centre = z.head(D), half = z.tail(D);
    if (const Index rows = outside(X, centre - half, centre + half); rows > 0)
      out.push_back(
          fmt::format("{} of {} rows lie outside the box of the basis functions, where "
                      "they are zero: set features.half_widths larger",
                      rows, X.rows()));
  } else if (name == "frequency" || name == "timefrequency") {
    const Index before = name == "frequency" ? 2 * D : 2 * M * D;
    const Eigen::Map<const RowMatrix> omega(z.data() + before, M, D);
    add_nyquist(omega.cwiseAbs().colwise().maxCoeff().transpose(), X, out);
  } else if (name == "rff" || name == "ssgp") {
    const Vector root = StationaryKernel(kernel, D, name).at(theta.data()).w.cwiseSqrt();
    const Eigen::Map<const RowMatrix> xi(z.data(), M / 2, D);
    // A few of a heavy-tailed spectrum always are: said of frequencies that were trained.
    if (name == "ssgp")
      add_nyquist(xi.cwiseAbs().colwise().maxCoeff().transpose().cwiseProduct(root), X, out);
  } else if (name == "eigen" && !degrees_of(u).empty()) {
    const auto k = GaussianKernel(kernel, D, name).at(0, theta.data());
    add_underflow(u, k.w, z, out);
    add_measure(u, theta, z, X, k.v, out);
  }
  return out;
}

}  // namespace covary
