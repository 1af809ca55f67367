#include "covary/inference/natural_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/svgp_case.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using testing::SvgpCase;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

double vfe(const SvgpCase& t) {
  const MemoryRows rows(t.X, t.Y, t.aux);
  const Sweep sweep = Sweep::for_features(rows, t.features[0]->size());
  const SparseProblem problem{"vfe",  t.features[0].get(),     &t.kernels[0], &t.mean,
                              &sweep, columns_by_pattern(rows)};
  Jitter j;
  return evaluate_sparse(problem,
                         {t.values.theta[0], t.values.z[0], t.theta(0), t.values.mean_weights}, j)
      .value;
}

// T15, P13: one whole step from any q is the best q of a Gaussian likelihood.
TEST(NaturalGradient, T15OneStepReachesTheCollapsedBound) {
  SvgpCase t("gaussian", false, 90, 8, 3);
  t.add_aux();
  t.Y(7, 0) = missing;
  const double best = vfe(t);
  const NaturalGaussian odd(t.values.q);
  for (const bool from_prior : {true, false}) {
    NaturalGaussian q = from_prior ? t.prior() : odd;
    t.values.q = q.q();
    UncollapsedGradient g;
    EXPECT_LT(t.evaluate(&g).value, best);
    EXPECT_EQ(q.step(g.g, g.H, 1.0), 0);
    t.values.q = q.q();
    EXPECT_NEAR(t.evaluate(&g).value, best, 1e-10 * std::abs(best));
    EXPECT_LT(q.distance(g.g, g.H), 1e-9);
  }
  NaturalGaussian q = t.prior();
  QOptions options;
  options.conjugate = true;
  EXPECT_NEAR(t.maximise(q, options).at.value, best, 1e-10 * std::abs(best));
}

// The formula on the page, with inverses and all.
TEST(NaturalGradient, StepIsTheBlendOfNaturalParameters) {
  const SvgpCase t("bernoulli(logit)", false, 40, 5, 8);
  UncollapsedGradient g;
  t.evaluate(&g);
  const double gamma = 0.3;
  NaturalGaussian q(t.values.q);
  ASSERT_EQ(q.step(g.g, g.H, gamma), 0);
  const Matrix P = Cholesky{t.values.q.Ls[0]}.inverse(), H = g.H[0];
  const Matrix P_new = (1 - gamma) * P + gamma * (Matrix::Identity(5, 5) - 2 * H);
  const Vector m = t.values.q.m.col(0);
  const Vector natural = (1 - gamma) * multiply(P, m) + gamma * (g.g.col(0) - 2 * multiply(H, m));
  const Matrix S = product(q.q().Ls[0], q.q().Ls[0], Op::none, Op::transpose);
  EXPECT_LT((product(S, P_new) - Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((multiply(P_new, q.q().m.col(0)) - natural).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(NaturalGradient, SettlesForEveryLikelihood) {
  for (const char* l :
       {"bernoulli(logit)", "bernoulli(probit)", "poisson", "student_t(scale=0.2)", "binomial",
        "softmax(3)", "robust_max(3)", "heteroscedastic", "ordinal(4)", "negative_binomial"}) {
    SCOPED_TRACE(l);
    SvgpCase t(l, false, 60, 6, 12);
    t.add_aux();
    NaturalGaussian q = t.prior();
    const double before = (t.values.q = q.q(), t.evaluate().value);
    UncollapsedGradient g;
    const QOptimum best = t.maximise(q, {}, &g);
    EXPECT_TRUE(best.converged) << best.distance;
    EXPECT_LT(best.iterations, 100);
    EXPECT_GT(best.at.value, before);
    EXPECT_LT(g.m_bar.cwiseAbs().maxCoeff(), 1e-5);
    for (const Matrix& bar : g.Ls_bar) EXPECT_LT(bar.cwiseAbs().maxCoeff(), 1e-5);
  }
}

// The bound maximised over q is a function of the other parameters whose gradient is the partial
// one (the envelope theorem).
TEST(NaturalGradient, GradientOfTheMaximisedBound) {
  for (const char* l : {"bernoulli(logit)", "heteroscedastic"}) {
    SCOPED_TRACE(l);
    const SvgpCase t(l, true, 30, 4, 5);
    SvgpCase at = t;
    NaturalGaussian q = t.prior();
    UncollapsedGradient g;
    at.maximise(q, {}, &g);
    const Index n = t.values.theta[0].size() + t.values.z[0].size();
    expect_gradient(
        [&](const Vector& x) {
          Vector all = t.flat();
          all.head(n) = x;
          SvgpCase moved = t.at(all);
          NaturalGaussian own = t.prior();
          return moved.maximise(own).at.value;
        },
        SvgpCase::flat(g).head(n), t.flat().head(n));
  }
}

TEST(NaturalGradient, FormsAreBelowFullAndStationary) {
  for (const char* l : {"gaussian", "bernoulli(probit)"}) {
    SCOPED_TRACE(l);
    SvgpCase t(l, false, 70, 6, 19);
    NaturalGaussian full = t.prior();
    const double best = t.maximise(full).at.value;
    double last = best;
    for (const char* name : {"blocks(3)", "blocks(2)", "diagonal"}) {
      SCOPED_TRACE(name);
      const CovarianceForm form = name;
      EXPECT_EQ(form.print(), name);
      NaturalGaussian q = t.prior(form);
      UncollapsedGradient g;
      const QOptimum at = t.maximise(q, {}, &g);
      EXPECT_TRUE(at.converged);
      EXPECT_LT(at.at.value, best);
      if (form.kind == CovarianceForm::Kind::diagonal) {
        EXPECT_LT(at.at.value, last);
      }
      last = at.at.value;
      EXPECT_LT(g.m_bar.cwiseAbs().maxCoeff(), 1e-6);
      Matrix inside = g.Ls_bar[0];
      form.mask(inside);
      EXPECT_LT(inside.cwiseAbs().maxCoeff(), 1e-6);
      Matrix outside = t.values.q.Ls[0];
      form.mask(outside);
      EXPECT_EQ(outside, t.values.q.Ls[0]);
      if (std::string(l) == "gaussian") {
        EXPECT_LE(at.iterations, 1);
      }
    }
  }
  EXPECT_THROW(CovarianceForm("banded"), InputError);
  EXPECT_THROW(CovarianceForm("blocks(0)"), InputError);
  EXPECT_THROW(CovarianceForm(CovarianceForm::Kind::blocks), InputError);
}

TEST(NaturalGradient, StepsThatWouldLoseDefinitenessAreHalved) {
  NaturalGaussian q(3, 1);
  const Matrix g = Matrix::Ones(3, 1);
  // I − 2H = −3I: blended with I it is positive definite for γ < ¼ only.
  const std::vector<Matrix> H{2.0 * Matrix::Identity(3, 3)};
  EXPECT_EQ(q.step(g, H, 1.0), 3);
  EXPECT_NEAR(q.q().Ls[0](0, 0), 1.0 / std::sqrt(1.0 - 4.0 / 8.0), 1e-14);
  const WhitenedGaussian before = q.q();
  EXPECT_EQ(q.step(g, {Matrix::Constant(3, 3, missing)}, 0.5), -1);
  EXPECT_EQ(q.q().m, before.m);
  EXPECT_EQ(q.q().Ls[0], before.Ls[0]);
  EXPECT_THROW(q.step(g, H, 0.0), InputError);
  EXPECT_THROW(q.step(g, H, 1.5), InputError);
}

}  // namespace
}  // namespace covary
