#include <cmath>

#include "autodiff/check.hpp"

namespace covary::autodiff_test {
namespace {

using Inputs = const std::vector<Var>&;

TEST(Products, MatmulWithEveryTranspose) {
  std::mt19937_64 engine(5);
  for (Op opA : {Op::none, Op::transpose})
    for (Op opB : {Op::none, Op::transpose}) {
      const Shape a = opA == Op::none ? Shape{2, 3} : Shape{3, 2};
      const Shape b = opB == Op::none ? Shape{3, 4} : Shape{4, 3};
      const Matrix A = random_matrix(engine, a.rows, a.cols),
                   B = random_matrix(engine, b.rows, b.cols);
      Tape tape;
      const Var C = matmul(tape.input(A), tape.input(B), opA, opB);
      ASSERT_EQ(C.rows(), 2);
      ASSERT_EQ(C.cols(), 4);
      for (Index i = 0; i < 2; ++i)
        for (Index j = 0; j < 4; ++j) {
          double expected = 0;
          for (Index k = 0; k < 3; ++k)
            expected +=
                (opA == Op::none ? A(i, k) : A(k, i)) * (opB == Op::none ? B(k, j) : B(j, k));
          EXPECT_NEAR(C.value()(i, j), expected, 1e-14);
        }
      Check({a, b}, [&](Tape&, Inputs in) {
        return matmul(in[0], in[1], opA, opB);
      }).at_random_points();
    }
}

TEST(Products, OfAMatrixWithItself) {
  Check({{3, 3}}, [](Tape&, Inputs in) { return matmul(in[0], in[0]); }).at_random_points();
  Check({{2, 3}}, [](Tape&, Inputs in) { return matmul_nt(in[0], in[0]); }).at_random_points();
  Check({{2, 3}}, [](Tape&, Inputs in) { return matmul_tn(in[0], in[0]); }).at_random_points();
  Check({{2, 3}}, [](Tape&, Inputs in) { return frobenius(in[0], in[0]); }).at_random_points();
}

TEST(Products, StarTakesAScalarOrAMatrix) {
  Tape tape;
  const Matrix A = Matrix::Random(2, 3);
  EXPECT_EQ((tape.input(2.0) * tape.input(A)).value(), Matrix(2.0 * A));
  EXPECT_EQ((tape.input(A) * tape.input(2.0)).value(), Matrix(2.0 * A));
  EXPECT_EQ((tape.input(A) * tape.input(Matrix::Identity(3, 3))).value(), A);
  Check({{1, 1}, {2, 3}}, [](Tape&, Inputs in) { return in[0] * in[1]; }).at_random_points();
  Check({{2, 3}, {3, 1}}, [](Tape&, Inputs in) { return in[0] * in[1]; }).at_random_points();
}

TEST(Products, DotAndFrobenius) {
  Check({{4, 1}, {4, 1}}, [](Tape&, Inputs in) { return dot(in[0], in[1]); }).at_random_points();
  Check({{2, 3}, {2, 3}}, [](Tape&, Inputs in) {
    return frobenius(in[0], in[1]);
  }).at_random_points();
}

// BBᵀ + I is symmetric however its parameters move.
Var spd(Tape& tape, Var B) { return add_to_diagonal(matmul_nt(B, B), tape.constant(1.0)); }

TEST(Factorisation, CholeskyAgainstDifferences) {
  for (Index n : {1, 2, 5})
    Check({{n, n}}, [](Tape& tape, Inputs in) {
      return cholesky(spd(tape, in[0]));
    }).at_random_points();
}

TEST(Factorisation, CholeskyReproducesTheMatrix) {
  std::mt19937_64 engine(2);
  Tape tape;
  const Var A = spd(tape, tape.input(random_matrix(engine, 6, 6)));
  const Var L = cholesky(A);
  EXPECT_NEAR((matmul_nt(L, L).value() - A.value()).norm(), 0.0, 1e-13);
  EXPECT_TRUE(L.value().isLowerTriangular(0.0));
}

// U diag(e^(spread + x)) Uᵀ: condition 1e8 with every eigenvalue moving.
Expression ill_conditioned(Index n, std::function<Var(Var)> apply) {
  return [n, apply](Tape& tape, Inputs in) {
    std::mt19937_64 engine(11);
    const Var U = tape.constant(random_orthogonal(engine, n));
    const Var spread = tape.constant(Vector::LinSpaced(n, std::log(1e-8), 0.0));
    const Var scaled = hadamard(U, transpose(exp(spread + in[0])));
    const Var A = matmul_nt(scaled, U);
    return apply(0.5 * (A + transpose(A)));
  };
}

TEST(Factorisation, IllConditioned) {
  constexpr Index n = 6;
  const Vector x = Vector::Zero(n);
  Check({{n, 1}}, ill_conditioned(n, [](Var A) { return cholesky(A); })).at(x, 1);
  Check({{n, 1}}, ill_conditioned(n, [](Var A) { return log_determinant(A); })).at(x, 1);
  Check({{n, 1}}, ill_conditioned(n, [](Var A) { return log_determinant_of_factor(cholesky(A)); }))
      .at(x, 1);
  Check({{n, 1}}, ill_conditioned(n,
                                  [](Var A) {
                                    const Matrix b = Vector::Ones(A.rows());
                                    return solve_lower(cholesky(A), A.tape().constant(b));
                                  }))
      .at(x, 1);
}

TEST(Factorisation, JitterIsPartOfTheDifferentiatedFunction) {
  // A singular matrix needs the ladder; its rung is then kept at 1e-4 so that differences see it.
  Check({{4, 2}}, [](Tape&, Inputs in) {
    Jitter jitter;
    jitter.rung = 1e-4;
    return log_determinant_of_factor(cholesky(matmul_nt(in[0], in[0]), jitter, "BBᵀ"));
  }).at_random_points();
  Check({{4, 2}}, [](Tape&, Inputs in) {
    Jitter jitter;
    jitter.rung = 1e-4;
    return log_determinant(matmul_nt(in[0], in[0]), jitter, "BBᵀ");
  }).at_random_points();
}

TEST(Factorisation, LogDeterminants) {
  Check({{4, 4}}, [](Tape& tape, Inputs in) {
    return log_determinant(spd(tape, in[0]));
  }).at_random_points();
  Check({{4, 4}}, [](Tape&, Inputs in) {
    return log_determinant_of_factor(in[0]);
  }).at_random_points(0.5, 2.0);
  Tape tape;
  Matrix A(2, 2);
  A << 4, 1, 1, 3;
  EXPECT_NEAR(log_determinant(tape.input(A)).scalar(), std::log(11.0), 1e-14);
  EXPECT_NEAR(log_determinant_of_factor(cholesky(tape.input(A))).scalar(), std::log(11.0), 1e-14);
}

// The upper part of L is noise: neither the value nor the gradient may see it.
TEST(Factorisation, TriangularSolvesInEveryDirection) {
  for (Op op : {Op::none, Op::transpose}) {
    Check({{3, 3}, {3, 2}}, [op](Tape& tape, Inputs in) {
      const Var L = add_to_diagonal(in[0], tape.constant(3.0));
      return solve_lower(L, in[1], op);
    }).at_random_points();
    Check({{3, 3}, {3, 1}}, [op](Tape& tape, Inputs in) {
      const Var L = add_to_diagonal(in[0], tape.constant(3.0));
      return solve_lower(L, in[1], op);
    }).at_random_points();
    Check({{3, 3}, {2, 3}}, [op](Tape& tape, Inputs in) {
      const Var L = add_to_diagonal(in[0], tape.constant(3.0));
      return solve_lower_right(L, in[1], op);
    }).at_random_points();

    std::mt19937_64 engine(4);
    const Matrix L = random_matrix(engine, 3, 3, 0.5, 2), B = random_matrix(engine, 3, 2);
    const Matrix lower = L.triangularView<Eigen::Lower>();
    Tape tape;
    const Var T = tape.constant(lower), b = tape.input(B), bt = tape.input(B.transpose());
    const Var X = solve_lower(tape.input(L), b, op), Xt = solve_lower_right(tape.input(L), bt, op);
    EXPECT_NEAR((matmul(T, X, op, Op::none).value() - B).norm(), 0.0, 1e-13);
    EXPECT_NEAR((matmul(Xt, T, Op::none, op).value() - B.transpose()).norm(), 0.0, 1e-13);
  }
}

TEST(Reductions, AgainstDifferences) {
  const std::vector<Var (*)(Var)> reductions{sum, mean, row_sums, column_sums, row_logsumexp};
  for (auto reduce : reductions)
    for (Shape s : {Shape{3, 4}, Shape{1, 4}, Shape{3, 1}, Shape{1, 1}})
      Check({s}, [&](Tape&, Inputs in) { return reduce(in[0]); }).at_random_points();
  Check({{3, 3}}, [](Tape&, Inputs in) { return trace(in[0]); }).at_random_points();
}

TEST(Reductions, Values) {
  Tape tape;
  Matrix A(2, 3);
  A << 1, 2, 3, 4, 5, 6;
  const Var a = tape.input(A);
  EXPECT_EQ(sum(a).scalar(), 21);
  EXPECT_EQ(mean(a).scalar(), 3.5);
  EXPECT_EQ(row_sums(a).value(), (Matrix(2, 1) << 6, 15).finished());
  EXPECT_EQ(column_sums(a).value(), (Matrix(1, 3) << 5, 7, 9).finished());
  EXPECT_EQ(trace(block(a, 0, 1, 2, 2)).scalar(), 8);
}

TEST(Reductions, LogSumExpOfExtremeRows) {
  Tape tape;
  const double infinity = std::numeric_limits<double>::infinity();
  Matrix A(3, 2);
  A << 1000, 1000, -1000, -infinity, -infinity, -infinity;
  const Var a = tape.input(A);
  const Var l = row_logsumexp(a);
  EXPECT_NEAR(l.value()(0), 1000 + std::log(2.0), 1e-12);
  EXPECT_EQ(l.value()(1), -1000);
  EXPECT_EQ(l.value()(2), -infinity);
  const Matrix g = tape.gradient(sum(block(l, 0, 0, 2, 1)))[a];
  EXPECT_LE((g - (Matrix(3, 2) << 0.5, 0.5, 1, 0, 0, 0).finished()).norm(), 1e-12);
}

TEST(Reshaping, AgainstDifferences) {
  Check({{3, 4}}, [](Tape&, Inputs in) { return transpose(in[0]); }).at_random_points();
  Check({{3, 4}}, [](Tape&, Inputs in) { return reshape(in[0], 2, 6); }).at_random_points();
  Check({{3, 4}}, [](Tape&, Inputs in) { return block(in[0], 1, 1, 2, 3); }).at_random_points();
  Check({{3, 4}}, [](Tape&, Inputs in) {
    return hadamard(block(in[0], 0, 0, 2, 2), block(in[0], 1, 1, 2, 2));  // overlapping
  }).at_random_points();
  Check({{2, 1}, {2, 3}}, [](Tape&, Inputs in) {
    return hstack({in[0], in[1], in[0]});
  }).at_random_points();
  Check({{1, 3}, {2, 3}}, [](Tape&, Inputs in) {
    return vstack({in[0], in[1], in[0]});
  }).at_random_points();
  Check({{3, 3}}, [](Tape&, Inputs in) { return diagonal(in[0]); }).at_random_points();
  Check({{3, 1}}, [](Tape&, Inputs in) { return diagonal_matrix(in[0]); }).at_random_points();
  Check({{3, 3}, {3, 1}}, [](Tape&, Inputs in) {
    return add_to_diagonal(in[0], in[1]);
  }).at_random_points();
  Check({{3, 3}, {1, 1}}, [](Tape&, Inputs in) {
    return add_to_diagonal(in[0], in[1]);
  }).at_random_points();
}

TEST(Reshaping, Values) {
  Tape tape;
  Matrix A(2, 3);
  A << 1, 2, 3, 4, 5, 6;
  const Var a = tape.input(A);
  EXPECT_EQ(reshape(a, 3, 2).value(), (Matrix(3, 2) << 1, 5, 4, 3, 2, 6).finished());
  EXPECT_EQ(hstack({a, a}).value(),
            (Matrix(2, 6) << 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6).finished());
  EXPECT_EQ(vstack({a, a}).value().bottomRows(2), A);
  EXPECT_EQ(diagonal_matrix(tape.input(Vector::Ones(3))).value(), Matrix::Identity(3, 3));
  EXPECT_EQ(diagonal(block(a, 0, 0, 2, 2)).value(), (Matrix(2, 1) << 1, 5).finished());
}

}  // namespace
}  // namespace covary::autodiff_test
