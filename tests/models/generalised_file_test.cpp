#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/likelihoods/formula.hpp"
#include "covary/models/generalised.hpp"
#include "covary/storage/container.hpp"
#include "damage.hpp"
#include "inference/function_case.hpp"
#include "inference/inducing_posterior.hpp"

namespace covary {
namespace {

using testing::expect_damage_refused, testing::expect_refused;

GeneralisedFit saved(const char* likelihood, Inference method, Index pca = 0, Index gplvm = 0) {
  const auto c = testing::latent_case(likelihood, 6);
  GeneralisedOptions o;
  o.likelihood = likelihood;
  o.method = method;
  o.mean = "linear";
  o.pca = pca;
  o.gplvm = gplvm;
  o.training.max_iterations = 5;
  if (o.likelihood.classes() == 2) o.classes = {"no", "yes"};
  o.aux = c.model.aux;
  GeneralisedFit out = Generalised(c.model.X, c.model.y, o).fit();
  out.input_columns.columns = {{"a", {}}, {"b", {}}};
  out.output_names = {"y"};
  return out;
}

// A sparse posterior with a kernel for each of two functions.
GeneralisedFit saved_inducing() {
  GeneralisedFit out = saved("bernoulli(logit)", Inference::laplace);
  const RowMatrix Z = testing::small_data(4, 2, 1, 9).X;
  InducingPosteriorParts parts;
  parts.mean = "constant";
  parts.mean_weights = Matrix::Random(1, 2);
  parts.q.m = Matrix::Random(4, 2);
  for (const char* expression : {"se", "matern32(ard)"}) {
    InducingPart p;
    p.kernel = Kernel(expression);
    p.theta = Vector::LinSpaced(p.kernel.parameter_count(2), 0.7, 1.3);
    p.features = inducing_points(p.kernel, Z);
    p.z = Eigen::Map<const Vector>(Z.data(), Z.size());
    p.Luu = cholesky(p.features->Kuu(p.theta.data(), p.z.data()), "Kuu").L;
    parts.parts.push_back(std::move(p));
    parts.q.Ls.push_back(0.3 * Matrix::Identity(4, 4));
  }
  out.posterior = InducingPosterior(std::move(parts));
  out.likelihood = Likelihood("softmax(2)");
  out.likelihood_parameters.resize(0);
  out.model = "svgp";
  return out;
}

TEST(GeneralisedFile, RoundTripKeepsTheBits) {
  const RowMatrix X = testing::small_data(7, 2, 1, 3).X;
  for (const GeneralisedFit& m :
       {saved("bernoulli(logit)", Inference::laplace), saved("student_t", Inference::vi),
        saved("ordinal(4)", Inference::ep), saved("binomial", Inference::laplace),
        saved("softmax(3)", Inference::laplace), saved("robust_max(3)", Inference::vi),
        saved("softmax(3)", Inference::laplace, 1), saved("one_vs_rest(3, probit)", Inference::ep),
        saved("bernoulli(logit)", Inference::laplace, 0, 1), saved_inducing()}) {
    const Fit back = load_bytes(m.bytes());
    const GeneralisedFit& fit = back.as<GeneralisedFit>();
    const GeneralisedPrediction p = m.predict(X), q = fit.predict(X);
    EXPECT_EQ(p.f.mean, q.f.mean) << m.model;
    EXPECT_EQ(p.f.variance, q.f.variance) << m.model;
    EXPECT_EQ(p.probabilities, q.probabilities);
    EXPECT_EQ(p.mean, q.mean);
    EXPECT_EQ(fit.classes, m.classes);
    EXPECT_EQ(fit.value, m.value);
    EXPECT_EQ(fit.target(), "y");
    EXPECT_EQ(fit.parameters.values(), m.parameters.values());
  }
}

TEST(GeneralisedFile, RegressionReadersSayWhatItIs) {
  const auto bytes = saved("bernoulli(logit)", Inference::laplace).bytes();
  try {
    load_bytes(bytes).as<RegressionFit>();
    FAIL();
  } catch (const Unsupported& e) {
    for (const char* words : {"laplace model of y", "likelihood bernoulli(logit)"})
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(GeneralisedFile, DamageBehindValidChecksumsIsRefused) {
  for (const GeneralisedFit& m :
       {saved("bernoulli(logit)", Inference::laplace), saved("softmax(3)", Inference::laplace),
        saved("bernoulli(logit)", Inference::vi, 1),
        saved("bernoulli(logit)", Inference::laplace, 0, 1), saved_inducing()}) {
    const Container good = parse_container(m.bytes());
    expect_damage_refused(good, {"diagnostics"});
    const auto j = nlohmann::json::parse(good.metadata);
    Container bad = good;
    auto other = j;
    other["likelihood"] = "softmax(5)";
    bad.metadata = other.dump();
    expect_refused(bad, "softmax(5)");
    other = j;
    other["pca"] = 2;
    bad.metadata = other.dump();
    expect_refused(bad, "two components");
  }
}

TEST(GeneralisedFile, ALikelihoodOfOnesOwnIsRefusedOnSaving) {
  GeneralisedFit m = saved("bernoulli(logit)", Inference::laplace);
  for (const char* name : {"mine", "gaussian"}) {
    m.likelihood = formula_likelihood(
        name, {}, [](double y, double, auto f, auto) { return -0.5 * (y - f) * (y - f); });
    EXPECT_THROW(m.bytes(), InputError) << name;
  }
}

}  // namespace
}  // namespace covary
