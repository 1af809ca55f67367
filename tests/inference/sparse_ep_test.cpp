#include "inference/sparse_ep.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/inference/sparse.hpp"
#include "covary/inference/uncollapsed.hpp"
#include "covary/inference/variational.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/function_case.hpp"

namespace covary {
namespace {

struct Case : testing::LatentCase {
  RowMatrix Z;
  FeaturesPtr features;
  Vector z;

  Case(const char* likelihood, std::uint64_t seed, Index M, Index N = 25)
      : LatentCase(testing::latent_case(likelihood, seed, N)) {
    model.kernel = "se(ard) + white";
    at.kernel = (Vector(4) << 1.3, 0.9, 1.2, 0.05).finished();
    set(Random(seed, 7).normal_matrix(M, 2));
  }
  void set(const RowMatrix& inputs) {
    Z = inputs;
    features = inducing_points(model.kernel, Z);
    z = Eigen::Map<const Vector>(Z.data(), Z.size());
  }
  SparseEpApproximation run(double power, SparseEpGradient* g = nullptr) const {
    return at_values(at, z, power, g);
  }
  SparseEpApproximation at_values(const FunctionParameters& p, const Vector& inputs, double power,
                                  SparseEpGradient* g = nullptr) const {
    EpOptions options;
    options.power = power;
    options.tolerance = 1e-11;
    Jitter jitter;
    return sparse_expectation_propagation(model, features, p, inputs, jitter, g, options);
  }
};

// Gaussian noise: the evidence, the gradient and q(u) of pep(α), and of FITC at α = 1.
TEST(SparseEp, GaussianNoiseIsPowerEpOfRegression) {
  for (const double power : {1.0, 0.4}) {
    Case c("gaussian(variance=0.3)", 61, 6);
    SparseEpGradient g;
    const SparseEpApproximation q = c.run(power, &g);

    std::vector<Index> rows;
    for (Index n = 0; n < c.model.y.size(); ++n)
      if (!std::isnan(c.model.y(n))) rows.push_back(n);
    const RowMatrix X = c.model.X(rows, Eigen::all), Y = c.model.y(rows);
    const MemoryRows source(X, Y, Vector());
    const Sweep sweep = Sweep::for_features(source, 6);
    const SparseProblem problem{Approximation(Approximation::Kind::pep, power),
                                c.features.get(),
                                &c.model.kernel,
                                &c.model.mean,
                                &sweep,
                                columns_by_pattern(source)};
    Jitter jitter;
    SweepGradient e;
    const SparseEvaluation s =
        evaluate_sparse(problem, {c.at.kernel, c.z, 0.3, c.at.mean_weights}, jitter, &e);
    EXPECT_NEAR(q.value, s.value, 1e-9);
    EXPECT_LE((g.parameters.kernel - e.theta_bar).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LE((g.z - e.z_bar).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_NEAR(g.parameters.likelihood(0), e.noise_bar, 1e-8);
    EXPECT_NEAR(g.parameters.mean_weights(0), e.mean_bar(0), 1e-8);
    const WhitenedGaussian best = optimal_q(s.factors, 1);
    EXPECT_LE((q.posterior.parts().q.m - best.m).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LE((q.posterior.parts().q.Ls[0] - best.Ls[0]).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(SparseEp, InducingInputsAtTheDataAreFullPowerEp) {
  for (const char* l : {"bernoulli(probit)", "bernoulli(logit)", "poisson"})
    for (const double power : {1.0, 0.5}) {
      SCOPED_TRACE(l);
      Case c(l, 62, 1, 14);
      c.model.kernel = "matern32(ard)";
      c.at.kernel = (Vector(3) << 1.3, 0.5, 0.4).finished();
      std::vector<Index> rows;
      for (Index n = 0; n < c.model.y.size(); ++n)
        if (!std::isnan(c.model.y(n))) rows.push_back(n);
      c.set(c.model.X(rows, Eigen::all));
      EpOptions options;
      options.power = power;
      FunctionParameters g;
      SparseEpGradient gs;
      const FunctionApproximation full = expectation_propagation(c.model, c.at, &g, options);
      const SparseEpApproximation q = c.run(power, &gs);
      EXPECT_NEAR(q.value, full.value, 1e-8);
      EXPECT_LE((gs.parameters.kernel - g.kernel).cwiseAbs().maxCoeff(), 1e-6);
      EXPECT_LE((q.tau - full.posterior.lambda).cwiseAbs().maxCoeff(), 1e-7);
      const RowMatrix X_new = Random(9).normal_matrix(6, 2);
      const FunctionMarginals a = q.posterior.marginals(X_new), b = full.posterior.predict(X_new);
      EXPECT_LE((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-7);
      EXPECT_LE((a.variance - b.variance).cwiseAbs().maxCoeff(), 1e-7);
    }
}

TEST(SparseEp, GradientsOfEverything) {
  for (const char* l :
       {"bernoulli(probit)", "student_t(scale=0.7)", "negative_binomial(shape=2)", "ordinal(4)"})
    for (const double power : {1.0, 0.5}) {
      SCOPED_TRACE(l);
      const Case c(l, 63, 4, 16);
      SparseEpGradient g;
      c.run(power, &g);
      const Index K = c.at.kernel.size(), H = c.at.likelihood.size();
      Vector at(K + H + 1 + c.z.size()), given(at.size());
      at << c.at.kernel, c.at.likelihood, c.at.mean_weights, c.z;
      given << g.parameters.kernel, g.parameters.likelihood, g.parameters.mean_weights, g.z;
      expect_gradient(
          [&](const Vector& v) {
            return c
                .at_values({v.head(K), v.segment(K, H), v.segment(K + H, 1)}, v.tail(c.z.size()),
                           power)
                .value;
          },
          given, at);
    }
}

// As the power falls, q is stationary for SVGP's bound and the values meet.
TEST(SparseEp, SmallPowersApproachTheVariationalBound) {
  const Case c("bernoulli(logit)", 64, 5);
  std::vector<Index> rows;
  for (Index n = 0; n < c.model.y.size(); ++n)
    if (!std::isnan(c.model.y(n))) rows.push_back(n);
  const RowMatrix X = c.model.X(rows, Eigen::all), Y = c.model.y(rows);
  const MemoryRows source(X, Y, Vector());
  const Sweep sweep = Sweep::for_features(source, 5);
  UncollapsedProblem problem;
  problem.parts = {{c.features.get(), &c.model.kernel}};
  problem.mean = &c.model.mean;
  problem.sweep = &sweep;
  problem.likelihood = row_likelihood(c.model.likelihood, c.at.likelihood);
  std::vector<double> gaps, slopes;
  for (const double power : {0.1, 0.01}) {
    const SparseEpApproximation q = c.run(power);
    Jitter jitter;
    UncollapsedGradient g;
    const auto e = evaluate_uncollapsed(
        problem, {{c.at.kernel}, {c.z}, c.at.mean_weights, q.posterior.parts().q}, jitter, &g);
    gaps.push_back(std::abs(q.value - e.value));
    slopes.push_back(std::max(g.m_bar.cwiseAbs().maxCoeff(), g.Ls_bar[0].cwiseAbs().maxCoeff()));
  }
  EXPECT_LE(gaps[1], 0.15 * gaps[0]);  // of first order in the power
  EXPECT_LE(slopes[1], 0.15 * slopes[0]);
  EXPECT_LE(slopes[1], 1e-2);
}

TEST(SparseEp, SameBitsForAnyThreads) {
  const Case c("bernoulli(probit)", 65, 8, 300);
  const int before = threads();
  set_threads(1);
  const double one = c.run(1.0).value;
  set_threads(3);
  const double three = c.run(1.0).value;
  set_threads(before);
  EXPECT_EQ(one, three);
}

TEST(SparseEp, BadInput) {
  Case c("bernoulli(probit)", 66, 3);
  EXPECT_THROW(c.run(0.0), InputError);
  EXPECT_THROW(c.at_values(c.at, Vector::Zero(5), 1.0), InputError);
  c.model.likelihood = "softmax(3)";
  EXPECT_THROW(c.run(1.0), Unsupported);
}

}  // namespace
}  // namespace covary
