#include "covary/inference/latent_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

RowMatrix rows_of(Index n, Index d, std::initializer_list<double> values) {
  RowMatrix out(n, d);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// F − KL for an F that is linear in the marginals.
void check_gradient(const LatentInputs& latent, const Vector& values) {
  Random random(3);
  const RowMatrix m_bar = random.normal_matrix(latent.rows(), latent.dims()),
                  s_bar = random.normal_matrix(latent.rows(), latent.dims());
  Vector gradient = Vector::Zero(values.size());
  latent.pullback(values.data(), m_bar, s_bar, gradient.data());
  expect_gradient(
      [&](const Vector& v) {
        const LatentMarginals m = latent.marginals(v.data());
        return m_bar.cwiseProduct(m.mean).sum() + s_bar.cwiseProduct(m.variance).sum() - m.kl;
      },
      gradient, values);
}

// Where the spread is at its fixed point, the natural gradient of the means leads to theirs: both
// are the same step of unit length.
void check_natural(const LatentInputs& latent, Vector values) {
  Random random(7);
  const Index n = latent.means();
  const RowMatrix m_bar = random.normal_matrix(latent.rows(), latent.dims());
  const RowMatrix s_bar =
      -random.normal_matrix(latent.rows(), latent.dims()).array().square() - 0.2;
  values.segment(n, latent.spreads()) =
      latent.fixed_point(values.data(), m_bar, s_bar).tail(latent.spreads());
  Vector gradient = Vector::Zero(values.size());
  latent.pullback(values.data(), m_bar, s_bar, gradient.data());
  const Matrix r = gradient.head(n + latent.spreads());
  const Vector step = latent.natural(values.data(), r).col(0).head(n),
               to = latent.fixed_point(values.data(), m_bar, s_bar).head(n);
  EXPECT_LT((values.head(n) + step - to).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_GT(step.norm(), 0.1);
}

const RowMatrix means = rows_of(4, 2, {.1, -.4, .8, .3, -1.2, .5, .6, -.9});
const RowMatrix variances = rows_of(4, 2, {.05, .2, .3, .1, .15, .4, .25, .08});

Vector joined(const RowMatrix& a, const RowMatrix& b) {
  Vector out(a.size() + b.size());
  out << Eigen::Map<const Vector>(a.data(), a.size()), Eigen::Map<const Vector>(b.data(), b.size());
  return out;
}

TEST(LatentInputs, DivergenceOfTheFixture) {
  const auto standard = factorised_inputs({4, 2});
  const Vector values = joined(means, variances);
  EXPECT_NEAR(standard->marginals(values.data()).kl, 6.06358090275, 1e-10);
  const auto around =
      factorised_inputs({4, 2, {}, 0.9 * means, (Vector(2) << 0.5, 0.25).finished()});
  EXPECT_NEAR(around->marginals(values.data()).kl, 1.62039781939, 1e-10);
  check_gradient(*standard, values);
  check_gradient(*around, values);
}

// E34: around z with Σx of q itself there is no divergence; around zero with ones it is that of the
// usual prior.
TEST(LatentInputs, NoisyInputs) {
  const Vector values = joined(means, variances);
  const auto own = factorised_inputs({4, 2, {}, means, Vector::Ones(2), variances});
  EXPECT_NEAR(own->marginals(values.data()).kl, 0.0, 1e-14);
  const auto usual =
      factorised_inputs({4, 2, {}, RowMatrix::Zero(4, 2), Vector::Ones(2), RowMatrix::Ones(4, 2)});
  EXPECT_EQ(usual->marginals(values.data()).kl,
            factorised_inputs({4, 2})->marginals(values.data()).kl);
  check_gradient(*factorised_inputs({4, 2, {}, 0.9 * means, Vector(), 2.0 * variances}), values);
}

TEST(LatentInputs, TrainedPriorVariance) {
  const Vector prior = (Vector(2) << 0.5, 0.25).finished();
  RowMatrix given = RowMatrix::Constant(4, 2, std::numeric_limits<double>::quiet_NaN());
  for (const bool some : {false, true}) {
    if (some) given(1, 0) = 0.3;
    const FactorisedOptions held{4, 2, given, 0.9 * means, prior, 2.0 * variances};
    FactorisedOptions trained = held;
    trained.train_prior_variance = true;
    const auto latent = factorised_inputs(trained);
    EXPECT_EQ(latent->parameter_count(), some ? 16 : 18);
    Parameters p;
    latent->declare(p, means, 0.3);
    EXPECT_EQ(p.at("inputs.variance").value, prior);
    const Vector values = p.values();
    EXPECT_EQ(latent->marginals(values.data()).kl,
              factorised_inputs(held)->marginals(values.data()).kl);
    Vector moved = values;
    moved.tail(2) << 0.7, 0.1;
    check_gradient(*latent, moved);
    if (!some) check_natural(*latent, moved);
  }
  EXPECT_EQ(factorised_inputs({4, 2, means, {}, {}, {}, true})->parameter_count(), 0);
  RowMatrix none = RowMatrix::Ones(4, 2);
  none(2, 1) = 0.0;
  EXPECT_THROW(factorised_inputs({4, 2, {}, {}, {}, none}), InputError);
}

TEST(LatentInputs, KnownEntriesAreNoParameters) {
  RowMatrix given = RowMatrix::Constant(4, 2, std::numeric_limits<double>::quiet_NaN());
  given(0, 0) = 1.5;
  given.row(2) << 0.25, -0.5;
  const auto some = factorised_inputs({4, 2, given});
  EXPECT_EQ(some->parameter_count(), 10);
  Parameters p;
  some->declare(p, means, 0.5);
  const LatentMarginals m = some->marginals(p.values().data());
  EXPECT_EQ(m.mean(0, 0), 1.5);
  EXPECT_EQ(m.mean(2, 1), -0.5);
  EXPECT_EQ(m.variance(2, 0), 0.0);
  EXPECT_EQ(m.mean(3, 1), -0.9);
  EXPECT_EQ(m.variance(3, 1), 0.5);
  check_gradient(*some, p.values());
  const auto none = factorised_inputs({4, 2, means});
  EXPECT_EQ(none->marginals(nullptr).kl, 0.0);
  EXPECT_THROW(factorised_inputs({3, 2, given}), InputError);
}

TEST(LatentInputs, NaturalGradientsLeadToTheFixedPoint) {
  check_natural(*factorised_inputs({4, 2}), joined(means, variances));
}

DynamicalInputs fixture() {
  return DynamicalInputs({"se + white", rows_of(4, 1, {0, .4, 1.1, 1.5}), {}, 2});
}
Vector fixture_values() {
  Vector values(19);
  values << .3, -.4, -.2, .6, .5, .2, .1, -.1, 1.5, .4, .7, 1.1, 2.2, 3.0, .9, .6, 1.0, .8, .01;
  // v = Lᵀμ̄
  const Vector theta = values.tail(3);
  const Matrix K = gram("se + white", theta, rows_of(4, 1, {0, .4, 1.1, 1.5}));
  const RowMatrix weights = Eigen::Map<const RowMatrix>(values.data(), 4, 2);
  const RowMatrix whitened = cholesky(K, "K").L.transpose() * weights;
  values.head(8) = Eigen::Map<const Vector>(whitened.data(), 8);
  return values;
}

TEST(DynamicalInputs, MarginalsOfTheFixture) {
  const DynamicalInputs d = fixture();
  const Vector values = fixture_values();
  const LatentMarginals m = d.marginals(values.data());
  const RowMatrix mean = rows_of(4, 2,
                                 {0.338021845629, 0.185967604664, 0.442575259122, 0.350533576453,
                                  0.573428978274, 0.367491509451, 0.516263312958, 0.239665607467});
  const RowMatrix variance =
      rows_of(4, 2,
              {0.334908623676, 0.482263268558, 0.299944131272, 0.332700033929, 0.241679230140,
               0.207898094442, 0.333139691871, 0.339885506214});
  EXPECT_LT((m.mean - mean).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((m.variance - variance).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_NEAR(m.kl, 1.30608229586, 1e-10);
  const LatentMarginals ahead = d.forecast(values.data(), rows_of(1, 1, {2.0}), 0);
  EXPECT_NEAR(ahead.mean(0, 0), 0.333919775197, 1e-11);
  EXPECT_NEAR(ahead.mean(0, 1), 0.0875878384598, 1e-11);
  EXPECT_NEAR(ahead.variance(0, 0), 0.651942518262, 1e-11);
  EXPECT_NEAR(ahead.variance(0, 1), 0.683255858537, 1e-11);
  const LatentMarginals fresh = d.forecast(values.data(), rows_of(1, 1, {2.0}), -1);
  EXPECT_EQ(fresh.mean(0, 0), 0.0);
  EXPECT_EQ(fresh.variance(0, 0), 1.01);
  check_gradient(d, values);
}

TEST(DynamicalInputs, NaturalGradientsLeadToTheFixedPoint) {
  check_natural(fixture(), fixture_values());
}

// Two sequences are two independent runs; the start has the means that were asked for.
TEST(DynamicalInputs, SequencesAndStart) {
  Random random(2);
  const RowMatrix times = Vector::LinSpaced(9, 0.0, 2.0);
  RowMatrix wanted(9, 2);
  for (Index i = 0; i < 9; ++i) wanted.row(i) << std::sin(times(i)), std::cos(times(i));
  const DynamicalInputs both({"matern32", times, {0, 4}, 2});
  Parameters p;
  both.declare(p, wanted, 0.2);
  const LatentMarginals m = both.marginals(p.values().data());
  EXPECT_LT((m.mean - wanted).cwiseAbs().maxCoeff(), 0.05);
  EXPECT_NEAR(m.variance.mean(), 0.2, 1e-3);
  check_gradient(both, p.values());
  // However fast they move, and whatever they are told to start from.
  RowMatrix quick(60, 1);
  const RowMatrix frames = Vector::LinSpaced(60, 0.0, 59.0);
  for (Index i = 0; i < 60; ++i) quick(i) = std::sin(0.6 * frames(i));
  Parameters found;
  const DynamicalInputs fast({"se + white", frames, {}, 1});
  fast.declare(found, quick, 0.2);
  EXPECT_LT((fast.marginals(found.values().data()).mean - quick).cwiseAbs().maxCoeff(), 0.05);
  EXPECT_LT(found.at("dynamics.0.lengthscales").value(0), 6.0);
  Vector start(3);
  start << 1.0, 2.5, 1e-3;
  Parameters told;
  DynamicalInputs({"se + white", frames, {}, 1, start}).declare(told, quick, 0.2);
  EXPECT_EQ(told.at("dynamics.0.lengthscales").value(0), 2.5);
  Parameters none;
  EXPECT_THROW(DynamicalInputs({"se", frames, {}, 1, start}).declare(none, quick, 0.2), InputError);
  // The first four rows do not feel the others.
  Vector moved = p.values();
  moved.segment(8, 10).setConstant(3.0);
  EXPECT_EQ(both.marginals(moved.data()).mean.topRows(4), m.mean.topRows(4));
  EXPECT_THROW(DynamicalInputs({"se", times, {0, 4, 4}, 2}), InputError);
  EXPECT_THROW(DynamicalInputs({"se", times, {1}, 2}), InputError);
  EXPECT_THROW(both.forecast(p.values().data(), times, 2), InputError);
}

}  // namespace
}  // namespace covary
