// SVGP of several outputs, with and without a mixing of latent functions.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <utility>

#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/models/compress.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/models/svgp.hpp"
#include "inference/inducing_posterior.hpp"
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
  }
}

// And so are its predictions, densities and, with Gaussian noise, the rows that join it.
TEST(SvgpOutputs, FitIsThatOfEachOutput) {
  for (const char* likelihood : {"gaussian", "bernoulli(probit)", "heteroscedastic"}) {
    SCOPED_TRACE(likelihood);
    auto data = testing::small_data(50, 2, 2, 3);
    const bool classes = std::string(likelihood).starts_with("bern");
    const bool gaussian = std::string(likelihood) == "gaussian";
    if (classes) data.Y = (data.Y.array() > 0.0).cast<double>();
    data.Y(4, 0) = data.Y(9, 1) = missing;
    SvgpOptions o = options_of(likelihood, data.X.topRows(7));
    if (!classes) o.scale_outputs = ScaleMode::columns;
    o.q.tolerance = 1e-12;
    o.training.max_iterations = 0;
    Svgp model(data.X, data.Y, o);
    const GeneralisedFit all = model.fit();
    EXPECT_EQ(all.outputs(), 2);
    const RowMatrix at = testing::small_data(9, 2, 2, 8).X;
    const GeneralisedPrediction p = all.predict(at);
    const Matrix density = all.log_density(data.X, data.Y);
    EXPECT_TRUE(std::isnan(density(4, 0)) && std::isnan(density(9, 1)));
    for (Index k = 0; k < 2; ++k) {
      Svgp alone(data.X, data.Y.col(k), o);
      alone.parameters().set_values(model.parameters().values());
      const GeneralisedFit own = alone.fit();
      const GeneralisedPrediction q = own.predict(at);
      const Index L = o.likelihood.functions();
      EXPECT_LT((p.f.mean.middleCols(k * L, L) - q.f.mean).cwiseAbs().maxCoeff(), 1e-7);
      EXPECT_LT((p.f.variance.middleCols(k * L, L) - q.f.variance).cwiseAbs().maxCoeff(), 1e-7);
      EXPECT_LT((p.mean.col(k) - q.mean).cwiseAbs().maxCoeff(), 1e-7);
      EXPECT_LT((p.variance.col(k) - q.variance).cwiseAbs().maxCoeff(), 1e-6);
      const Matrix alone_density = own.log_density(data.X, data.Y.col(k));
      for (Index n = 0; n < 50; ++n)
        if (!std::isnan(density(n, k))) {
          EXPECT_NEAR(density(n, k), alone_density(n, 0), 1e-6);
        }
      if (!gaussian) continue;
      EXPECT_LT((all.with(at, RowMatrix::Ones(9, 2)).predict(at).mean.col(k) -
                 own.with(at, Vector::Ones(9)).predict(at).mean)
                    .cwiseAbs()
                    .maxCoeff(),
                1e-7);
    }
  }
}

// With Gaussian noise and mixtures the best q(v) has the means of the exact posterior given u, all
// functions together, and of each function the inverse of its own block of the precision.
TEST(SvgpOutputs, MixturesAreDenseAlgebra) {
  constexpr Index N = 30, M = 6, P = 3, F = 2;
  auto data = testing::small_data(N, 2, P, 5);
  data.Y(4, 0) = data.Y(9, 1) = missing;
  for (const bool separate : {false, true}) {
    SCOPED_TRACE(separate);
    SvgpOptions o = options_of("gaussian", data.X.topRows(M));
    o.kernel = "matern32";
    o.mean = "constant";
    o.mixing = Random(4).normal_matrix(P, F);
    o.separate_kernels = separate;
    o.q.tolerance = 1e-13;
    o.training.max_iterations = 0;
    Svgp model(data.X, data.Y, o);
    if (separate) model.parameters().set("function.1.kernel.lengthscales", 0.4);
    const GeneralisedFit fit = model.fit();
    ASSERT_EQ(fit.summary.jitter, 0.0);
    const Matrix W = o.mixing;
    const Vector mean = model.parameters().at("mean.weights").value;
    const double noise = model.parameters().at("likelihood.variance").value(0);
    const RowMatrix at = testing::small_data(8, 2, P, 9).X;
    std::vector<Matrix> a, a_new;
    std::vector<Vector> prior;
    for (Index f = 0; f < F; ++f) {
      const Vector theta = fit.posterior.theta(separate ? f : 0);
      const Matrix L = gram(o.kernel, theta, o.Z).llt().matrixL();
      a.push_back(L.triangularView<Eigen::Lower>().solve(cross(o.kernel, theta, o.Z, data.X)));
      a_new.push_back(L.triangularView<Eigen::Lower>().solve(cross(o.kernel, theta, o.Z, at)));
      prior.emplace_back(gram(o.kernel, theta, at).diagonal());
    }
    Matrix precision = Matrix::Identity(F * M, F * M);
    Vector b = Vector::Zero(F * M);
    for (Index n = 0; n < N; ++n)
      for (Index p = 0; p < P; ++p) {
        if (std::isnan(data.Y(n, p))) continue;
        Vector h(F * M);
        for (Index f = 0; f < F; ++f)
          h.segment(f * M, M) = W(p, f) * a[static_cast<std::size_t>(f)].col(n);
        precision += h * h.transpose() / noise;
        b += h * (data.Y(n, p) - mean(p)) / noise;
      }
    const Vector m = precision.llt().solve(b);
    Matrix g_mean = Matrix::Zero(8, P), g_variance = g_mean;
    for (Index f = 0; f < F; ++f) {
      const Matrix& k = a_new[static_cast<std::size_t>(f)];
      const Matrix S = precision.block(f * M, f * M, M, M).inverse();
      const Vector own_mean = k.transpose() * m.segment(f * M, M);
      const Vector own_variance =
          prior[static_cast<std::size_t>(f)] +
          Vector((k.transpose() * (S - Matrix::Identity(M, M)) * k).diagonal());
      g_mean += own_mean * W.col(f).transpose();
      g_variance += own_variance * W.col(f).cwiseAbs2().transpose();
    }
    g_mean.rowwise() += mean.transpose();
    const GeneralisedPrediction p = fit.predict(at);
    EXPECT_LT((p.f.mean - g_mean).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT((p.f.variance - g_variance).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT((p.variance - (g_variance.array() + noise).matrix()).cwiseAbs().maxCoeff(), 1e-6);
  }
}

GeneralisedFit mixed_fit() {
  auto data = testing::small_data(60, 2, 3, 5);
  data.Y(4, 0) = data.Y(9, 1) = missing;
  return Svgp(data.X, data.Y,
              {.kernel = "se + linear",
               .likelihood = "gaussian",
               .mean = "linear",
               .separate_kernels = true,
               .inducing = 8,
               .functions = 2,
               .training = {.max_iterations = 6}})
      .fit();
}

// Terms, gradients and draws are those of the mixtures.
TEST(SvgpOutputs, WhatElseIsAskedOfMixtures) {
  const GeneralisedFit fit = mixed_fit();
  EXPECT_EQ(fit.posterior.functions(), 3);
  EXPECT_NE(fit.in_a_sentence().find("mixtures of 2 functions"), std::string::npos);
  const RowMatrix X = testing::small_data(5, 2, 3, 8).X;
  const FunctionMarginals f = fit.predict_f(X);
  const auto terms = fit.components(X);
  ASSERT_EQ(terms.size(), 2U);
  const Posterior& q = fit.posterior;
  const RowMatrix x = fit.model_inputs(X);
  const auto& parts = q.as<InducingPosterior>().parts();
  const Matrix mean = parts.mean.basis(x) * parts.mean_weights;
  EXPECT_LT((Matrix(terms[0].mean + terms[1].mean) + mean - f.mean).cwiseAbs().maxCoeff(), 1e-9);
  constexpr double h = 1e-5;
  for (Index p = 0; p < 3; ++p) {
    const PredictionGradient g = fit.gradient(X, p);
    EXPECT_LT((q.covariance(x, p).diagonal() - f.variance.col(p)).cwiseAbs().maxCoeff(), 1e-9);
    for (Index d = 0; d < 2; ++d) {
      RowMatrix up = X, down = X;
      up.col(d).array() += h;
      down.col(d).array() -= h;
      const FunctionMarginals a = fit.predict_f(up), b = fit.predict_f(down);
      EXPECT_LT((g.mean.col(d) - (a.mean - b.mean).col(p) / (2.0 * h)).cwiseAbs().maxCoeff(), 1e-6);
      EXPECT_LT(
          (g.variance.col(d) - (a.variance - b.variance).col(p) / (2.0 * h)).cwiseAbs().maxCoeff(),
          1e-6);
    }
  }
  // Outputs of a row vary together, by W.
  constexpr Index draws = 4000;
  Matrix sum = Matrix::Zero(3, 3);
  Vector variance = Vector::Zero(2);
  for (const RowMatrix& draw : fit.sample(X, draws, 3)) {
    const Vector away = (draw.row(0) - f.mean.row(0)).transpose();
    sum += away * away.transpose() / static_cast<double>(draws);
  }
  const Matrix W2 = parts.mixing.cwiseAbs2();
  variance = W2.colPivHouseholderQr().solve(Vector(f.variance.row(0).transpose()));
  const Matrix expected = parts.mixing * variance.asDiagonal() * parts.mixing.transpose();
  EXPECT_LT((sum - expected).cwiseAbs().maxCoeff(), 0.1 * expected.cwiseAbs().maxCoeff());
  EXPECT_THROW(fit.with(X, RowMatrix::Zero(5, 3)), Unsupported);
  EXPECT_THROW(compress(fit), Unsupported);
  EXPECT_THROW(fit.predict_gaussian(X, RowMatrix::Ones(5, 2)), Unsupported);
}

TEST(SvgpOutputs, SameBitsStoredAndByAnyNumberOfThreads) {
  const RowMatrix X = testing::small_data(40, 2, 3, 8).X;
  const int before = threads();
  std::vector<GeneralisedFit> fits;
  for (const int n : {1, 2, 3}) {
    set_threads(n);
    fits.push_back(mixed_fit());
    EXPECT_EQ(fits.back().value, fits.front().value);
    EXPECT_EQ(fits.back().predict(X).mean, fits.front().predict(X).mean);
    EXPECT_EQ(fits.back().predict(X).variance, fits.front().predict(X).variance);
  }
  set_threads(before);
  GeneralisedFit& fit = fits.front();
  fit.input_columns.columns = {{"a", {}}, {"b", {}}};
  fit.output_names = {"x", "y", "z"};
  const Fit restored = load_bytes(fit.bytes());
  const auto& back = restored.as<GeneralisedFit>();
  EXPECT_EQ(back.predict(X).mean, fit.predict(X).mean);
  EXPECT_EQ(back.predict(X).variance, fit.predict(X).variance);
  EXPECT_EQ(back.sample(X, 2, 1), fit.sample(X, 2, 1));
  EXPECT_EQ(back.parameters.at("mixing.weights").value, fit.parameters.at("mixing.weights").value);
  EXPECT_EQ(back.outputs(), 3);
}

// W starts along the axes on which the outputs vary, and training raises the bound with it.
TEST(SvgpOutputs, MixturesOfFunctionsThatOutputsShare) {
  Random random(3);
  const RowMatrix X = random.normal_matrix(80, 1);
  RowMatrix Y(80, 4);
  for (Index n = 0; n < 80; ++n) {
    const double f = std::sin(2.0 * X(n, 0)), g = std::cos(3.0 * X(n, 0));
    Y.row(n) << f, f + g, -2.0 * g, f - g;
  }
  Y += 0.1 * random.normal_matrix(80, 4);
  SvgpOptions o{.kernel = "se", .likelihood = "gaussian", .inducing = 15, .functions = 2};
  o.training.max_iterations = 60;
  Svgp model(X, Y, o);
  const double before = model.elbo();
  const GeneralisedFit mixed = model.fit();
  EXPECT_GT(mixed.value, before);
  o.functions = 0;
  EXPECT_GT(mixed.value, Svgp(X, Y, o).fit().value);  // two functions to learn, and not four
  const RowMatrix at = RowMatrix(Vector::LinSpaced(9, -1.0, 1.0));
  const Matrix mean = mixed.predict(at).mean;
  for (Index i = 0; i < 9; ++i) EXPECT_NEAR(mean(i, 2), -2.0 * std::cos(3.0 * at(i, 0)), 0.25);
}

// At Gaussian inputs: the moments of VFE, which has the same posterior.
TEST(SvgpOutputs, GaussianInputs) {
  const auto data = testing::small_data(60, 2, 2, 3);
  const RowMatrix Y = data.Y.array() * 3.0 + 5.0;
  SvgpOptions o{.kernel = "se", .likelihood = "gaussian", .Z = data.X.topRows(12)};
  o.q.tolerance = 1e-12;
  o.training.max_iterations = 0;
  SparseRegressionOptions s;
  s.kernel = "se";
  s.Z = o.Z;
  s.training.max_iterations = 0;
  Svgp model(data.X, Y, o);
  SparseRegression vfe(data.X, Y, s);
  for (const Parameter& p : vfe.parameters().all()) model.parameters().set(p.path, p.value);
  const GeneralisedFit fit = model.fit();
  const RegressionFit other = vfe.fit();
  const RowMatrix X = data.X.topRows(6), variance = RowMatrix::Constant(6, 2, 0.3);
  const GeneralisedPrediction p = fit.predict_gaussian(X, variance);
  const Prediction q = other.predict(X, variance);
  EXPECT_LT((p.mean - q.mean).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((p.variance - q.variance_y).cwiseAbs().maxCoeff(), 1e-6);
  const GeneralisedPrediction none = fit.predict_gaussian(X, RowMatrix::Zero(6, 2));
  EXPECT_LT((none.variance - fit.predict(X).variance).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_THROW(fit.predict_gaussian(X, variance.leftCols(1)), InputError);
  o.likelihood = "student_t";
  EXPECT_THROW(Svgp(data.X, Y, o).fit().predict_gaussian(X, variance), Unsupported);
}

// A weight of two is a row given twice, also where an output is missing.
TEST(SvgpOutputs, WeightsOfRowsWithMissingOutputs) {
  auto data = testing::small_data(20, 2, 2, 7);
  data.Y(3, 0) = data.Y(5, 1) = missing;
  SvgpOptions o{.likelihood = "gaussian", .mean = "constant", .Z = data.X.topRows(5)};
  std::vector<Index> rows;
  SvgpOptions weighted = o;
  weighted.weights = Vector::Ones(20);
  for (Index n = 0; n < 20; ++n) {
    weighted.weights(n) = 1.0 + static_cast<double>(n % 2);
    rows.insert(rows.end(), static_cast<std::size_t>(1 + n % 2), n);
  }
  const RowMatrix X = data.X(rows, Eigen::all), Y = data.Y(rows, Eigen::all);
  const double twice = Svgp(X, Y, o).elbo();
  EXPECT_NEAR(Svgp(data.X, data.Y, weighted).elbo(), twice, 1e-8 * std::abs(twice));
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
  for (const auto& [likelihood, separate] :
       {std::pair{"gaussian", false}, {"gaussian", true}, {"bernoulli(logit)", false}}) {
    SCOPED_TRACE(likelihood);
    auto data = testing::small_data(40, 2, 3, 5);
    if (std::string(likelihood) != "gaussian") data.Y = (data.Y.array() > 0.0).cast<double>();
    data.Y(4, 0) = data.Y(9, 1) = missing;
    SvgpOptions o = options_of(likelihood, data.X.topRows(5));
    o.mean = "constant";
    o.mixing = Random(4).normal_matrix(3, 2);
    o.separate_kernels = separate;
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
  o.mixing = RowMatrix::Ones(2, 1);
  o.functions = 2;
  EXPECT_THROW(Svgp(data.X, data.Y, o), InputError);
  o.functions = -1;
  EXPECT_THROW(Svgp(data.X, data.Y, o), InputError);
  o.functions = 0;
  o.likelihood = "heteroscedastic";
  EXPECT_THROW(Svgp(data.X, data.Y, o), Unsupported);
  o.likelihood = "gaussian";
  o.mixing = RowMatrix::Constant(2, 2, missing);
  EXPECT_THROW(Svgp(data.X, data.Y, o), InputError);
  o = options_of("gaussian", RowMatrix());
  o.selection = Selection::informative_vectors;
  EXPECT_THROW(Svgp(data.X, data.Y, o), Unsupported);
}

}  // namespace
}  // namespace covary
