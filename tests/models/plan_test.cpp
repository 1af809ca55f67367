// What is promised of eigenfunctions before training, against exact answers.
#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/features/planner.hpp"
#include "covary/inference/exact_posterior.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr double noise = 0.1;

struct Problem {
  RowMatrix X, y;
  double evidence = 0.0;

  Problem(Index N, double sd, std::uint64_t seed) : X(N, 1), y(N, 1) {
    Random random(seed, 11);
    for (Index i = 0; i < N; ++i) X(i) = sd * random.normal();
    const Kernel kernel = se(false, {1.0, {1.0}});
    const Vector theta = kernel.parameters(1).values();
    y = sample_prior(kernel, theta, X, 1, seed);
    for (Index i = 0; i < N; ++i) y(i) += std::sqrt(noise) * random.normal();
    RegressionOptions o;
    o.kernel = kernel;
    o.scale_inputs = o.scale_outputs = ScaleMode::none;
    Regression exact(X, y, o);
    exact.parameters().set("kernel.variance", Vector::Ones(1));
    exact.parameters().set("kernel.lengthscales", Vector::Ones(1));
    exact.parameters().set("likelihood.variance", Vector::Constant(1, noise));
    evidence = exact.log_marginal_likelihood();
  }
  SparseRegression sparse(Index M, Index iterations) const {
    SparseRegressionOptions o;
    o.kernel = "se";
    o.features = "eigen";
    o.inducing = M;
    o.subset = 0;
    o.scale_inputs = o.scale_outputs = ScaleMode::none;
    o.training.max_iterations = iterations;
    SparseRegression out(X, y, o);
    for (const char* path : {"kernel.variance", "kernel.lengthscales"})
      out.parameters().set(path, Vector::Ones(1));
    out.parameters().set("likelihood.variance", Vector::Constant(1, noise));
    for (const char* path : {"kernel.variance", "kernel.lengthscales", "likelihood.variance"})
      out.parameters().fix(path);
    return out;
  }
};

// The measure held at the moments of normal inputs: KL follows N·v·Bᴹ/2σ² over many orders of
// magnitude, without jitter, and with the measure trained it is never larger.
TEST(Plan, KlFollowsTheSpectrum) {
  constexpr Index sets = 8, N = 200;
  std::vector<Problem> problems;
  for (Index i = 0; i < sets; ++i) problems.emplace_back(N, 5.0, static_cast<std::uint64_t>(i));
  bool small = false;
  for (Index M = 8; M <= 160 && !small; M += 8) {
    double ratio = 0.0, mean = 0.0;
    for (const Problem& p : problems) {
      const SparseRegression model = p.sparse(M, 0);
      const SparseEvaluation e = model.evaluate();
      EXPECT_EQ(e.jitter, 0.0);
      const double kl = p.evidence - e.value;
      const double B = eigenvalue_ratio(1.0, model.parameters().at("features.sd").value(0));
      ratio += kl / (N * std::pow(B, static_cast<double>(M)) / (2.0 * noise)) / sets;
      mean += kl / sets;
    }
    small = mean < 1e-9;
    if (small) break;
    EXPECT_GT(ratio, 0.1) << M;
    EXPECT_LT(ratio, 4.0) << M;
  }
  EXPECT_TRUE(small);
  for (const Index M : {8, 24, 40}) {
    const Problem& p = problems[0];
    const double held = p.sparse(M, 0).evaluate().value;
    SparseRegression trained = p.sparse(M, 50);
    EXPECT_GT(trained.fit().summary.value, held) << M;
    EXPECT_LT(trained.evaluate().value, p.evidence);
  }
}

// The lemma's bound for the outputs there are, and the bracket of the mean over outputs (T1, T3).
TEST(Plan, CertificatesHold) {
  double mean_kl = 0.0, low = 0.0, high = 0.0;
  for (std::uint64_t seed = 20; seed < 60; ++seed) {
    const Problem p(40, 2.0, seed);
    const SparseRegression model = p.sparse(14, 0);
    const SparseEvaluation e = model.evaluate();
    const double kl = p.evidence - e.value, t = e.terms.residual;
    EXPECT_GE(kl, 0.0);
    EXPECT_LE(kl, planning::kl_bound(t, noise, p.y.squaredNorm() / noise));
    const auto [l, h] = expected_kl(t, noise);
    mean_kl += kl;
    low += l;
    high += h;
    const SparseRegression::Planned planned = model.plan();
    EXPECT_NEAR(planned.trace, t, 1e-10);
    EXPECT_NEAR(planned.request.energy, p.y.squaredNorm() / noise, 1e-8);
    EXPECT_EQ(planned.here.inducing, 14);
  }
  EXPECT_GT(mean_kl, 0.9 * low);  // a mean of 40 outputs
  EXPECT_LT(mean_kl, high);
}

// Automatic M: as many as the plan at the start says, more where training or inputs that are not
// normal need them, and the promise is kept.
TEST(Plan, AutomaticNumber) {
  Random random(4);
  RowMatrix X(300, 1), y(300, 1);
  for (Index i = 0; i < 300; ++i) {
    X(i) = (i % 2 ? 4.0 : -4.0) + 0.5 * random.normal();  // two clusters
    y(i) = std::sin(1.2 * X(i)) + 0.1 * random.normal();
  }
  std::vector<std::string> said;
  SparseRegressionOptions o;
  o.kernel = "se";
  o.features = "eigen";
  o.subset = 0;
  o.training.tell = [&](const std::string& line) { said.push_back(line); };
  SparseRegression model(X, y, o);
  model.parameters().set("kernel.lengthscales", Vector::Constant(1, 2.0));  // few would do for this
  const RegressionFit fit = model.fit();
  const auto of = [&](const std::string& name) {
    for (const auto& [key, value] : fit.diagnostics)
      if (key == name) return value;
    return -1.0;
  };
  EXPECT_LE(of("expected_kl_high"), o.planned_kl);
  EXPECT_GE(of("expected_kl_low"), 0.0);
  EXPECT_GT(of("planned_inducing"), 0.0);
  EXPECT_GE(of("planned_kl_high"), of("planned_kl_low"));
  EXPECT_NE(fit.summary.reason.find("mean KL over data from the model"), std::string::npos);
  bool planned = false, again = false;
  for (const auto& line : said) {
    planned = planned || line.starts_with("plan: ");
    again = again || line.find("trained again with") != std::string::npos;
  }
  EXPECT_TRUE(planned);
  EXPECT_TRUE(again);
  o.most_inducing = 5;
  const RegressionFit few = SparseRegression(X, y, o).fit();
  EXPECT_NE(few.summary.reason.find("at the limit of features"), std::string::npos)
      << few.summary.reason;
  EXPECT_EQ(few.posterior.as<SparsePosterior>().parts().features->size(), 5);
  o.planned_kl = 0.0;
  EXPECT_THROW(SparseRegression(X, y, o), InputError);
  EXPECT_THROW(SparseRegression(X, y, {.inducing = 5}).plan(), InputError);
}

}  // namespace
}  // namespace covary
