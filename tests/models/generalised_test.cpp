#include "covary/models/generalised.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/variational.hpp"
#include "covary/models/svgp.hpp"
#include "inference/function_case.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::latent_case;

GeneralisedOptions unscaled(const char* likelihood, Inference method) {
  GeneralisedOptions o;
  o.kernel = "se";
  o.likelihood = likelihood;
  o.method = method;
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.training.max_iterations = 0;
  return o;
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

// T5 and T7 of the specification through the model.
TEST(Generalised, ThreePointsT5AndT7) {
  const testing::ThreePoints three;
  const auto fitted = [&](Inference method) {
    Generalised model(three.model.X, three.model.y, unscaled("bernoulli(logit)", method));
    model.parameters().set("kernel.variance", 2.0);
    model.parameters().set("kernel.lengthscales", 1.0);
    return model.fit();
  };
  const GeneralisedFit laplace = fitted(Inference::laplace), full = fitted(Inference::vi);
  EXPECT_NEAR(laplace.value, -2.402683066682, 1e-11);
  EXPECT_NEAR(full.value, -2.349964004616, 1e-11);
  EXPECT_EQ(laplace.model, "laplace");
  EXPECT_EQ(full.model, "vgp");
  EXPECT_EQ(full.summary.objective, "elbo");
  EXPECT_NEAR(laplace.predict(three.X_new).probabilities(0, 1), 0.505724571174, 1e-11);
  EXPECT_NEAR(full.predict(three.X_new).probabilities(0, 1), 0.5093476696, 1e-10);
  EXPECT_NEAR(full.log_density(three.X_new, Vector::Ones(1))(0), std::log(0.5093476696), 1e-9);
}

TEST(Generalised, ObjectiveGradient) {
  for (const auto& [likelihood, method] :
       std::vector<std::pair<const char*, Inference>>{{"student_t", Inference::vi},
                                                      {"negative_binomial", Inference::laplace},
                                                      {"softmax(3)", Inference::laplace},
                                                      {"one_vs_rest(3)", Inference::laplace},
                                                      {"one_vs_rest(3, probit)", Inference::ep},
                                                      {"heteroscedastic", Inference::vi},
                                                      {"bernoulli(probit)", Inference::ep}}) {
    SCOPED_TRACE(likelihood);
    const auto c = latent_case(likelihood, 5);
    GeneralisedOptions o;
    o.likelihood = likelihood;
    o.method = method;
    o.mean = "constant";
    o.separate_kernels = std::string(likelihood) == "heteroscedastic";
    o.aux = c.model.aux;
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(weighted);
      if (weighted && method == Inference::ep) continue;
      if (weighted) o.weights = Vector::LinSpaced(c.model.y.size(), 0.0, 3.1);
      Generalised model(c.model.X, c.model.y, o);
      model.parameters().set_prior(
          o.separate_kernels ? "function.1.kernel.variance" : "kernel.variance",
          Prior::parse("lognormal(0,1)"));
      const Vector u = model.parameters().flatten();
      Vector g(u.size());
      model.objective(u, &g);
      expect_gradient([&](const Vector& at) { return model.objective(at, nullptr).value(); }, g, u);
    }
  }
}

// The whole evidence is that of exact regression when the noise is Gaussian, in the data's units.
TEST(Generalised, GaussianIsExactRegression) {
  const auto d = testing::small_data(40, 2, 1, 2);
  const Vector y = (50.0 + 7.0 * d.Y.col(0).array()).matrix();
  RegressionOptions r;
  r.training.max_iterations = 0;
  const RegressionFit exact = Regression(d.X, RowMatrix(y), r).fit();
  for (const Inference method : {Inference::laplace, Inference::ep, Inference::vi}) {
    GeneralisedOptions o;
    o.likelihood = "gaussian";
    o.method = method;
    o.training.max_iterations = 0;
    Generalised model(d.X, y, o);
    for (const Parameter& p : exact.parameters.all()) model.parameters().set(p.path, p.value);
    const GeneralisedFit fit = model.fit();
    EXPECT_NEAR(fit.value, exact.value, 1e-9 * std::abs(exact.value));
    const Prediction p = exact.predict(d.X.topRows(5));
    const GeneralisedPrediction q = fit.predict(d.X.topRows(5));
    EXPECT_LT((p.mean.col(0) - q.mean).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((p.variance_y.col(0) - q.variance).cwiseAbs().maxCoeff(), 1e-7);
  }
}

TEST(Generalised, TrainingRaisesTheEvidenceAndTellsClassesApart) {
  const auto d = testing::small_data(120, 2, 1, 7);
  Vector y(120);
  for (Index n = 0; n < 120; ++n) y(n) = d.X(n, 0) * d.X(n, 0) + d.X(n, 1) > 0.5 ? 1 : 0;
  GeneralisedOptions o;
  o.classes = {"low", "high"};
  const GeneralisedFit fit = Generalised(d.X, y, o).fit();
  EXPECT_GT(fit.summary.value, fit.summary.initial_value + 5.0);
  EXPECT_TRUE(fit.summary.converged);
  EXPECT_EQ(fit.classes, o.classes);
  const Matrix p = fit.predict(d.X).probabilities;
  EXPECT_LT((p.rowwise().sum().array() - 1.0).abs().maxCoeff(), 1e-12);
  Index right = 0;
  for (Index n = 0; n < 120; ++n) right += (p(n, 1) > 0.5) == (y(n) == 1.0);
  EXPECT_GE(right, 116);
  // T18: far from the data nothing is known.
  EXPECT_NEAR(fit.predict(RowMatrix::Constant(1, 2, 1e3)).probabilities(0, 0), 0.5, 1e-9);
}

TEST(Generalised, SeparableClassesByLaplaceAreWarnedOf) {
  const RowMatrix X = RowMatrix(Vector::LinSpaced(40, -2, 2));
  Vector y(40);
  for (Index n = 0; n < 40; ++n) y(n) = X(n, 0) > 0.1 ? 1 : 0;
  GeneralisedOptions o;
  const GeneralisedFit fit = Generalised(X, y, o).fit();
  ASSERT_FALSE(fit.summary.warnings.empty());
  EXPECT_NE(fit.summary.warnings.back().find("kernel.variance ran to"), std::string::npos);
  Generalised with_prior(X, y, o);
  with_prior.parameters().set_prior("kernel.variance", Prior::parse("gamma(2,0.2)"));
  EXPECT_TRUE(with_prior.fit().summary.warnings.empty());
}

// T17: with a mean of zero the classes are interchangeable.
TEST(Generalised, FlippedLabelsT17) {
  const auto c = latent_case("bernoulli(logit)", 4);
  for (const Inference method : {Inference::laplace, Inference::ep, Inference::vi}) {
    const auto o = unscaled("bernoulli(logit)", method);
    const GeneralisedFit a = Generalised(c.model.X, c.model.y, o).fit(),
                         b = Generalised(c.model.X, (1.0 - c.model.y.array()).matrix(), o).fit();
    EXPECT_NEAR(a.value, b.value, 1e-9);
    const Vector p = a.predict(c.model.X).probabilities.col(1),
                 q = b.predict(c.model.X).probabilities.col(0);
    EXPECT_LT((p - q).cwiseAbs().maxCoeff(), 1e-9);
  }
}

// Counts of a thousand start where they are, with or without a mean function.
TEST(Generalised, LargeCountsStartNearTheirLevel) {
  const RowMatrix X = RowMatrix(Vector::LinSpaced(30, 0, 3));
  Vector y(30);
  for (Index n = 0; n < 30; ++n) y(n) = std::floor(1000.0 * std::exp(0.3 * std::sin(2 * X(n, 0))));
  GeneralisedOptions o;
  o.likelihood = "poisson";
  o.method = Inference::vi;
  o.mean = "constant";
  Generalised model(X, y, o);
  EXPECT_NEAR(model.parameters().at("mean.weights").value(0), std::log(y.mean()), 0.01);
  const GeneralisedPrediction p = model.fit().predict(X);
  EXPECT_LT(((p.mean - y).array() / y.array()).abs().maxCoeff(), 0.1);
}

// A weight of two is a row given twice, one of zero a row that is not there.
TEST(Generalised, WeightsCountRows) {
  struct Case {
    const char* likelihood;
    Inference method;
  };
  for (const auto& [likelihood, method] : std::vector<Case>{{"bernoulli", Inference::laplace},
                                                            {"bernoulli(probit)", Inference::ep},
                                                            {"student_t", Inference::vi},
                                                            {"poisson", Inference::laplace},
                                                            {"softmax(3)", Inference::laplace},
                                                            {"softmax(3)", Inference::vi},
                                                            {"one_vs_rest(3)", Inference::laplace},
                                                            {"heteroscedastic", Inference::vi},
                                                            {"gaussian", Inference::svgp}}) {
    SCOPED_TRACE(std::string(likelihood) + " by " + name_of(method));
    const auto c = latent_case(likelihood, 5, 20);
    FunctionOptions o;
    o.likelihood = likelihood;
    o.mean = "constant";
    o.aux = c.model.aux;
    o.pca = 1;
    o.training.max_iterations = 3;
    FunctionOptions repeated = o;
    o.weights = Vector::Zero(20);
    std::vector<Index> rows;
    for (Index n = 0; n < 20; ++n) {
      o.weights(n) = static_cast<double>((3 * n) % 4);
      rows.insert(rows.end(), static_cast<std::size_t>(o.weights(n)), n);
    }
    if (o.aux.size()) repeated.aux = Vector(o.aux(rows));
    const RowMatrix X = c.model.X(rows, Eigen::all);
    const Vector y = c.model.y(rows);
    const auto fit = [&, method = method](ConstRows inputs, const Vector& targets,
                                          const FunctionOptions& options) {
      if (method == Inference::svgp) {
        auto sparse = with_function_options<SvgpOptions>(options);
        sparse.Z = c.model.X.topRows(4);
        return Svgp(inputs, targets, sparse).fit();
      }
      auto full = with_function_options<GeneralisedOptions>(options);
      full.method = method;
      full.training.starts = 1;
      return Generalised(inputs, targets, full).fit();
    };
    const GeneralisedFit a = fit(c.model.X, c.model.y, o), b = fit(X, y, repeated);
    EXPECT_NEAR(a.value, b.value, 1e-7 * std::abs(b.value));
    EXPECT_LT((a.parameters.values() - b.parameters.values()).cwiseAbs().maxCoeff(), 1e-5);
    const FunctionMarginals f = a.predict_f(c.model.X), g = b.predict_f(c.model.X);
    EXPECT_LT((f.mean - g.mean).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT((f.variance - g.variance).cwiseAbs().maxCoeff(), 1e-5);
  }
  GeneralisedOptions o;
  o.method = Inference::ep;
  o.weights = Vector::Constant(4, 0.5);
  const Vector y = (Vector(4) << 0, 1, 0, 1).finished();
  EXPECT_NE(refusal([&] { Generalised(RowMatrix::Random(4, 1), y, o); }).find("is not whole"),
            std::string::npos);
}

// One against the rest: K models of two classes, whose probabilities are divided by their sum.
TEST(Generalised, OneVsRestIsAModelOfEachClass) {
  const auto c = latent_case("softmax(3)", 4, 30);
  for (const Inference method :
       {Inference::laplace, Inference::ep, Inference::vi, Inference::svgp}) {
    SCOPED_TRACE(name_of(method));
    const auto fit = [&](const char* likelihood, const Vector& y) {
      FunctionOptions o;
      o.kernel = "se";
      o.likelihood = likelihood;
      o.mean = "constant";
      o.separate_kernels = functions_differ(o.likelihood);
      o.training.max_iterations = 0;
      if (method == Inference::svgp) {
        auto sparse = with_function_options<SvgpOptions>(o);
        sparse.Z = c.model.X.topRows(5);
        return Svgp(c.model.X, y, sparse).fit();
      }
      auto full = with_function_options<GeneralisedOptions>(o);
      full.method = method;
      return Generalised(c.model.X, y, full).fit();
    };
    const GeneralisedFit together = fit("one_vs_rest(3, probit)", c.model.y);
    EXPECT_TRUE(together.parameters.contains("function.2.kernel.variance"));
    Matrix each(30, 3);
    double value = 0.0;
    for (Index k = 0; k < 3; ++k) {
      Vector y = c.model.y;
      for (double& label : y)
        if (!std::isnan(label)) label = label == static_cast<double>(k) ? 1.0 : 0.0;
      const GeneralisedFit one = fit("bernoulli(probit)", y);
      value += one.value;
      each.col(k) = one.predict(c.model.X).probabilities.col(1);
    }
    EXPECT_NEAR(together.value, value, 1e-6);
    const Matrix p = together.predict(c.model.X).probabilities;
    EXPECT_LT((p.array() - each.array().colwise() / each.rowwise().sum().array()).abs().maxCoeff(),
              1e-6);
  }
}

// Principal components of the scaled inputs are what another model sees that is given them.
TEST(Generalised, PcaIsTheModelOfTheComponents) {
  const auto data = testing::small_data(40, 5, 1, 8);
  RowMatrix X = data.X;
  X.col(3) = 100.0 * X.col(3).array() + X.col(0).array() + 7.0;
  const Vector y = (data.Y.col(0).array() > 0.0).cast<double>();
  const Scaling scaling = fit_scaling(X, ScaleMode::columns).scaling;
  const Pca pca = Pca::fit(scaling.apply(X), 2);
  const RowMatrix components = pca.transform(scaling.apply(X)), X_new = X.topRows(7);
  FunctionOptions whole, seen;
  whole.pca = 2;
  seen.scale_inputs = ScaleMode::none;
  whole.training.max_iterations = seen.training.max_iterations = 5;
  const auto same = [&](const GeneralisedFit& a, const GeneralisedFit& b) {
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.predict(X_new).probabilities, b.predict(components.topRows(7)).probabilities);
    EXPECT_EQ(a.inputs(), 5);
    EXPECT_EQ(a.posterior.dims(), 2);
    EXPECT_LT((a.model_inputs(a.data_inputs(components)) - components).cwiseAbs().maxCoeff(),
              1e-12);
    EXPECT_NE(refusal([&] { a.predict(components); }).find("2 columns"), std::string::npos);
  };
  same(Generalised(X, y, with_function_options<GeneralisedOptions>(whole)).fit(),
       Generalised(components, y, with_function_options<GeneralisedOptions>(seen)).fit());
  auto sparse = with_function_options<SvgpOptions>(whole),
       sparse_seen = with_function_options<SvgpOptions>(seen);
  sparse.Z = X.topRows(6);
  sparse_seen.Z = components.topRows(6);
  same(Svgp(X, y, sparse).fit(), Svgp(components, y, sparse_seen).fit());
  sparse.Z = components.topRows(6);
  EXPECT_NE(refusal([&] { Svgp(X, y, sparse); }).find("2 columns, X has 5"), std::string::npos);
  whole.pca = 6;
  EXPECT_NE(refusal([&] {
              Generalised(X, y, with_function_options<GeneralisedOptions>(whole));
            }).find("6 components"),
            std::string::npos);
  whole.pca = -1;
  EXPECT_NE(refusal([&] {
              Generalised(X, y, with_function_options<GeneralisedOptions>(whole));
            }).find("pca is -1"),
            std::string::npos);
}

// With inducing inputs or without, the parameters start alike, and rows without a target have no
// say in it.
TEST(Generalised, StartsAreThoseOfSvgp) {
  for (const char* likelihood :
       {"gaussian", "student_t", "heteroscedastic", "poisson", "bernoulli"}) {
    SCOPED_TRACE(likelihood);
    const auto c = latent_case(likelihood, 5);
    const Index N = c.model.X.rows();
    FunctionOptions o;
    o.likelihood = likelihood;
    o.mean = "constant";
    o.separate_kernels = o.likelihood.functions() > 1;
    o.aux = c.model.aux;
    auto full = with_function_options<GeneralisedOptions>(o);
    full.method = Inference::vi;
    auto sparse = with_function_options<SvgpOptions>(o);
    sparse.inducing = 4;
    Vector y = c.model.y;
    y(N - 1) = std::nan("");
    const Generalised a(c.model.X, y, full);
    const Svgp b(c.model.X, y, sparse);
    EXPECT_EQ(a.rows(), b.rows());
    Index shared = 0;
    for (const Parameter& p : b.parameters().all())
      if (!p.path.ends_with("features.Z")) {
        EXPECT_EQ(a.parameters().at(p.path).value, p.value) << p.path;
        ++shared;
      }
    EXPECT_EQ(shared, static_cast<Index>(a.parameters().all().size()));
    if (o.likelihood.print() == "gaussian") {
      EXPECT_NEAR(a.parameters().at("likelihood.variance").value(0), 0.1, 1e-12);
    }
    full.aux = o.aux.size() ? Vector(o.aux.head(N - 1)) : Vector();
    const Generalised shorter(c.model.X.topRows(N - 1), y.head(N - 1), full);
    EXPECT_EQ(shorter.value(), a.value());
  }
}

// Of a likelihood whose densities are integrals too.
TEST(Generalised, MissingTargetsHaveNoDensity) {
  const auto c = latent_case("student_t(scale=0.7)", 6);
  const GeneralisedFit fit =
      Generalised(c.model.X, c.model.y, unscaled("student_t(scale=0.7)", Inference::laplace)).fit();
  const Vector density = fit.log_density(c.model.X, c.model.y);
  for (Index n = 0; n < density.size(); ++n)
    EXPECT_EQ(std::isfinite(density(n)), !std::isnan(c.model.y(n)));
  EXPECT_NEAR(density(5), fit.log_density(c.model.X.middleRows(5, 1), c.model.y.segment(5, 1))(0),
              1e-12);
}

TEST(Generalised, BadInputSaysWhatToDo) {
  const RowMatrix X = RowMatrix::Random(6, 1);
  const Vector ones = Vector::Ones(6);
  const auto fit = [&](const char* likelihood, const Vector& y, const Vector& aux = Vector()) {
    GeneralisedOptions o;
    o.likelihood = likelihood;
    o.aux = aux;
    return refusal([&] { Generalised(X, y, o); });
  };
  EXPECT_NE(fit("bernoulli", ones).find("every observed target is of class 1"), std::string::npos);
  EXPECT_NE(fit("bernoulli", 2.0 * ones).find("2"), std::string::npos);
  EXPECT_NE(fit("poisson", -1.0 * ones).find("-1"), std::string::npos);
  EXPECT_NE(fit("poisson", 0.5 * ones).find("0.5"), std::string::npos);
  EXPECT_NE(fit("student_t", ones, ones).find("takes no exposure"), std::string::npos)
      << fit("student_t", ones, ones);
  EXPECT_NE(fit("robust_max(3)", ones).find("robust_max"), std::string::npos);
  GeneralisedOptions o;
  o.classes = {"a", "b", "c"};
  EXPECT_NE(refusal([&] { o.check(); }).find("3 class names"), std::string::npos);
  Vector labels = (Vector(6) << 0, 1, 0, 1, 0, 1).finished();
  const GeneralisedFit good =
      Generalised(X, labels, unscaled("bernoulli", Inference::laplace)).fit();
  EXPECT_NE(refusal([&] { good.predict(RowMatrix::Ones(2, 3)); }).find("3 columns"),
            std::string::npos);
}

}  // namespace
}  // namespace covary
