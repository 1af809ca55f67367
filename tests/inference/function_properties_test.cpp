// Identities and inequalities of models with Gaussian inputs, by the numbers of the specification
// of latent-variable models.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "covary/inference/exact.hpp"
#include "covary/inference/latent_inputs.hpp"
#include "covary/linalg/quadrature.hpp"
#include "covary/random/random.hpp"
#include "inference/gaussian_rows.hpp"

namespace covary {
namespace {

// Rows N(M, S), inducing inputs Z, outputs Y.
struct Case {
  Kernel kernel = "se(ard)";
  Vector theta;
  RowMatrix M, S, Z, Y;
  double noise = 0.2;

  Case(Index N, Index Q, Index P, std::uint64_t seed) : theta(Vector::LinSpaced(Q + 1, 1.3, 0.8)) {
    Random random(seed);
    M = random.normal_matrix(N, Q);
    S = (0.1 + 0.4 * random.normal_matrix(N, Q).array().square()).matrix();
    Z = random.normal_matrix(4, Q);
    Y = random.normal_matrix(N, P);
  }
  SparseEvaluation evaluate(SweepGradient* g = nullptr, GaussianRowGradient* rows = nullptr) const {
    const GaussianRows source(M, S, Y);
    const Sweep sweep(source, 64);
    const FeaturesPtr f = inducing_points(kernel, Z);
    const Mean mean;
    const SparseProblem problem{"vfe", f.get(), &kernel, &mean, &sweep, columns_by_pattern(source)};
    Jitter j;
    return evaluate_gaussian_rows(
        problem, {theta, Eigen::Map<const Vector>(Z.data(), Z.size()), noise, Matrix()}, j, g,
        rows);
  }
};

Vector joined(const RowMatrix& a, const RowMatrix& b) {
  Vector out(a.size() + b.size());
  out << Eigen::Map<const Vector>(a.data(), a.size()), Eigen::Map<const Vector>(b.data(), b.size());
  return out;
}

// ⟨log p(Y | X)⟩ by Gauss–Hermite in each of three rows of one column.
double mean_evidence(const Case& t) {
  const QuadratureRule rule = gauss_hermite(24);
  double out = 0.0;
  for (Index a = 0; a < 24; ++a)
    for (Index b = 0; b < 24; ++b)
      for (Index c = 0; c < 24; ++c) {
        RowMatrix X(3, 1);
        X << rule.nodes(a), rule.nodes(b), rule.nodes(c);
        X = (X.array() * t.S.array().sqrt() + t.M.array()).matrix();
        Jitter j;
        out += rule.weights(a) * rule.weights(b) * rule.weights(c) *
               exact_log_evidence(t.kernel, t.theta, X, t.Y, t.noise, Vector(), j);
      }
  return out;
}

// With inducing inputs at the means all that is left of the gap comes from the variances.
TEST(LatentProperties, E15_TheBoundIsBelowTheMeanEvidence) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Case t(3, 1, 2, seed);
    EXPECT_LT(t.evaluate().value, mean_evidence(t) - 0.01) << "any inducing inputs";
    Case quiet = t;  // small outputs: without its trace a bound that sees little would be above
    quiet.Y *= 0.1;
    quiet.Z = quiet.M.topRows(1);
    EXPECT_LT(quiet.evaluate().value, mean_evidence(quiet) - 0.01);
    t.Z = t.M;
    const RowMatrix S = t.S;
    double last = 1e9;
    for (const double scale : {1.0, 1e-1, 1e-2, 1e-4}) {
      t.S = scale * S;
      const double gap = mean_evidence(t) - t.evaluate().value;
      EXPECT_GT(gap, 0.0) << "seed " << seed << ", scale " << scale;
      EXPECT_LT(gap, last);
      last = gap;
    }
    EXPECT_LT(last, 5e-3);
  }
}

// The lengthscale is so long that its inverse square is zero.
TEST(LatentProperties, E18_AnUnusedDimensionCostsNothing) {
  const Case t(6, 2, 2, 5);
  Case more = t;
  more.theta.conservativeResize(4);
  more.theta(3) = 1e200;
  const auto add = [](RowMatrix& m, const Vector& column) {
    m.conservativeResize(Eigen::NoChange, 3);
    m.col(2) = column;
  };
  add(more.M, Vector::Zero(6));
  add(more.S, Vector::Ones(6));
  add(more.Z, Random(9).normal_matrix(4, 1).col(0));
  SweepGradient g;
  GaussianRowGradient rows;
  const double value = t.evaluate().value;
  EXPECT_NEAR(more.evaluate(&g, &rows).value, value, 1e-12 * std::abs(value));
  EXPECT_EQ(rows.mean_bar.col(2), Vector::Zero(6));
  EXPECT_EQ(rows.variance_bar.col(2), Vector::Zero(6));
  const Vector two = joined(t.M, t.S), three = joined(more.M, more.S);
  const LatentMarginals with = factorised_inputs({6, 3})->marginals(three.data());
  EXPECT_EQ(with.kl_of_dims(2), 0.0);
  EXPECT_NEAR(with.kl, factorised_inputs({6, 2})->marginals(two.data()).kl, 1e-12);
}

// Dynamics over times, with values v, λ and θ end to end.
struct Dynamics {
  DynamicalInputs inputs;
  Vector theta;
  Index N, Q = 2;

  Dynamics(const char* kernel, const RowMatrix& times, const Vector& values)
      : inputs({kernel, times, {}, 2}), theta(values), N(times.rows()) {}
  Vector values(const RowMatrix& v, const RowMatrix& lambda) const {
    Vector out(2 * N * Q + theta.size());
    out << joined(v, lambda), theta;
    return out;
  }
};
const RowMatrix uneven = (Vector(6) << 0.0, 0.4, 1.1, 1.5, 2.3, 3.4).finished();

TEST(LatentProperties, E21_WithoutDataTheDynamicsAreTheirPrior) {
  const Dynamics d("matern32 + white", uneven, (Vector(3) << 1.0, 0.8, 0.05).finished());
  const RowMatrix none = RowMatrix::Zero(6, 2);
  const LatentMarginals prior = d.inputs.marginals(d.values(none, none).data());
  EXPECT_EQ(prior.mean, none);
  EXPECT_LT((prior.variance.array() - 1.05).abs().maxCoeff(), 1e-15);
  EXPECT_EQ(prior.kl, 0.0);
  RowMatrix last = prior.variance;
  for (const double lambda : {1.0, 1e3, 1e6, 1e9}) {
    const RowMatrix all = RowMatrix::Constant(6, 2, lambda);
    const LatentMarginals m = d.inputs.marginals(d.values(none, all).data());
    EXPECT_TRUE((m.variance.array() < last.array()).all());
    EXPECT_LE(m.variance.maxCoeff(), 1.0 / lambda + 1e-15);  // S = (K⁻¹ + λI)⁻¹
    EXPECT_GT(m.kl, 0.0);
    last = m.variance;
  }
}

// Times so far apart that the rows know nothing of each other: K = I.
TEST(LatentProperties, E23_IndependentTimesAreTheStandardPrior) {
  const RowMatrix times = 100.0 * uneven;
  const Dynamics d("se", times, (Vector(2) << 1.0, 0.5).finished());
  Random random(3);
  const RowMatrix v = random.normal_matrix(6, 2);
  const RowMatrix lambda = random.normal_matrix(6, 2).array().square();
  const LatentMarginals m = d.inputs.marginals(d.values(v, lambda).data());
  const RowMatrix S = (1.0 + lambda.array()).inverse();
  EXPECT_EQ(m.mean, v);
  EXPECT_LT((m.variance - S).cwiseAbs().maxCoeff(), 1e-15);
  const LatentMarginals standard = factorised_inputs({6, 2})->marginals(joined(v, S).data());
  EXPECT_NEAR(m.kl, standard.kl, 1e-13);
  EXPECT_LT((m.kl_of_dims - standard.kl_of_dims).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(LatentProperties, E25_ForecastsAtTheTimesOfTheRowsAndFarAhead) {
  Random random(4);
  const RowMatrix v = random.normal_matrix(6, 2);
  const RowMatrix lambda = random.normal_matrix(6, 2).array().square() + 0.1;
  for (const auto& [kernel, theta] :
       {std::pair{"matern32", (Vector(2) << 1.0, 0.8).finished()},
        std::pair{"matern52 + se", (Vector(4) << 1.0, 0.8, 0.4, 1.7).finished()}}) {
    const Dynamics d(kernel, uneven, theta);
    const Vector values = d.values(v, lambda);
    const LatentMarginals m = d.inputs.marginals(values.data()),
                          again = d.inputs.forecast(values.data(), uneven, 0),
                          far = d.inputs.forecast(values.data(), uneven.array() + 1e4, 0);
    EXPECT_LT((again.mean - m.mean).cwiseAbs().maxCoeff(), 1e-12) << kernel;
    EXPECT_LT((again.variance - m.variance).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(far.mean, RowMatrix::Zero(6, 2));
    EXPECT_LT(
        (far.variance.array() - (theta(0) + (theta.size() > 2 ? theta(2) : 0.0))).abs().maxCoeff(),
        1e-15);
  }
  // White noise is the row's own: a forecast there has noise of another row.
  const Dynamics d("matern32 + white", uneven, (Vector(3) << 1.0, 0.8, 0.05).finished());
  const Vector values = d.values(v, lambda);
  const RowMatrix off = d.inputs.forecast(values.data(), uneven, 0).variance -
                        d.inputs.marginals(values.data()).variance;
  EXPECT_GT(off.cwiseAbs().maxCoeff(), 1e-3);
}

TEST(LatentProperties, E27_PeriodicDynamicsRepeat) {
  constexpr double period = 4.1;
  const Dynamics d("periodic", uneven, (Vector(3) << 1.0, 0.9, period).finished());
  ASSERT_EQ(d.inputs.parameter_count(), 27);
  Random random(6);
  const RowMatrix v = random.normal_matrix(6, 2);
  const RowMatrix lambda = random.normal_matrix(6, 2).array().square() + 0.1;
  const Vector values = d.values(v, lambda);
  const RowMatrix times = Vector::LinSpaced(9, 3.5, 9.0);
  const LatentMarginals once = d.inputs.forecast(values.data(), times, 0);
  EXPECT_GT((once.mean.row(0) - once.mean.row(4)).norm(), 0.1);
  for (const double turns : {1.0, 2.0, 25.0}) {
    const LatentMarginals later =
        d.inputs.forecast(values.data(), times.array() + turns * period, 0);
    EXPECT_LT((later.mean - once.mean).cwiseAbs().maxCoeff(), 1e-10) << turns;
    EXPECT_LT((later.variance - once.variance).cwiseAbs().maxCoeff(), 1e-10);
  }
  const LatentMarginals between = d.inputs.forecast(values.data(), times.array() + 0.5 * period, 0);
  EXPECT_GT((between.mean - once.mean).cwiseAbs().maxCoeff(), 0.1);
}

// Inputs seen through noise: with nothing seen they are latent ones, and a q that is their prior
// costs nothing.
TEST(LatentProperties, E34_AnUncertainInputHasAPriorOfItsOwn) {
  Random random(7);
  const RowMatrix z = random.normal_matrix(5, 2), mean = random.normal_matrix(5, 2);
  const RowMatrix variance = random.normal_matrix(5, 2).array().square() + 0.1;
  const Vector own = (Vector(2) << 0.3, 1.7).finished();
  const auto standard = factorised_inputs({5, 2}),
             nothing_seen = factorised_inputs({5, 2, {}, RowMatrix::Zero(5, 2), Vector::Ones(2)}),
             around = factorised_inputs({5, 2, {}, z, own});
  const Vector values = joined(mean, variance);
  const LatentMarginals a = standard->marginals(values.data()),
                        b = nothing_seen->marginals(values.data());
  EXPECT_EQ(a.kl, b.kl);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.variance, b.variance);
  Vector by_standard = Vector::Zero(20), by_nothing = by_standard;
  standard->pullback(values.data(), mean, z, by_standard.data());
  nothing_seen->pullback(values.data(), mean, z, by_nothing.data());
  EXPECT_EQ(by_standard, by_nothing);

  const Vector prior = joined(z, own.transpose().replicate(5, 1));
  EXPECT_NEAR(around->marginals(prior.data()).kl, 0.0, 1e-14);
  Vector at_rest = Vector::Zero(20);
  around->pullback(prior.data(), RowMatrix::Zero(5, 2), RowMatrix::Zero(5, 2), at_rest.data());
  EXPECT_LT(at_rest.cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_GT(around->marginals(values.data()).kl, 0.5);
}

}  // namespace
}  // namespace covary
