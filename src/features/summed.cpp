#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "features/windows.hpp"

namespace covary {
namespace {

// u_m = Σ_c w_mc b_(cM + m) of windows b. All M·C windows are held at once: their Kuu has (M·C)²
// entries.
class SummedWindows final : public Features {
 public:
  SummedWindows(const Kernel& kernel, ConstRows Z, ConstRows widths, ConstRows weights)
      : Z_(Z),
        widths_(widths),
        weights_(weights),
        windows_(multiscale_features(kernel, Z, widths)) {
    if (weights.size() == 0 || Z.rows() != weights.size())
      throw InputError(
          fmt::format("{} variables of {} windows need as many of them, got {}: at least one each",
                      weights.rows(), weights.cols(), Z.rows()));
    if (!weights.allFinite()) throw InputError("the weights of windows must be finite");
    for (Index m = 0; m < weights.rows(); ++m)
      if (weights.row(m).isZero(0.0))
        throw InputError(fmt::format("the weights of variable {} are all zero", m));
  }

  std::string name() const override { return "multiscale_basis"; }
  Index size() const override { return weights_.rows(); }
  Index dims() const override { return Z_.cols(); }
  Index parameter_count() const override { return windows_->parameter_count() + weights_.size(); }

  void declare(Parameters& out) const override {
    windows_->declare(out);
    out.add({"features.weights", Eigen::Map<const Vector>(weights_.data(), weights_.size()),
             Transform::real(), weights_.rows(), weights_.cols()});
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    const Index M = size(), C = weights_.cols();
    const RowMatrix w = weights_at(z);
    const Matrix all = windows_->Kuu(theta, z);
    Matrix K = Matrix::Zero(M, M);
    for (Index b = 0; b < C; ++b)
      for (Index a = 0; a < C; ++a)
        K += w.col(a).asDiagonal() * all.block(a * M, b * M, M, M) * w.col(b).asDiagonal();
    mirror_lower(K);
    return K;
  }

  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    const Index M = size(), C = weights_.cols();
    const RowMatrix w = weights_at(z);
    const Matrix all = windows_->Kuu(theta, z);
    Matrix all_bar(M * C, M * C);
    Eigen::Map<RowMatrix> w_bar = weights_bar(z_bar);
    for (Index b = 0; b < C; ++b)
      for (Index a = 0; a < C; ++a) {
        const Matrix half = Kuu_bar * w.col(b).asDiagonal();
        w_bar.col(a) += 2.0 * half.cwiseProduct(all.block(a * M, b * M, M, M)).rowwise().sum();
        all_bar.block(a * M, b * M, M, M) = w.col(a).asDiagonal() * half;
      }
    windows_->Kuu_pullback(theta, z, all_bar, theta_bar, z_bar);
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const Index M = size();
    const RowMatrix w = weights_at(z);
    Matrix all(Z_.rows(), x.n);
    windows_->Kuf(theta, z, x, all.data());
    Eigen::Map<Matrix> out(K, M, x.n);
    out.setZero();
    for (Index c = 0; c < w.cols(); ++c) out += w.col(c).asDiagonal() * all.middleRows(c * M, M);
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Index M = size();
    const RowMatrix w = weights_at(z);
    const Eigen::Map<const Matrix> bar(Kuf_bar, M, x.n);
    Matrix all(Z_.rows(), x.n), all_bar(Z_.rows(), x.n);
    windows_->Kuf(theta, z, x, all.data());
    Eigen::Map<RowMatrix> w_bar = weights_bar(z_bar);
    for (Index c = 0; c < w.cols(); ++c) {
      w_bar.col(c) += all.middleRows(c * M, M).cwiseProduct(bar).rowwise().sum();
      all_bar.middleRows(c * M, M) = w.col(c).asDiagonal() * bar;
    }
    windows_->Kuf_pullback(theta, z, x, nullptr, all_bar.data(), theta_bar, z_bar, x_bar);
  }

  RowMatrix where(const double* z) const override { return windows_->where(z); }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<SummedWindows>(term, Z_, widths_, weights_);
  }

 private:
  RowMatrix weights_at(const double* z) const {
    return Eigen::Map<const RowMatrix>(z + windows_->parameter_count(), weights_.rows(),
                                       weights_.cols());
  }
  Eigen::Map<RowMatrix> weights_bar(double* z_bar) const {
    return {z_bar + windows_->parameter_count(), weights_.rows(), weights_.cols()};
  }

  RowMatrix Z_, widths_, weights_;
  FeaturesPtr windows_;
};

}  // namespace

FeaturesPtr multiscale_basis_features(const Kernel& kernel, ConstRows Z, ConstRows widths,
                                      ConstRows weights) {
  return std::make_shared<SummedWindows>(kernel, Z, widths, weights);
}

}  // namespace covary
