// Sparse models with inducing variables other than points.
#include "covary/features/choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/basis.hpp"
#include "covary/features/eigen.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"

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
  o.features = features;
  o.inducing = M;
  o.starts = 1;
  o.training.max_iterations = 100;
  return o;
}

// Every kind trains, is a bound below the certificate's upper end, and predicts.
TEST(Features, OfSparseRegression) {
  const Wave d;
  const RowMatrix at = Vector::LinSpaced(9, -2.0, 2.0);
  for (const char* kind :
       {"points", "multiscale", "frequency", "timefrequency", "basis(2)", "eigen"}) {
    SCOPED_TRACE(kind);
    SparseRegression model(d.X, d.y, options_of(kind, 12));
    const RegressionFit fit = model.fit();
    EXPECT_EQ(fit.posterior.sparse().parts().features->size(), 12);
    ASSERT_TRUE(fit.summary.upper_bound);
    EXPECT_LE(fit.summary.value, *fit.summary.upper_bound);
    const Prediction p = fit.predict(at);
    for (Index i = 0; i < 9; ++i) {
      EXPECT_NEAR(p.mean(i, 0), std::sin(2.0 * at(i)), 0.3);
      EXPECT_GT(p.variance_f(i, 0), 0.0);
    }
  }
}

// M·C points hold all that M variables of C points each say (P32), and the size of a row of weights
// says nothing (P31).
TEST(Features, BasisIsWithinItsPoints) {
  const Wave d;
  SparseRegressionOptions o = options_of("basis(3)", 4);
  o.scale_inputs = ScaleMode::none;
  SparseRegression few(d.X, d.y, o);
  const double value = few.evaluate().value;
  o.features = "points";
  o.Z = few.parameters().at("features.Z").value;
  ASSERT_EQ(o.Z.rows(), 12);
  const double points = SparseRegression(d.X, d.y, o).evaluate().value;
  EXPECT_LT(value, points);
  Vector weights = few.parameters().at("features.weights").value;
  weights.head(3) *= -7.0;
  few.parameters().set("features.weights", weights);
  EXPECT_NEAR(few.evaluate().value, value, 1e-8 * std::abs(value));
}

// A white Kuu gives the bounds that its own Gram matrix gives, and an SVGP at its best q the
// collapsed one.
TEST(Features, EigenfunctionsCollapsedAndNot) {
  const Wave d;
  SparseRegressionOptions o = options_of("eigen", 20);
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.training.max_iterations = 0;
  SparseRegression collapsed(d.X, d.y, o);
  const double value = collapsed.evaluate().value;
  SvgpOptions s;
  s.kernel = "se";
  s.likelihood = "gaussian";
  s.features = "eigen";
  s.inducing = 20;
  s.scale_inputs = s.scale_outputs = ScaleMode::none;
  Svgp svgp(d.X, d.y, s);
  for (const char* path : {"kernel.variance", "kernel.lengthscales", "likelihood.variance",
                           "features.mean", "features.sd"})
    svgp.parameters().set(path, collapsed.parameters().at(path).value);
  EXPECT_NEAR(svgp.elbo(), value, 1e-8 * std::abs(value));
}

TEST(Features, FourierOfSparseRegression) {
  const Wave d;
  for (const char* kernel : {"matern12", "matern32", "matern52 + white"}) {
    SparseRegressionOptions o = options_of("fourier", 40);
    o.kernel = kernel;
    const RegressionFit fit = SparseRegression(d.X, d.y, o).fit();
    EXPECT_EQ(fit.posterior.sparse().parts().features->size(), 39);
    EXPECT_LE(fit.summary.value, *fit.summary.upper_bound);
    EXPECT_NEAR(fit.predict(RowMatrix::Constant(1, 1, 0.4)).mean(0, 0), std::sin(0.8), 0.2);
  }
  SparseRegressionOptions o = options_of("fourier", 9);
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);  // se
  o.kernel = "matern32";
  EXPECT_THROW(SparseRegression(RowMatrix::Random(120, 2), d.y, o), InputError);
}

TEST(Features, Choice) {
  for (const char* text :
       {"points", "multiscale", "frequency", "timefrequency", "basis(17)", "eigen", "fourier"})
    EXPECT_EQ(FeatureChoice(text).print(), text);
  for (const char* text : {"", "poits", "basis", "basis()", "basis(0)", "basis(-1)", "basis(2",
                           "eigen(3)", "basis(99999)"})
    EXPECT_THROW(FeatureChoice{text}, InputError) << text;
  const Wave d;
  SparseRegressionOptions o = options_of("eigen", 5);
  o.kernel = "matern32";
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
  o.kernel = "se";
  o.Z = d.X.topRows(3);
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
}

// Back from name, parameters and degrees; what does not belong together is refused.
TEST(Features, Restored) {
  const Wave d;
  const Kernel kernel = "se";
  const Vector theta = kernel.parameters(1).values();
  for (const char* kind :
       {"points", "multiscale", "frequency", "timefrequency", "basis(3)", "eigen"}) {
    SCOPED_TRACE(kind);
    const FeatureChoice choice(kind);
    const FeaturesPtr u =
        start_features(choice, kernel, theta, d.X, d.X.topRows(choice.inputs(4)), 4, 1);
    Parameters p;
    u->declare(p);
    const Vector z = p.values();
    const auto degrees = degrees_of(*u);
    const FeaturesPtr back = restore_features(u->name(), kernel, 4, 1, z, degrees);
    Matrix a(4, 7), b(4, 7);
    const RowBlock x{d.X.data(), 7, 1, 1};
    u->Kuf(theta.data(), z.data(), x, a.data());
    back->Kuf(theta.data(), z.data(), x, b.data());
    EXPECT_EQ(a, b);
    EXPECT_THROW(restore_features(u->name(), kernel, 5, 1, z, degrees), InputError);
    EXPECT_THROW(restore_features(u->name(), kernel, 4, 1, z.head(z.size() - 1), degrees),
                 InputError);
  }
  EXPECT_THROW(restore_features("eigen", kernel, 1, 1, Vector::Ones(2), {-1}), InputError);
  EXPECT_THROW(restore_features("eigen", kernel, 1, 1, Vector::Ones(2), {1 << 30}), InputError);
}

}  // namespace
}  // namespace covary
