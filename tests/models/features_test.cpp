// Sparse models with inducing variables other than points.
#include "covary/features/choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/record.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"
#include "features/basis.hpp"

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
  o.training.starts = 1;
  o.training.max_iterations = 100;
  return o;
}

// P33: every kind trains, is a bound below the certificate's upper end, and predicts.
TEST(Features, OfSparseRegression) {
  const Wave d;
  const RowMatrix at = Vector::LinSpaced(9, -2.0, 2.0);
  for (const char* kind :
       {"points", "multiscale", "frequency", "timefrequency", "basis(2)", "eigen"}) {
    SCOPED_TRACE(kind);
    SparseRegression model(d.X, d.y, options_of(kind, 12));
    const RegressionFit fit = model.fit();
    EXPECT_EQ(fit.posterior.as<SparsePosterior>().parts().features->size(), 12);
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

// Sums start from the mean of as many points as they have, or from random rows, whichever is ahead
// after a while; where inputs are given there is no choice.
TEST(Features, SumsStartFromPoints) {
  Random random(5);
  RowMatrix X(300, 2), Y(300, 2);
  for (Index i = 0; i < 300; ++i) {
    X.row(i) << 4.0 * random.uniform(), 4.0 * random.uniform();
    Y.row(i) << std::sin(2.0 * X(i, 0)) * std::cos(X(i, 1)) + 0.05 * random.normal(),
        0.1 * X(i, 0) + 0.05 * random.normal();
  }
  SparseRegressionOptions o = options_of("basis(3)", 4);
  o.training.max_iterations = 40;
  std::string said;
  o.training.tell = [&](const std::string& text) { said += text + "\n"; };
  const auto bound_of = [&](const std::string& start) {
    const std::size_t at = said.find(start + ": bound ");
    EXPECT_NE(at, std::string::npos) << said;
    return 300.0 * std::stod(said.substr(at + start.size() + 8));
  };
  const RowMatrix first = Y.leftCols(1);
  const RegressionFit fit = SparseRegression(X, first, o).fit();
  EXPECT_GT(bound_of("sums from 12 points"), bound_of("sums from random rows") + 100.0);
  EXPECT_GE(fit.summary.value, bound_of("sums from 12 points") - 0.1);
  Y(7, 1) = std::nan("");  // two outputs, a value missing
  said.clear();
  EXPECT_TRUE(std::isfinite(SparseRegression(X, Y, o).fit().summary.value));
  EXPECT_TRUE(std::isfinite(bound_of("sums from 12 points")));
  said.clear();
  o.training.max_iterations = 2;
  SparseRegressionOptions given = o;
  given.Z = X.topRows(4);
  SparseRegression(X, first, given).fit();
  o.features = "basis(80)";  // more points than rows
  SparseRegression(X, first, o).fit();
  EXPECT_EQ(said.find("sums from"), std::string::npos) << said;
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

// What a diagonal covariance of q costs with Gaussian noise is known: ½(Σ log P_ii − log|P|) with
// the precision P of the best q.
TEST(Features, LossOfADiagonalCovariance) {
  const Wave d;
  SparseRegressionOptions o = options_of("eigen", 20);
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  SparseRegression collapsed(d.X, d.y, o);
  const SparseEvaluation e = collapsed.evaluate();
  const Matrix& LB = e.factors.front().LB;
  const double loss = (LB.rowwise().norm().array().log() - LB.diagonal().array().log()).sum();
  ASSERT_GT(loss, 0.3);
  SvgpOptions s;
  s.kernel = "se";
  s.likelihood = "gaussian";
  s.features = "eigen";
  s.inducing = 20;
  s.covariance = "diagonal";
  s.scale_inputs = s.scale_outputs = ScaleMode::none;
  Svgp diagonal(d.X, d.y, s);
  for (const char* path : {"kernel.variance", "kernel.lengthscales", "likelihood.variance",
                           "features.mean", "features.sd"})
    diagonal.parameters().set(path, collapsed.parameters().at(path).value);
  EXPECT_NEAR(e.value - diagonal.elbo(), loss, 1e-8 * std::abs(e.value));
}

// Minibatches with diagonals alone train as well as those of the whole covariance, nearly.
TEST(Features, MinibatchesWithDiagonals) {
  Random random(9);
  const RowMatrix X = random.normal_matrix(1500, 2);
  Vector y(1500);
  for (Index i = 0; i < 1500; ++i)
    y(i) = std::sin(1.5 * X(i, 0)) + std::cos(X(i, 1)) + random.normal() > 0.6 ? 1.0 : 0.0;
  SvgpOptions s;
  s.kernel = "se@0 + se@1";
  s.likelihood = "bernoulli(probit)";
  s.features = "stacked(eigen)";
  s.inducing = 16;
  s.training.batch = 150;
  s.training.steps = 300;
  double bound[2];
  for (const bool thin : {false, true}) {
    s.covariance = thin ? "diagonal" : "full";
    Index seen = 0;
    s.training.after_iteration = [&](const TrainingProgress& now) {
      if (!now.over) seen += now.state().blocks.back().cols() == 1 ? 1 : 0;
    };
    const GeneralisedFit fit = Svgp(X, y, s).fit();
    bound[thin ? 1 : 0] = fit.value;
    EXPECT_EQ(seen, thin ? 300 : 0);
  }
  EXPECT_LT(bound[1], bound[0] + 1.0);
  EXPECT_GT(bound[1], bound[0] - 15.0);
}

TEST(Features, FourierOfSparseRegression) {
  const Wave d;
  for (const char* kernel : {"matern12", "matern32", "matern52 + white"}) {
    SparseRegressionOptions o = options_of("fourier", 40);
    o.kernel = kernel;
    const RegressionFit fit = SparseRegression(d.X, d.y, o).fit();
    EXPECT_EQ(fit.posterior.as<SparsePosterior>().parts().features->size(), 39);
    EXPECT_LE(fit.summary.value, *fit.summary.upper_bound);
    EXPECT_NEAR(fit.predict(RowMatrix::Constant(1, 1, 0.4)).mean(0, 0), std::sin(0.8), 0.2);
  }
  SparseRegressionOptions o = options_of("fourier", 9);
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);  // se
  o.kernel = "matern32";
  const RowMatrix two = Random(6).normal_matrix(120, 2);
  EXPECT_THROW(SparseRegression(two, d.y, o), InputError);
  o.kernel = "matern32@0 * matern52@1";
  o.inducing = 60;
  o.training.max_iterations = 20;
  const Vector y = (two.col(0) + two.col(1)).array().sin();
  const RegressionFit fit = SparseRegression(two, y, o).fit();
  EXPECT_LE(fit.summary.value, *fit.summary.upper_bound);
  EXPECT_LT((fit.predict(two).mean - y).norm(), 0.5 * y.norm());
}

// While the interval is fixed one pass over the rows does, with the answers of the sweep.
TEST(Features, FourierInOnePass) {
  const Wave d;
  SparseRegressionOptions o = options_of("fourier", 31);
  o.kernel = "matern32 + white";
  o.mean = "constant";
  SparseRegression once(d.X, d.y, o);
  o.route = Route::stable;
  SparseRegression swept(d.X, d.y, o);
  Jitter jitter;
  for (const double shift : {0.0, 0.3}) {
    const Vector u = once.parameters().flatten().array() + shift;
    Vector own, other;
    const double value = once.objective(u, &own, jitter).value();
    EXPECT_NEAR(swept.objective(u, &other, jitter).value(), value, 1e-8 * std::abs(value));
    EXPECT_LT((own - other).norm(), 1e-8 * other.norm());
  }
  EXPECT_EQ(once.evaluate().terms.route, Route::one_pass);
  EXPECT_EQ(swept.evaluate().terms.route, Route::stable);
  Vector interval = once.parameters().at("features.interval").value;
  interval(1) += 0.5;  // sums are gathered anew
  for (SparseRegression* m : {&once, &swept}) m->parameters().set("features.interval", interval);
  const double value = swept.evaluate().value;
  EXPECT_NEAR(once.evaluate().value, value, 1e-8 * std::abs(value));
  interval(1) = 0.0;  // rows outside
  once.parameters().set("features.interval", interval);
  EXPECT_NE(once.evaluate().terms.route, Route::one_pass);
  once.parameters().unfix("features.interval");
  EXPECT_NE(once.evaluate().terms.route, Route::one_pass);
  o.route = Route::automatic;
  const RegressionFit fit = SparseRegression(d.X, d.y, o).fit();
  EXPECT_NE(fit.summary.route.find("one-pass"), std::string::npos);
}

// A sum over columns: the parts are found, and each is predicted by its own features. White noise
// is a component too.
TEST(Features, StackedOfSparseModels) {
  Random random(8);
  RowMatrix X(200, 3);
  Vector y(200), labels(200);
  for (Index i = 0; i < 200; ++i) {
    for (Index d = 0; d < 3; ++d) X(i, d) = random.normal();
    const double f = std::sin(2.0 * X(i, 0)) + 0.5 * X(i, 1) * X(i, 1);
    y(i) = f + 0.1 * random.normal();
    labels(i) = f > 0.4 ? 1.0 : 0.0;
  }
  for (const char* model : {"vfe", "fitc", "pep(0.5)", "dtc"}) {
    SCOPED_TRACE(model);
    SparseRegressionOptions o = options_of("stacked(eigen)", 36);
    o.kernel = "se@0 + se@1 + white";
    o.approximation = model;
    o.training.max_iterations = 60;
    if (o.approximation.kind == Approximation::Kind::pep) o.warm_start = "vfe";
    SparseRegression sparse(X, y, o);
    EXPECT_TRUE(sparse.parameters().contains("features.1.sd"));
    const RegressionFit fit = sparse.fit();
    RowMatrix at = RowMatrix::Zero(2, 3);
    at(0, 0) = 0.7, at(1, 1) = 1.2;
    const Matrix mean = fit.predict(at).mean;
    EXPECT_NEAR(mean(0), std::sin(1.4), 0.15);
    EXPECT_NEAR(mean(1), 0.72, 0.15);
    const auto parts = fit.posterior.as<SparsePosterior>().components(fit.input_scaling.apply(at));
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[2].mean.norm(), 0.0);
    const double whole =
        fit.posterior.as<SparsePosterior>().predict(fit.input_scaling.apply(at)).mean(0);
    EXPECT_NEAR(parts[0].mean(0) + parts[1].mean(0), whole, 1e-9);
  }
  SvgpOptions s;
  s.kernel = "additive(se)";
  s.likelihood = "bernoulli(probit)";
  s.features = "stacked(eigen)";
  s.inducing = 30;
  s.training.max_iterations = 15;
  const GeneralisedFit fit = Svgp(X, labels, s).fit();
  RowMatrix at = RowMatrix::Zero(2, 3);
  at(0, 0) = 0.8, at(1, 0) = -0.8;
  const Matrix p = fit.predict(at).mean;
  EXPECT_GT(p(0), 0.7);
  EXPECT_LT(p(1), 0.3);
}

TEST(Features, Choice) {
  for (const char* text :
       {"points", "multiscale", "multiscale(3)", "frequency", "timefrequency", "basis(17)", "eigen",
        "fourier", "fourier(l2)", "orthogonal", "empirical", "rff", "ssgp", "hilbert", "bumps"})
    EXPECT_EQ(FeatureChoice(text).print(), text);
  for (const char* text :
       {"", "poits", "basis", "basis()", "basis(0)", "basis(-1)", "basis(2", "eigen(3)",
        "basis(99999)", "multiscale(0)", "multiscale()", "fourier(l3)", "rff(3)"})
    EXPECT_THROW(FeatureChoice{text}, InputError) << text;
  const Wave d;
  SparseRegressionOptions o = options_of("eigen", 5);
  o.kernel = "matern32";
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
  o.kernel = "se";
  o.Z = d.X.topRows(3);
  EXPECT_THROW(SparseRegression(d.X, d.y, o), InputError);
}

FeaturesPtr restored(FeatureRecord record, const Kernel& kernel, Index size, ConstVector z) {
  record.size = size;
  record.z = z;
  return restore_features(record, kernel);
}

// Back from a record of them; what does not belong together is refused.
TEST(Features, Restored) {
  const Wave d;
  const Kernel kernel = "se";
  const Vector theta = kernel.parameters(1).values();
  for (const char* kind : {"points", "multiscale", "multiscale(2)", "frequency", "timefrequency",
                           "basis(3)", "eigen", "orthogonal", "rff", "ssgp", "hilbert", "bumps"}) {
    SCOPED_TRACE(kind);
    const FeatureChoice choice(kind);
    const FeaturesPtr u = start_features(choice, {.kernel = kernel,
                                                  .theta = theta,
                                                  .X = d.X,
                                                  .M = 4,
                                                  .seed = 1,
                                                  .Z = d.X.topRows(choice.inputs(4))});
    Parameters p;
    u->declare(p);
    const Vector z = p.values();
    const FeatureRecord record = record_features(*u, z);
    const FeaturesPtr back = restore_features(record, kernel);
    Matrix a(4, 7), b(4, 7);
    const RowBlock x{d.X.data(), 7, 1, 1};
    u->Kuf(theta.data(), z.data(), x, a.data());
    back->Kuf(theta.data(), z.data(), x, b.data());
    EXPECT_EQ(a, b);
    if (choice.name() != "orthogonal") {  // which are any number
      EXPECT_THROW(restored(record, kernel, 5, z), InputError);
    }
    EXPECT_THROW(restored(record, kernel, 4, z.head(z.size() - 1)), InputError);
  }
  const auto make = [](const char* name, const Kernel& k, Index size, Index parameters,
                       std::vector<std::int64_t> degrees) {
    return restore_features({name, size, 1, Vector::Ones(parameters), std::move(degrees), {}}, k);
  };
  // Of the exponential kernel eigenfunctions have no degrees.
  for (const char* name : {"eigen", "fourier(l2)"})
    EXPECT_EQ(make(name, "matern12", 5, 2, {})->name(), name);
  EXPECT_THROW(make("eigen", "matern12", 5, 2, {1}), InputError);
  EXPECT_THROW(make("fourier(l2)", "matern12", 4, 2, {}), InputError);
  EXPECT_EQ(make("empirical", kernel, 2, 9, {})->size(), 2);
  EXPECT_THROW(make("empirical", kernel, 2, 8, {}), InputError);
  EXPECT_THROW(make("eigen", kernel, 1, 2, {-1}), InputError);
  EXPECT_THROW(make("eigen", kernel, 1, 2, {1 << 30}), InputError);
}

// Stacked ones by their parts, and products by their harmonics.
TEST(Features, RestoredInParts) {
  RowMatrix X(40, 2);
  Random random(3, 0);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = random.normal();
  for (const auto& [kind, expression] :
       {std::pair{"stacked(eigen)", "se@0 + se@1"}, std::pair{"stacked(basis(2))", "se@0 + se"},
        std::pair{"fourier", "matern32@0 * matern12@1"}}) {
    SCOPED_TRACE(kind);
    const Kernel kernel = expression;
    const Vector theta = kernel.parameters(2).values();
    const FeaturesPtr u =
        start_features(kind, {.kernel = kernel, .theta = theta, .X = X, .M = 9, .seed = 1});
    Parameters p;
    u->declare(p);
    const Vector z = p.values();
    FeatureRecord record = record_features(*u, z);
    const FeaturesPtr back = restore_features(record, kernel);
    Matrix a(u->size(), 40), b(back->size(), 40);
    const RowBlock x{X.data(), 40, 2, 2};
    u->Kuf(theta.data(), z.data(), x, a.data());
    back->Kuf(theta.data(), z.data(), x, b.data());
    EXPECT_EQ(a, b);
    if (record.parts.empty()) continue;
    FeatureRecord twice = record;
    twice.parts[0] = record;
    EXPECT_THROW(restore_features(twice, kernel), InputError);
    record.parts.pop_back();
    EXPECT_THROW(restore_features(record, kernel), InputError);
  }
}

}  // namespace
}  // namespace covary
