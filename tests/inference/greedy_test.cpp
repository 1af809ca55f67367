#include "inference/greedy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

struct Case {
  Kernel kernel = "se(ard) + white(variance=0.02)";
  RowMatrix X, Y;
  Vector point_noise;
  Mean mean;
  double noise = 0.13;
  Matrix mean_weights;

  Case(Index N, Index D, Index P, std::uint64_t seed) : Y(N, P) {
    Random random(seed);
    X = random.normal_matrix(N, D);
    for (Index i = 0; i < N; ++i)
      for (Index p = 0; p < P; ++p)
        Y(i, p) = 0.3 * random.normal() + std::sin(X.row(i).sum() + static_cast<double>(p));
  }
  void complicate() {
    Y(3, 0) = Y(9, 1) = Y(20, 1) = std::numeric_limits<double>::quiet_NaN();
    point_noise = Vector::LinSpaced(X.rows(), 0.0, 0.5);
    mean = "linear";
    mean_weights = Matrix::Constant(X.cols() + 1, Y.cols(), 0.2);
  }
  // Calls body(problem, values) for inducing inputs Z.
  template <class Body>
  auto with(const RowMatrix& Z, const Body& body, const Approximation& a = "vfe") const {
    const MemoryRows rows(X, Y, point_noise);
    const Sweep sweep = Sweep::for_features(rows, Z.rows());
    const FeaturesPtr features = inducing_points(kernel, Z);
    const SparseProblem problem{a,      features.get(),           &kernel,    &mean,
                                &sweep, columns_by_pattern(rows), Route::safe};
    const SparseValues values{kernel.parameters(X.cols()).values(),
                              Eigen::Map<const Vector>(Z.data(), Z.size()), noise, mean_weights};
    return body(problem, values);
  }
  double value(const RowMatrix& Z, double jitter = 0.0) const {
    return with(Z, [&](const SparseProblem& p, const SparseValues& v) {
      Jitter j{jitter};
      return evaluate_sparse(p, v, j).value;
    });
  }
  Vector gains(const RowMatrix& Z, const RowMatrix& candidates, double jitter = 0.0) const {
    return with(Z, [&](const SparseProblem& p, const SparseValues& v) {
      Jitter j{jitter};
      return bound_gains(p, v, j, candidates);
    });
  }
};

RowMatrix joined(const RowMatrix& Z, const Eigen::RowVectorXd& z) {
  RowMatrix out(Z.rows() + 1, Z.cols());
  out << Z, z;
  return out;
}

// P16, 1E.8: the gain is the difference of two bounds, and never negative.
TEST(Greedy, P16GainIsTheDifferenceOfTwoBounds) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Case t(90, 2, 2, 40 + seed);
    if (seed % 2) t.complicate();
    const RowMatrix Z = Random(seed, 5).normal_matrix(7, 2);
    const RowMatrix candidates = Random(seed, 6).normal_matrix(12, 2) * 1.5;
    const double jitter = seed % 3 ? 0.0 : 1e-3;
    const Vector gains = t.gains(Z, candidates, jitter);
    const double before = t.value(Z, jitter);
    for (Index j = 0; j < gains.size(); ++j) {
      const double after = t.value(joined(Z, candidates.row(j)), jitter);
      EXPECT_GE(gains(j), 0.0);
      EXPECT_NEAR(gains(j), after - before, 1e-8 * std::max(1e-3, std::abs(after - before)))
          << "seed " << seed << ", candidate " << j;
    }
  }
}

TEST(Greedy, P16NoGainAtDuplicates) {
  const Case t(60, 2, 1, 3);
  const RowMatrix Z = t.X.topRows(8);
  for (const double jitter : {0.0, 1e-8, 1e-4})
    EXPECT_EQ(t.gains(Z, Z, jitter), Vector::Zero(8)) << jitter;
  EXPECT_GT(t.gains(Z, t.X.bottomRows(20)).minCoeff(), 0.0);
}

TEST(Greedy, ManyCandidatesAreScoredInParts) {
  const Case t(700, 1, 1, 4);
  const RowMatrix Z = t.X.topRows(5);
  const Vector gains = t.gains(Z, t.X);
  ASSERT_EQ(gains.size(), 700);
  for (const Index j : {0, 511, 512, 699})
    EXPECT_NEAR(gains(j), t.gains(Z, t.X.middleRows(j, 1))(0), 1e-12 * gains.maxCoeff());
  EXPECT_EQ(t.gains(Z, RowMatrix(0, 1)).size(), 0);
}

TEST(Greedy, GrowingRaisesTheBoundByTheBestGain) {
  const Case t(120, 2, 1, 8);
  const RowMatrix Z = t.X.topRows(3);
  const auto grow = [&](Index n, std::uint64_t seed, Index sample) {
    return t.with(Z, [&](const SparseProblem& p, const SparseValues& v) {
      Jitter j;
      return grow_by_gain(p, v, j, n, seed, sample);
    });
  };
  EXPECT_EQ(grow(0, 1, 50), Z);
  // All rows for candidates: the row added is the best there is.
  const RowMatrix one = grow(1, 1, 1000);
  ASSERT_EQ(one.rows(), 4);
  EXPECT_EQ(one.topRows(3), Z);
  EXPECT_NEAR(t.value(one) - t.value(Z), t.gains(Z, t.X).maxCoeff(), 1e-8);
  const RowMatrix ten = grow(10, 1, 1000);
  EXPECT_EQ(ten.topRows(4), one);
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    random += 0.2 * t.value(select_inducing(Selection::random, 13, t.X, t.kernel,
                                            t.kernel.parameters(2).values(), seed)
                                .Z);
  EXPECT_GT(t.value(ten), random);
  EXPECT_EQ(grow(5, 2, 20), grow(5, 2, 20));
  EXPECT_NE(grow(5, 2, 20), grow(5, 3, 20));
}

// The doors' choice begins with none: the first row is the one whose bound is the highest.
TEST(Greedy, ChoicesByGainBeginWithNone) {
  const Case t(60, 1, 1, 8);
  const MemoryRows rows(t.X, t.Y, t.point_noise);
  const Sweep sweep = Sweep::for_features(rows, 5);
  const SparseProblem problem{"vfe", nullptr, &t.kernel, &t.mean, &sweep, columns_by_pattern(rows)};
  const SparseValues values{t.kernel.parameters(1).values(), Vector(), t.noise, Matrix()};
  const auto choose = [&](Selection how, Index M) {
    Jitter j;
    return select_by_gain(how, M, problem, values, j, 3);
  };
  const SelectionResult chosen = choose(Selection::bound_gain, 5);
  ASSERT_EQ(chosen.Z.rows(), 5);
  EXPECT_EQ(chosen.note, "");
  double best = -INFINITY;
  for (Index n = 0; n < 60; ++n) best = std::max(best, t.value(t.X.middleRows(n, 1)));
  EXPECT_EQ(t.value(chosen.Z.topRows(1)), best);
  EXPECT_EQ(choose(Selection::bound_gain, 3).Z, chosen.Z.topRows(3));
  EXPECT_NE(choose(Selection::information_gain, 5).Z, chosen.Z);
  const SelectionResult fewer = choose(Selection::bound_gain, 61);  // of 60 rows
  EXPECT_LE(fewer.Z.rows(), 60);
  const std::string note = "chose " + std::to_string(fewer.Z.rows()) + " inducing inputs: ";
  EXPECT_TRUE(fewer.note.starts_with(note)) << fewer.note;
  EXPECT_THROW(choose(Selection::random, 5), InputError);
}

TEST(Greedy, GrowingStopsWhereNothingIsToBeGained) {
  Case t(40, 1, 1, 9);
  for (Index i = 0; i < 40; ++i) t.X(i, 0) = static_cast<double>(i % 4);
  const RowMatrix Z = t.with(t.X.topRows(1), [&](const SparseProblem& p, const SparseValues& v) {
    Jitter j;
    return grow_by_gain(p, v, j, 20, 1);
  });
  EXPECT_EQ(Z.rows(), 4);
}

// KL(q⁺‖q) over (u, u⁺) by dense matrices: q⁺ from the M+1 inducing inputs, and q from M of them,
// extended by p(u⁺|u).
double dense_information_gain(const Case& t, const RowMatrix& Z, const Eigen::RowVectorXd& z) {
  const RowMatrix both = joined(Z, z);
  const Vector theta = t.kernel.parameters(t.X.cols()).values();
  const Index M = Z.rows();
  struct Posterior {
    Vector mean;
    Matrix cov;
  };
  const auto posterior = [&](const RowMatrix& inducing) {
    const Matrix Kuu = cross(t.kernel, theta, inducing, inducing);
    const Matrix Kuf = cross(t.kernel, theta, inducing, t.X);
    const Matrix A = Kuu + product(Kuf, Kuf, Op::none, Op::transpose) / t.noise;
    const Cholesky f = cholesky(A);
    const Matrix P = product(Kuu, f.solve(Kuu));
    const Vector m = product(Kuu, f.solve(product(Kuf, t.Y))).col(0) / t.noise;
    return Posterior{m, P};
  };
  const Posterior after = posterior(both), before = posterior(Z);
  const Matrix K = cross(t.kernel, theta, both, both);
  // u⁺ = wᵀu + N(0, κ)
  const Matrix w = cholesky(K.topLeftCorner(M, M)).solve(K.topRightCorner(M, 1));
  Matrix T(M + 1, M);
  T << Matrix::Identity(M, M), w.transpose();
  Matrix S = product(product(T, before.cov), T, Op::none, Op::transpose);
  S(M, M) += K(M, M) - product(w, K.topRightCorner(M, 1), Op::transpose)(0, 0);
  const Vector difference = after.mean - multiply(T, before.mean);
  const Cholesky f = cholesky(S);
  return 0.5 * (f.solve(after.cov).trace() - static_cast<double>(M + 1) +
                dot(difference, f.solve(difference).col(0)) + f.log_determinant() -
                cholesky(after.cov).log_determinant());
}

TEST(Greedy, InformationGainIsTheDivergenceOfPosteriors) {
  const Case t(50, 2, 1, 12);
  const RowMatrix Z = 1.5 * Random(2).normal_matrix(4, 2),
                  candidates = Random(3).normal_matrix(9, 2);
  const Vector gains = t.with(Z, [&](const SparseProblem& p, const SparseValues& v) {
    Jitter j;
    return information_gains(p, v, j, candidates);
  });
  for (Index j = 0; j < 9; ++j)
    EXPECT_NEAR(gains(j), dense_information_gain(t, Z, candidates.row(j)), 1e-7 * gains(j));
}

TEST(Greedy, InformationGainSelection) {
  Case t(150, 2, 2, 14);
  t.complicate();
  const auto select = [&](Index M, std::uint64_t seed, Index sample) {
    return t.with(
        t.X.topRows(1),
        [&](SparseProblem p, const SparseValues& v) {
          p.features = nullptr;
          Jitter j;
          return select_information_gain(p, v, j, M, seed, sample);
        },
        "dtc");
  };
  const RowMatrix Z = select(12, 1, 1000);
  ASSERT_EQ(Z.rows(), 12);
  // The second is the best of all rows by the score, given the first.
  const Vector second = t.with(Z.topRows(1), [&](const SparseProblem& p, const SparseValues& v) {
    Jitter j;
    return information_gains(p, v, j, t.X);
  });
  Index best = 0;
  second.maxCoeff(&best);
  EXPECT_EQ(Z.row(1), t.X.row(best));
  EXPECT_EQ(select(5, 1, 1000), Z.topRows(5));
  EXPECT_EQ(select(6, 4, 30), select(6, 4, 30));
  EXPECT_NE(select(6, 4, 30), select(6, 5, 30));
  // Far fewer distinct rows than asked for.
  for (Index i = 0; i < 150; ++i) t.X.row(i).setConstant(static_cast<double>(i % 5));
  EXPECT_EQ(select(30, 1, 1000).rows(), 5);
}

TEST(Greedy, SameBitsForAnyThreads) {
  const Case t(3000, 2, 1, 15);
  const RowMatrix Z = t.X.topRows(20), candidates = t.X.bottomRows(70);
  set_threads(1);
  const Vector one = t.gains(Z, candidates);
  for (const int n : {2, 3, 7}) {
    set_threads(n);
    EXPECT_EQ(t.gains(Z, candidates), one);
  }
  set_threads(0);
}

TEST(Greedy, Refusals) {
  const Case t(30, 2, 1, 16);
  const RowMatrix Z = t.X.topRows(4);
  EXPECT_THROW(t.gains(Z, RowMatrix::Ones(3, 1)), InputError);
  EXPECT_THROW(t.gains(Z, RowMatrix::Constant(3, 2, std::numeric_limits<double>::infinity())),
               InputError);
  Case noiseless = t;
  noiseless.noise = 0.0;
  EXPECT_THROW(noiseless.gains(Z, t.X), InputError);
  for (const char* a : {"fitc", "dtc", "vfe(tight)", "pep(0.5)"})
    t.with(
        Z,
        [&](const SparseProblem& p, const SparseValues& v) {
          Jitter j;
          EXPECT_THROW(bound_gains(p, v, j, t.X), Unsupported) << a;
          EXPECT_THROW(grow_by_gain(p, v, j, 1, 0), Unsupported) << a;
        },
        a);
  t.with(Z, [&](SparseProblem p, SparseValues v) {
    Jitter j;
    EXPECT_THROW(grow_by_gain(p, v, j, -1, 0), InputError);
    EXPECT_THROW(grow_by_gain(p, v, j, 1, 0, 0), InputError);
    EXPECT_THROW(select_information_gain(p, v, j, 0, 0), InputError);
    EXPECT_THROW(select_information_gain(p, v, j, 2, 0, -5), InputError);
    v.noise = -1.0;
    EXPECT_THROW(select_information_gain(p, v, j, 2, 0), InputError);
  });
}

}  // namespace
}  // namespace covary
