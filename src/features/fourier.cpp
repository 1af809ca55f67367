#include "covary/features/fourier.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "features/matern_space.hpp"

namespace covary {
namespace {

class FourierFeatures final : public Features {
 public:
  FourierFeatures(const Kernel& kernel, double a, double b, Index harmonics)
      : a_(a), b_(b), K_(harmonics) {
    const std::string text = kernel.print();
    Index found = 0;
    for (const auto& term : kernel.terms(1)) {
      if (term.node->is_white()) continue;
      ++found;
      const std::string name = term.node->print().substr(0, 8);
      order_ = name == "matern12" ? 0 : name == "matern32" ? 1 : name == "matern52" ? 2 : -1;
      theta_ = term.offset;
    }
    if (found != 1 || order_ < 0)
      throw InputError(fmt::format(
          "fourier features are for one of matern12, matern32 and matern52, with or without white; "
          "{} is none of them",
          text));
    if (!std::isfinite(a) || !std::isfinite(b) || !(a < b))
      throw InputError(fmt::format("an interval from {} to {} is none", a, b));
    if (harmonics < 0)
      throw InputError(fmt::format("fourier features have 0 harmonics or more, got {}", harmonics));
  }

  std::string name() const override { return "fourier"; }
  Index size() const override { return 2 * K_ + 1; }
  Index dims() const override { return 1; }
  Index parameter_count() const override { return 2; }

  void declare(Parameters& out) const override {
    out.add({"features.interval", (Vector(2) << a_, b_).finished(), Transform::real(), 2, 1});
    out.fix("features.interval");
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    const MaternSpace space = space_of(theta);
    const double L = z[1] - z[0];
    const MaternSpace::Ends e = space.ends();
    Matrix K = Matrix::Zero(size(), size());
    for (Index i = 0; i <= K_; ++i)
      for (Index j = 0; j <= K_; ++j) {
        const double c = -omega(i, L) * omega(i, L), d = -omega(j, L) * omega(j, L);
        K(i, j) = e.values + e.mixed * (c + d) + e.curves * (c * d);
      }
    for (Index i = 1; i <= K_; ++i)
      for (Index j = 1; j <= K_; ++j) K(K_ + i, K_ + j) = e.slopes * (omega(i, L) * omega(j, L));
    for (Index m = 0; m < size(); ++m)
      K(m, m) += (m == 0 ? L : 0.5 * L) * space.inverse_density(omega(harmonic(m), L));
    return K;
  }

  // All entries are sums of powers of λ and ω over v: λ by differences of their exponents would be
  // long, so they are taken by the chain rule term by term.
  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    const MaternSpace space = space_of(theta);
    const double L = z[1] - z[0], v = space.v, l = space.lambda, l2 = l * l;
    double v_bar = 0.0, l_bar = 0.0, L_bar = 0.0;
    const Matrix K = Kuu(theta, z);
    for (Index j = 0; j < size(); ++j)
      for (Index i = 0; i < size(); ++i) v_bar -= Kuu_bar(i, j) * K(i, j) / v;
    const MaternSpace::Ends e = space.ends();
    // mixed ∝ λ⁻², curves ∝ λ⁻⁴, slopes ∝ λ⁻², and ω ∝ 1/L.
    for (Index i = 0; i <= K_; ++i)
      for (Index j = 0; j <= K_; ++j) {
        const double c = -omega(i, L) * omega(i, L), d = -omega(j, L) * omega(j, L);
        const double mixed = e.mixed * (c + d), curves = e.curves * c * d, bar = Kuu_bar(i, j);
        l_bar += bar * (-2.0 * mixed - 4.0 * curves) / l;
        L_bar += bar * (-2.0 * mixed - 4.0 * curves) / L;
      }
    for (Index i = 1; i <= K_; ++i)
      for (Index j = 1; j <= K_; ++j) {
        const double slopes = Kuu_bar(K_ + i, K_ + j) * e.slopes * omega(i, L) * omega(j, L) * -2.0;
        l_bar += slopes / l;
        L_bar += slopes / L;
      }
    // (λ² + ω²)^(p+1)/λ^(2p+1)
    const double n = static_cast<double>(order_ + 1);
    for (Index m = 0; m < size(); ++m) {
      const double o = omega(harmonic(m), L), s = l2 + o * o;
      const double value = (m == 0 ? L : 0.5 * L) * space.inverse_density(o) * Kuu_bar(m, m);
      l_bar += value * (2.0 * n * l / s - (2.0 * n - 1.0) / l);
      L_bar += value * (1.0 - 2.0 * n * o * o / s) / L;
    }
    add(theta, v_bar, l_bar, theta_bar);
    z_bar[0] -= L_bar;
    z_bar[1] += L_bar;
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const MaternSpace space = space_of(theta);
    for (Index j = 0; j < x.n; ++j) {
      const Place at = place(x.row(j)[0], z);
      const MaternSpace::Beyond w = weights(space, at);
      double* column = K + j * size();
      for (Index m = 0; m < size(); ++m) {
        const Wave g = wave(m, at, z);
        column[m] = w.value * g.value + at.side * w.slope * g.slope + w.curve * g.curve;
      }
    }
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const MaternSpace space = space_of(theta);
    const double L = z[1] - z[0];
    double l_bar = 0.0;
    for (Index j = 0; j < x.n; ++j) {
      const Place at = place(x.row(j)[0], z);
      const MaternSpace::Beyond w = weights(space, at);
      const bool out = at.side != 0.0;
      const MaternSpace::Beyond by_d =
          out ? space.beyond_by_distance(at.distance) : MaternSpace::Beyond{};
      const MaternSpace::Beyond by_l =
          out ? space.beyond_by_lambda(at.distance) : MaternSpace::Beyond{};
      double distance_bar = 0.0, inside_bar = 0.0;
      for (Index m = 0; m < size(); ++m) {
        const double bar = Kuf_bar[j * size() + m];
        const Wave g = wave(m, at, z);
        const auto combine = [&](const MaternSpace::Beyond& k) {
          return k.value * g.value + at.side * k.slope * g.slope + k.curve * g.curve;
        };
        distance_bar += bar * combine(by_d);
        l_bar += bar * combine(by_l);
        // ∂/∂t of the harmonic at t, and by ω with the phase ω(t − a) held: g′ ∝ ω, g″ ∝ ω².
        const double third = -omega(harmonic(m), L) * omega(harmonic(m), L) * g.slope;
        const double along = w.value * g.slope + at.side * w.slope * g.curve + w.curve * third;
        inside_bar += out ? 0.0 : bar * along;
        // With a and b the phase of a point inside moves, that of the ends does not.
        if (!out) {
          const double share = (at.t - z[0]) / L;
          z_bar[0] += bar * along * (share - 1.0);
          z_bar[1] -= bar * along * share;
        } else {
          const double by_omega = at.side * w.slope * g.slope + 2.0 * w.curve * g.curve;
          z_bar[0] += bar * by_omega / L;
          z_bar[1] -= bar * by_omega / L;
        }
      }
      if (out) {  // distance is x − b or a − x
        (at.side > 0.0 ? z_bar[1] : z_bar[0]) -= at.side * distance_bar;
        inside_bar = at.side * distance_bar;
      }
      if (x_bar) x_bar[j * x.dims] += inside_bar;
    }
    add(theta, 0.0, l_bar, theta_bar);
  }

  RowMatrix where(const double* z) const override { return Vector::LinSpaced(5, z[0], z[1]); }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<FourierFeatures>(term, a_, b_, K_);
  }

 private:
  struct Place {
    double t, side, distance;  // the nearest point inside; −1, 0 or 1; how far outside
  };
  struct Wave {
    double value, slope, curve;  // of harmonic m at that point
  };

  static double omega(Index k, double L) {
    return 2.0 * std::numbers::pi * static_cast<double>(k) / L;
  }
  Index harmonic(Index m) const { return m <= K_ ? m : m - K_; }
  MaternSpace space_of(const double* theta) const {
    return {order_, theta[theta_], std::sqrt(2.0 * order_ + 1.0) / theta[theta_ + 1]};
  }
  static Place place(double x, const double* z) {
    if (x < z[0]) return {z[0], -1.0, z[0] - x};
    if (x > z[1]) return {z[1], 1.0, x - z[1]};
    return {x, 0.0, 0.0};
  }
  static MaternSpace::Beyond weights(const MaternSpace& space, const Place& at) {
    return at.side == 0.0 ? MaternSpace::Beyond{1.0, 0.0, 0.0} : space.beyond(at.distance);
  }
  Wave wave(Index m, const Place& at, const double* z) const {
    const double o = omega(harmonic(m), z[1] - z[0]);
    // At the ends exactly: a whole number of periods.
    const double phase = at.side == 0.0 ? o * (at.t - z[0]) : 0.0;
    const double c = std::cos(phase), s = std::sin(phase);
    if (m <= K_) return {c, -o * s, -o * o * c};
    return {s, o * c, -o * o * s};
  }
  // λ = √(2p + 1)/ℓ
  void add(const double* theta, double v_bar, double l_bar, double* theta_bar) const {
    const double l = theta[theta_ + 1];
    theta_bar[theta_] += v_bar;
    theta_bar[theta_ + 1] -= l_bar * std::sqrt(2.0 * order_ + 1.0) / (l * l);
  }

  int order_ = -1;
  Index theta_ = 0;
  double a_, b_;
  Index K_;
};

}  // namespace

FeaturesPtr fourier_features(const Kernel& kernel, double a, double b, Index harmonics) {
  return std::make_shared<FourierFeatures>(kernel, a, b, harmonics);
}

double periodic_defect(double variance, double lengthscale, double a, double b, double x) {
  const double k = std::exp(-(b - x) / lengthscale) - std::exp(-(x - a) / lengthscale);
  return 0.5 * variance * k * k / (1.0 - std::exp(-(b - a) / lengthscale));
}

}  // namespace covary
