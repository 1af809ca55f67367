// SVGP of several outputs, with and without a mixing of latent functions.
#include <gtest/gtest.h>

#include <limits>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/models/svgp.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

SvgpOptions options_of(const char* likelihood, const RowMatrix& Z) {
  SvgpOptions o;
  o.likelihood = likelihood;
  o.Z = Z;
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.q.tolerance = 1e-9;
  return o;
}

// The bound of N×P outputs, some of them missing, is the sum of those of each at the same values.
TEST(SvgpOutputs, AreFitsOfTheirOwn) {
  for (const char* likelihood : {"gaussian", "bernoulli(probit)"}) {
    SCOPED_TRACE(likelihood);
    auto data = testing::small_data(60, 2, 3, 3);
    if (std::string(likelihood) != "gaussian") data.Y = (data.Y.array() > 0.0).cast<double>();
    data.Y(4, 0) = data.Y(9, 1) = data.Y(10, 1) = missing;
    data.Y.row(20).setConstant(missing);
    SvgpOptions o = options_of(likelihood, data.X.topRows(7));
    o.mean = "constant";
    Svgp all(data.X, data.Y, o);
    EXPECT_EQ(all.rows(), 59);
    const Vector weights = all.parameters().at("mean.weights").value;
    ASSERT_EQ(weights.size(), 3);
    double sum = 0.0;
    for (Index p = 0; p < 3; ++p) {
      Svgp own(data.X, data.Y.col(p), o);
      for (const Parameter& v : all.parameters().all())
        own.parameters().set(v.path,
                             v.path == "mean.weights" ? Vector::Constant(1, weights(p)) : v.value);
      sum += own.elbo();
    }
    EXPECT_NEAR(all.elbo(), sum, 1e-8 * std::abs(sum));
    EXPECT_THROW(all.fit(), Unsupported);
  }
}

// T15 of several outputs: with the best q and Gaussian noise it is the collapsed bound, in the
// units of the data.
TEST(SvgpOutputs, GaussianBoundIsVfe) {
  auto data = testing::small_data(120, 2, 3, 3);
  data.Y(4, 0) = data.Y(9, 1) = missing;
  const RowMatrix Y = (data.Y * Vector(Vector::LinSpaced(3, 0.5, 40.0)).asDiagonal()).array() + 7.0;
  SvgpOptions o;
  o.likelihood = "gaussian";
  o.mean = "constant";
  o.inducing = 12;
  Svgp model(data.X, Y, o);
  SparseRegressionOptions s;
  s.mean = "constant";
  s.inducing = 12;
  const SparseRegression vfe(data.X, Y, s);
  for (const Parameter& p : vfe.parameters().all()) model.parameters().set(p.path, p.value);
  EXPECT_NEAR(model.elbo(), vfe.evaluate().value, 1e-8 * std::abs(vfe.evaluate().value));
}

TEST(SvgpOutputs, GradientOfMixedFunctions) {
  for (const char* likelihood : {"gaussian", "bernoulli(logit)"}) {
    SCOPED_TRACE(likelihood);
    auto data = testing::small_data(40, 2, 3, 5);
    if (std::string(likelihood) != "gaussian") data.Y = (data.Y.array() > 0.0).cast<double>();
    data.Y(4, 0) = data.Y(9, 1) = missing;
    SvgpOptions o = options_of(likelihood, data.X.topRows(5));
    o.mean = "constant";
    o.mixing = Random(4).normal_matrix(3, 2);
    const Svgp model(data.X, data.Y, o);
    EXPECT_EQ(model.parameters().at("mixing.weights").value.size(), 6);
    const Vector u = model.parameters().flatten();
    Vector g;
    Jitter jitter;
    NaturalGaussian q = model.prior();
    ASSERT_TRUE(model.objective(u, &g, jitter, q).has_value());
    expect_gradient(
        [&](const Vector& at) {
          Jitter j;
          NaturalGaussian own = q;
          return *model.objective(at, nullptr, j, own);
        },
        g, u);
  }
}

// Written out, the identity is what there is without a mixing.
TEST(SvgpOutputs, IdentityIsTheDefault) {
  const auto data = testing::small_data(40, 2, 2, 5);
  SvgpOptions o = options_of("gaussian", data.X.topRows(5));
  const double bound = Svgp(data.X, data.Y, o).elbo();
  o.mixing = RowMatrix::Identity(2, 2);
  EXPECT_NEAR(Svgp(data.X, data.Y, o).elbo(), bound, 1e-9 * std::abs(bound));
}

TEST(SvgpOutputs, Refusals) {
  const auto data = testing::small_data(40, 2, 2, 5);
  SvgpOptions o = options_of("gaussian", data.X.topRows(5));
  o.mixing = RowMatrix::Ones(3, 2);
  EXPECT_THROW(Svgp(data.X, data.Y, o), InputError);
  o.mixing = RowMatrix::Constant(2, 2, missing);
  EXPECT_THROW(Svgp(data.X, data.Y, o), InputError);
  o = options_of("gaussian", RowMatrix());
  o.selection = Selection::informative_vectors;
  EXPECT_THROW(Svgp(data.X, data.Y, o), Unsupported);
}

}  // namespace
}  // namespace covary
