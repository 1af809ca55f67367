// Value and gradients of VFE's bound against long double, over lengthscales, noise, jitter and
// numbers of inducing inputs that take Kuu from well conditioned to singular.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "covary/linalg/parallel.hpp"
#include "inference/accuracy_case.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::AccuracyErrors;
using testing::WideReference;

struct Setting {
  Index M, D;
  double lengthscale;
};

std::string describe(const Setting& s, double jitter, double noise, const SparseEvaluation& e) {
  return fmt::format(
      "M = {}, D = {}, l = {}, jitter {} (added {}), noise {}, route {}, rho {}, smallest "
      "eigenvalue {}",
      s.M, s.D, s.lengthscale, jitter, e.jitter, noise, static_cast<int>(e.terms.route),
      e.terms.rho, e.terms.smallest_eigenvalue);
}

void check(const Setting& s, const std::vector<double>& jitters,
           const std::vector<double>& noises) {
  testing::SparseCase t = testing::accuracy_case(360, s.M, s.D, s.lengthscale);
  std::vector<long double> exact;
  for (const double noise : noises)
    exact.push_back(WideReference::exact(t.X, t.Y, t.values.theta(0), s.lengthscale, noise));
  for (const double jitter : jitters) {
    std::optional<WideReference> wide;
    double added = -1.0;
    for (std::size_t i = 0; i < noises.size(); ++i) {
      t.values.noise = noises[i];
      SweepGradient g;
      const SparseEvaluation e = t.evaluate("vfe", &g, Route::automatic, jitter);
      if (e.jitter != added) wide.emplace(testing::wide_reference(t, e.jitter));
      added = e.jitter;
      const WideReference::Result reference = wide->evaluate(noises[i], true);
      const AccuracyErrors errors = testing::accuracy_errors(e, g, reference);
      const std::string where = describe(s, jitter, noises[i], e);
      // Where Kuu is singular to double precision, the value cannot be better than the kernel's
      // values: four roundings of each, to first order, are the limit there.
      const double smallest = e.terms.smallest_eigenvalue / t.values.theta(0);
      const auto rounding = static_cast<double>(reference.rounding / std::abs(reference.value));
      EXPECT_LE(errors.value, smallest >= 1e-9 ? 1e-9 : std::max(1e-9, 4.0 * rounding)) << where;
      if (noises[i] >= 1e-4) {
        EXPECT_LE(errors.theta, 1e-6) << where;
        EXPECT_LE(errors.noise, 1e-6) << where;
      }
      if (smallest >= 1e-6) {
        EXPECT_LE(errors.z, 1e-6) << where;
      }
      EXPECT_LE(e.value, exact[i] + 1e-8 * std::abs(e.value)) << where;
    }
  }
}

void check_all(const std::vector<Setting>& settings, const std::vector<double>& jitters,
               const std::vector<double>& noises) {
  parallel_for(static_cast<Index>(settings.size()),
               [&](Index i) { check(settings[static_cast<std::size_t>(i)], jitters, noises); });
}

const std::vector<double> all_noises{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

TEST(Accuracy, FewInducingInputs) {
  std::vector<Setting> settings;
  for (const Index D : {1, 2})
    for (const double l : {0.05, 0.15, 0.5, 2.0}) settings.push_back({20, D, l});
  check_all(settings, {0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6}, all_noises);
}

TEST(Accuracy, SomeInducingInputs) {
  std::vector<Setting> settings;
  for (const Index D : {1, 2})
    for (const double l : {0.05, 0.4, 2.0}) settings.push_back({60, D, l});
  check_all(settings, {0.0, 1e-12, 1e-9, 1e-6}, all_noises);
}

TEST(Accuracy, ManyInducingInputs) {
  check_all({{300, 2, 0.1}, {300, 2, 0.5}}, {0.0, 1e-9}, {1e-1, 1e-4, 1e-6});
}

// The reference's own gradient, by differences of its values.
TEST(Accuracy, ReferenceGradient) {
  const testing::SparseCase t = testing::accuracy_case(40, 6, 2, 0.7);
  const long double noise = 0.01L, jitter = 1e-9L;
  const auto result = WideReference(t.X, t.Y, t.Z, 1.3L, 0.7L, jitter).evaluate(noise, true);
  const auto value = [&](const Vector& x) {
    RowMatrix Z = t.Z;
    Z.reshaped<Eigen::RowMajor>() = x.tail(Z.size());
    return static_cast<double>(
        WideReference(t.X, t.Y, Z, x(0), x(1), jitter).evaluate(x(2), false).value);
  };
  Vector x(3 + t.Z.size()), g(x.size());
  x << 1.3, 0.7, 0.01, t.Z.reshaped<Eigen::RowMajor>();
  g.head(3) << static_cast<double>(result.variance_bar),
      static_cast<double>(result.lengthscale_bar), static_cast<double>(result.noise_bar);
  for (Index i = 0; i < t.Z.rows(); ++i)
    for (Index d = 0; d < 2; ++d)
      g(3 + 2 * i + d) = static_cast<double>(
          result.Z_bar[static_cast<std::size_t>(i)][static_cast<std::size_t>(d)]);
  expect_gradient(value, g, x);
}

}  // namespace
}  // namespace covary
