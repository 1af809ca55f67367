// How windows start: half a lengthscale wide, with frequencies of the kernel's spectrum.
#include <cmath>
#include <numbers>

#include "features/gaussian_kernel.hpp"
#include "features/kinds.hpp"
#include "features/windows.hpp"

namespace covary {
namespace {

// Lengthscales of the columns by the first term; the spread of X where the kernel has none.
Vector lengthscales_of(const FeatureStart& s, const char* kind, const Vector& sd) {
  const Vector w = GaussianKernel(s.kernel, sd.size(), kind).at(0, s.theta.data()).w;
  Vector out = sd;
  for (Index d = 0; d < sd.size(); ++d)
    if (w(d) > 0.0) out(d) = 1.0 / std::sqrt(w(d));
  return out;
}

RowMatrix half_of(const Vector& l, Index n) { return (0.5 * l).transpose().replicate(n, 1); }

// The spectrum of se is normal with standard deviation 1/ℓ.
RowMatrix frequencies(Index n, const Vector& l, Random& random) {
  return random.normal_matrix(n, l.size()) * l.cwiseInverse().asDiagonal();
}

Vector phases(Index n, Random& random) {
  Vector out(n);
  for (double& p : out) p = std::numbers::pi * random.uniform();
  return out;
}

}  // namespace

const FeatureKind multiscale_kind{"multiscale",
                                  "multiscale",
                                  "Z, widths",
                                  true,
                                  false,
                                  false,
                                  [](const FeatureStart& s, Index) {
                                    const RowMatrix Z = s.inputs();
                                    const Vector l =
                                        lengthscales_of(s, "multiscale", spread_of(s.X).sd);
                                    return multiscale_features(s.kernel, Z, half_of(l, Z.rows()));
                                  },
                                  [](const FeatureRecord& record, const Kernel& kernel) {
                                    RecordReader r(record);
                                    r.expect(r.S() == 2 * r.M() * r.D());
                                    const RowMatrix Z = r.rows(r.M(), r.D());
                                    return multiscale_features(kernel, Z, r.rows(r.M(), r.D()));
                                  }};

const FeatureKind multiscale_sums_kind{
    "multiscale(C)",
    "multiscale_basis",
    "Z, widths, weights",
    true,
    false,
    false,
    [](const FeatureStart& s, Index C) {
      Random random = start_random(s);
      const RowMatrix Z = s.inputs();
      const Vector l = lengthscales_of(s, "multiscale", spread_of(s.X).sd);
      const RowMatrix points = with_other_points(s, Z, C, random);
      return multiscale_basis_features(s.kernel, points, half_of(l, Z.rows()).replicate(C, 1),
                                       first_weights(Z.rows(), C, random));
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record);
      const Index each = r.M() * (2 * r.D() + 1), C = r.S() / each;
      r.expect(r.S() > 0 && r.S() % each == 0);
      const RowMatrix Z = r.rows(r.M() * C, r.D()), widths = r.rows(r.M() * C, r.D());
      return multiscale_basis_features(kernel, Z, widths, r.rows(r.M(), C));
    }};

const FeatureKind frequency_kind{
    "frequency",
    "frequency",
    "centre, widths, frequencies, phases",
    false,
    false,
    false,
    [](const FeatureStart& s, Index) {
      Random random = start_random(s);
      const ColumnSpread x = spread_of(s.X);
      const Vector l = lengthscales_of(s, "frequency", x.sd);
      const RowMatrix omega = frequencies(s.M, l, random);
      return frequency_features(s.kernel, x.mean, 2.0 * x.sd, omega, phases(s.M, random));
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record);
      r.expect(r.S() == 2 * r.D() + r.M() * r.D() + r.M());
      const Vector centre = r.vector(r.D()), widths = r.vector(r.D());
      const RowMatrix omega = r.rows(r.M(), r.D());
      return frequency_features(kernel, centre, widths, omega, r.vector(r.M()));
    }};

const FeatureKind time_frequency_kind{
    "timefrequency",
    "timefrequency",
    "Z, widths, frequencies, phases",
    true,
    false,
    false,
    [](const FeatureStart& s, Index) {
      Random random = start_random(s);
      const RowMatrix Z = s.inputs();
      const Vector l = lengthscales_of(s, "timefrequency", spread_of(s.X).sd);
      const RowMatrix omega = frequencies(Z.rows(), l, random);
      return time_frequency_features(s.kernel, Z, half_of(l, Z.rows()), omega,
                                     phases(Z.rows(), random));
    },
    [](const FeatureRecord& record, const Kernel& kernel) {
      RecordReader r(record);
      const Index MD = r.M() * r.D();
      r.expect(r.S() == 3 * MD + r.M());
      const RowMatrix Z = r.rows(r.M(), r.D()), widths = r.rows(r.M(), r.D()),
                      omega = r.rows(r.M(), r.D());
      return time_frequency_features(kernel, Z, widths, omega, r.vector(r.M()));
    }};

}  // namespace covary
