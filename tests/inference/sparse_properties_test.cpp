// Properties of sparse regression that hold whatever the data, by the numbers of the specification
// of sparse models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/inference/sparse_posterior.hpp"
#include "covary/inference/uncollapsed.hpp"
#include "covary/linalg/spectrum.hpp"
#include "covary/training/lbfgs.hpp"
#include "inference/sparse_problem.hpp"

namespace covary {
namespace {

using testing::exact_evidence;
using Case = testing::SparseCase;

Case with_inputs(Case t, const RowMatrix& Z) {
  t.Z = Z;
  t.features = inducing_points(t.kernel, t.Z);
  t.values.z = Eigen::Map<const Vector>(t.Z.data(), t.Z.size());
  return t;
}
Case with_input(const Case& t, double z) {
  RowMatrix Z(t.Z.rows() + 1, 1);
  Z << t.Z, z;
  return with_inputs(t, Z);
}
Case with_rows(Case t, const RowMatrix& X, const RowMatrix& Y) {
  t.X = X;
  t.Y = Y;
  return t;
}
// A noisy sine over [0, 6] and M inducing inputs evenly across it.
Case sine(Index N, Index M, std::uint64_t seed, const char* kernel = "se") {
  Case t(N, M, 1, 1, seed, kernel);
  Random random(seed, 5);
  for (Index i = 0; i < N; ++i) {
    t.X(i, 0) = 6.0 * (static_cast<double>(i) + 0.8 * random.uniform()) / static_cast<double>(N);
    t.Y(i, 0) = std::sin(2.0 * t.X(i, 0)) + 0.3 * random.normal();
  }
  t.values.theta(1) = 0.6;
  t.values.noise = 0.09;
  return with_inputs(t, Vector::LinSpaced(M, 0.3, 5.7));
}

// A case of one column at log θ, log(σ² − least) and Z end to end, and the best one from there.
// FITC would have the noise vanish.
constexpr double least_noise = 1e-3;
Case at_point(const Case& t, const Vector& u) {
  Case out = with_inputs(t, u.tail(u.size() - 3));
  out.values.theta = u.head(2).array().exp();
  out.values.noise = least_noise + std::exp(u(2));
  return out;
}
Vector point_of(const Case& t) {
  Vector u(3 + t.Z.rows());
  u << t.values.theta.array().log().matrix(), std::log(t.values.noise - least_noise), t.Z;
  return u;
}
Case climb(const Case& t, const char* a) {
  const auto down = [&](const Vector& u, Vector* gradient) {
    SweepGradient g;
    const Case here = at_point(t, u);
    const double value = here.evaluate(a, gradient ? &g : nullptr).value;
    if (gradient)
      *gradient << -here.values.theta.cwiseProduct(g.theta_bar), -std::exp(u(2)) * g.noise_bar,
          -g.z_bar;
    return -value;
  };
  return at_point(t, minimise(down, point_of(t)).state.u);
}

// KL(N(a, A) ‖ N(b, B)).
double divergence(const Vector& a, const Matrix& A, const Vector& b, const Matrix& B) {
  const Cholesky of_A = cholesky(A), of_B = cholesky(B);
  EXPECT_EQ(of_A.jitter + of_B.jitter, 0.0);
  return 0.5 * (of_B.solve(A).trace() + dot(b - a, of_B.solve(b - a).col(0)) -
                static_cast<double>(a.size()) + of_B.log_determinant() - of_A.log_determinant());
}

// The gap of a bound: KL(q(f, u) ‖ p(f, u | y)) of q(u) = N(m, S) and the exact posterior.
double gap_of(const Case& t, const Vector& m, const Matrix& S) {
  const Index N = t.X.rows(), M = t.Z.rows();
  RowMatrix both(M + N, t.X.cols());
  both << t.Z, t.X;
  const Matrix K = cross(t.kernel, t.values.theta, both, both);
  const Matrix Kuf = K.topRightCorner(M, N);
  const Matrix P = cholesky(K.topLeftCorner(M, M)).solve(Kuf), SP = product(S, P);
  Vector q(M + N);
  q << m, multiply(P, m, Op::transpose);
  Matrix Q = K;
  Q.topLeftCorner(M, M) = S;
  Q.topRightCorner(M, N) = SP;
  Q.bottomLeftCorner(N, M) = SP.transpose();
  Q.bottomRightCorner(N, N) += product(P, SP - Kuf, Op::transpose);
  Matrix C = K.bottomRightCorner(N, N);
  C.diagonal().array() += t.values.noise;
  const Cholesky of_C = cholesky(C);
  const Matrix W = of_C.solve(K.bottomRows(N));
  return divergence(q, Q, multiply(W, t.Y.col(0), Op::transpose), K - product(K.rightCols(N), W));
}

TEST(SparseProperties, P10_TheGapIsADivergence) {
  for (const char* kernel : {"matern32", "matern12(ard)"}) {
    const Case t(12, 4, 2, 1, 31, kernel);
    const double exact = exact_evidence(t);
    const SparseEvaluation e = t.evaluate("vfe");
    WhitenedGaussian q = optimal_q(e.factors, 1);
    const MemoryRows rows(t.X, t.Y, Vector());
    const Sweep sweep = Sweep::for_features(rows, 4);
    const Likelihood gaussian = "gaussian";
    const Vector noise = Vector::Constant(1, t.values.noise);
    UncollapsedProblem problem;
    problem.parts = {{t.features.get(), &t.kernel}};
    problem.mean = &t.mean;
    problem.sweep = &sweep;
    problem.likelihood = row_likelihood(gaussian, noise);
    for (const double moved : {0.0, 0.3, 1.0}) {  // from the best q(u)
      q.m.array() += moved;
      q.Ls[0].diagonal().array() *= 1.0 + moved;
      Jitter j;
      const double bound =
          evaluate_uncollapsed(problem, {{t.values.theta}, {t.values.z}, {}, q}, j).value;
      if (moved == 0.0) {
        EXPECT_NEAR(bound, e.value, 1e-9);
      }
      const Matrix L = product(e.Luu, q.Ls[0]);
      const double gap =
          gap_of(t, multiply(e.Luu, q.m.col(0)), product(L, L, Op::none, Op::transpose));
      EXPECT_GT(gap, 0.1);
      EXPECT_NEAR(exact - bound, gap, 1e-8 * std::max(1.0, gap)) << kernel << ", " << moved;
    }
  }
}

// k_nn − q_nn of every row, of each by itself.
Vector residuals(const Case& t) {
  Vector out(t.X.rows());
  for (Index n = 0; n < out.size(); ++n)
    out(n) = with_rows(t, t.X.row(n), t.Y.row(n)).evaluate("fitc").terms.residual;
  return out;
}

// A further inducing input takes b² off FITC's diagonal, and its evidence goes either way.
TEST(SparseProperties, P17_FitcMayLoseByAnInducingInput) {
  const Case t = climb(sine(40, 5, 3), "fitc");
  const double fitc = t.evaluate("fitc").value, vfe = t.evaluate("vfe").value;
  const Vector before = residuals(t);
  double best = 0.0, worst = 0.0;
  for (double z = -0.43; z < 6.6; z += 0.31) {
    const Case more = with_input(t, z);
    const RowMatrix at = RowMatrix::Constant(1, 1, z);
    const Matrix Kuf = cross(t.kernel, t.values.theta, t.Z, t.X);
    const Vector ku = cross(t.kernel, t.values.theta, t.Z, at).col(0);
    const Vector solved = cholesky(cross(t.kernel, t.values.theta, t.Z, t.Z)).solve(ku).col(0);
    const double kappa = t.values.theta(0) - dot(ku, solved);
    const Vector b =
        multiply(Kuf, solved, Op::transpose) - cross(t.kernel, t.values.theta, t.X, at).col(0);
    const Vector fallen = before - residuals(more);
    EXPECT_LT((fallen - b.cwiseAbs2() / kappa).cwiseAbs().maxCoeff(), 1e-8) << z;
    EXPECT_GE(fallen.minCoeff(), -1e-12);
    const double change = more.evaluate("fitc").value - fitc;
    best = std::max(best, change);
    worst = std::min(worst, change);
    EXPECT_GE(more.evaluate("vfe").value - vfe, -1e-9);
  }
  EXPECT_GT(best, 0.5);
  EXPECT_LT(worst, -0.5);
}

// Z = X is the best there is of VFE, and of FITC only a point at rest.
TEST(SparseProperties, P19_InducingInputsAtTheDataAreAtRest) {
  Case t = sine(24, 2, 8, "matern52");
  t = climb(with_inputs(t, t.X), "vfe");  // to parameters that are best of the exact evidence too
  t = with_inputs(t, t.X);
  const double exact = exact_evidence(t);
  for (const char* a : {"vfe", "fitc"}) {
    SweepGradient g;
    EXPECT_NEAR(t.evaluate(a, &g).value, exact, 1e-9);
    EXPECT_LT(g.z_bar.cwiseAbs().maxCoeff(), 1e-7) << a;
  }
  double highest = -1e9;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Case near = with_inputs(t, t.X + 0.1 * testing::normal_rows(24, 1, 50 + seed));
    EXPECT_LT(near.evaluate("vfe").value, exact - 1e-4);
    const Case back = climb(near, "vfe"), away = climb(near, "fitc");
    EXPECT_LE(back.evaluate("vfe").value, exact_evidence(back) + 1e-9);
    EXPECT_LE(back.evaluate("vfe").value, exact + 1e-4) << "the parameters were best";
    highest = std::max(highest, away.evaluate("fitc").value);
  }
  EXPECT_GT(highest, exact + 1.0);
}

// All other eigenvalues of Qff + σ²I are those of σ²B.
TEST(SparseProperties, P22_WhatMVariablesLeaveIsNoise) {
  const Case t(30, 6, 2, 1, 12, "se(ard)");
  const Matrix Kuf = cross(t.kernel, t.values.theta, t.Z, t.X);
  Matrix Q =
      product(Kuf, cholesky(cross(t.kernel, t.values.theta, t.Z, t.Z)).solve(Kuf), Op::transpose);
  Q.diagonal().array() += t.values.noise;
  const Vector all = symmetric_eigen(Q).values;
  EXPECT_LT((all.head(24).array() / t.values.noise - 1.0).abs().maxCoeff(), 1e-11);
  const SparseEvaluation e = t.evaluate("vfe");
  const Matrix& LB = e.factors.front().LB;
  const Vector own = symmetric_eigen(product(LB, LB, Op::none, Op::transpose)).values;
  EXPECT_GT(own(0), 1.0);
  EXPECT_LT((all.tail(6).array() / (t.values.noise * own.array()) - 1.0).abs().maxCoeff(), 1e-11);
  EXPECT_NEAR(e.terms.complexity,
              15.0 * std::log(2.0 * std::numbers::pi) + 0.5 * all.array().log().sum(), 1e-10);
}

// All inducing inputs shifted alike: the bound is best where it is nearest to the exact evidence,
// which stays; FITC's evidence moves and is not what the bound gets near to.
TEST(SparseProperties, P23_OnlyFitcMovesWithItsInducingInputs) {
  const Case t = sine(40, 6, 21);
  const double exact = exact_evidence(t);
  Vector vfe(41), fitc(41);
  for (Index i = 0; i < 41; ++i) {
    const RowMatrix Z = t.Z.array() + 0.06 * static_cast<double>(i - 20);
    const Case shifted = with_inputs(t, Z);
    vfe(i) = shifted.evaluate("vfe").value;
    fitc(i) = shifted.evaluate("fitc").value;
    EXPECT_EQ(exact_evidence(shifted), exact);
    EXPECT_LT(vfe(i), std::min(exact, fitc(i)));
  }
  EXPECT_GT(fitc.maxCoeff() - fitc.minCoeff(), 2.0);
  Index of_bound = 0, to_exact = 0, to_fitc = 0;
  vfe.maxCoeff(&of_bound);
  (exact - vfe.array()).minCoeff(&to_exact);
  (fitc - vfe).minCoeff(&to_fitc);
  EXPECT_EQ(of_bound, to_exact);
  EXPECT_NE(of_bound, to_fitc);
}

// What the first rows say of the next one, against what the evidence of all of them says.
TEST(SparseProperties, P27_DtcIsNoProcess) {
  const Case t = sine(25, 5, 17);
  const auto log_density = [](double y, double mean, double variance) {
    return -0.5 * std::log(2.0 * std::numbers::pi * variance) -
           0.5 * (y - mean) * (y - mean) / variance;
  };
  const Vector d = residuals(t);
  EXPECT_GT(d.maxCoeff(), 0.05);
  for (const char* a : {"fitc", "sor", "dtc"}) {
    double furthest = 0.0;
    for (Index n = 1; n < 25; ++n) {
      const Case first = with_rows(t, t.X.topRows(n), t.Y.topRows(n));
      const SparseEvaluation e = first.evaluate(a);
      const SparsePosterior posterior(
          {a, t.kernel, t.mean, t.features, t.values, e.Luu, e.jitter, e.factors});
      const Prediction p = posterior.predict(t.X.row(n));
      const double y = t.Y(n, 0), mean = p.mean(0, 0), variance = p.variance_f(0, 0),
                   noise = t.values.noise;
      const double told =
          with_rows(t, t.X.topRows(n + 1), t.Y.topRows(n + 1)).evaluate(a).value - e.value;
      if (std::string(a) == "dtc") {  // as a training row it has the variance q_nn, as a test k_nn
        EXPECT_NEAR(told, log_density(y, mean, variance - d(n) + noise), 1e-9);
        furthest = std::max(furthest, std::abs(told - log_density(y, mean, variance + noise)));
      } else {
        EXPECT_NEAR(told, log_density(y, mean, variance + noise), 1e-9) << a << ", row " << n;
      }
    }
    if (std::string(a) == "dtc") {
      EXPECT_GT(furthest, 0.1);
    }
  }
}

// Jitter is noise on u: the bound stays one and is no longer tight, even at Z = X.
TEST(SparseProperties, P47_NoisyInducingVariablesNeverSuffice) {
  const Case t = [] {
    const Case from = sine(20, 2, 4, "matern32");
    return with_inputs(from, from.X);
  }();
  const double exact = exact_evidence(t);
  EXPECT_NEAR(t.evaluate("vfe").value, exact, 1e-9);
  const Matrix K = cross(t.kernel, t.values.theta, t.X, t.X);
  double last = 1e-6;
  for (const double noise_of_u : {1e-4, 1e-3, 1e-2, 1e-1, 1.0}) {
    const double value = t.evaluate("vfe", nullptr, Route::automatic, noise_of_u).value;
    EXPECT_GT(exact - value, 2.0 * last) << noise_of_u;
    last = exact - value;
    Matrix noisy = K;
    noisy.diagonal().array() += noise_of_u;
    Matrix Q = product(K, cholesky(noisy).solve(K));
    const double trace = K.trace() - Q.trace();
    Q.diagonal().array() += t.values.noise;
    const Cholesky f = cholesky(Q);
    const double dense = -10.0 * std::log(2.0 * std::numbers::pi) - 0.5 * f.log_determinant() -
                         0.5 * dot(t.Y.col(0), f.solve(t.Y).col(0)) - 0.5 * trace / t.values.noise;
    EXPECT_NEAR(value, dense, 1e-9);
  }
}

}  // namespace
}  // namespace covary
