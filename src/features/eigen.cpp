#include "covary/features/eigen.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/planner.hpp"
#include "features/box.hpp"
#include "features/degrees.hpp"
#include "features/exponential.hpp"
#include "features/gaussian_kernel.hpp"
#include "features/hermite.hpp"
#include "features/kinds.hpp"
#include "features/largest_products.hpp"
#include "features/warnings.hpp"

namespace covary {
namespace {

using Degrees = Eigen::MatrixX<Index>;

class EigenFeatures final : public Features, public WithDegrees {
 public:
  EigenFeatures(const Kernel& kernel, ConstVector mean, ConstVector sd, Degrees degrees)
      : gaussian_(kernel, mean.size(), "eigen"),
        mean_(mean),
        sd_(sd),
        degrees_(std::move(degrees)) {
    if (gaussian_.size() != 1)
      throw InputError(fmt::format(
          "eigen features are for one se or a product of them; {} is a sum: stack features, one "
          "part for each term",
          kernel.print()));
    if (size() == 0) throw InputError("there are no eigenfunctions; a sparse model needs one");
    if (mean.size() == 0 || sd.size() != dims() || degrees_.cols() != dims())
      throw InputError(fmt::format(
          "a measure with {} means and {} standard deviations for eigenfunctions of {} columns",
          mean.size(), sd.size(), degrees_.cols()));
    if (!mean.allFinite() || !sd.allFinite() || !(sd.minCoeff() > 0.0))
      throw InputError("the measure needs finite means and positive standard deviations");
    if (degrees_.minCoeff() < 0) throw InputError("degrees of eigenfunctions must be at least 0");
  }

  std::string name() const override { return "eigen"; }
  Index size() const override { return degrees_.rows(); }
  Index dims() const override { return mean_.size(); }
  Index parameter_count() const override { return 2 * dims(); }

  void declare(Parameters& out) const override {
    out.add({"features.mean", mean_, Transform::real(), dims(), 1});
    out.add({"features.sd", sd_, Transform::positive(), dims(), 1});
  }

  Matrix Kuu(const double*, const double*) const override {
    return Matrix::Identity(size(), size());
  }
  void Kuu_pullback(const double*, const double*, ConstMatrix, double*, double*) const override {}

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const GaussianKernel::Term k = gaussian_.at(0, theta);
    const std::vector<Matrix> tables = values(k.w, z, x);
    Eigen::Map<Matrix> out(K, size(), x.n);
    const double root = std::sqrt(k.v);
    for (Index m = 0; m < size(); ++m) {
      Vector row = Vector::Constant(x.n, root);
      for (Index d = 0; d < dims(); ++d)
        row = row.cwiseProduct(tables[static_cast<std::size_t>(d)].col(degrees_(m, d)));
      out.row(m) = row;
    }
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const Index D = dims();
    const GaussianKernel::Term k = gaussian_.at(0, theta);
    const std::vector<Matrix> tables = values(k.w, z, x);
    const Eigen::Map<const Matrix> bar(Kuf_bar, size(), x.n);
    std::vector<Matrix> bars;
    for (const Matrix& t : tables) bars.push_back(Matrix::Zero(t.rows(), t.cols()));
    const auto at = [](Index d) { return static_cast<std::size_t>(d); };
    double log_v_bar = 0.0;
    Matrix before(x.n, D + 1);  // products of the columns before each
    for (Index m = 0; m < size(); ++m) {
      before.col(0).setConstant(std::sqrt(k.v));
      for (Index d = 0; d < D; ++d)
        before.col(d + 1) = before.col(d).cwiseProduct(tables[at(d)].col(degrees_(m, d)));
      Vector after = bar.row(m).transpose();
      log_v_bar += 0.5 * after.dot(before.col(D));
      for (Index d = D - 1; d >= 0; --d) {
        bars[at(d)].col(degrees_(m, d)) += after.cwiseProduct(before.col(d));
        after = after.cwiseProduct(tables[at(d)].col(degrees_(m, d)));
      }
    }
    Vector w_bar = Vector::Zero(D);
    for (Index d = 0; d < D; ++d) {
      Hermite::Bar own;
      const Vector column = column_of(x, d);
      Vector moved = Vector::Zero(x.n);
      basis(k.w, z, d).pullback(column, tables[at(d)], bars[at(d)], own, &moved);
      w_bar(d) = own.w;
      z_bar[d] += own.mean;
      z_bar[D + d] += own.sd;
      if (x_bar)
        for (Index j = 0; j < x.n; ++j) x_bar[j * x.dims + d] += moved(j);
    }
    gaussian_.pullback(0, theta, log_v_bar, w_bar, theta_bar);
  }

  RowMatrix where(const double* z) const override {
    return over_two_deviations(Eigen::Map<const Vector>(z, dims()),
                               Eigen::Map<const Vector>(z + dims(), dims()));
  }
  std::vector<std::string> warnings(const double* theta, const double* z,
                                    ConstRows X) const override {
    std::vector<std::string> out;
    warn_of_underflow(theta, z, out);
    warn_of_measure(theta, z, X, out);
    return out;
  }
  bool is_white() const override { return true; }
  std::optional<Spectrum> spectrum(const double* theta, const double* z) const override {
    const GaussianKernel::Term k = gaussian_.at(0, theta);
    return Spectrum::squared_exponential(k.v, k.w.cwiseSqrt().cwiseInverse(),
                                         Eigen::Map<const Vector>(z + dims(), dims()));
  }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<EigenFeatures>(term, mean_, sd_, degrees_);
  }

  const Degrees& degrees() const override { return degrees_; }

 private:
  Hermite basis(const Vector& w, const double* z, Index d) const {
    return {w(d), z[d], z[dims() + d]};
  }
  static Vector column_of(const RowBlock& x, Index d) {
    return Eigen::Map<const Vector, 0, Eigen::InnerStride<>>(x.data + d, x.n,
                                                             Eigen::InnerStride<>(x.stride));
  }
  std::vector<Matrix> values(const Vector& w, const double* z, const RowBlock& x) const {
    std::vector<Matrix> out;
    for (Index d = 0; d < dims(); ++d)
      out.push_back(basis(w, z, d).values(column_of(x, d), degrees_.col(d).maxCoeff()));
    return out;
  }

  void warn_of_underflow(const double* theta, const double* z,
                         std::vector<std::string>& out) const {
    const Vector w = gaussian_.at(0, theta).w;
    const Index D = dims();
    Vector logs(D);
    for (Index d = 0; d < D; ++d)
      logs(d) = w(d) > 0.0 ? std::log(eigenvalue_ratio(1.0 / std::sqrt(w(d)), z[D + d])) : 0.0;
    Index idle = 0;
    for (Index m = 0; m < size(); ++m) {
      double log_value = 0.0;
      for (Index d = 0; d < D; ++d) log_value += logs(d) * static_cast<double>(degrees_(m, d));
      idle += log_value < std::log(1e-32);
    }
    if (idle > 0)
      out.push_back(fmt::format(
          "{} of {} eigenfunctions have eigenvalues below 1e-32 of the largest: they add nothing "
          "and cost as much as others; {} would do",
          idle, size(), size() - idle));
  }
  // k(x, x) − q(x, x) at the worst row.
  void warn_of_measure(const double* theta, const double* z, ConstRows X,
                       std::vector<std::string>& out) const {
    const double variance = gaussian_.at(0, theta).v;
    double worst = 0.0;
    Index at = 0;
    Vector k(size());
    for (const Index i : rows_to_ask(X)) {
      const RowMatrix row = X.row(i);
      Kuf(theta, z, {row.data(), 1, row.cols(), row.cols()}, k.data());
      const double left = 1.0 - k.squaredNorm() / variance;
      if (left <= worst) continue;
      worst = left;
      at = i;
    }
    if (worst > 0.5)
      out.push_back(fmt::format(
          "the measure of the eigenfunctions is narrower than the data, or they are too few: at "
          "row {} they leave {:.0f} % of the variance; take more of them or a larger features.sd",
          at, 100.0 * worst));
  }

  GaussianKernel gaussian_;
  Vector mean_, sd_;
  Degrees degrees_;
};

}  // namespace

FeaturesPtr eigen_features(const Kernel& kernel, ConstVector mean, ConstVector sd,
                           const Eigen::MatrixX<Index>& degrees) {
  return std::make_shared<EigenFeatures>(kernel, mean, sd, degrees);
}

std::vector<std::int64_t> degrees_of(const Features& features) {
  std::vector<std::int64_t> out;
  if (const auto* own = dynamic_cast<const WithDegrees*>(&features))
    for (const auto& row : own->degrees().rowwise()) out.insert(out.end(), row.begin(), row.end());
  return out;
}

double eigenvalue_ratio(double lengthscale, double sd) {
  if (!(lengthscale > 0.0) || !(sd > 0.0))
    throw InputError(
        fmt::format("the lengthscale and the standard deviation must be positive, got {} and {}",
                    lengthscale, sd));
  return Hermite(1.0 / (lengthscale * lengthscale), 0.0, sd).B;
}

Degrees largest_degrees(ConstVector ratios, Index M) {
  const Index D = ratios.size();
  if (D == 0 || M < 1)
    throw InputError(
        fmt::format("at least one eigenfunction and one column are required, got {} and {}", M, D));
  if (!(ratios.minCoeff() >= 0.0) || !(ratios.maxCoeff() < 1.0))
    throw InputError("ratios of eigenvalues must be at least 0 and below 1");
  return largest_products(D, M, [&](Index d, Index) { return std::log(ratios(d)); });
}

namespace {

FeaturesPtr start_eigen(const FeatureStart& s) {
  const Index D = s.X.cols();
  if (is_exponential(s.kernel, D)) {
    const Box box = box_of(StationaryKernel(s.kernel, 1, "eigen"), s, false);
    return exponential_eigen_features(s.kernel, box.centre(0), 2.0 * box.half(0), s.M);
  }
  if (!s.kernel.node().gaussian_form(D))
    throw InputError(
        fmt::format("eigen features are not available for kernel {}; they take one se or a product "
                    "of se over columns, and in one column "
                    "matern12, with or without white. In one column, orthogonal features take "
                    "every Matérn kernel",
                    s.kernel.print()));
  const ColumnSpread x = spread_of(s.X);
  const Vector w = GaussianKernel(s.kernel, D, "eigen").at(0, s.theta.data()).w;
  Vector ratios(D);
  for (Index d = 0; d < D; ++d)
    ratios(d) = eigenvalue_ratio(w(d) > 0.0 ? 1.0 / std::sqrt(w(d)) : x.sd(d), x.sd(d));
  return eigen_features(s.kernel, x.mean, x.sd, largest_degrees(ratios, s.M));
}

}  // namespace

const FeatureKind eigen_kind{
    "eigen",
    "eigen",
    "mean, sd",
    false,
    false,
    false,
    [](const FeatureStart& s, Index) { return start_eigen(s); },
    [](const FeatureRecord& record, const Kernel& kernel) {
      const bool exponential = is_exponential(kernel, record.dims);
      RecordReader r(record, !exponential);
      r.expect(r.S() == 2 * r.D());
      const Vector mean = r.vector(r.D()), sd = r.vector(r.D());
      return exponential ? exponential_eigen_features(kernel, mean(0), sd(0), r.M())
                         : eigen_features(kernel, mean, sd, r.degrees(0, 100000));
    }};

}  // namespace covary
