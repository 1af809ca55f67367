#include "covary/models/compress.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "covary/error.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

struct Wave {
  RowMatrix X = RowMatrix(150, 2);
  RowMatrix y = RowMatrix(150, 1);
  Wave() {
    Random random(3);
    for (Index i = 0; i < 150; ++i) {
      X.row(i) << 1.5 * random.normal(), random.normal();
      y(i) = std::sin(2.0 * X(i, 0)) + X(i, 1) + 0.2 * random.normal();
    }
  }
};

double nlpd(const RegressionFit& fit, const Wave& d) {
  const Prediction p = fit.predict(d.X);
  double sum = 0.0;
  for (Index i = 0; i < 150; ++i) {
    const double e = d.y(i) - p.mean(i, 0), v = p.variance_y(i, 0);
    sum += 0.5 * (e * e / v + std::log(2.0 * std::numbers::pi * v));
  }
  return sum / 150.0;
}

// Smaller, within the loss, and as good; a larger loss is no larger posterior.
TEST(Compress, ExactAndSparse) {
  const Wave d;
  RegressionOptions o;
  o.training.starts = 1;
  SparseRegressionOptions s;
  s.training.starts = 1;
  s.inducing = 30;
  s.training.max_iterations = 30;
  const RegressionFit fits[] = {Regression(d.X, d.y, o).fit(), SparseRegression(d.X, d.y, s).fit()};
  for (const RegressionFit& fit : fits) {
    SCOPED_TRACE(fit.posterior.name());
    double before = std::numeric_limits<double>::infinity();
    for (const double loss : {0.01, 0.1}) {
      CompressOptions options;
      options.loss = loss;
      options.features = {"points", "basis(4)"};
      options.iterations = 60;
      const Compressed c = compress(fit, options);
      EXPECT_LE(c.loss, loss);
      EXPECT_GE(c.loss, 0.0);
      EXPECT_LT(c.numbers, c.numbers_before);
      EXPECT_LE(c.numbers, before);
      EXPECT_LT(std::abs(nlpd(c.fit, d) - nlpd(fit, d)), 3.0 * loss);
      EXPECT_EQ(c.fit.posterior.as<SparsePosterior>().parts().features->size(), c.inducing);
      EXPECT_NEAR(c.fit.parameters.at("kernel.variance").value(0),
                  fit.parameters.at("kernel.variance").value(0), 0.0);
      before = c.numbers;
    }
  }
}

TEST(Compress, SaysWhatCannotBe) {
  const Wave d;
  RegressionOptions o;
  o.training.max_iterations = 3;
  o.training.starts = 1;
  const RegressionFit fit = Regression(d.X, d.y, o).fit();
  CompressOptions options;
  options.loss = 1e-9;
  options.most_inducing = 4;
  options.iterations = 5;
  EXPECT_THROW(compress(fit, options), NumericalError);
  options.loss = 0.0;
  EXPECT_THROW(compress(fit, options), InputError);
  options = {};
  options.features = {"rff"};
  EXPECT_THROW(compress(fit, options), InputError);
  EXPECT_THROW(compress(without_outputs(fit)), Unsupported);
}

}  // namespace
}  // namespace covary
