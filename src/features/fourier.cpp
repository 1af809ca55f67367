#include "features/fourier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/features/one_pass.hpp"
#include "features/matern_space.hpp"
#include "features/stationary_kernel.hpp"
#include "features/warnings.hpp"

namespace covary {
namespace {

class FourierFeatures final : public Features, public OnePassFeatures {
 public:
  FourierFeatures(const Kernel& kernel, double a, double b, Index harmonics)
      : a_(a), b_(b), K_(harmonics) {
    Index found = 0;
    for (const auto& term : kernel.terms(1)) {
      if (term.node->is_white()) continue;
      ++found;
      order_ = static_cast<int>(order_in_one_column(*term.node) + 0.5) - 1;  // of no Matérn: −1
      theta_ = term.offset;
    }
    if (found != 1 || order_ < 0)
      throw InputError(
          fmt::format("fourier features are not available for kernel {}; they take matern12, "
                      "matern32 or matern52, with or without white",
                      kernel.print()));
    if (!std::isfinite(a) || !std::isfinite(b) || !(a < b))
      throw InputError(
          fmt::format("the interval must be finite with low < high, got {} to {}", a, b));
    if (harmonics < 0)
      throw InputError(fmt::format("fourier features need harmonics ≥ 0, got {}", harmonics));
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
    return Kuu_parts(theta, z).dense();
  }
  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    Kuu_parts_pullback(theta, z, Kuu_parts(theta, z).pullback(Kuu_bar), theta_bar, z_bar);
  }

  LowRankDiagonal Kuu_parts(const double* theta, const double* z) const override {
    const MaternSpace space = space_of(theta);
    const double L = z[1] - z[0], root = 1.0 / std::sqrt(space.v);
    LowRankDiagonal out{Vector(size()), Matrix::Zero(size(), order_ + 1)};
    for (Index m = 0; m < size(); ++m) {
      const double o = omega(harmonic(m), L);
      out.d(m) = (m == 0 ? L : 0.5 * L) * space.inverse_density(o);
      for (int j = 0; j <= order_; ++j)
        if (const auto end = space.end(j, o / space.lambda); end.of_sines == is_sine(m))
          out.U(m, j) = root * end.value;
    }
    return out;
  }

  // All entries are functions of ω/λ times powers of λ and L over v or √v, with ω ∝ 1/L.
  void Kuu_parts_pullback(const double* theta, const double* z, const LowRankDiagonal& bar,
                          double* theta_bar, double* z_bar) const override {
    const MaternSpace space = space_of(theta);
    const double L = z[1] - z[0], v = space.v, l = space.lambda, root = 1.0 / std::sqrt(v);
    const double n = static_cast<double>(order_ + 1);
    double v_bar = 0.0, l_bar = 0.0, L_bar = 0.0;
    for (Index m = 0; m < size(); ++m) {
      const double o = omega(harmonic(m), L), s = l * l + o * o;
      // (λ² + ω²)^(p+1)/λ^(2p+1)
      const double share = (m == 0 ? L : 0.5 * L) * space.inverse_density(o) * bar.d(m);
      v_bar -= share / v;
      l_bar += share * (2.0 * n * l / s - (2.0 * n - 1.0) / l);
      L_bar += share * (1.0 - 2.0 * n * o * o / s) / L;
      for (int j = 0; j <= order_; ++j) {
        const auto end = space.end(j, o / l);
        if (end.of_sines != is_sine(m)) continue;
        v_bar -= 0.5 * bar.U(m, j) * root * end.value / v;
        l_bar -= bar.U(m, j) * root * end.slope / l;
        L_bar -= bar.U(m, j) * root * end.slope / L;
      }
    }
    add(theta, v_bar, l_bar, theta_bar);
    z_bar[0] -= L_bar;
    z_bar[1] += L_bar;
  }

  const OnePassFeatures* one_pass() const override { return this; }
  bool covers(const double* z, const RowBlock& x) const override {
    for (Index j = 0; j < x.n; ++j)
      if (!(x.row(j)[0] >= z[0] && x.row(j)[0] <= z[1])) return false;
    return true;
  }
  // Products of harmonics are sums of harmonics: Σ cos ω_k(x − a) and Σ sin ω_k(x − a) for k ≤ 2K
  // are all of ψ2, in O(K) a row.
  Index sum_size(Index columns) const override { return 2 * (2 * K_ + 1) + size() * columns; }
  void add_sums(const double* z, const RowBlock& x, ConstMatrix T, double* sum) const override {
    constexpr Index anew = 32;  // turns between which rounding adds up
    Eigen::ArrayXd phase(x.n);
    for (Index j = 0; j < x.n; ++j)
      phase(j) = 2.0 * std::numbers::pi * (x.row(j)[0] - z[0]) / (z[1] - z[0]);
    const Eigen::ArrayXd by_cos = phase.cos(), by_sin = phase.sin();
    Eigen::ArrayXd c, s, turned(x.n);
    double *cosines = sum, *sines = sum + 2 * K_ + 1;
    Eigen::Map<Matrix> kT(sum + 2 * (2 * K_ + 1), size(), T.cols());
    for (Index k = 0; k <= 2 * K_; ++k) {
      if (k % anew == 0) {
        c = (static_cast<double>(k) * phase).cos();
        s = (static_cast<double>(k) * phase).sin();
      } else {
        turned = c * by_cos - s * by_sin;
        s = s * by_cos + c * by_sin;
        c.swap(turned);
      }
      cosines[k] += c.sum();
      sines[k] += s.sum();
      if (k > K_) continue;
      for (Index t = 0; t < T.cols(); ++t) {
        kT(k, t) += c.matrix().dot(T.col(t));
        if (k > 0) kT(K_ + k, t) += s.matrix().dot(T.col(t));
      }
    }
  }
  FeatureSums unpack(const double* sum, Index columns) const override {
    const auto cosine = [&](Index k) { return sum[std::abs(k)]; };
    const auto sine = [&](Index k) { return (k < 0 ? -1.0 : 1.0) * sum[2 * K_ + 1 + std::abs(k)]; };
    FeatureSums out{Matrix(size(), size()),
                    Eigen::Map<const Matrix>(sum + 2 * (2 * K_ + 1), size(), columns)};
    for (Index j = 0; j < size(); ++j)
      for (Index i = 0; i < size(); ++i) {
        const Index a = harmonic(i), b = harmonic(j);
        if (is_sine(i) && is_sine(j))
          out.psi2(i, j) = 0.5 * (cosine(a - b) - cosine(a + b));
        else if (is_sine(i))
          out.psi2(i, j) = 0.5 * (sine(a + b) + sine(a - b));
        else if (is_sine(j))
          out.psi2(i, j) = 0.5 * (sine(a + b) + sine(b - a));
        else
          out.psi2(i, j) = 0.5 * (cosine(a - b) + cosine(a + b));
      }
    return out;
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
  std::vector<std::string> warnings(const double* theta, const double* z,
                                    ConstRows X) const override {
    std::vector<std::string> out;
    warn_of_interval(z[0], z[1], X, "set features.interval wider", out);
    if (order_ == 0) warn_of_defect(theta, z, X, out);
    warn_of_nyquist(
        Vector::Constant(1, std::numbers::pi * static_cast<double>(size() - 1) / (z[1] - z[0])), X,
        out);
    return out;
  }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<FourierFeatures>(term, a_, b_, K_);
  }

 private:
  struct Place {
    double t, side, distance;  // the nearest point inside; −1, 0 or 1; how far outside
  };
  // The harmonics' own defect, which more of them do not mend.
  void warn_of_defect(const double* theta, const double* z, ConstRows X,
                      std::vector<std::string>& out) const {
    const double v = theta[theta_], l = theta[theta_ + 1];
    double worst = 0.0, where = 0.0;
    for (Index i = 0; i < X.rows(); ++i) {
      const double x = std::clamp(X(i, 0), z[0], z[1]),
                   defect = periodic_defect(v, l, z[0], z[1], x);
      if (defect <= worst) continue;
      worst = defect;
      where = X(i, 0);
    }
    if (worst > 0.01 * v)
      out.push_back(fmt::format(
          "the harmonics are periodic and leave {:.3g} of the variance {:.3g} at x = {:.4g}, "
          "however many there are: set features.interval to reach further beyond the data",
          worst, v, where));
  }
  struct Wave {
    double value, slope, curve;  // of harmonic m at that point
  };

  static double omega(Index k, double L) {
    return 2.0 * std::numbers::pi * static_cast<double>(k) / L;
  }
  bool is_sine(Index m) const { return m > K_; }
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
