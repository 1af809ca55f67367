#include "features/basis.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/kernels/input_moments.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "features/basis_expectations.hpp"
#include "features/kinds.hpp"

namespace covary {
namespace {

// All is done a pair (c, c′) of points at a time, so that no more than M×M, or M columns of a block
// of rows, is held whatever C is; the pullbacks make the kernel's values again.
class BasisFeatures final : public Features {
 public:
  BasisFeatures(Kernel kernel, ConstRows Z, ConstRows weights)
      : kernel_(std::move(kernel)), Z_(Z), weights_(weights) {
    if (weights.size() == 0)
      throw InputError(
          fmt::format("basis features need at least one variable with one point each, got {}×{}",
                      weights.rows(), weights.cols()));
    if (Z.cols() == 0 || Z.rows() != weights.size())
      throw InputError(fmt::format("{} variables of {} points need {} points, got {} of {} columns",
                                   weights.rows(), weights.cols(), weights.size(), Z.rows(),
                                   Z.cols()));
    if (!Z.allFinite() || !weights.allFinite())
      throw InputError("the points and weights of basis features must be finite");
    for (Index m = 0; m < weights.rows(); ++m)
      if (weights.row(m).isZero(0.0))
        throw InputError(fmt::format("the weights of variable {} are all zero", m));
    kernel_.node().check(Z.cols());
  }

  std::string name() const override { return "basis"; }
  Index size() const override { return weights_.rows(); }
  Index dims() const override { return Z_.cols(); }
  Index parameter_count() const override { return Z_.size() + weights_.size(); }

  void declare(Parameters& out) const override {
    out.add({"features.Z", Eigen::Map<const Vector>(Z_.data(), Z_.size()), Transform::real(),
             Z_.rows(), Z_.cols()});
    out.add({"features.weights", Eigen::Map<const Vector>(weights_.data(), weights_.size()),
             Transform::real(), weights_.rows(), weights_.cols()});
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    const Index M = size(), C = weights_.cols();
    const RowMatrix w = weights_at(z);
    Matrix K = Matrix::Zero(M, M);
    parallel_for(strips(), [&](Index i) {
      auto part = K.middleCols(first(i), count(i));
      Matrix block(M, count(i));
      for (Index b = 0; b < C; ++b)
        for (Index a = 0; a < C; ++a) {
          kernel_.node().evaluate(theta, {points(z, a), strip(z, b, i), false}, block.data());
          part += w.col(a).asDiagonal() * block * w.col(b).segment(first(i), count(i)).asDiagonal();
        }
    });
    mirror_lower(K);
    return K;
  }

  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    const Index M = size(), C = weights_.cols(), T = kernel_.parameter_count(dims());
    const RowMatrix w = weights_at(z);
    // Points enter on both sides, and Kuu_bar is symmetric: twice what comes from the first side.
    // Sums of a few lanes, added in order.
    const Index lanes = std::min<Index>(8, strips());
    Matrix sums = Matrix::Zero(T + parameter_count(), lanes);
    parallel_for(lanes, [&](Index lane) {
      double *own = sums.col(lane).data(), *own_z = own + T;
      Eigen::Map<RowMatrix> w_bar(own_z + Z_.size(), M, C);
      for (Index i = lane; i < strips(); i += lanes) {
        const auto bar = Kuu_bar.middleCols(first(i), count(i));
        Matrix block(M, count(i)), weighted;
        for (Index b = 0; b < C; ++b) {
          const auto of_b = w.col(b).segment(first(i), count(i)).asDiagonal();
          for (Index a = 0; a < C; ++a) {
            const PairBlock pairs{points(z, a), strip(z, b, i), false};
            kernel_.node().evaluate(theta, pairs, block.data());
            weighted = bar * of_b;
            w_bar.col(a) += 2.0 * block.cwiseProduct(weighted).rowwise().sum();
            weighted = w.col(a).asDiagonal() * weighted;
            kernel_.node().pullback(theta, pairs, weighted.data(), own, own_z + a * M * dims(),
                                    nullptr);
          }
        }
      }
      Eigen::Map<Vector>(own_z, Z_.size()) *= 2.0;
    });
    add(sums.rowwise().sum(), T, theta_bar, z_bar);
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const RowMatrix w = weights_at(z);
    Eigen::Map<Matrix> out(K, size(), x.n);
    Matrix block(size(), x.n);
    for (Index c = 0; c < weights_.cols(); ++c) {
      kernel_.node().evaluate(theta, {points(z, c), x, false}, block.data());
      if (c == 0)
        out = w.col(c).asDiagonal() * block;
      else
        out += w.col(c).asDiagonal() * block;
    }
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Index M = size(), C = weights_.cols();
    const RowMatrix w = weights_at(z);
    const Eigen::Map<const Matrix> bar(Kuf_bar, M, x.n);
    Eigen::Map<RowMatrix> w_bar(z_bar + Z_.size(), M, C);
    Matrix block(M, x.n), weighted;
    for (Index c = 0; c < C; ++c) {
      const PairBlock pairs{points(z, c), x, false};
      kernel_.node().evaluate(theta, pairs, block.data());
      w_bar.col(c) += block.cwiseProduct(bar).rowwise().sum();
      weighted = w.col(c).asDiagonal() * bar;
      kernel_.node().pullback_of_values(theta, pairs, block.data(), weighted.data(), theta_bar,
                                        z_bar + c * M * dims(), x_bar);
    }
  }

  RowMatrix where(const double* z) const override {
    return Eigen::Map<const RowMatrix>(z, Z_.rows(), Z_.cols());
  }
  std::unique_ptr<GaussianExpectations> expectations(const double* theta,
                                                     const double* z) const override {
    const RowBlock all{z, Z_.rows(), dims(), dims()};
    return basis_expectations(kernel_, theta, all, weights_at(z));
  }
  std::unique_ptr<InputMoments> input_moments(const double* theta, const double* z) const override {
    return std::make_unique<InputMoments>(
        kernel_, Eigen::Map<const Vector>(theta, kernel_.parameter_count(dims())),
        Eigen::Map<const RowMatrix>(z, Z_.rows(), Z_.cols()), weights_at(z));
  }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<BasisFeatures>(term, Z_, weights_);
  }

 private:
  RowMatrix weights_at(const double* z) const {
    return Eigen::Map<const RowMatrix>(z + Z_.size(), weights_.rows(), weights_.cols());
  }
  RowBlock points(const double* z, Index c) const {
    return {z + c * size() * dims(), size(), dims(), dims()};
  }
  static constexpr Index width = 64;
  Index strips() const { return (size() + width - 1) / width; }
  Index first(Index i) const { return i * width; }
  Index count(Index i) const { return std::min(width, size() - first(i)); }
  RowBlock strip(const double* z, Index c, Index i) const {
    const RowBlock all = points(z, c);
    return {all.row(first(i)), count(i), dims(), dims()};
  }
  void add(const Vector& sum, Index T, double* theta_bar, double* z_bar) const {
    for (Index i = 0; i < T; ++i) theta_bar[i] += sum(i);
    for (Index i = 0; i < parameter_count(); ++i) z_bar[i] += sum(T + i);
  }

  Kernel kernel_;
  RowMatrix Z_, weights_;
};

}  // namespace

FeaturesPtr basis_features(const Kernel& kernel, ConstRows Z, ConstRows weights) {
  return std::make_shared<BasisFeatures>(kernel, Z, weights);
}

const FeatureKind basis_kind{"basis(C)",
                             "basis",
                             "Z, weights",
                             true,
                             false,
                             true,
                             [](const FeatureStart& s, Index C) {
                               Random random = start_random(s);
                               const RowMatrix Z = with_other_points(s, s.inputs(), C, random);
                               return basis_features(s.kernel, Z,
                                                     first_weights(Z.rows() / C, C, random));
                             },
                             [](const FeatureRecord& record, const Kernel& kernel) {
                               RecordReader r(record);
                               r.expect(r.S() > 0 && r.S() % (r.M() * (r.D() + 1)) == 0);
                               const Index C = r.S() / (r.M() * (r.D() + 1));
                               const RowMatrix Z = r.rows(r.M() * C, r.D());
                               return basis_features(kernel, Z, r.rows(r.M(), C));
                             },
                             true};

}  // namespace covary
