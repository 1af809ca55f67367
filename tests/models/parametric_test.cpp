// Models whose functions are their own: random Fourier features, the sparse-spectrum GP, truncated
// Mercer, Hilbert-space functions and bumps, all by SoR; and what is likely wrong with features.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/eigen.hpp"
#include "covary/features/parametric.hpp"
#include "covary/inference/basis_regression.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"
#include "features/warnings.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

struct Wave {
  RowMatrix X = RowMatrix(120, 1);
  Vector y = Vector(120);
  Wave() {
    Random random(3);
    for (Index i = 0; i < 120; ++i) {
      X(i) = 1.5 * random.normal();
      y(i) = std::sin(2.0 * X(i)) + 0.1 * random.normal();
    }
  }
};

SparseRegressionOptions options_of(const char* features, Index M) {
  SparseRegressionOptions o;
  o.kernel = "se";
  o.approximation = "sor";
  o.features = features;
  o.inducing = M;
  o.training.starts = 1;
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.training.max_iterations = 60;
  return o;
}

TEST(Parametric, TrainsAndPredicts) {
  const Wave d;
  const RowMatrix at = Vector::LinSpaced(9, -2.0, 2.0);
  for (const char* kind : {"rff", "ssgp", "hilbert", "bumps", "eigen"}) {
    SCOPED_TRACE(kind);
    SparseRegression model(d.X, d.y, options_of(kind, 30));
    Jitter jitter;
    const Vector u = model.parameters().flatten();
    Vector g;
    model.objective(u, &g, jitter);
    expect_gradient(
        [&](const Vector& v) {
          Jitter j;
          return *model.objective(v, nullptr, j);
        },
        g, u);
    const double before = model.evaluate().value;
    const RegressionFit fit = model.fit();
    EXPECT_GE(fit.summary.value, before);
    EXPECT_FALSE(fit.summary.upper_bound);
    const Prediction p = fit.predict(at);
    for (Index i = 0; i < 9; ++i) EXPECT_NEAR(p.mean(i, 0), std::sin(2.0 * at(i)), 0.3);
  }
}

// The evidence and the predictions of SoR with any white features are those of Bayesian regression
// on the functions themselves.
TEST(Parametric, IsRegressionOnItsFunctions) {
  const Wave d;
  for (const char* kind : {"rff", "hilbert", "bumps"}) {
    SCOPED_TRACE(kind);
    SparseRegressionOptions o = options_of(kind, 10);
    o.training.max_iterations = 0;
    SparseRegression model(d.X, d.y, o);
    const RegressionFit fit = model.fit();
    const auto& parts = fit.posterior.as<SparsePosterior>().parts();
    const auto phi = [&](const RowMatrix& X) {
      Matrix K(parts.features->size(), X.rows());
      parts.features->Kuf(parts.values.theta.data(), parts.values.z.data(),
                          {X.data(), X.rows(), 1, 1}, K.data());
      return Matrix(K.transpose());
    };
    const BasisRegression reference(phi(d.X), d.y, 1.0, parts.values.noise);
    EXPECT_NEAR(fit.summary.value, reference.log_evidence(), 1e-7);
    const RowMatrix at = Vector::LinSpaced(5, -3.0, 3.0);
    const Gaussian expected = reference.predict(phi(at));
    const Prediction p = fit.predict(at);
    for (Index i = 0; i < 5; ++i) {
      EXPECT_NEAR(p.mean(i, 0), expected.mean(i), 1e-8);
      EXPECT_NEAR(p.variance_f(i, 0), expected.covariance(i, i), 1e-8);
    }
  }
}

// Far from the data a model with finitely many functions is sure of itself, and the variational one
// knows that it knows nothing (1.5b).
TEST(Parametric, IsOverconfidentFarAway) {
  const Wave d;
  const RowMatrix far = RowMatrix::Constant(1, 1, 40.0);
  const auto variance = [&](const char* kind, const char* approximation) {
    SparseRegressionOptions o = options_of(kind, 20);
    o.approximation = approximation;
    o.training.max_iterations = 0;
    SparseRegression model(d.X, d.y, o);
    model.parameters().set("likelihood.variance", Vector::Constant(1, 1e-4));
    model.parameters().set("kernel.lengthscales", Vector::Constant(1, 0.1));
    const double v = model.parameters().at("kernel.variance").value(0);
    return model.fit().predict(far).variance_f(0, 0) / v;
  };
  EXPECT_LT(variance("eigen", "sor"), 1e-6);
  EXPECT_LT(variance("rff", "sor"), 0.5);
  EXPECT_LT(variance("ssgp", "sor"), 0.5);
  EXPECT_LT(variance("hilbert", "sor"), 1e-6);
  EXPECT_NEAR(variance("eigen", "vfe"), 1.0, 1e-6);
}

// Truncated Mercer and the variational model have one Qff: the first lacks the trace alone.
TEST(Parametric, TruncatedMercerIsTheBoundWithoutItsTrace) {
  const Wave d;
  SparseRegressionOptions o = options_of("eigen", 12);
  const SparseEvaluation mercer = SparseRegression(d.X, d.y, o).evaluate();
  o.approximation = "vfe";
  const SparseEvaluation bound = SparseRegression(d.X, d.y, o).evaluate();
  EXPECT_NEAR(mercer.value, bound.value + bound.terms.trace, 1e-8);
  EXPECT_GT(bound.terms.trace, 0.0);
}

// The covariance of draws is the truncated kernel.
TEST(Parametric, KarhunenLoeveDraws) {
  const Kernel kernel = "se";
  const Vector theta = (Vector(2) << 1.5, 0.8).finished();
  const FeaturesPtr u = eigen_features(kernel, Vector::Zero(1), Vector::Ones(1),
                                       largest_degrees(Vector::Constant(1, 0.5), 25));
  const Vector z = (Vector(2) << 0.0, 1.0).finished();
  RowMatrix X(3, 1);
  X << -0.5, 0.1, 1.0;
  const Index draws = 20000;
  const Matrix f = sample_by_features(*u, theta, z, X, draws, 7);
  const Matrix K = cross(kernel, theta, X, X);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j)
      EXPECT_NEAR(f.row(i).dot(f.row(j)) / static_cast<double>(draws), K(i, j), 0.06);
  EXPECT_THROW(sample_by_features(*inducing_points(kernel, X), theta, z, X, 1, 0), InputError);
  EXPECT_THROW(sample_by_features(*u, theta, z, RowMatrix::Zero(1, 2), 1, 0), InputError);
}

TEST(Parametric, IsNoApproximation) {
  const Wave d;
  SparseRegressionOptions o = options_of("rff", 10);
  o.approximation = "vfe";
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
  o = options_of("rff", 0);
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
  o = options_of("hilbert", 5);
  o.Z = d.X.topRows(2);
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
  SvgpOptions s;
  s.kernel = "se";
  s.features = "hilbert";
  EXPECT_THROW(Svgp(d.X, d.y, s), InputError);
}

// Features of one column with other kernels, in regression and SVGP.
TEST(Parametric, FurtherKindsTrain) {
  const Wave d;
  for (const auto& [kind, kernel, M] :
       {std::tuple{"eigen", "matern12 + white", 25}, std::tuple{"fourier(l2)", "matern12", 25},
        std::tuple{"orthogonal", "matern52", 25}, std::tuple{"empirical", "matern32", 20}}) {
    SCOPED_TRACE(kind);
    SparseRegressionOptions o = options_of(kind, M);
    o.approximation = "vfe";
    o.kernel = kernel;
    const RegressionFit fit = SparseRegression(d.X, d.y, o).fit();
    EXPECT_LE(fit.summary.value, *fit.summary.upper_bound);
    EXPECT_NEAR(fit.predict(RowMatrix::Constant(1, 1, 0.4)).mean(0, 0), std::sin(0.8), 0.25);
    o.kernel = "periodic";
    if (std::string(kind) != "empirical") {
      EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
    }
  }
}

bool said(const std::vector<std::string>& lines, const std::string& words) {
  for (const auto& line : lines)
    if (line.find(words) != std::string::npos) return true;
  return false;
}

TEST(FeatureWarnings, SayWhatIsWrong) {
  const Wave d;
  const auto warnings = [&](const char* kind, const char* kernel, Index M,
                            const std::vector<std::pair<std::string, Vector>>& set) {
    SparseRegressionOptions o = options_of(kind, M);
    o.kernel = kernel;
    if (!o.features.is_parametric()) o.approximation = "vfe";
    o.training.max_iterations = 0;
    SparseRegression model(d.X, d.y, o);
    for (const auto& [path, value] : set) model.parameters().set(path, value);
    return model.fit().summary.warnings;
  };
  const auto pair = [](double a, double b) { return (Vector(2) << a, b).finished(); };
  const auto one = [](double a) { return Vector::Constant(1, a); };
  EXPECT_TRUE(
      warnings("fourier", "matern12", 15, {{"features.interval", pair(-40.0, 40.0)}}).empty());
  EXPECT_TRUE(said(warnings("fourier", "matern12", 15, {{"features.interval", pair(-1.0, 1.0)}}),
                   "rows lie outside the features' interval"));
  EXPECT_TRUE(said(warnings("fourier", "matern12", 15,
                            {{"features.interval", pair(d.X.minCoeff(), d.X.maxCoeff())}}),
                   "the harmonics are periodic"));
  EXPECT_TRUE(said(warnings("fourier", "matern32", 1001, {}), "Nyquist"));
  EXPECT_TRUE(said(warnings("frequency", "se", 5,
                            {{"kernel.lengthscales", one(0.02)},
                             {"features.frequencies", Vector::LinSpaced(5, 55.0, 75.0)}}),
                   "Nyquist"));
  EXPECT_TRUE(said(warnings("fourier(l2)", "matern12", 5, {{"features.length", one(0.5)}}),
                   "rows lie outside the features' interval"));
  EXPECT_TRUE(
      said(warnings("hilbert", "se", 9, {{"features.half_widths", one(0.5)}}), "outside the box"));
  EXPECT_TRUE(said(
      warnings("eigen", "se", 9, {{"kernel.lengthscales", one(0.5)}, {"features.sd", one(0.05)}}),
      "narrower than the data"));
  EXPECT_TRUE(
      said(warnings("eigen", "se", 200, {{"kernel.lengthscales", one(30.0)}}), "add nothing"));
  EXPECT_TRUE(warnings("eigen", "se", 40, {{"kernel.lengthscales", one(1.0)}}).empty());
  SvgpOptions s;
  s.kernel = "se";
  s.likelihood = "gaussian";
  s.features = "eigen";
  s.inducing = 5;
  s.training.max_iterations = 0;
  s.scale_inputs = ScaleMode::none;
  Svgp svgp(d.X, d.y, s);
  svgp.parameters().set("kernel.lengthscales", one(0.5));
  svgp.parameters().set("features.sd", one(0.05));
  EXPECT_TRUE(said(svgp.fit().summary.warnings, "narrower than the data"));
}

}  // namespace
}  // namespace covary
