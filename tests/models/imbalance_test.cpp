// Labels that make a classifier's life hard: a class of one row in a thousand, classes without an
// error, missing labels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/models/generalised.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// One row in 1001 is of class 1.
struct Rare {
  RowMatrix X = Random(4).normal_matrix(1001, 2);
  Vector y = Vector::Zero(1001);
  static constexpr double rate = 1.0 / 1001.0;
  Rare() { y(417) = 1.0; }
};

void expect_near_the_rate(const GeneralisedFit& fit, const Rare& rare) {
  const Vector p = fit.predict(rare.X).probabilities.col(1);
  EXPECT_GT(p.mean(), 0.3 * Rare::rate);
  EXPECT_LT(p.mean(), 5.0 * Rare::rate);
  EXPECT_LT(p.maxCoeff(), 0.5);
  EXPECT_GT(p.minCoeff(), 0.0);
  EXPECT_LE(fit.summary.warnings.size(), 1u);
  EXPECT_TRUE(std::isfinite(fit.value));
}

TEST(Imbalance, OneInAThousandByLaplace) {
  const Rare rare;
  for (const char* mean : {"zero", "constant"}) {
    SCOPED_TRACE(mean);
    GeneralisedOptions o;
    o.kernel = "se";
    o.mean = mean;
    o.training.starts = 1;
    o.training.max_iterations = 3;
    expect_near_the_rate(Generalised(rare.X, rare.y, o).fit(), rare);
  }
}

TEST(Imbalance, OneInAThousandBySvgp) {
  const Rare rare;
  for (const char* mean : {"zero", "constant"}) {
    SCOPED_TRACE(mean);
    SvgpOptions o;
    o.kernel = "se";
    o.likelihood = "bernoulli(logit)";
    o.mean = mean;
    o.inducing = 12;
    o.training.max_iterations = 30;
    expect_near_the_rate(Svgp(rare.X, rare.y, o).fit(), rare);
  }
}

TEST(Imbalance, AThirdClassOfOneRowInAThousand) {
  const Rare rare;
  const Vector noise = Random(6).normal_vector(1001);
  Vector y = (rare.X.col(0) + noise).unaryExpr([](double f) { return f > 0.0 ? 1.0 : 0.0; });
  y(417) = 2.0;
  SvgpOptions o;
  o.kernel = "se";
  o.likelihood = "softmax(3)";
  o.inducing = 12;
  o.training.max_iterations = 3;
  const GeneralisedFit fit = Svgp(rare.X, y, o).fit();
  const Vector shares = fit.predict(rare.X).probabilities.colwise().mean();
  EXPECT_NEAR(shares(0), 0.5, 0.05);
  EXPECT_LT(shares(2), 5.0 * Rare::rate);
  EXPECT_LE(fit.summary.warnings.size(), 1u);
}

// Three classes that functions tell apart without error, one label of ten missing.
struct Separable {
  RowMatrix X = Random(31).normal_matrix(100, 2);
  Vector y = Vector(100);
  Separable() {
    for (Index n = 0; n < 100; ++n) y(n) = X(n, 0) > 0.4 ? 2.0 : X(n, 1) > 0.0 ? 1.0 : 0.0;
    for (Index n = 5; n < 100; n += 10) y(n) = std::numeric_limits<double>::quiet_NaN();
  }
  double error(const GeneralisedFit& fit) const {
    const Matrix p = fit.predict(X).probabilities;
    double wrong = 0.0;
    for (Index n = 0; n < 100; ++n) {
      Index best = 0;
      p.row(n).maxCoeff(&best);
      if (!std::isnan(y(n))) wrong += static_cast<double>(best) != y(n);
    }
    return wrong / 90.0;
  }
};

TEST(SeparableClasses, SvgpOverAllRowsSettles) {
  const Separable data;
  for (const char* likelihood : {"softmax(3)", "robust_max(3)"}) {
    SCOPED_TRACE(likelihood);
    SvgpOptions o;
    o.likelihood = likelihood;
    o.kernel = "se";
    o.inducing = 20;
    o.training.max_iterations = 20;
    Svgp model(data.X, data.y, o);
    model.parameters().set_prior("kernel.variance", Prior::parse("gamma(2,0.2)"));
    EXPECT_EQ(model.rows(), 90);
    const GeneralisedFit fit = model.fit();
    for (const std::string& w : fit.summary.warnings)
      EXPECT_EQ(w.find("did not converge"), std::string::npos) << w;
    EXPECT_LT(data.error(fit), 0.05);
    EXPECT_TRUE(std::isfinite(fit.value));
  }
}

TEST(SeparableClasses, FullVariationalFits) {
  const Separable data;
  for (const char* likelihood : {"softmax(3)", "robust_max(3)"}) {
    SCOPED_TRACE(likelihood);
    GeneralisedOptions o;
    o.likelihood = likelihood;
    o.kernel = "se";
    o.method = Inference::vi;
    o.training.starts = 1;
    o.training.max_iterations = 5;
    Generalised model(data.X, data.y, o);
    model.parameters().set_prior("kernel.variance", Prior::parse("gamma(2,0.2)"));
    const GeneralisedFit fit = model.fit();
    EXPECT_EQ(fit.rows, 90);
    EXPECT_LT(data.error(fit), 0.05);
  }
}

}  // namespace
}  // namespace covary
