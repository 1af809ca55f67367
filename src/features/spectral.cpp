#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/parametric.hpp"
#include "features/kinds.hpp"
#include "features/stationary_kernel.hpp"
#include "features/warnings.hpp"

namespace covary {
namespace {

class SpectralFeatures final : public Features {
 public:
  SpectralFeatures(const Kernel& kernel, ConstRows directions, bool trained)
      : spectrum_(kernel, directions.cols(), trained ? "ssgp" : "rff"),
        directions_(directions),
        trained_(trained) {
    if (directions.size() == 0) throw InputError("there are no frequencies; a model needs one");
    if (!directions.allFinite()) throw InputError("frequencies must be finite");
  }

  std::string name() const override { return trained_ ? "ssgp" : "rff"; }
  Index size() const override { return 2 * directions_.rows(); }
  Index dims() const override { return directions_.cols(); }
  Index parameter_count() const override { return directions_.size(); }

  void declare(Parameters& out) const override {
    out.add({"features.frequencies",
             Eigen::Map<const Vector>(directions_.data(), directions_.size()), Transform::real(),
             directions_.rows(), dims()});
    if (!trained_) out.fix("features.frequencies");
  }

  Matrix Kuu(const double*, const double*) const override {
    return Matrix::Identity(size(), size());
  }
  void Kuu_pullback(const double*, const double*, ConstMatrix, double*, double*) const override {}

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const StationaryKernel::Values k = spectrum_.at(theta);
    const Vector root = k.w.cwiseSqrt();
    const Index J = directions_.rows();
    const double height = std::sqrt(k.v / static_cast<double>(J));
    for (Index i = 0; i < x.n; ++i) {
      double* column = K + i * size();
      for (Index j = 0; j < J; ++j) {
        const double phase = phase_of(z + j * dims(), root, x.row(i));
        column[j] = height * std::cos(phase);
        column[J + j] = height * std::sin(phase);
      }
    }
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const StationaryKernel::Values k = spectrum_.at(theta);
    const Vector root = k.w.cwiseSqrt();
    const Index J = directions_.rows(), D = dims();
    const double height = std::sqrt(k.v / static_cast<double>(J));
    double log_v_bar = 0.0;
    Vector root_bar = Vector::Zero(D);
    for (Index i = 0; i < x.n; ++i) {
      const double* bar = Kuf_bar + i * size();
      const double* row = x.row(i);
      for (Index j = 0; j < J; ++j) {
        const double* xi = z + j * D;
        const double phase = phase_of(xi, root, row), c = height * std::cos(phase),
                     s = height * std::sin(phase);
        log_v_bar += 0.5 * (bar[j] * c + bar[J + j] * s);
        const double phase_bar = bar[J + j] * c - bar[j] * s;
        for (Index d = 0; d < D; ++d) {
          z_bar[j * D + d] += phase_bar * root(d) * row[d];
          root_bar(d) += phase_bar * xi[d] * row[d];
          if (x_bar) x_bar[i * D + d] += phase_bar * xi[d] * root(d);
        }
      }
    }
    Vector w_bar = Vector::Zero(D);
    for (Index d = 0; d < D; ++d)
      if (root(d) > 0.0) w_bar(d) = 0.5 * root_bar(d) / root(d);
    spectrum_.pullback(theta, log_v_bar, w_bar, theta_bar);
  }

  RowMatrix where(const double*) const override {
    return over_two_deviations(Vector::Zero(dims()), Vector::Ones(dims()));
  }
  // A few frequencies of a heavy-tailed spectrum always lie beyond: said of those that were
  // trained.
  std::vector<std::string> warnings(const double* theta, const double* z,
                                    ConstRows X) const override {
    std::vector<std::string> out;
    if (!trained_) return out;
    const Eigen::Map<const RowMatrix> xi(z, directions_.rows(), dims());
    warn_of_nyquist(xi.cwiseAbs().colwise().maxCoeff().transpose().cwiseProduct(
                        spectrum_.at(theta).w.cwiseSqrt()),
                    X, out);
    return out;
  }
  bool is_white() const override { return true; }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<SpectralFeatures>(term, directions_, trained_);
  }

 private:
  static double phase_of(const double* xi, const Vector& root, const double* x) {
    double sum = 0.0;
    for (Index d = 0; d < root.size(); ++d) sum += xi[d] * root(d) * x[d];
    return sum;
  }

  StationaryKernel spectrum_;
  RowMatrix directions_;
  bool trained_;
};

}  // namespace

FeaturesPtr random_fourier_features(const Kernel& kernel, ConstRows directions) {
  return std::make_shared<SpectralFeatures>(kernel, directions, false);
}

FeaturesPtr sparse_spectrum_features(const Kernel& kernel, ConstRows directions) {
  return std::make_shared<SpectralFeatures>(kernel, directions, true);
}

RowMatrix draw_directions(const Kernel& kernel, Index J, Index D, std::uint64_t seed) {
  const StationaryKernel spectrum(kernel, D, "rff and ssgp");
  Random random(seed, 0x0f5e);
  RowMatrix out(J, D);
  for (Index j = 0; j < J; ++j) out.row(j) = spectrum.draw(random);
  return out;
}

namespace {

RowMatrix directions_of(const FeatureRecord& record) {
  RecordReader r(record);
  r.expect(r.M() % 2 == 0 && 2 * r.S() == r.M() * r.D());
  return r.rows(r.M() / 2, r.D());
}

}  // namespace

const FeatureKind rff_kind{
    "rff",
    "rff",
    "frequencies",
    false,
    true,
    false,
    [](const FeatureStart& s, Index) {
      return random_fourier_features(
          s.kernel, draw_directions(s.kernel, std::max<Index>(1, s.M / 2), s.X.cols(), s.seed));
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      return random_fourier_features(kernel, directions_of(record));
    }};

const FeatureKind ssgp_kind{
    "ssgp",
    "ssgp",
    "frequencies",
    false,
    true,
    false,
    [](const FeatureStart& s, Index) {
      return sparse_spectrum_features(
          s.kernel, draw_directions(s.kernel, std::max<Index>(1, s.M / 2), s.X.cols(), s.seed));
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      return sparse_spectrum_features(kernel, directions_of(record));
    }};

}  // namespace covary
