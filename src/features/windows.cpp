#include "features/windows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/linalg/vector_math.hpp"
#include "features/gaussian_kernel.hpp"
#include "features/warnings.hpp"
#include "features/window_pairs.hpp"

namespace covary {
namespace {

enum class Kind { multiscale, frequency, time_frequency };

const char* name_of(Kind kind) {
  return kind == Kind::multiscale  ? "multiscale"
         : kind == Kind::frequency ? "frequency"
                                   : "timefrequency";
}

// Of one term of the kernel, with r = 1 + w·δ²: cov(u_m, f(x)) is v·exp(re)·cos(im),
//   re = Σ −½log r − ½A(x − μ)² − ½B,  im = ω₀ + Σ C(x − μ),
//   A = w/r,  B = δ²ω²/r,  C = wδ²ω/r.
struct Curves {
  Matrix A, C;    // M×D
  Vector height;  // Σ −½log r − ½B
  Curves(const Windows& u, const Vector& w) {
    const Matrix r = (u.s * w.asDiagonal()).array() + 1.0;
    A = (r.cwiseInverse() * w.asDiagonal());
    C = A.cwiseProduct(u.s).cwiseProduct(u.omega);
    height = -0.5 *
             (r.array().log() + u.s.array() * u.omega.array().square() / r.array()).rowwise().sum();
  }
};

class WindowFeatures final : public Features {
 public:
  WindowFeatures(Kind kind, const Kernel& kernel, Windows start)
      : kind_(kind), gaussian_(kernel, start.mu.cols(), name_of(kind)), start_(std::move(start)) {
    const Index M = start_.mu.rows(), D = start_.mu.cols();
    if (M == 0) throw InputError("there are no windows; a sparse model needs one at least");
    const Matrix &s = start_.s, &o = start_.omega;
    if (D == 0 || s.rows() != M || s.cols() != D || o.rows() != M || o.cols() != D ||
        start_.phase.size() != M)
      throw InputError(
          fmt::format("windows with {}×{} centres, {}×{} widths, {}×{} frequencies and {} phases",
                      M, D, s.rows(), s.cols(), o.rows(), o.cols(), start_.phase.size()));
    if (!start_.mu.allFinite() || !o.allFinite() || !start_.phase.allFinite() || !s.allFinite())
      throw InputError("the windows must be finite");
    if (!(s.minCoeff() > 0.0)) throw InputError("the widths of windows must be positive");
  }

  std::string name() const override { return name_of(kind_); }
  Index size() const override { return start_.mu.rows(); }
  Index dims() const override { return start_.mu.cols(); }
  Index parameter_count() const override {
    const Index MD = size() * dims();
    return kind_ == Kind::multiscale  ? 2 * MD
           : kind_ == Kind::frequency ? 2 * dims() + MD + size()
                                      : 3 * MD + size();
  }

  void declare(Parameters& out) const override {
    const auto add = [&](const char* path, const Matrix& value, Transform t) {
      const RowMatrix rows = value;
      out.add(
          {path, Eigen::Map<const Vector>(rows.data(), rows.size()), t, rows.rows(), rows.cols()});
    };
    const Matrix widths = start_.s.cwiseSqrt();
    if (kind_ == Kind::frequency) {
      add("features.centre", start_.mu.topRows(1), Transform::real());
      add("features.widths", widths.topRows(1), Transform::positive());
    } else {
      add("features.Z", start_.mu, Transform::real());
      add("features.widths", widths, Transform::positive());
    }
    if (kind_ == Kind::multiscale) return;
    add("features.frequencies", start_.omega, Transform::real());
    out.add({"features.phases", start_.phase, Transform::real(), size(), 1});
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    const Windows u = unpack(z);
    Matrix K = Matrix::Zero(size(), size());
    for (std::size_t t = 0; t < gaussian_.size(); ++t) {
      const GaussianKernel::Term k = gaussian_.at(t, theta);
      parallel_for(size(), [&](Index j) {
        for (Index i = j; i < size(); ++i) K(i, j) += window_pair(u, i, j, k.v, k.w);
      });
    }
    mirror_lower(K);
    return K;
  }

  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    const Windows u = unpack(z);
    Windows total = Windows::zero(size(), dims());
    for (std::size_t t = 0; t < gaussian_.size(); ++t) {
      const GaussianKernel::Term k = gaussian_.at(t, theta);
      const Index lanes = std::min<Index>(8, size());
      std::vector<WindowBar> bars(static_cast<std::size_t>(lanes), {size(), dims()});
      parallel_for(lanes, [&](Index lane) {
        for (Index j = lane; j < size(); j += lanes)
          for (Index i = j; i < size(); ++i)  // both of a pair off the diagonal
            window_pair_pullback(u, i, j, k.v, k.w, (i == j ? 1.0 : 2.0) * Kuu_bar(i, j),
                                 bars[static_cast<std::size_t>(lane)]);
      });
      WindowBar sum{size(), dims()};
      for (const WindowBar& b : bars) sum += b;
      gaussian_.pullback(t, theta, sum.log_v, sum.w, theta_bar);
      total += sum.u;
    }
    pack(u, total, z_bar);
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const Windows u = unpack(z);
    Eigen::Map<Matrix> out(K, size(), x.n);
    Matrix re(size(), x.n), im;
    for (std::size_t t = 0; t < gaussian_.size(); ++t) {
      const GaussianKernel::Term k = gaussian_.at(t, theta);
      values(Curves(u, k.w), u, k.v, x, re, im);
      if (waves()) re.array() *= im.array().cos();
      if (t == 0)
        out = re;
      else
        out += re;
    }
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Windows u = unpack(z);
    const Eigen::Map<const Matrix> bar(Kuf_bar, size(), x.n);
    Windows total = Windows::zero(size(), dims());
    Matrix re(size(), x.n), im;
    for (std::size_t t = 0; t < gaussian_.size(); ++t) {
      const GaussianKernel::Term k = gaussian_.at(t, theta);
      const Curves c(u, k.w);
      values(c, u, k.v, x, re, im);
      Matrix re_bar = bar.cwiseProduct(re), im_bar;
      if (waves()) {
        im_bar = -re_bar.array() * im.array().sin();
        re_bar.array() *= im.array().cos();
      }
      WindowBar sum{size(), dims()};
      curves_pullback(u, k.w, c, x, re_bar, im_bar, sum, x_bar);
      gaussian_.pullback(t, theta, sum.log_v, sum.w, theta_bar);
      total += sum.u;
    }
    pack(u, total, z_bar);
  }

  RowMatrix where(const double* z) const override {
    const Windows u = unpack(z);
    if (kind_ != Kind::frequency) return u.mu;
    return over_two_deviations(u.mu.row(0).transpose(), u.s.row(0).cwiseSqrt().transpose());
  }
  std::vector<std::string> warnings(const double*, const double* z, ConstRows X) const override {
    std::vector<std::string> out;
    if (waves())
      warn_of_nyquist(unpack(z).omega.cwiseAbs().colwise().maxCoeff().transpose(), X, out);
    return out;
  }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<WindowFeatures>(kind_, term, start_);
  }

 private:
  bool waves() const { return kind_ != Kind::multiscale; }

  Windows unpack(const double* z) const {
    const Index M = size(), D = dims();
    Windows u = start_;
    const auto take = [&](Index rows, Index cols) {
      const Matrix out = Eigen::Map<const RowMatrix>(z, rows, cols);
      z += rows * cols;
      return out;
    };
    const bool one = kind_ == Kind::frequency;
    u.mu = one ? Matrix(take(1, D).replicate(M, 1)) : take(M, D);
    u.s = one ? Matrix(take(1, D).replicate(M, 1)) : take(M, D);
    u.s = u.s.cwiseAbs2().eval();
    if (!waves()) return u;
    u.omega = take(M, D);
    u.phase = take(M, 1);
    return u;
  }

  // The same order; s = δ².
  void pack(const Windows& u, const Windows& bar, double* z_bar) const {
    const auto put = [&](const Matrix& part) {
      Eigen::Map<RowMatrix>(z_bar, part.rows(), part.cols()) += part;
      z_bar += part.size();
    };
    const bool one = kind_ == Kind::frequency;
    const Matrix widths = 2.0 * bar.s.cwiseProduct(u.s.cwiseSqrt());
    put(one ? Matrix(bar.mu.colwise().sum()) : bar.mu);
    put(one ? Matrix(widths.colwise().sum()) : widths);
    if (!waves()) return;
    put(bar.omega);
    put(bar.phase);
  }

  // re ← v·exp(re), and im where there are waves.
  void values(const Curves& c, const Windows& u, double v, const RowBlock& x, Matrix& re,
              Matrix& im) const {
    if (waves()) im.resize(size(), x.n);
    for (Index j = 0; j < x.n; ++j) {
      auto column = re.col(j);
      column = c.height;
      if (waves()) im.col(j) = u.phase;
      for (Index d = 0; d < dims(); ++d) {
        const auto apart = x.row(j)[d] - u.mu.col(d).array();
        column.array() -= 0.5 * c.A.col(d).array() * apart.square();
        if (waves()) im.col(j).array() += c.C.col(d).array() * apart;
      }
    }
    vector_exp(re.data(), re.data(), re.size(), 1.0, v);
  }

  void curves_pullback(const Windows& u, const Vector& w, const Curves& c, const RowBlock& x,
                       const Matrix& re_bar, const Matrix& im_bar, WindowBar& to,
                       double* x_bar) const {
    const Vector weight = re_bar.rowwise().sum();
    to.log_v += weight.sum();
    if (waves()) to.u.phase += im_bar.rowwise().sum();
    for (Index d = 0; d < dims(); ++d) {
      Vector A_bar = Vector::Zero(size()), C_bar = Vector::Zero(size());
      for (Index j = 0; j < x.n; ++j) {
        const Vector apart = x.row(j)[d] - u.mu.col(d).array();
        A_bar.array() -= 0.5 * re_bar.col(j).array() * apart.array().square();
        Vector apart_bar = -(c.A.col(d).array() * re_bar.col(j).array() * apart.array());
        if (waves()) {
          C_bar.array() += im_bar.col(j).array() * apart.array();
          apart_bar.array() += c.C.col(d).array() * im_bar.col(j).array();
        }
        to.u.mu.col(d) -= apart_bar;
        if (x_bar) x_bar[j * x.dims + d] += apart_bar.sum();
      }
      const auto s = u.s.col(d).array(), o = u.omega.col(d).array();
      const Eigen::ArrayXd r = 1.0 + w(d) * s;
      const auto B_bar = -0.5 * weight.array();
      to.u.s.col(d).array() +=
          (-w(d) * w(d) * A_bar.array() + o.square() * B_bar + w(d) * o * C_bar.array()) /
              r.square() -
          0.5 * weight.array() * w(d) / r;
      to.u.omega.col(d).array() += (2.0 * s * o * B_bar + w(d) * s * C_bar.array()) / r;
      to.w(d) +=
          ((A_bar.array() - s.square() * o.square() * B_bar + s * o * C_bar.array()) / r.square() -
           0.5 * weight.array() * s / r)
              .sum();
    }
  }

  Kind kind_;
  GaussianKernel gaussian_;
  Windows start_;
};

}  // namespace

FeaturesPtr multiscale_features(const Kernel& kernel, ConstRows Z, ConstRows widths) {
  return std::make_shared<WindowFeatures>(
      Kind::multiscale, kernel,
      Windows{Z, Matrix(widths).cwiseAbs2(), Matrix::Zero(Z.rows(), Z.cols()),
              Vector::Zero(Z.rows())});
}

FeaturesPtr frequency_features(const Kernel& kernel, ConstVector centre, ConstVector widths,
                               ConstRows frequencies, ConstVector phases) {
  const Index M = frequencies.rows();
  return std::make_shared<WindowFeatures>(
      Kind::frequency, kernel,
      Windows{centre.transpose().replicate(M, 1), widths.cwiseAbs2().transpose().replicate(M, 1),
              frequencies, phases});
}

FeaturesPtr time_frequency_features(const Kernel& kernel, ConstRows Z, ConstRows widths,
                                    ConstRows frequencies, ConstVector phases) {
  return std::make_shared<WindowFeatures>(
      Kind::time_frequency, kernel, Windows{Z, Matrix(widths).cwiseAbs2(), frequencies, phases});
}

}  // namespace covary
