#include "features/orthogonal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "features/kinds.hpp"
#include "features/stationary_kernel.hpp"

namespace covary {
namespace {

class OrthogonalFeatures final : public Features {
 public:
  OrthogonalFeatures(const Kernel& kernel, double centre, double scale, Index M)
      : kernel_(kernel, 1, "orthogonal"), centre_(centre), scale_(scale), M_(M) {
    if (M < 1) throw InputError("there are no orthogonal features; a sparse model needs one");
    if (!std::isfinite(centre) || !std::isfinite(scale) || !(scale > 0.0))
      throw InputError(fmt::format(
          "the centre must be finite and the scale positive, got {} and {}", centre, scale));
  }

  std::string name() const override { return "orthogonal"; }
  Index size() const override { return M_; }
  Index dims() const override { return 1; }
  Index parameter_count() const override { return 2; }
  void declare(Parameters& out) const override {
    out.add({"features.centre", Vector::Constant(1, centre_), Transform::real()});
    out.add({"features.scale", Vector::Constant(1, scale_), Transform::positive()});
  }

  Matrix Kuu(const double*, const double*) const override { return Matrix::Identity(M_, M_); }
  void Kuu_pullback(const double*, const double*, ConstMatrix, double*, double*) const override {}

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const Grid g(*this, theta, z, x);
    Eigen::Map<Matrix> out(K, M_, x.n);
    Matrix part;
    for (const int odd : {0, 1}) {
      if (odd >= M_) continue;
      part = product(g.basis_of(odd), g.waves(odd));
      for (Index m = 0; m < part.rows(); ++m) out.row(2 * m + odd) = part.row(m);
    }
  }

  // c_m(x) = Σ_q H_mq·g_q·cos(y_q(x − centre)/α): H does not depend on parameters, and the weights
  // g_q do in one way for all m.
  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Grid g(*this, theta, z, x);
    const Eigen::Map<const Matrix> bar(Kuf_bar, M_, x.n);
    const Index Q = g.y.size();
    Vector log_g_bar = Vector::Zero(Q);
    double alpha_bar = 0.0;
    for (const int odd : {0, 1}) {
      if (odd >= M_) continue;
      const Matrix basis = g.basis_of(odd), wave = g.waves(odd), slope = g.slopes(odd);
      Matrix own(basis.rows(), x.n);
      for (Index m = 0; m < own.rows(); ++m) own.row(m) = bar.row(2 * m + odd);
      const Matrix weights = product(basis, own, Op::transpose);  // ∂/∂ wave, Q×n
      log_g_bar += weights.cwiseProduct(wave).rowwise().sum();
      // ∂ wave/∂x = slope·y/α
      for (Index i = 0; i < x.n; ++i) {
        const double moved = x.row(i)[0] - z[0];
        const double by_x =
            (weights.col(i).array() * slope.col(i).array() * g.y.array()).sum() / z[1];
        if (x_bar) x_bar[i] += by_x;
        z_bar[0] -= by_x;
        alpha_bar -= by_x * moved / z[1];
      }
    }
    double log_v_bar = 0.0, w_bar = 0.0;
    for (Index q = 0; q < Q; ++q) {
      const double omega = g.y(q) / z[1];
      const auto S = kernel_.density(g.k.w, Vector::Constant(1, omega));
      log_v_bar += 0.5 * log_g_bar(q);
      w_bar += 0.5 * log_g_bar(q) * S.by_log_w(0) / g.k.w(0);
      // g ∝ √(S(y/α)/α)
      alpha_bar += log_g_bar(q) * (-S.by_square(0) * omega * omega - 0.5) / z[1];
    }
    z_bar[1] += alpha_bar;
    kernel_.pullback(theta, log_v_bar, Vector::Constant(1, w_bar), theta_bar);
  }

  RowMatrix where(const double* z) const override {
    return over_two_deviations(Vector::Constant(1, z[0]), Vector::Constant(1, z[1]));
  }
  bool is_white() const override { return true; }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<OrthogonalFeatures>(term, centre_, scale_, M_);
  }

 private:
  // The trapezoidal rule in y = αω > 0 (the other half is the same), which for functions that end
  // so smoothly is exact to rounding once no frequency of theirs exceeds 2π/step: those of h_M, of
  // the wave at the farthest row and of √S, whose nearest singularity is √(2ν)α/ℓ away.
  struct Grid {
    StationaryKernel::Values k;
    double step;
    Vector y, moved, weights;
    double scale;
    Matrix H;  // M×Q

    Grid(const OrthogonalFeatures& own, const double* theta, const double* z, const RowBlock& x)
        : k(own.kernel_.at(theta)), moved(x.n), scale(z[1]) {
      const double n = static_cast<double>(own.M_), reach = std::sqrt(2.0 * n + 1.0) + 9.0;
      double farthest = 0.0;
      for (Index i = 0; i < x.n; ++i) {
        moved(i) = (x.row(i)[0] - z[0]) / scale;
        farthest = std::max(farthest, std::abs(moved(i)));
      }
      const double nu = own.kernel_.order();
      step = 2.0 * std::numbers::pi / (reach + farthest + 9.0);
      if (std::isfinite(nu))
        step = std::min(step, std::sqrt(2.0 * nu * k.w(0)) * scale * 2.0 * std::numbers::pi / 38.0);
      // A tiny ℓ⁻¹·α would ask for more points than are of use.
      const Index Q = std::min<Index>(static_cast<Index>(std::ceil(reach / step)), 20000) + 1;
      step = reach / static_cast<double>(Q - 1);
      y = Vector::LinSpaced(Q, 0.0, reach);
      weights.resize(Q);
      for (Index q = 0; q < Q; ++q) {
        const auto S = own.kernel_.density(k.w, Vector::Constant(1, y(q) / scale));
        weights(q) = (q == 0 ? 1.0 : 2.0) * step *
                     std::sqrt(k.v * std::exp(S.log_value) / (2.0 * std::numbers::pi * scale));
      }
      H.resize(own.M_, Q);
      H.row(0) = std::pow(std::numbers::pi, -0.25) * (-0.5 * y.array().square()).exp();
      if (own.M_ > 1) H.row(1) = std::sqrt(2.0) * y.transpose().cwiseProduct(H.row(0));
      for (Index m = 1; m + 1 < own.M_; ++m) {
        const double d = static_cast<double>(m + 1);
        H.row(m + 1) = std::sqrt(2.0 / d) * y.transpose().cwiseProduct(H.row(m)) -
                       std::sqrt((d - 1.0) / d) * H.row(m - 1);
      }
    }
    Matrix basis_of(int odd) const {
      Matrix out((H.rows() + 1 - odd) / 2, H.cols());
      for (Index m = 0; m < out.rows(); ++m) out.row(m) = H.row(2 * m + odd);
      return out;
    }
    // Q×n: weights times cos or sin of y·moved, and their derivatives by that product.
    Matrix waves(int odd) const { return each(odd == 0, 1.0); }
    Matrix slopes(int odd) const { return each(odd == 1, odd == 0 ? -1.0 : 1.0); }
    Matrix each(bool cosine, double sign) const {
      Matrix out(y.size(), moved.size());
      for (Index i = 0; i < moved.size(); ++i)
        for (Index q = 0; q < y.size(); ++q) {
          const double phase = y(q) * moved(i);
          out(q, i) = sign * weights(q) * (cosine ? std::cos(phase) : std::sin(phase));
        }
      return out;
    }
  };

  StationaryKernel kernel_;
  double centre_, scale_;
  Index M_;
};

}  // namespace

FeaturesPtr orthogonal_features(const Kernel& kernel, double centre, double scale, Index M) {
  return std::make_shared<OrthogonalFeatures>(kernel, centre, scale, M);
}

double orthogonal_scale(double lengthscale, double sd) {
  if (!(lengthscale > 0.0) || !(sd > 0.0))
    throw InputError(
        fmt::format("the lengthscale and the standard deviation must be positive, got {} and {}",
                    lengthscale, sd));
  const double r = sd / lengthscale;
  return lengthscale * std::sqrt(0.5 * std::sqrt(1.0 + 4.0 * r * r));
}

const FeatureKind orthogonal_kind{
    "orthogonal",
    "orthogonal",
    "centre, scale",
    false,
    false,
    false,
    [](const FeatureStart& s, Index) {
      need_one_column(s, "orthogonal");
      const StationaryKernel spectrum(s.kernel, 1, "orthogonal");
      const double mean = s.X.mean(), l = 1.0 / std::sqrt(spectrum.at(s.theta.data()).w(0)),
                   sd = std::sqrt((s.X.array() - mean).square().mean());
      return orthogonal_features(s.kernel, mean, orthogonal_scale(l, sd > 0.0 ? sd : l), s.M);
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record);
      r.expect(r.S() == 2 && r.D() == 1);
      const double centre = r.vector(1)(0), scale = r.vector(1)(0);
      return orthogonal_features(kernel, centre, scale, r.M());
    }};

}  // namespace covary
