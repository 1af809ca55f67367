#include "covary/inference/unknown_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/quadrature.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

// A row of two outputs seen through a linear function: k(x, x) = 1.5·x², so that the row says how
// far from zero its input is.
UnknownInputs one_point() {
  UnknownInputs out;
  out.dims = 1;
  Matrix Y(1, 2);
  Y << 1.2, -0.8;
  out.views = {{"linear", Vector::Constant(1, 1.5), 0.3, Y}};
  return out;
}

// Rows of a smooth function, with a missing cell and two views.
UnknownInputs few_points(Index n) {
  UnknownInputs out;
  out.dims = 1;
  Matrix Y(3, 2);
  Y << 0.9, -0.4, -0.7, 0.5, 0.2, std::nan("");
  Matrix other(3, 1);
  other << 0.3, -0.2, 0.8;
  const Vector theta = (Vector(2) << 1.1, 0.9).finished();
  out.views = {{"se", theta, 0.2, Y.topRows(n)}, {"se", theta, 0.5, other.topRows(n)}};
  return out;
}

using Statistic = std::function<double(const RowMatrix& X)>;

// ∫ p(Y | X) p(X) g(X) dX over whitened inputs of one dimension, for each g and at last for one,
// which is the evidence.
Vector integrals(const UnknownInputs& problem, const std::vector<Statistic>& all) {
  const QuadratureRule rule = gauss_hermite(problem.rows() > 2 ? 24 : 60);
  const auto G = static_cast<Index>(all.size());
  Vector out = Vector::Zero(G + 1);
  RowMatrix v(problem.rows(), 1);
  const std::function<void(Index, double)> from = [&](Index i, double weight) {
    if (i < problem.rows()) {
      for (Index k = 0; k < rule.nodes.size(); ++k) {
        v(i, 0) = rule.nodes(k);
        from(i + 1, weight * rule.weights(k));
      }
      return;
    }
    const RowMatrix X = problem.inputs(v);
    const double p = weight * std::exp(problem.log_likelihood(X));
    for (Index g = 0; g < G; ++g) out(g) += p * all[static_cast<std::size_t>(g)](X);
    out(G) += p;
  };
  from(0, 1.0);
  return out;
}
double evidence_of(const UnknownInputs& problem) { return integrals(problem, {})(0); }

// The mean of a chain lies within four standard errors, by means of fifty batches.
void expect_mean(const Vector& chain, double expected, const std::string& what) {
  const Index batches = 50, size = chain.size() / batches;
  Vector means(batches);
  for (Index b = 0; b < batches; ++b) means(b) = chain.segment(b * size, size).mean();
  const double mean = means.mean(),
               error = std::sqrt((means.array() - mean).square().sum() / 49.0 / 50.0);
  EXPECT_NEAR(mean, expected, 4.0 * error) << what;
  // A mean of at least forty independent draws.
  const double sd = std::sqrt((chain.array() - chain.mean()).square().mean());
  EXPECT_LE(error, sd / std::sqrt(40.0)) << what << ": the chain hardly mixes";
}

void expect_moments(const UnknownInputs& problem, const InputSamples& samples,
                    const std::string& what) {
  const std::vector<Statistic> all = {
      [](const RowMatrix& X) { return X.squaredNorm(); },
      [](const RowMatrix& X) { return std::abs(X(0, 0)); },
      [](const RowMatrix& X) { return std::pow(X(0, 0) - X(X.rows() - 1, 0), 2); },
      [](const RowMatrix& X) { return X(0, 0); }};
  const Vector expected = integrals(problem, all);
  for (std::size_t g = 0; g < all.size(); ++g) {
    Vector chain(static_cast<Index>(samples.X.size()));
    for (std::size_t s = 0; s < samples.X.size(); ++s)
      chain(static_cast<Index>(s)) = all[g](samples.X[s]);
    expect_mean(chain, expected(static_cast<Index>(g)) / expected(expected.size() - 1),
                what + ", statistic " + std::to_string(g));
  }
}

InputSamplingOptions options_of(const std::string& method, Index samples) {
  InputSamplingOptions o;
  o.method = method;
  o.samples = samples;
  o.step = 0.8;
  o.seed = 3;
  return o;
}

// P48: the stationary distribution of both samplers on toys whose posterior is an integral.
TEST(UnknownInputs, SamplersHaveTheMomentsOfQuadrature) {
  for (const char* method : {"slice", "retrospective"}) {
    const UnknownInputs one = one_point();
    const InputSamples samples = sample_inputs(one, options_of(method, 10000));
    expect_moments(one, samples, method);
    ASSERT_EQ(samples.log_likelihood.size(), 10000);
    EXPECT_NEAR(samples.log_likelihood(7), one.log_likelihood(samples.X[7]), 1e-12);
    const UnknownInputs two = few_points(2);
    expect_moments(two, sample_inputs(two, options_of(method, 10000)), method);
  }
}

TEST(UnknownInputs, SamplersTakePriorsOverTime) {
  UnknownInputs problem = few_points(3);
  const Vector theta = (Vector(2) << 1.0, 1.5).finished();
  problem.prior_factor = cholesky(gram("se", theta, RowMatrix(Vector::LinSpaced(3, 0.0, 2.0)))).L;
  for (const char* method : {"slice", "retrospective"}) {
    InputSamplingOptions o = options_of(method, 5000);
    o.block = 2;
    o.start = RowMatrix::Constant(3, 1, 0.4);
    expect_moments(problem, sample_inputs(problem, o), method);
  }
}

// P48: f at the rows has its posterior, E f² = E[(k/(k + σ²)·y)² + k·σ²/(k + σ²)].
TEST(UnknownInputs, RetrospectiveSamplerHasThePosteriorOfF) {
  const UnknownInputs problem = one_point();
  const InputSamples samples = sample_inputs(problem, options_of("retrospective", 20000));
  EXPECT_GT(samples.acceptance, 0.1);
  EXPECT_LT(samples.acceptance, 1.0);
  for (const Index p : {0, 1}) {
    const Vector found = integrals(problem, {[&](const RowMatrix& X) {
                                     const double k = 1.5 * X(0, 0) * X(0, 0),
                                                  y = problem.views[0].Y(0, p);
                                     return std::pow(k / (k + 0.3) * y, 2) + k * 0.3 / (k + 0.3);
                                   }});
    Vector chain(20000);
    for (Index s = 0; s < 20000; ++s)
      chain(s) = std::pow(samples.F[static_cast<std::size_t>(s)](0, p), 2);
    expect_mean(chain, found(0) / found(1), "f²");
  }
}

TEST(UnknownInputs, ImportanceSamplingFindsTheEvidence) {
  UnknownInputs problem = few_points(3);
  for (const bool dynamics : {false, true}) {
    if (dynamics) {
      const Vector theta = (Vector(2) << 1.0, 1.5).finished();
      problem.prior_factor =
          cholesky(gram("se", theta, RowMatrix(Vector::LinSpaced(3, 0.0, 2.0)))).L;
    }
    const double exact = std::log(evidence_of(problem));
    const EvidenceEstimate found = importance_log_evidence(problem, RowMatrix::Zero(3, 1),
                                                           RowMatrix::Ones(3, 1), 20000, 1.5, 5);
    EXPECT_NEAR(found.value, exact, 4.0 * found.standard_error);
    EXPECT_LT(found.standard_error, 0.05);
    EXPECT_GT(found.effective_samples, 100.0);
    EXPECT_LT(found.effective_samples, 20000.0);
  }
}

TEST(UnknownInputs, TheSameSeedGivesTheSameDraws) {
  const UnknownInputs problem = few_points(3);
  for (const char* method : {"slice", "retrospective"}) {
    const InputSamples a = sample_inputs(problem, options_of(method, 5)),
                       b = sample_inputs(problem, options_of(method, 5));
    for (std::size_t s = 0; s < 5; ++s) EXPECT_EQ(a.X[s], b.X[s]);
    EXPECT_NE(a.X[4], a.X[3]);
  }
}

TEST(UnknownInputs, BadInput) {
  const UnknownInputs problem = one_point();
  const auto refused = [&](const auto& change) {
    InputSamplingOptions o;
    change(o);
    EXPECT_THROW(sample_inputs(problem, o), InputError);
  };
  refused([](auto& o) { o.method = "gibbs"; });
  refused([](auto& o) { o.samples = 0; });
  refused([](auto& o) { o.thin = 0; });
  refused([](auto& o) { o.step = 1.5; });
  refused([](auto& o) { o.start = RowMatrix::Zero(2, 1); });
  const RowMatrix zero = RowMatrix::Zero(1, 1), one = RowMatrix::Ones(1, 1);
  EXPECT_THROW(importance_log_evidence(problem, zero, zero), InputError);
  EXPECT_THROW(importance_log_evidence(problem, zero, one, 1), InputError);
  EXPECT_THROW(importance_log_evidence(problem, zero, one, 10, 0.5), InputError);
}

}  // namespace
}  // namespace covary
