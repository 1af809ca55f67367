#include "features/basis_expectations.hpp"

#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

class BasisExpectations final : public GaussianExpectations {
 public:
  BasisExpectations(const Kernel& kernel, const double* theta, const RowBlock& Z, RowMatrix weights)
      : points_(GaussianExpectations::make(kernel, theta, Z)),
        w_(std::move(weights)),
        dims_(Z.dims) {}

  void psi0(const GaussianBlock& x, double* out) override { points_->psi0(x, out); }
  void psi0_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) override {
    points_->psi0_pullback(x, bar, to);
  }

  void psi1(const GaussianBlock& x, double* out) override {
    const Matrix all = points_psi1(x);
    Eigen::Map<Matrix> sum(out, M(), x.mean.n);
    sum.setZero();
    for (Index c = 0; c < C(); ++c) sum += w_.col(c).asDiagonal() * all.middleRows(c * M(), M());
  }
  void psi1_pullback(const GaussianBlock& x, const double* bar, const GaussianBars& to) override {
    const Eigen::Map<const Matrix> own(bar, M(), x.mean.n);
    const Matrix all = points_psi1(x);
    Matrix all_bar(all.rows(), all.cols());
    auto w_bar = weights_bar(to);
    for (Index c = 0; c < C(); ++c) {
      all_bar.middleRows(c * M(), M()) = w_.col(c).asDiagonal() * own;
      w_bar.col(c) += all.middleRows(c * M(), M()).cwiseProduct(own).rowwise().sum();
    }
    points_->psi1_pullback(x, all_bar.data(), to);
  }

  void psi2(const GaussianBlock& x, MatrixOut sum, double* keep) override {
    const Matrix all = points_psi2(x, keep);
    for (Index b = 0; b < C(); ++b)
      for (Index a = 0; a < C(); ++a)
        sum.triangularView<Eigen::Lower>() +=
            Matrix(w_.col(a).asDiagonal() * all.block(a * M(), b * M(), M(), M()) *
                   w_.col(b).asDiagonal());
  }
  void psi2_pullback(const GaussianBlock& x, ConstMatrix bar, const GaussianBars& to,
                     const double* kept) override {
    const Matrix all = points_psi2(x, nullptr);
    Matrix all_bar(all.rows(), all.cols());
    auto w_bar = weights_bar(to);
    for (Index b = 0; b < C(); ++b)
      for (Index a = 0; a < C(); ++a) {
        const Matrix of_pair = bar * w_.col(b).asDiagonal();
        all_bar.block(a * M(), b * M(), M(), M()) = w_.col(a).asDiagonal() * of_pair;
        w_bar.col(a) +=
            2.0 * all.block(a * M(), b * M(), M(), M()).cwiseProduct(of_pair).rowwise().sum();
      }
    points_->psi2_pullback(x, all_bar, to, kept);
  }
  Index row_values() const override { return points_->row_values(); }

 private:
  Index M() const { return w_.rows(); }
  Index C() const { return w_.cols(); }
  Matrix points_psi1(const GaussianBlock& x) const {
    Matrix out(w_.size(), x.mean.n);
    points_->psi1(x, out.data());
    return out;
  }
  Matrix points_psi2(const GaussianBlock& x, double* keep) const {
    Matrix out = Matrix::Zero(w_.size(), w_.size());
    points_->psi2(x, out, keep);
    mirror_lower(out);
    return out;
  }
  // After those of the points, as the parameters of the features are.
  Eigen::Map<RowMatrix> weights_bar(const GaussianBars& to) const {
    return {to.z + w_.size() * dims_, M(), C()};
  }

  std::unique_ptr<GaussianExpectations> points_;
  RowMatrix w_;
  Index dims_;
};

}  // namespace

std::unique_ptr<GaussianExpectations> basis_expectations(const Kernel& kernel, const double* theta,
                                                         const RowBlock& Z, RowMatrix weights) {
  return std::make_unique<BasisExpectations>(kernel, theta, Z, std::move(weights));
}

}  // namespace covary
