// What a fit by SVGP answers beside predictions, as one by VFE does.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/compress.hpp"
#include "covary/models/generalised.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

struct Data {
  RowMatrix X;
  Vector y;
};

Data waves(Index N, std::uint64_t seed) {
  Random random(seed);
  Data out{random.normal_matrix(N, 1), Vector(N)};
  for (Index i = 0; i < N; ++i) out.y(i) = std::sin(2.0 * out.X(i, 0)) + 0.2 * random.normal();
  return out;
}

SvgpOptions at_starts(const char* likelihood) {
  SvgpOptions o;
  o.likelihood = likelihood;
  o.kernel = "se + linear";
  o.Z = RowMatrix(Vector::LinSpaced(8, -2.0, 2.0));
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.training.max_iterations = 0;
  return o;
}

GeneralisedFit fitted(const Data& d, const Parameters* at = nullptr) {
  Svgp model(d.X, d.y, at_starts("gaussian"));
  if (at) model.parameters().set_values(at->values());
  return model.fit();
}

TEST(SvgpPosterior, ComponentsAndGradients) {
  const GeneralisedFit fit = fitted(waves(60, 1));
  const RowMatrix X = waves(9, 2).X;
  const auto parts = fit.components(X);
  ASSERT_EQ(parts.size(), 2U);
  const Vector sum = parts[0].mean + parts[1].mean;
  EXPECT_LT((sum - fit.predict_f(X).mean.col(0)).cwiseAbs().maxCoeff(), 1e-9);
  const double h = 1e-5;
  const Vector slope =
      (fit.predict_f(X.array() + h).mean - fit.predict_f(X.array() - h).mean) / (2 * h);
  EXPECT_LT((fit.gradient(X).mean.col(0) - slope).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(SvgpPosterior, FurtherRowsAreAsIfThereFromTheStart) {
  const Data all = waves(60, 3);
  const Data first{all.X.topRows(50), all.y.head(50)};
  const GeneralisedFit before = fitted(first);
  const GeneralisedFit once = fitted(all, &before.parameters);
  GeneralisedFit after = before.with(all.X.middleRows(50, 4), all.y.segment(50, 4));
  after = after.with(all.X.bottomRows(6), all.y.tail(6));
  EXPECT_EQ(after.rows, 60);
  EXPECT_NEAR(after.value, once.value, 1e-6);
  const RowMatrix X = waves(9, 4).X;
  const GeneralisedPrediction a = after.predict(X), b = once.predict(X);
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((a.variance - b.variance).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(SvgpPosterior, CompressesWithinTheLoss) {
  const Data d = waves(60, 5);
  const GeneralisedFit fit = fitted(d);
  CompressOptions options;
  options.features = {"points"};
  options.loss = 1e-3;
  const auto small = compress(fit, options);
  EXPECT_LT(small.inducing, 8);
  EXPECT_LE(small.loss, options.loss);
  EXPECT_LT(small.numbers, small.numbers_before);
  EXPECT_LE(small.fit.value, fit.value);
  const Vector away = small.fit.predict(d.X).mean - fit.predict(d.X).mean;
  EXPECT_LT(std::sqrt(away.squaredNorm() / 60.0), 0.1);
}

TEST(SvgpPosterior, RefusesWhatItHasNoNoiseFor) {
  Data d = waves(40, 6);
  d.y = (d.y.array() > 0.0).cast<double>().eval();
  const GeneralisedFit fit = Svgp(d.X, d.y, at_starts("bernoulli")).fit();
  EXPECT_THROW(fit.with(d.X, d.y), Unsupported);
  EXPECT_EQ(fit.components(d.X).size(), 2U);
  GeneralisedOptions rows;
  rows.likelihood = "gaussian";
  rows.training.max_iterations = 0;
  const GeneralisedFit laplace = Generalised(d.X, d.y, rows).fit();
  EXPECT_THROW(laplace.with(d.X, d.y), Unsupported);
  EXPECT_THROW(compress(laplace), Unsupported);
  EXPECT_EQ(laplace.components(d.X).size(), 1U);
  EXPECT_THROW(fit.with(d.X, d.y.head(3)), InputError);
}

}  // namespace
}  // namespace covary
