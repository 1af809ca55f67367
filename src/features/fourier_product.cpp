#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/features/one_pass.hpp"
#include "features/fourier.hpp"
#include "features/kinds.hpp"
#include "features/largest_products.hpp"
#include "features/stacked.hpp"
#include "features/warnings.hpp"

namespace covary {
namespace {

// The factors of the one smooth term, in the order of their columns.
std::vector<KernelPart> factors_of(const Kernel& kernel, Index dims) {
  std::vector<KernelPart> found(static_cast<std::size_t>(dims), {kernel, {}, 0, nullptr});
  Index smooth = 0, count = 0;
  bool apart = true;
  for (const auto& term : kernel.terms(dims)) {
    if (term.node->is_white()) continue;
    ++smooth;
    for (KernelPart& f : kernel_factors(Kernel(term.node), dims)) {
      ++count;
      apart = apart && f.columns.size() == 1 &&
              !found[static_cast<std::size_t>(f.columns.front())].term;
      if (!apart) break;
      f.offset += term.offset;
      found[static_cast<std::size_t>(f.columns.front())] = f;
    }
  }
  if (smooth != 1 || !apart || count != dims)
    throw InputError(
        fmt::format("fourier features of {} columns are not available for kernel {}; they take a "
                    "product of matern12, matern32 and matern52, one "
                    "for each column, such as matern32@0 * matern32@1; for a sum of kernels use "
                    "stacked(fourier)",
                    dims, kernel.print()));
  return found;
}

// Products of harmonics of one column each, so that Kuu and Kuf have the products of theirs.
class FourierProduct final : public Features {
 public:
  using Harmonics = Eigen::MatrixX<Index>;

  FourierProduct(const Kernel& kernel, ConstRows intervals, Harmonics harmonics)
      : intervals_(intervals), harmonics_(std::move(harmonics)) {
    if (intervals.cols() != 2 || harmonics_.cols() != intervals.rows() || harmonics_.size() == 0)
      throw InputError(fmt::format("{} products of harmonics of {} columns with {} intervals",
                                   harmonics_.rows(), harmonics_.cols(), intervals.rows()));
    index_ = harmonics_;
    Index d = 0;
    for (const KernelPart& f : factors_of(kernel, dims())) {
      const Index K = harmonics_.col(d).cwiseAbs().maxCoeff();
      factors_.push_back(
          {fourier_features(f.kernel, intervals(d, 0), intervals(d, 1), K), f.offset});
      for (Index m = 0; m < size(); ++m)
        if (harmonics_(m, d) < 0) index_(m, d) = K - harmonics_(m, d);
      ++d;
    }
  }

  std::string name() const override { return "fourier"; }
  Index size() const override { return harmonics_.rows(); }
  Index dims() const override { return intervals_.rows(); }
  Index parameter_count() const override { return intervals_.size(); }
  void declare(Parameters& out) const override {
    const Vector start = intervals_.reshaped<Eigen::RowMajor>();
    out.add({"features.interval", start, Transform::real(), dims(), 2});
    out.fix("features.interval");
  }

  Matrix Kuu(const double* theta, const double* z) const override {
    const std::vector<Matrix> own = Kuu_tables(theta, z);
    Matrix out = Matrix::Ones(size(), size());
    for (Index d = 0; d < dims(); ++d)
      for (Index n = 0; n < size(); ++n)
        for (Index m = 0; m < size(); ++m) out(m, n) *= at(own, d)(index_(m, d), index_(n, d));
    return out;
  }
  void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar, double* theta_bar,
                    double* z_bar) const override {
    const std::vector<Matrix> own = Kuu_tables(theta, z);
    std::vector<Matrix> bars = zeros_like(own);
    for (Index n = 0; n < size(); ++n)
      for (Index m = 0; m < size(); ++m)
        share(
            Kuu_bar(m, n), [&](Index d) { return at(own, d)(index_(m, d), index_(n, d)); },
            [&](Index d) -> double& { return at(bars, d)(index_(m, d), index_(n, d)); });
    for (Index d = 0; d < dims(); ++d) {
      const Factor& f = factor(d);
      const Matrix bar = 0.5 * (at(bars, d) + at(bars, d).transpose());
      f.features->Kuu_pullback(theta + f.theta, z + 2 * d, bar, theta_bar + f.theta, z_bar + 2 * d);
    }
  }

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const std::vector<Matrix> own = Kuf_tables(theta, z, x);
    Eigen::Map<Matrix> out(K, size(), x.n);
    out.setOnes();
    for (Index d = 0; d < dims(); ++d)
      for (Index j = 0; j < x.n; ++j)
        for (Index m = 0; m < size(); ++m) out(m, j) *= at(own, d)(index_(m, d), j);
  }
  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const std::vector<Matrix> own = Kuf_tables(theta, z, x);
    std::vector<Matrix> bars = zeros_like(own);
    for (Index j = 0; j < x.n; ++j)
      for (Index m = 0; m < size(); ++m)
        share(
            Kuf_bar[j * size() + m], [&](Index d) { return at(own, d)(index_(m, d), j); },
            [&](Index d) -> double& { return at(bars, d)(index_(m, d), j); });
    for (Index d = 0; d < dims(); ++d) {
      const Factor& f = factor(d);
      Vector moved = Vector::Zero(x.n);
      f.features->Kuf_pullback(theta + f.theta, z + 2 * d, column(x, d), nullptr,
                               at(bars, d).data(), theta_bar + f.theta, z_bar + 2 * d,
                               x_bar ? moved.data() : nullptr);
      for (Index j = 0; x_bar && j < x.n; ++j) x_bar[j * x.dims + d] += moved(j);
    }
  }

  RowMatrix where(const double* z) const override {
    RowMatrix out(5, dims());
    for (Index d = 0; d < dims(); ++d) out.col(d) = Vector::LinSpaced(5, z[2 * d], z[2 * d + 1]);
    return out;
  }
  std::vector<std::string> warnings(const double*, const double* z, ConstRows X) const override {
    const Eigen::Map<const RowMatrix> intervals(z, dims(), 2);
    const Index rows = rows_outside(X, intervals.col(0), intervals.col(1));
    if (rows == 0) return {};
    return {fmt::format(
        "{} of {} rows lie outside the intervals of the features: set features.interval wider",
        rows, X.rows())};
  }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<FourierProduct>(term, intervals_, harmonics_);
  }
  const Harmonics& harmonics() const { return harmonics_; }

 private:
  struct Factor {
    FeaturesPtr features;
    Index theta;
  };
  const Factor& factor(Index d) const { return factors_[static_cast<std::size_t>(d)]; }
  static const Matrix& at(const std::vector<Matrix>& tables, Index d) {
    return tables[static_cast<std::size_t>(d)];
  }
  static Matrix& at(std::vector<Matrix>& tables, Index d) {
    return tables[static_cast<std::size_t>(d)];
  }
  static std::vector<Matrix> zeros_like(const std::vector<Matrix>& tables) {
    std::vector<Matrix> out;
    for (const Matrix& t : tables) out.push_back(Matrix::Zero(t.rows(), t.cols()));
    return out;
  }
  static RowBlock column(const RowBlock& x, Index d) {
    return {x.data + d, x.n, 1, x.stride, x.first};
  }
  std::vector<Matrix> Kuu_tables(const double* theta, const double* z) const {
    std::vector<Matrix> out;
    for (Index d = 0; d < dims(); ++d)
      out.push_back(factor(d).features->Kuu(theta + factor(d).theta, z + 2 * d));
    return out;
  }
  std::vector<Matrix> Kuf_tables(const double* theta, const double* z, const RowBlock& x) const {
    std::vector<Matrix> out;
    for (Index d = 0; d < dims(); ++d) {
      out.emplace_back(factor(d).features->size(), x.n);
      factor(d).features->Kuf(theta + factor(d).theta, z + 2 * d, column(x, d), out.back().data());
    }
    return out;
  }
  // The adjoint of a product of D values: each gets that of the product times all others.
  template <class Value, class Bar>
  void share(double bar, const Value& value, const Bar& to) const {
    for (Index d = 0; d < dims(); ++d) {
      double others = bar;
      for (Index e = 0; e < dims(); ++e)
        if (e != d) others *= value(e);
      to(d) += others;
    }
  }

  RowMatrix intervals_;
  Harmonics harmonics_, index_;  // −k is the sine of k; where that is among the factor's features
  std::vector<Factor> factors_;
};

}  // namespace

FeaturesPtr fourier_products(const Kernel& kernel, ConstRows intervals,
                             const Eigen::MatrixX<Index>& harmonics) {
  return std::make_shared<FourierProduct>(kernel, intervals, harmonics);
}

std::vector<std::int64_t> harmonics_of(const Features& features) {
  std::vector<std::int64_t> out;
  if (const auto* own = dynamic_cast<const FourierProduct*>(&features))
    for (const auto& row : own->harmonics().rowwise())
      out.insert(out.end(), row.begin(), row.end());
  return out;
}

// By the spectral densities of the factors: those of a constant, cos ω₁, sin ω₁, cos ω₂, … fall.
Eigen::MatrixX<Index> largest_harmonics(const Kernel& kernel, ConstVector theta,
                                        ConstRows intervals, Index M) {
  const Index D = intervals.rows(), K = M / 2 + 1;
  Matrix log_density(K + 1, D);
  Index d = 0;
  for (const KernelPart& f : factors_of(kernel, D)) {
    const FeaturesPtr own = fourier_features(f.kernel, intervals(d, 0), intervals(d, 1), K);
    const Vector z = intervals.row(d);
    log_density.col(d++) =
        -own->one_pass()->Kuu_parts(theta.data() + f.offset, z.data()).d.head(K + 1).array().log();
  }
  log_density.row(0).array() += std::log(2.0);  // of length L where the others have L/2
  const auto harmonic = [](Index i) { return (i + 1) / 2; };
  Eigen::MatrixX<Index> out = largest_products(D, M, [&](Index c, Index i) {
    return harmonic(i + 1) > K ? -std::numeric_limits<double>::infinity()
                               : log_density(harmonic(i + 1), c) - log_density(harmonic(i), c);
  });
  for (Index& i : out.reshaped()) i = i % 2 ? harmonic(i) : -harmonic(i);
  return out;
}

namespace {

// From two lengthscales below the rows to two above, at most their range and at least a tenth.
FeaturesPtr start_fourier(const FeatureStart& s) {
  const Index D = s.X.cols();
  const auto interval = [&](Index d, double l) {
    const double low = s.X.col(d).minCoeff(), range = std::max(s.X.col(d).maxCoeff() - low, 1e-12);
    const double pad = std::clamp(2.0 * l, 0.1 * range, range);
    return Eigen::RowVector2d(low - pad, low + range + pad);
  };
  RowMatrix intervals(D, 2);
  for (Index d = 0; d < D; ++d) intervals.row(d) = interval(d, 0.0);
  if (D == 1)
    fourier_features(s.kernel, intervals(0, 0), intervals(0, 1), 0);  // refuses other kernels
  else
    largest_harmonics(s.kernel, s.theta, intervals, 1);
  for (const auto& term : s.kernel.terms(D)) {
    if (term.node->is_white()) continue;
    for (const KernelPart& f : kernel_factors(Kernel(term.node), D))
      intervals.row(f.columns.front()) =
          interval(f.columns.front(), s.theta(term.offset + f.offset + 1));
  }
  if (D == 1) return fourier_features(s.kernel, intervals(0, 0), intervals(0, 1), (s.M - 1) / 2);
  return fourier_products(s.kernel, intervals,
                          largest_harmonics(s.kernel, s.theta, intervals, s.M));
}

}  // namespace

const FeatureKind fourier_kind{"fourier",
                               "fourier",
                               "interval",
                               false,
                               false,
                               false,
                               [](const FeatureStart& s, Index) { return start_fourier(s); },
                               [](const FeatureRecord& record, const Kernel& kernel) {
                                 RecordReader r(record, record.dims > 1);
                                 if (r.D() > 1) {
                                   r.expect(r.S() == 2 * r.D());
                                   return fourier_products(kernel, r.rows(r.D(), 2),
                                                           r.degrees(-r.M(), r.M()));
                                 }
                                 r.expect(r.S() == 2 && r.M() % 2 == 1);
                                 const double a = r.vector(1)(0), b = r.vector(1)(0);
                                 return fourier_features(kernel, a, b, (r.M() - 1) / 2);
                               }};

}  // namespace covary
