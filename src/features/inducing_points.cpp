#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/features.hpp"

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
    Kuf(theta, z, points(z), K.data());
    for (Index j = 0; j < K.cols(); ++j)  // exactly symmetric
      for (Index i = j + 1; i < K.rows(); ++i) K(j, i) = K(i, j);
    return K;
  }

  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    // z enters Kuu on both sides, and Kuu_bar is symmetric.
    Vector half = Vector::Zero(Z_.size());
    const Matrix dense = Kuu_bar;
    Kuf_pullback(theta, z, points(z), nullptr, dense.data(), theta_bar, half.data(), nullptr);
    for (Index i = 0; i < half.size(); ++i) z_bar[i] += 2.0 * half(i);
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    for_strips(x, [&](const RowBlock& strip, Index first) {
      kernel_.node().evaluate(theta, {points(z), strip, false}, K + first * size());
    });
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double* Kuf,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    for_strips(x, [&](const RowBlock& strip, Index first) {
      const PairBlock pairs{points(z), strip, false};
      const double* bar = Kuf_bar + first * size();
      double* to_x = x_bar ? x_bar + first * x.dims : nullptr;
      if (Kuf)
        kernel_.node().pullback_of_values(theta, pairs, Kuf + first * size(), bar, theta_bar, z_bar,
                                          to_x);
      else
        kernel_.node().pullback(theta, pairs, bar, theta_bar, z_bar, to_x);
    });
  }

  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<InducingPoints>(term, Z_);
  }

 private:
  RowBlock points(const double* z) const { return {z, Z_.rows(), Z_.cols(), Z_.cols()}; }

  // Columns of Kuf in strips of 128 kB, so that what a kernel keeps of one stays in the cache.
  template <class Body>
  void for_strips(const RowBlock& x, const Body& body) const {
    const Index width = std::max<Index>(8, 16384 / size());
    for (Index first = 0; first < x.n; first += width)
      body(RowBlock{x.row(first), std::min(width, x.n - first), x.dims, x.stride, x.first + first},
           first);
  }

  Kernel kernel_;
  RowMatrix Z_;
};

}  // namespace

FeaturesPtr inducing_points(const Kernel& kernel, ConstRows Z) {
  return std::make_shared<InducingPoints>(kernel, Z);
}

}  // namespace covary
