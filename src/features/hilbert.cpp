#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <queue>
#include <set>

#include "covary/error.hpp"
#include "covary/features/parametric.hpp"
#include "features/box.hpp"
#include "features/degrees.hpp"
#include "features/kinds.hpp"
#include "features/stationary_kernel.hpp"
#include "features/warnings.hpp"

namespace covary {
namespace {

using Degrees = Eigen::MatrixX<Index>;

double frequency(Index degree, double half) {
  return 0.5 * std::numbers::pi * static_cast<double>(degree) / half;
}

class HilbertFeatures final : public Features, public WithDegrees {
 public:
  HilbertFeatures(const Kernel& kernel, ConstVector centre, ConstVector half, Degrees degrees)
      : spectrum_(kernel, centre.size(), "hilbert"),
        centre_(centre),
        half_(half),
        degrees_(std::move(degrees)) {
    if (size() == 0) throw InputError("there are no basis functions; a model needs one");
    if (centre.size() == 0 || half.size() != dims() || degrees_.cols() != dims())
      throw InputError(fmt::format("a box with {} centres and {} half widths for {} columns",
                                   centre.size(), half.size(), degrees_.cols()));
    if (!centre.allFinite() || !half.allFinite() || !(half.minCoeff() > 0.0))
      throw InputError("a box needs finite centres and positive half widths");
    if (degrees_.minCoeff() < 0) throw InputError("degrees of basis functions must be at least 0");
  }

  std::string name() const override { return "hilbert"; }
  Index size() const override { return degrees_.rows(); }
  Index dims() const override { return centre_.size(); }
  Index parameter_count() const override { return 2 * dims(); }
  const Degrees& degrees() const override { return degrees_; }

  void declare(Parameters& out) const override {
    out.add({"features.centre", centre_, Transform::real(), dims(), 1});
    out.add({"features.half_widths", half_, Transform::positive(), dims(), 1});
    out.fix("features.centre");
    out.fix("features.half_widths");
  }

  Matrix Kuu(const double*, const double*) const override {
    return Matrix::Identity(size(), size());
  }
  void Kuu_pullback(const double*, const double*, ConstMatrix, double*, double*) const override {}

  void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const override {
    const StationaryKernel::Values k = spectrum_.at(theta);
    for (Index m = 0; m < size(); ++m) {
      const double height =
          std::sqrt(k.v) * std::exp(0.5 * spectrum_.density(k.w, frequencies(m, z)).log_value);
      for (Index i = 0; i < x.n; ++i) {
        double value = height;
        for (Index d = 0; d < dims(); ++d) value *= wave(m, d, z, x.row(i)[d]).value;
        K[i * size() + m] = value;
      }
    }
  }

  void Kuf_pullback(const double* theta, const double* z, const RowBlock& x, const double*,
                    const double* Kuf_bar, double* theta_bar, double* z_bar,
                    double* x_bar) const override {
    const StationaryKernel::Values k = spectrum_.at(theta);
    const Index D = dims();
    double log_v_bar = 0.0;
    Vector w_bar = Vector::Zero(D);
    std::vector<Wave> waves(static_cast<std::size_t>(D));
    for (Index m = 0; m < size(); ++m) {
      const Vector omega = frequencies(m, z);
      const StationaryKernel::Density S = spectrum_.density(k.w, omega);
      const double height = std::sqrt(k.v) * std::exp(0.5 * S.log_value);
      double sum = 0.0;
      for (Index i = 0; i < x.n; ++i) {
        const double bar = Kuf_bar[i * size() + m];
        double value = height * bar;
        for (Index d = 0; d < D; ++d) {
          auto& own = waves[static_cast<std::size_t>(d)] = wave(m, d, z, x.row(i)[d]);
          value *= own.value;
        }
        sum += value;
        for (Index d = 0; d < D; ++d) {
          double others = height * bar;
          for (Index e = 0; e < D; ++e)
            if (e != d) others *= waves[static_cast<std::size_t>(e)].value;
          const Wave& own = waves[static_cast<std::size_t>(d)];
          if (x_bar) x_bar[i * D + d] += others * own.slope;
          z_bar[d] -= others * own.slope;
          z_bar[D + d] += others * own.by_half;
        }
      }
      log_v_bar += 0.5 * sum;
      for (Index d = 0; d < D; ++d) {
        if (k.w(d) == 0.0) continue;
        w_bar(d) += 0.5 * sum * S.by_log_w(d) / k.w(d);
        // ω ∝ 1/half
        z_bar[D + d] -= sum * S.by_square(d) * omega(d) * omega(d) / z[D + d];
      }
    }
    spectrum_.pullback(theta, log_v_bar, w_bar, theta_bar);
  }

  RowMatrix where(const double* z) const override {
    return over_two_deviations(Eigen::Map<const Vector>(z, dims()),
                               0.5 * Eigen::Map<const Vector>(z + dims(), dims()));
  }
  std::vector<std::string> warnings(const double*, const double* z, ConstRows X) const override {
    const Eigen::Map<const Vector> centre(z, dims()), half(z + dims(), dims());
    const Index rows = rows_outside(X, centre - half, centre + half);
    if (rows == 0) return {};
    return {fmt::format(
        "{} of {} rows lie outside the box of the basis functions, where they are zero: set "
        "features.half_widths larger",
        rows, X.rows())};
  }
  bool is_white() const override { return true; }
  FeaturesPtr for_term(const Kernel& term) const override {
    return std::make_shared<HilbertFeatures>(term, centre_, half_, degrees_);
  }

 private:
  struct Wave {
    double value = 1.0, slope = 0.0, by_half = 0.0;  // of one column, with its derivatives
  };
  Wave wave(Index m, Index d, const double* z, double x) const {
    const Index j = degrees_(m, d);
    if (j == 0) return {};
    const double half = z[dims() + d], at = x - z[d] + half, omega = frequency(j, half);
    if (at <= 0.0 || at >= 2.0 * half) return {0.0, 0.0, 0.0};
    const double height = 1.0 / std::sqrt(half), s = height * std::sin(omega * at),
                 c = height * std::cos(omega * at);
    return {s, omega * c, -0.5 * s / half + c * omega * (1.0 - at / half)};
  }
  Vector frequencies(Index m, const double* z) const {
    Vector out(dims());
    for (Index d = 0; d < dims(); ++d) out(d) = frequency(degrees_(m, d), z[dims() + d]);
    return out;
  }

  StationaryKernel spectrum_;
  Vector centre_, half_;
  Degrees degrees_;
};

}  // namespace

FeaturesPtr hilbert_features(const Kernel& kernel, ConstVector centre, ConstVector half_widths,
                             const Degrees& degrees) {
  return std::make_shared<HilbertFeatures>(kernel, centre, half_widths, degrees);
}

// The density falls with every degree: the next one is a neighbour of one that is there.
Degrees densest_degrees(const Kernel& kernel, ConstVector theta, ConstVector half_widths, Index M) {
  const Index D = half_widths.size();
  if (D == 0 || M < 1)
    throw InputError(fmt::format(
        "at least one basis function and one column are required, got {} and {}", M, D));
  const StationaryKernel spectrum(kernel, D, "hilbert");
  const Vector w = spectrum.at(theta.data()).w;
  using Row = std::vector<Index>;
  const auto density = [&](const Row& row) {
    Vector omega(D);
    for (Index d = 0; d < D; ++d)
      omega(d) = frequency(row[static_cast<std::size_t>(d)], half_widths(d));
    return spectrum.density(w, omega).log_value;
  };
  Row first(static_cast<std::size_t>(D), 0);
  for (Index d = 0; d < D; ++d) first[static_cast<std::size_t>(d)] = w(d) > 0.0 ? 1 : 0;
  std::priority_queue<std::pair<double, Row>> next;
  std::set<Row> seen;
  next.emplace(density(first), first);
  Degrees out(M, D);
  for (Index m = 0; m < M; ++m) {
    const Row best = next.top().second;
    next.pop();
    for (Index d = 0; d < D; ++d) {
      const auto at = static_cast<std::size_t>(d);
      out(m, d) = best[at];
      if (best[at] == 0) continue;
      Row one = best;
      ++one[at];
      if (seen.insert(one).second) next.emplace(density(one), one);
    }
    if (next.empty())
      throw InputError(fmt::format("{} sees no column of the inputs", kernel.print()));
  }
  return out;
}

const FeatureKind hilbert_kind{
    "hilbert",
    "hilbert",
    "centre, half_widths",
    false,
    true,
    false,
    [](const FeatureStart& s, Index) {
      const Box box = box_of(StationaryKernel(s.kernel, s.X.cols(), "hilbert"), s, true);
      return hilbert_features(s.kernel, box.centre, box.half,
                              densest_degrees(s.kernel, s.theta, box.half, s.M));
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record, true);
      r.expect(r.S() == 2 * r.D());
      const Vector centre = r.vector(r.D()), half = r.vector(r.D());
      return hilbert_features(kernel, centre, half, r.degrees(0, 100000));
    }};

}  // namespace covary
