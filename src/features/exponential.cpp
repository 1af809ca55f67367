#include "features/exponential.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "covary/autodiff/dual.hpp"
#include "covary/error.hpp"
#include "covary/features/planner.hpp"
#include "features/box.hpp"
#include "features/exponential_roots.hpp"
#include "features/kinds.hpp"
#include "features/stationary_kernel.hpp"
#include "features/warnings.hpp"

namespace covary {
namespace {

using std::cos;
using std::exp;
using std::sin;
using std::sqrt;

// Own gives, for v = 1 and as functions of ℓ, L and the place t within ±L/2 of the centre:
//   table(ℓ, L): what all values share;  value(table, m, ℓ, L, t);  gram(m, n, ℓ, L);
// and `power`, that of v in Kuf (twice that in Kuu, where v is left once by each side).
template <class Own>
class IntervalFeatures : public Features {
 public:
  IntervalFeatures(const Kernel& kernel, const char* name, double centre, double length)
      : kernel_(kernel, 1, name), centre_(centre), length_(length) {
    if (kernel_.order() != 0.5)
      throw InputError(
          fmt::format("{} features over an interval are not available for kernel {}; they take "
                      "matern12, with or without white",
                      name, kernel.print()));
    if (!std::isfinite(centre) || !std::isfinite(length) || !(length > 0.0))
      throw InputError(fmt::format(
          "the interval must be finite with length > 0, got length {} around {}", length, centre));
  }

  Index dims() const final { return 1; }
  Index parameter_count() const final { return 2; }
  void declare(Parameters& out) const final {
    out.add({"features.centre", Vector::Constant(1, centre_), Transform::real()});
    out.add({"features.length", Vector::Constant(1, length_), Transform::positive()});
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const final {
    const Values k = at(theta);
    const auto table = own().table(k.l, z[1]);
    const double height = std::pow(k.v, Own::power);
    for (Index i = 0; i < x.n; ++i)
      for (Index m = 0; m < size(); ++m)
        K[i * size() + m] = height * beyond(table, m, k.l, z[0], z[1], x.row(i)[0]);
  }

  // By duals in ℓ, centre, length and x.
  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const final {
    const Values k = at(theta);
    const Dual l = Dual::variable(k.l, 0), centre = Dual::variable(z[0], 1),
               length = Dual::variable(z[1], 2);
    const auto table = own().table(l, length);
    const double height = std::pow(k.v, Own::power);
    double log_v_bar = 0.0, l_bar = 0.0;
    for (Index i = 0; i < x.n; ++i) {
      const Dual at_x = Dual::variable(x.row(i)[0], 3);
      for (Index m = 0; m < size(); ++m) {
        const double bar = height * Kuf_bar[i * size() + m];
        const Dual value = beyond(table, m, l, centre, length, at_x);
        log_v_bar += Own::power * bar * value.value;
        l_bar += bar * value.partial[0];
        z_bar[0] += bar * value.partial[1];
        z_bar[1] += bar * value.partial[2];
        if (x_bar) x_bar[i] += bar * value.partial[3];
      }
    }
    add(theta, log_v_bar, l_bar, theta_bar);
  }

  RowMatrix where(const double* z) const final {
    return Vector::LinSpaced(5, z[0] - 0.5 * z[1], z[0] + 0.5 * z[1]);
  }

 protected:
  struct Values {
    double v, l;
  };
  Values at(const double* theta) const {
    const StationaryKernel::Values k = kernel_.at(theta);
    return {k.v, 1.0 / std::sqrt(k.w(0))};
  }
  // w = 1/ℓ²
  void add(const double* theta, double log_v_bar, double l_bar, double* theta_bar) const {
    const double l = at(theta).l;
    kernel_.pullback(theta, log_v_bar, Vector::Constant(1, -0.5 * l * l * l * l_bar), theta_bar);
  }
  double centre() const { return centre_; }
  double length() const { return length_; }

 private:
  const Own& own() const { return static_cast<const Own&>(*this); }
  template <class T, class Table>
  T beyond(const Table& table, Index m, const T& l, const T& centre, const T& length,
           const T& x) const {
    const T half = 0.5 * length, t = x - centre;
    if (t > half) return own().value(table, m, l, length, half) * exp((half - t) / l);
    if (t < -half) return own().value(table, m, l, length, -half) * exp((half + t) / l);
    return own().value(table, m, l, length, t);
  }

  StationaryKernel kernel_;
  double centre_, length_;
};

class ExponentialEigen final : public IntervalFeatures<ExponentialEigen> {
 public:
  static constexpr double power = 0.5;

  ExponentialEigen(const Kernel& kernel, double centre, double length, Index M)
      : IntervalFeatures(kernel, "eigen", centre, length), M_(M) {
    if (M < 1) throw InputError("there are no eigenfunctions; a sparse model needs one");
  }

  std::string name() const override { return "eigen"; }
  std::optional<Spectrum> spectrum(const double* theta, const double* z) const override {
    const Values k = IntervalFeatures::at(theta);
    return Spectrum::exponential(k.v, k.l, z[1]);
  }
  Index size() const override { return M_; }
  Matrix Kuu(const double*, const double*) const override { return Matrix::Identity(M_, M_); }
  void Kuu_pullback(const double*, const double*, ConstMatrix, double*, double*) const override {}
  bool is_white() const override { return true; }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<ExponentialEigen>(term, centre(), length(), M_);
  }

  // The roots, and as duals with their derivatives by ℓ and L, which are implicit.
  Vector table(double l, double L) const { return exponential_roots(l, L, M_); }
  std::vector<Dual> table(const Dual& l, const Dual& L) const {
    std::vector<Dual> out;
    for (const double o : table(l.value, L.value)) {
      const double s = 1.0 + l.value * l.value * o * o, D = l.value + 0.5 * L.value * s;
      out.push_back(Dual::combine(o, -o / D, l, -0.5 * o * s / D, L));
    }
    return out;
  }
  template <class T, class Table>
  T value(const Table& roots, Index m, const T& l, const T& L, const T& t) const {
    const T o = at(roots, m), lambda = 2.0 * l / (1.0 + l * l * o * o);
    return sqrt(2.0 * lambda / (L + lambda)) * (m % 2 == 0 ? cos(o * t) : sin(o * t));
  }

 private:
  static double at(const Vector& roots, Index m) { return roots(m); }
  static const Dual& at(const std::vector<Dual>& roots, Index m) {
    return roots[static_cast<std::size_t>(m)];
  }
  Index M_;
};

class L2Fourier final : public IntervalFeatures<L2Fourier> {
 public:
  static constexpr double power = 1.0;

  L2Fourier(const Kernel& kernel, double centre, double length, Index harmonics)
      : IntervalFeatures(kernel, "fourier(l2)", centre, length), K_(harmonics) {
    if (harmonics < 0)
      throw InputError(fmt::format("fourier(l2) features need harmonics ≥ 0, got {}", harmonics));
  }

  std::string name() const override { return "fourier(l2)"; }
  Index size() const override { return 2 * K_ + 1; }

  Matrix Kuu(const double* theta, const double* z) const override {
    const Values k = at(theta);
    Matrix out(size(), size());
    for (Index n = 0; n < size(); ++n)
      for (Index m = 0; m <= n; ++m) out(m, n) = out(n, m) = k.v * gram(m, n, k.l, z[1]);
    return out;
  }

  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    const Values k = at(theta);
    const Dual l = Dual::variable(k.l, 0), L = Dual::variable(z[1], 2);
    double log_v_bar = 0.0, l_bar = 0.0;
    for (Index n = 0; n < size(); ++n)
      for (Index m = 0; m < size(); ++m) {
        const Dual value = gram(m, n, l, L);
        const double bar = k.v * Kuu_bar(m, n);
        log_v_bar += bar * value.value;
        l_bar += bar * value.partial[0];
        z_bar[1] += bar * value.partial[2];
      }
    add(theta, log_v_bar, l_bar, theta_bar);
  }

  std::vector<std::string> warnings(const double*, const double* z, ConstRows X) const override {
    std::vector<std::string> out;
    warn_of_interval(z[0] - 0.5 * z[1], z[0] + 0.5 * z[1], X, "set features.length wider", out);
    warn_of_nyquist(Vector::Constant(1, std::numbers::pi * static_cast<double>(size() - 1) / z[1]),
                    X, out);
    return out;
  }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<L2Fourier>(term, centre(), length(), K_);
  }

  template <class T>
  int table(const T&, const T&) const {
    return 0;
  }
  // With λ = 1/ℓ, S = 2λ/(λ² + ω²) and e± = exp(−λ(L/2 ∓ t)), those of the two ends:
  //   cosines S(cos ωt − ½(−1)ᵏ(e₊ + e₋)),  sines S(sin ωt − ½(−1)ᵏ(ω/λ)(e₊ − e₋)).
  template <class T>
  T value(int, Index m, const T& l, const T& L, const T& t) const {
    const T o = omega(m, L), S = 2.0 * l / (1.0 + l * l * o * o);
    const T upper = exp((t - 0.5 * L) / l), lower = exp(-(t + 0.5 * L) / l);
    if (m <= K_) return S * (cos(o * t) - 0.5 * sign(m) * (upper + lower));
    return S * (sin(o * t) - 0.5 * sign(m) * o * l * (upper - lower));
  }

 private:
  Index harmonic(Index m) const { return m <= K_ ? m : m - K_; }
  double sign(Index m) const { return harmonic(m) % 2 == 0 ? 1.0 : -1.0; }
  template <class T>
  T omega(Index m, const T& L) const {
    return 2.0 * std::numbers::pi * static_cast<double>(harmonic(m)) / L;
  }
  // S_m·L/2 (L for the constant) on the diagonal; what the ends take of cosines, or add to sines;
  // none between the two.
  template <class T>
  T gram(Index m, Index n, const T& l, const T& L) const {
    if ((m <= K_) != (n <= K_)) return T(0.0);
    const T a = omega(m, L), b = omega(n, L), l2 = l * l;
    const T Sm = 2.0 * l / (1.0 + l2 * a * a), Sn = 2.0 * l / (1.0 + l2 * b * b);
    const T ends = 0.5 * sign(m) * sign(n) * (1.0 - exp(-L / l)) * Sm * Sn;
    const T both = m <= K_ ? -ends : ends * l2 * a * b;
    return m == n ? both + Sm * L * (m == 0 ? 1.0 : 0.5) : both;
  }

  Index K_;
};

}  // namespace

FeaturesPtr exponential_eigen_features(const Kernel& kernel, double centre, double length,
                                       Index M) {
  return std::make_shared<ExponentialEigen>(kernel, centre, length, M);
}

FeaturesPtr l2_fourier_features(const Kernel& kernel, double centre, double length,
                                Index harmonics) {
  return std::make_shared<L2Fourier>(kernel, centre, length, harmonics);
}

const FeatureKind l2_fourier_kind{
    "fourier(l2)",
    "fourier(l2)",
    "centre, length",
    false,
    false,
    false,
    [](const FeatureStart& s, Index) {
      need_one_column(s, "fourier(l2)");
      const Box box = box_of(StationaryKernel(s.kernel, 1, "fourier(l2)"), s, true);
      return l2_fourier_features(s.kernel, box.centre(0), 2.0 * box.half(0), (s.M - 1) / 2);
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record);
      r.expect(r.S() == 2 && r.D() == 1 && r.M() % 2 == 1);
      const double centre = r.vector(1)(0), length = r.vector(1)(0);
      return l2_fourier_features(kernel, centre, length, (r.M() - 1) / 2);
    }};

}  // namespace covary
