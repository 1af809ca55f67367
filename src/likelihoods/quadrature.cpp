#include "likelihoods/quadrature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "covary/error.hpp"

namespace covary {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double reach = 8.5;    // standard deviations; beyond them lies 2e-17 of a Gaussian
constexpr double digits = 28.0;  // exp(−28) = 7e-13
constexpr double limit = 1e6;    // nodes; a wider ratio of scales is not resolved further

}  // namespace

GaussianRule::GaussianRule(double m, double v, const Singularity& s)
    : m_(m), sd_(std::sqrt(std::max(v, 0.0))) {
  // A step of 0.7 does for the Gaussian itself: exp(−2π²/0.7²) = 3e-18. A singularity r standard
  // deviations off the axis, above a point δ of them away, adds exp(−2πr/h + r²/2 − δ²/2).
  const double r = s.width / sd_;
  const bool placed = !std::isnan(s.location);
  const double away = (s.location - m) / sd_;
  const double delta = placed ? std::max(0.0, std::abs(away) - s.spread / sd_) : 0.0;
  double h = 0.7;
  if (r < 4.0) {
    const double needed = digits + 0.5 * (r * r - delta * delta);
    if (needed > 0.0) h = std::min(h, 2.0 * pi * r / needed);
  }
  h = std::max(h, 2.0 * reach / limit);
  const double plain = std::ceil(reach / h);
  begin_ = -plain * h;
  step_ = h;
  n_ = 2 * static_cast<Index>(plain) + 1;
  if (!placed || r > 1.0 || s.spread > s.width) return;
  // In u the singularities are at least 0.66 off the axis, and on the line π/6 = 0.52 off it the
  // Gaussian is at most exp(δ²/4).
  const double hu = 2.0 * pi * (pi / 6.0) / (digits + 0.25 * away * away);
  const double first = std::asinh((-reach - away) / r), last = std::asinh((reach - away) / r);
  const double count = std::ceil((last - first) / hu) + 1.0;
  if (count >= static_cast<double>(n_)) return;
  mapped_ = true;
  location_ = s.location;
  width_ = s.width;
  begin_ = first;
  step_ = hu;
  n_ = static_cast<Index>(count);
}

void GaussianRule::fill(Index begin, Index count, double* f, double* w) const {
  constexpr double one_over_sqrt_two_pi = 0.39894228040143267794;
  for (Index i = 0; i < count; ++i) {
    const double u = begin_ + step_ * static_cast<double>(begin + i);
    if (mapped_) {
      f[i] = location_ + width_ * std::sinh(u);
      const double t = (f[i] - m_) / sd_;
      w[i] = one_over_sqrt_two_pi * step_ * std::exp(-0.5 * t * t) * width_ * std::cosh(u) / sd_;
    } else {
      f[i] = m_ + sd_ * u;
      w[i] = one_over_sqrt_two_pi * step_ * std::exp(-0.5 * u * u);
    }
  }
}

namespace {

constexpr double negligible = 38.0;  // exp(−38) = 3e-17

// g(f) = α·ℓ(f) − (f − m)²/2v
class Integrand {
 public:
  Integrand(const LogDensity& density, double alpha, double m, double v)
      : density_(density), alpha_(alpha), m_(m), v_(v) {}
  Taylor at(double f) const {
    Taylor t;
    density_(1, &f, &t);
    const double z = f - m_;
    return {alpha_ * t.value - 0.5 * z * z / v_, alpha_ * t.first - z / v_,
            alpha_ * t.second - 1.0 / v_, 0.0};
  }

  // The mode that a safeguarded Newton iteration reaches from f.
  double climb(double f) const {
    Taylor g = at(f);
    for (int i = 0; i < 200 && !(std::isfinite(g.value) && std::isfinite(g.first)); ++i)
      g = at(f = 0.5 * f);  // exp(f) overflowed: towards zero
    // exp(f) far out on its steep side is left by unit steps
    for (int i = 0; i < 1000; ++i) {
      const double curvature = g.second < 0.0 ? -g.second : 1.0 / v_;
      double step = g.first / curvature;
      if (!std::isfinite(step) || std::abs(step) <= 1e-4 / std::sqrt(curvature)) break;
      Taylor next = at(f + step);
      for (int j = 0; j < 60 && !(next.value >= g.value); ++j) next = at(f + (step *= 0.5));
      if (!(next.value >= g.value)) break;
      f += step;
      g = next;
    }
    return f;
  }
  // How far from a mode, to the side of `sign`, the integrand is worth a look.
  double edge(double mode, double floor, double sign) const {
    const Taylor g = at(mode);
    double width = 6.0 / std::sqrt(std::max(-g.second, 1.0 / v_));
    for (int i = 0; i < 200 && at(mode + sign * width).value > floor; ++i) width *= 1.35;
    return mode + sign * width;
  }

 private:
  const LogDensity& density_;
  double alpha_, m_, v_;
};

struct Sums {
  double z = 0.0;    // Σ w
  double g1 = 0.0;   // Σ w αℓ′
  double g2 = 0.0;   // Σ w αℓ″
  double g11 = 0.0;  // Σ w (αℓ′)²
  double f1 = 0.0;   // Σ w (f − m)
  double f2 = 0.0;   // Σ w (f − m)²
};

// Nodes z = f − m, even in z or in u with f = location + width·sinh u. Differences from m are
// primary: next to a mean of order one a narrow Gaussian would lose its figures.
struct Grid {
  double begin, step, m, location, width;
  bool mapped;

  void nodes(double first, double stride, Index count, double* f, double* z, double* slope) const {
    for (Index i = 0; i < count; ++i) {
      const double u = begin + step * (first + stride * static_cast<double>(i));
      f[i] = mapped ? location + width * std::sinh(u) : m + u;
      z[i] = mapped ? f[i] - m : u;
      slope[i] = mapped ? width * std::cosh(u) : 1.0;
    }
  }
};

bool close(double a, double b, double scale) { return std::abs(a - b) <= 1e-7 * scale; }

constexpr Index chunk = GaussianRule::chunk;

// The integrand over a grid, refined until the moments of the tilted density hold: the trapezoidal
// rule, whose new nodes are the midpoints.
class TiltedRule {
 public:
  TiltedRule(const LogDensity& density, double alpha, double m, double v, const Singularity& s,
             bool log_concave)
      : density_(density), alpha_(alpha), v_(v), grid_{0.0, 0.0, m, s.location, s.width, false} {
    lay_out(Integrand(density, alpha, m, v), s, log_concave);
    add(0.0, 1.0, n_ + 1);
    for (int halving = 0; halving < 14; ++halving) {
      const Sums before = sums_;
      add(0.5, 1.0, n_);
      grid_.step *= 0.5;
      n_ *= 2;
      const double a = sums_.z, b = 2.0 * before.z, spread = std::sqrt(sums_.f2 * sums_.z);
      if (close(a, b, a) && close(sums_.f1, 2.0 * before.f1, spread) &&
          close(sums_.f2, 2.0 * before.f2, sums_.f2) &&
          close(sums_.g2 + sums_.g11, 2.0 * (before.g2 + before.g11),
                sums_.g11 + std::abs(sums_.g2)))
        break;
    }
  }

  Tilted moments() const {
    constexpr double half_log_two_pi = 0.91893853320467274178;
    Tilted out;
    out.log_z = top_ + std::log(sums_.z * grid_.step) - half_log_two_pi - 0.5 * std::log(v_);
    const double mean = sums_.f1 / sums_.z, variance = sums_.f2 / sums_.z - mean * mean;
    // Two forms of the same: by moments of f, which cancels when the likelihood says little, and by
    // parts, which cancels when it says much.
    if (variance < 0.25 * v_) {
      out.first = mean / v_;
      out.second = (variance - v_) / (v_ * v_);
    } else {
      out.first = sums_.g1 / sums_.z;
      out.second = (sums_.g2 + sums_.g11) / sums_.z - out.first * out.first;
    }
    return out;
  }

  // All nodes with their weights, which sum to one.
  void give(TiltedVisit visit, void* context) {
    std::array<double, chunk> w;
    for (Index i = 0; i <= n_; i += chunk) {
      const Index some = std::min(chunk, n_ + 1 - i);
      look(static_cast<double>(i), 1.0, some);
      Index kept = 0;
      for (Index j = 0; j < some; ++j) {
        const auto k = static_cast<std::size_t>(j), to = static_cast<std::size_t>(kept);
        const double weight = weight_of(k);
        if (!(weight > 0.0)) continue;
        f_[to] = f_[k];
        w[to] = weight / sums_.z;
        ++kept;
      }
      visit(context, kept, f_.data(), w.data());
    }
  }

 private:
  // From the modes as far as the integrand matters; finer next to a singularity of ℓ.
  void lay_out(const Integrand& g, const Singularity& s, bool log_concave) {
    double modes[2] = {g.climb(grid_.m), 0.0};
    int count = 1;
    if (!log_concave && !std::isnan(s.location)) modes[count++] = g.climb(s.location);
    top_ = g.at(modes[0]).value;
    if (count == 2) top_ = std::max(top_, g.at(modes[1]).value);
    double left = modes[0], right = modes[0];
    for (int i = 0; i < count; ++i) {
      left = std::min(left, g.edge(modes[i], top_ - negligible, -1.0));
      right = std::max(right, g.edge(modes[i], top_ - negligible, 1.0));
    }
    grid_.begin = left - grid_.m;
    double end = right - grid_.m;
    if (s.location > left && s.location < right && s.width < (right - left) / 32.0) {
      grid_.mapped = true;
      grid_.begin = std::asinh((left - s.location) / s.width);
      end = std::asinh((right - s.location) / s.width);
    }
    grid_.step = (end - grid_.begin) / static_cast<double>(n_);
  }
  void look(double first, double stride, Index n) {
    grid_.nodes(first, stride, n, f_.data(), z_.data(), jacobian_.data());
    density_(n, f_.data(), t_.data());
  }
  double weight_of(std::size_t k) const {
    return std::exp(alpha_ * t_[k].value - 0.5 * z_[k] * z_[k] / v_ - top_) * jacobian_[k];
  }
  void add(double first, double stride, Index n) {
    for (Index i = 0; i < n; i += chunk) {
      const Index some = std::min(chunk, n - i);
      look(first + stride * static_cast<double>(i), stride, some);
      for (Index j = 0; j < some; ++j) {
        const auto k = static_cast<std::size_t>(j);
        const double w = weight_of(k);
        if (!(w > 0.0)) continue;  // also where ℓ overflowed to −∞ or beyond
        const double slope = alpha_ * t_[k].first;
        sums_.z += w;
        sums_.g1 += w * slope;
        sums_.g2 += w * alpha_ * t_[k].second;
        sums_.g11 += w * slope * slope;
        sums_.f1 += w * z_[k];
        sums_.f2 += w * z_[k] * z_[k];
      }
    }
  }

  const LogDensity& density_;
  double alpha_, v_, top_ = 0.0;
  Grid grid_;
  Index n_ = 24;
  Sums sums_;
  std::array<double, chunk> f_, z_, jacobian_;
  std::array<Taylor, chunk> t_;
};

}  // namespace

Tilted tilted_quadrature(const LogDensity& density, double alpha, double m, double v,
                         const Singularity& s, bool log_concave, TiltedVisit visit, void* context) {
  // A Gaussian without width is a point; the limits of the derivatives are those of ℓ.
  const double smallest = 1e-20 * std::max(1.0, m * m);
  if (!(v > smallest)) {
    Taylor t;
    density(1, &m, &t);
    if (visit) {
      const double one = 1.0;
      visit(context, 1, &m, &one);
    }
    return {alpha * t.value, alpha * t.first, alpha * t.second};
  }
  TiltedRule rule(density, alpha, m, v, s, log_concave);
  const Tilted out = rule.moments();
  if (!std::isfinite(out.log_z) || !std::isfinite(out.first) || !std::isfinite(out.second))
    throw NumericalError(fmt::format(
        "the tilted density of a site could not be integrated (cavity mean {}, variance {}); "
        "damp the updates or scale the data",
        m, v));
  if (visit) rule.give(visit, context);
  return out;
}

}  // namespace covary
