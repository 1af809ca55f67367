#include "covary/inference/sparse_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/exact_posterior.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/sparse_case.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

using Case = testing::SparseCase;

SparsePosterior posterior_of(const Case& t, const Approximation& a) {
  SparseEvaluation e = t.evaluate(a);
  return SparsePosterior(
      {a, t.kernel, t.mean, t.features, t.values, e.Luu, e.jitter, std::move(e.factors)});
}

ExactPosterior exact_of(const Case& t) {
  ExactPosteriorParts parts;
  parts.kernel = t.kernel;
  parts.theta = t.values.theta;
  parts.mean = t.mean;
  parts.mean_weights = t.values.mean_weights;
  parts.noise_variance = t.values.noise;
  parts.point_noise = t.point_noise;
  parts.X = t.X;
  parts.Y = t.Y;
  return ExactPosterior(parts);
}

double largest(const RowMatrix& a) { return a.cwiseAbs().maxCoeff(); }

const char* const approximations[] = {"sor", "dtc", "fitc", "vfe", "vfe(tight)", "pep(0.4)"};

TEST(SparsePosterior, P18EqualsExactWhenZIsX) {
  Case t(25, 25, 2, 2, 3, "matern32");
  t.Z = t.X;
  t.features = inducing_points(t.kernel, t.Z);
  t.values.z = Eigen::Map<const Vector>(t.Z.data(), t.Z.size());
  t.mean = "constant";
  t.values.mean_weights = Matrix::Constant(1, 2, 0.3);
  const RowMatrix X = Case(10, 1, 2, 1, 50).X;
  const Prediction exact = exact_of(t).predict(X);
  for (const char* a : {"dtc", "fitc", "vfe", "vfe(tight)", "pep(0.4)"}) {
    const Prediction p = posterior_of(t, a).predict(X);
    EXPECT_LT(largest(p.mean - exact.mean), 1e-9) << a;
    EXPECT_LT(largest(p.variance_f - exact.variance_f), 1e-9) << a;
    EXPECT_LT(largest(p.variance_y - exact.variance_y), 1e-9) << a;
  }
}

// The posterior of the model that FITC is, by dense algebra: y ~ N(0, Q + diag(K − Q) + σ²I).
TEST(SparsePosterior, FitcByDenseAlgebra) {
  const Case t(40, 6, 2, 1, 12, "se");
  const RowMatrix X = Case(8, 1, 2, 1, 60).X;
  const Vector& th = t.values.theta;
  const Cholesky Kuu = cholesky(t.features->Kuu(th.data(), t.values.z.data()));
  const Matrix Kuf = cross(t.kernel, th, t.Z, t.X), Kus = cross(t.kernel, th, t.Z, X);
  Matrix S = product(Kuf, Kuu.solve(Kuf), Op::transpose);
  S.diagonal() = diagonal(t.kernel, th, t.X).array() + t.values.noise;
  const Cholesky f = cholesky(S);
  const Matrix Qsf = product(Kus, Kuu.solve(Kuf), Op::transpose);
  const Matrix mean = product(Qsf, f.solve(Matrix(t.Y)));
  const Matrix V = f.solve(Qsf.transpose());
  const Prediction p = posterior_of(t, "fitc").predict(X);
  for (Index i = 0; i < X.rows(); ++i) {
    EXPECT_NEAR(p.mean(i, 0), mean(i, 0), 1e-9);
    EXPECT_NEAR(p.variance_f(i, 0), th(0) - dot(Qsf.row(i).transpose(), V.col(i)), 1e-9);
  }
}

TEST(SparsePosterior, P25FarFromTheData) {
  const Case t(40, 6, 1, 1, 12, "se");
  const RowMatrix far = RowMatrix::Constant(1, 1, 1e3);
  for (const char* a : approximations)
    EXPECT_NEAR(posterior_of(t, a).predict(far).variance_f(0, 0),
                std::string(a) == "sor" ? 0.0 : t.values.theta(0), 1e-12)
        << a;
}

TEST(SparsePosterior, P26DtcAndVfeArePosteriorsAlike) {
  const Case t(40, 6, 2, 1, 30);
  const RowMatrix X = Case(9, 1, 2, 1, 61).X;
  const Prediction a = posterior_of(t, "dtc").predict(X), b = posterior_of(t, "vfe").predict(X),
                   c = posterior_of(t, "fitc").predict(X);
  EXPECT_LT(largest(a.mean - b.mean), 1e-12);
  EXPECT_LT(largest(a.variance_f - b.variance_f), 1e-12);
  EXPECT_GT(largest(c.mean - b.mean), 1e-4);  // P28
}

TEST(SparsePosterior, P24Split) {
  const Case t(40, 6, 2, 1, 31, "se");
  const SparsePosterior p = posterior_of(t, "vfe");
  const RowMatrix X = Case(9, 1, 2, 1, 62).X;
  const auto split = p.split(X);
  const Prediction whole = p.predict(X);
  // predict() takes another way to the same: one product where split() solves twice.
  EXPECT_LT(largest(split.g_mean - whole.mean), 1e-10);
  EXPECT_LT((split.g_variance.col(0) + split.h_variance - whole.variance_f.col(0)).norm(), 1e-11);
  EXPECT_LT(p.split(t.Z).h_variance.maxCoeff(), 1e-9);  // u determines f there
  // g at the inducing inputs is q(u).
  const Gaussian u = p.q_of_u();
  const auto at = p.split(t.Z);
  EXPECT_LT((at.g_mean.col(0) - u.mean).norm(), 1e-8);
  EXPECT_LT((at.g_variance.col(0) - u.covariance.diagonal()).norm(), 1e-8);
}

// Inducing inputs that no row reaches leave I − B⁻¹ singular.
TEST(SparsePosterior, InducingInputsFarFromTheData) {
  Case t(20, 3, 1, 1, 41, "se(lengthscales=0.3)");
  t.X.array() += 40.0;
  const SparsePosterior p = posterior_of(t, "vfe");
  const Prediction at = p.predict(t.Z);
  EXPECT_LT(largest(at.mean), 1e-12);
  EXPECT_NEAR(at.variance_f(0, 0), t.values.theta(0), 1e-12);
}

// One output is observed near the inducing inputs and the other is not: both predict, and alike by
// either way.
TEST(SparsePosterior, OneOfTwoOutputsFarFromTheInducingInputs) {
  Case t(20, 3, 1, 2, 42, "se(lengthscales=0.3)");
  t.X.bottomRows(10).array() += 40.0;
  t.Y.col(1).head(10).setConstant(std::nan(""));
  const SparsePosterior p = posterior_of(t, "vfe");
  ASSERT_EQ(p.parts().groups.size(), 2u);
  const Prediction at = p.predict(t.Z);
  const auto split = p.split(t.Z);
  EXPECT_LT(largest(at.mean - split.g_mean), 1e-10);
  for (Index o = 0; o < 2; ++o)
    EXPECT_LT((at.variance_f.col(o) - split.g_variance.col(o) - split.h_variance).norm(), 1e-10);
  EXPECT_NEAR(at.variance_f(0, 1), t.values.theta(0), 1e-12);
}

TEST(SparsePosterior, JointAndMarginalsAgree) {
  Case t(40, 6, 2, 2, 32);
  t.Y(3, 1) = std::nan("");
  const RowMatrix X = Case(9, 1, 2, 1, 63).X;
  for (const char* a : approximations) {
    const SparsePosterior p = posterior_of(t, a);
    const Prediction m = p.predict(X);
    EXPECT_LT(largest(p.predict_mean(X) - m.mean), 1e-9) << a;
    for (Index o = 0; o < 2; ++o)
      EXPECT_LT((p.covariance(X, o).diagonal() - m.variance_f.col(o)).norm(), 1e-11) << a;
  }
}

TEST(SparsePosterior, ComponentsAddUpInTheMean) {
  const Case t(40, 6, 2, 1, 33, "se + linear + white(variance=0.05)");
  const RowMatrix X = Case(9, 1, 2, 1, 64).X;
  const SparsePosterior p = posterior_of(t, "vfe");
  RowMatrix sum = RowMatrix::Zero(9, 1);
  for (const auto& part : p.components(X)) {
    sum += part.mean;
    EXPECT_GE(part.variance.minCoeff(), 0.0);
  }
  EXPECT_LT(largest(sum - p.predict(X).mean), 1e-10);
}

TEST(SparsePosterior, GradientMatchesDifferences) {
  Case t(40, 6, 2, 1, 34, "se(ard)");
  t.mean = "linear";
  t.values.mean_weights = Matrix::Constant(3, 1, 0.2);
  const RowMatrix X = Case(3, 1, 2, 1, 65).X;
  for (const char* a : {"vfe", "sor"}) {
    const SparsePosterior p = posterior_of(t, a);
    const PredictionGradient g = p.gradient(X);
    for (Index i = 0; i < X.rows(); ++i) {
      const auto at = [&](const Vector& x) { return p.predict(RowMatrix(x.transpose())); };
      expect_gradient([&](const Vector& x) { return at(x).mean(0, 0); }, g.mean.row(i), X.row(i));
      expect_gradient([&](const Vector& x) { return at(x).variance_f(0, 0); }, g.variance.row(i),
                      X.row(i));
    }
  }
}

TEST(SparsePosterior, FurtherRowsEqualAllAtOnce) {
  Case all(50, 6, 2, 2, 35);
  all.Y(45, 1) = std::nan("");
  all.Y(4, 1) = std::nan("");
  all.point_noise = Vector::LinSpaced(50, 0.0, 0.2);
  Case first = all;
  first.X = all.X.topRows(30);
  first.Y = all.Y.topRows(30);
  first.point_noise = all.point_noise.head(30);
  for (const char* a : approximations) {
    const SparsePosterior once = posterior_of(all, a);
    const SparsePosterior twice = posterior_of(first, a).with(
        all.X.bottomRows(20), all.Y.bottomRows(20), all.point_noise.tail(20));
    EXPECT_NEAR(once.log_evidence(), twice.log_evidence(), 1e-9) << a;
    const Prediction p = once.predict(all.X), q = twice.predict(all.X);
    EXPECT_LT(largest(p.mean - q.mean), 1e-10) << a;
    EXPECT_LT(largest(p.variance_y - q.variance_y), 1e-10) << a;
  }
  RowMatrix odd = all.Y.bottomRows(20);
  Case complete(50, 6, 2, 2, 36);
  odd(3, 0) = std::nan("");
  EXPECT_THROW(posterior_of(complete, "vfe").with(all.X.bottomRows(20), odd), InputError);
}

TEST(SparsePosterior, DrawsHaveTheMoments) {
  const Case t(40, 6, 1, 1, 37, "se");
  const RowMatrix X = Case(4, 1, 1, 1, 66).X;
  const SparsePosterior p = posterior_of(t, "vfe");
  const auto draws = p.sample(X, 4000, 1);
  Vector mean = Vector::Zero(4), square = Vector::Zero(4);
  for (const auto& f : draws) {
    mean += f.col(0) / 4000.0;
    square += f.col(0).cwiseAbs2() / 4000.0;
  }
  const Prediction m = p.predict(X);
  for (Index i = 0; i < 4; ++i) {
    const double sd = std::sqrt(m.variance_f(i, 0));
    EXPECT_NEAR(mean(i), m.mean(i, 0), 5 * sd / std::sqrt(4000.0));
    EXPECT_NEAR(square(i) - mean(i) * mean(i), sd * sd, 0.15 * sd * sd);
  }
}

TEST(SparsePosterior, SameBitsForAnyThreadsAndRefusals) {
  const Case t(200, 10, 2, 1, 38);
  const SparsePosterior p = posterior_of(t, "vfe");
  const RowMatrix X = Case(3000, 1, 2, 1, 67).X;
  set_threads(1);
  const Prediction one = p.predict(X);
  set_threads(3);
  const Prediction three = p.predict(X);
  set_threads(0);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.variance_f, three.variance_f);
  EXPECT_THROW(p.predict(RowMatrix(2, 5)), InputError);
  EXPECT_THROW(p.covariance(X.topRows(2), 4), InputError);
  EXPECT_THROW(p.sample(X.topRows(2), 0, 1), InputError);
  EXPECT_EQ(p.predict(RowMatrix(0, 2)).mean.rows(), 0);
}

// Draws that can be evaluated anywhere have the moments of the posterior, of every output.
TEST(SparsePosterior, FunctionDrawsHaveThePosteriorMoments) {
  Case t(40, 6, 2, 2, 12, "se");
  t.mean = "constant";
  t.values.mean_weights = Matrix::Constant(1, 2, 0.3);
  const RowMatrix X = Case(3, 1, 2, 1, 60).X;
  const Index n = 3000;
  for (const char* a : {"vfe", "fitc"}) {
    const SparsePosterior p = posterior_of(t, a);
    const auto draws = p.sample_functions(n, 2, 200);
    const Prediction want = p.predict(X);
    for (Index output = 0; output < 2; ++output) {
      Matrix f(3, n);
      for (Index s = 0; s < n; ++s) f.col(s) = draws[static_cast<std::size_t>(s)](X).col(output);
      const Vector mean = f.rowwise().mean();
      const Matrix centred = f.colwise() - mean, C = p.covariance(X, output);
      const Matrix S = product(centred, centred, Op::none, Op::transpose) / static_cast<double>(n);
      const double size = C.diagonal().maxCoeff();
      EXPECT_LT((mean - want.mean.col(output)).cwiseAbs().maxCoeff(), 5.0 * std::sqrt(size / n));
      EXPECT_LT((S - C).cwiseAbs().maxCoeff(), 0.12 * size);
    }
    const RowMatrix one = X.row(1);
    EXPECT_NEAR(draws[0](one)(0, 0), draws[0](X)(1, 0), 1e-12);
  }
  EXPECT_THROW(posterior_of(t, "sor").sample_functions(1, 0), Unsupported);
  EXPECT_THROW(posterior_of(t, "vfe").sample_functions(0, 0), InputError);
}

}  // namespace
}  // namespace covary
