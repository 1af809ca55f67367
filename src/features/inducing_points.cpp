#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/features.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/kernels/input_moments.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "features/kinds.hpp"

namespace covary {
namespace {

class InducingPoints : public Features {
 public:
  InducingPoints(Kernel kernel, ConstRows Z) : kernel_(std::move(kernel)), Z_(Z) {
    if (Z.rows() == 0)
      throw InputError("there are no inducing inputs; a sparse model needs one at least");
    if (Z.cols() == 0) throw InputError("the inducing inputs have no columns");
    if (!Z.allFinite()) throw InputError("the inducing inputs must be finite");
    kernel_.node().check(Z.cols());
  }

  std::string name() const override { return "points"; }
  Index size() const override { return Z_.rows(); }
  Index dims() const override { return Z_.cols(); }
  Index parameter_count() const override { return Z_.size(); }

  void declare(Parameters& out) const override {
    out.add({"features.Z", Eigen::Map<const Vector>(Z_.data(), Z_.size()), Transform::real(),
             Z_.rows(), Z_.cols()});
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    Matrix K(size(), size());
    const RowBlock all = points(z);
    parallel_for(strips(all), [&](Index i) {
      const RowBlock s = strip(all, i);
      kernel_.node().evaluate(theta, {all, s, false}, K.data() + i * width() * size());
    });
    mirror_lower(K);  // exactly symmetric
    return K;
  }

  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    // z enters Kuu on both sides, and Kuu_bar is symmetric. Sums of a few lanes, added in order.
    const Matrix dense = Kuu_bar;
    const RowBlock all = points(z);
    const Index lanes = std::min<Index>(8, strips(all));
    const Index kernel = kernel_.parameter_count(dims());
    Matrix sums = Matrix::Zero(kernel + Z_.size(), lanes);
    parallel_for(lanes, [&](Index lane) {
      double* sum = sums.col(lane).data();
      for (Index i = lane; i < strips(all); i += lanes) {
        const RowBlock s = strip(all, i);
        kernel_.node().pullback(theta, {all, s, false}, dense.data() + i * width() * size(), sum,
                                sum + kernel, nullptr);
      }
    });
    const Vector sum = sums.rowwise().sum();
    for (Index i = 0; i < kernel; ++i) theta_bar[i] += sum(i);
    for (Index i = 0; i < Z_.size(); ++i) z_bar[i] += 2.0 * sum(kernel + i);
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    for (Index i = 0; i < strips(x); ++i)
      kernel_.node().evaluate(theta, {points(z), strip(x, i), false}, K + i * width() * size());
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double* Kuf,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    for (Index i = 0; i < strips(x); ++i) {
      const Index first = i * width();
      const PairBlock pairs{points(z), strip(x, i), false};
      const double* bar = Kuf_bar + first * size();
      double* to_x = x_bar ? x_bar + first * x.dims : nullptr;
      if (Kuf)
        kernel_.node().pullback_of_values(theta, pairs, Kuf + first * size(), bar, theta_bar, z_bar,
                                          to_x);
      else
        kernel_.node().pullback(theta, pairs, bar, theta_bar, z_bar, to_x);
    }
  }

  RowMatrix where(const double* z) const override {
    return Eigen::Map<const RowMatrix>(z, Z_.rows(), Z_.cols());
  }
  std::optional<RowMatrix> inputs(const double* z) const override { return where(z); }
  std::unique_ptr<InputMoments> input_moments(const double* theta, const double* z) const override {
    return std::make_unique<InputMoments>(
        kernel_, Eigen::Map<const Vector>(theta, kernel_.parameter_count(dims())),
        Eigen::Map<const RowMatrix>(z, Z_.rows(), Z_.cols()));
  }
  std::unique_ptr<GaussianExpectations> expectations(const double* theta,
                                                     const double* z) const override {
    return GaussianExpectations::make(kernel_, theta, points(z));
  }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<InducingPoints>(term, Z_);
  }

 private:
  RowBlock points(const double* z) const { return {z, Z_.rows(), Z_.cols(), Z_.cols()}; }

  // Columns of Kuf in strips of 128 kB, so that what a kernel keeps of one stays in the cache.
  Index width() const { return std::max<Index>(8, 16384 / size()); }
  Index strips(const RowBlock& x) const { return (x.n + width() - 1) / width(); }
  RowBlock strip(const RowBlock& x, Index i) const {
    const Index first = i * width();
    return {x.row(first), std::min(width(), x.n - first), x.dims, x.stride, x.first + first};
  }

  Kernel kernel_;
  RowMatrix Z_;
};

}  // namespace

FeaturesPtr inducing_points(const Kernel& kernel, ConstRows Z) {
  return std::make_shared<InducingPoints>(kernel, Z);
}

const FeatureKind points_kind{
    "points",
    "points",
    "Z",
    true,
    false,
    true,
    [](const FeatureStart& s, Index) { return inducing_points(s.kernel, s.inputs()); },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record);
      r.expect(r.S() == r.M() * r.D());
      return inducing_points(kernel, r.rows(r.M(), r.D()));
    }};

}  // namespace covary
