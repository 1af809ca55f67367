#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/spectrum.hpp"
#include "features/kinds.hpp"
#include "features/orthogonal.hpp"

namespace covary {
namespace {

class EmpiricalFeatures final : public Features {
 public:
  EmpiricalFeatures(const Kernel& kernel, ConstRows X, ConstRows vectors)
      : X_(X), vectors_(vectors), points_(inducing_points(kernel, X)) {
    if (vectors.rows() != X.rows() || vectors.cols() == 0)
      throw InputError(fmt::format("{} vectors of {} entries for {} rows", vectors.cols(),
                                   vectors.rows(), X.rows()));
    if (!vectors.allFinite()) throw InputError("the vectors of empirical features must be finite");
  }

  std::string name() const override { return "empirical"; }
  Index size() const override { return vectors_.cols(); }
  Index dims() const override { return X_.cols(); }
  Index parameter_count() const override { return X_.size() + vectors_.size(); }

  void declare(Parameters& out) const override {
    points_->declare(out);
    out.add({"features.vectors", Eigen::Map<const Vector>(vectors_.data(), vectors_.size()),
             Transform::real(), vectors_.rows(), vectors_.cols()});
    out.fix("features.Z");
    out.fix("features.vectors");
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    const Matrix V = vectors(z);
    Matrix out = product(V, product(points_->Kuu(theta, z), V), Op::transpose);
    mirror_lower(out);
    return out;
  }

  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    const Matrix V = vectors(z), VB = product(V, Kuu_bar);
    const Matrix K_bar = product(VB, V, Op::none, Op::transpose);
    points_->Kuu_pullback(theta, z, 0.5 * (K_bar + K_bar.transpose()), theta_bar, z_bar);
    add(2.0 * product(points_->Kuu(theta, z), VB), z_bar);
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    Matrix all(X_.rows(), x.n);
    points_->Kuf(theta, z, x, all.data());
    Eigen::Map<Matrix>(K, size(), x.n) = product(vectors(z), all, Op::transpose);
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Eigen::Map<const Matrix> bar(Kuf_bar, size(), x.n);
    Matrix all(X_.rows(), x.n);
    points_->Kuf(theta, z, x, all.data());
    const Matrix all_bar = product(vectors(z), bar);
    points_->Kuf_pullback(theta, z, x, all.data(), all_bar.data(), theta_bar, z_bar, x_bar);
    add(product(all, bar, Op::none, Op::transpose), z_bar);
  }

  RowMatrix where(const double* z) const override { return points_->where(z); }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<EmpiricalFeatures>(term, X_, vectors_);
  }

 private:
  Matrix vectors(const double* z) const {
    return Eigen::Map<const RowMatrix>(z + X_.size(), vectors_.rows(), vectors_.cols());
  }
  void add(const Matrix& bar, double* z_bar) const {
    Eigen::Map<RowMatrix>(z_bar + X_.size(), vectors_.rows(), vectors_.cols()) += bar;
  }

  RowMatrix X_, vectors_;
  FeaturesPtr points_;
};

}  // namespace

FeaturesPtr empirical_features(const Kernel& kernel, ConstRows X, ConstRows vectors) {
  return std::make_shared<EmpiricalFeatures>(kernel, X, vectors);
}

FeaturesPtr empirical_features(const Kernel& kernel, ConstVector theta, ConstRows X, Index M) {
  constexpr Index most = 2000;
  if (X.rows() > most)
    throw InputError(fmt::format(
        "empirical features take the eigenvectors of all rows, at most {}; there are {}", most,
        X.rows()));
  if (M < 1 || M > X.rows())
    throw InputError(fmt::format(
        "{} empirical features for {} rows; choose 1 to the number of rows", M, X.rows()));
  const SymmetricEigen e = symmetric_eigen(cross(kernel, theta, X, X));
  // Rising eigenvalues; what is left of the smallest ones is rounding.
  const double least = 1e-12 * e.values(e.values.size() - 1);
  const Index sound = (e.values.array() > least).count(), size = std::min(M, sound);
  if (size == 0)
    throw InputError(
        fmt::format("empirical features: {} has no smooth part at these rows", kernel.print()));
  const Matrix largest =
      e.vectors.rightCols(size) * e.values.tail(size).cwiseSqrt().cwiseInverse().asDiagonal();
  return empirical_features(kernel, X, RowMatrix(largest.rowwise().reverse()));
}

const FeatureKind empirical_kind{"empirical",
                                 "empirical",
                                 "Z, vectors",
                                 false,
                                 false,
                                 false,
                                 [](const FeatureStart& s, Index) {
                                   return empirical_features(s.kernel, s.theta, s.X,
                                                             std::min(s.M, s.X.rows()));
                                 },
                                 [](const FeatureRecord& record, const Kernel& kernel) {
                                   RecordReader r(record);
                                   r.expect(r.S() > 0 && r.S() % (r.D() + r.M()) == 0);
                                   const Index N = r.S() / (r.D() + r.M());
                                   const RowMatrix X = r.rows(N, r.D());
                                   return empirical_features(kernel, X, r.rows(N, r.M()));
                                 }};

}  // namespace covary
