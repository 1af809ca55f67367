#include <cmath>
#include <numbers>

#include "autodiff/check.hpp"
#include "covary/error.hpp"

namespace covary::autodiff_test {
namespace {

using Inputs = const std::vector<Var>&;

template <class F>
std::string input_error(F&& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// −½yᵀK⁻¹y − ½log|K| − ½N log 2π with K = variance·exp(−½r²/ℓ²) + noise·I.
struct Evidence {
  Var log_variance, log_lengthscale, log_noise, value;
  Evidence(Tape& tape, const Vector& theta, const Matrix& r2, const Vector& y)
      : log_variance(tape.input(theta(0))),
        log_lengthscale(tape.input(theta(1))),
        log_noise(tape.input(theta(2))) {
    const Var scaled = tape.constant(-0.5 * r2) * exp(-2.0 * log_lengthscale);
    const Var K = add_to_diagonal(exp(log_variance) * exp(scaled), exp(log_noise));
    const Var L = cholesky(K);
    const Var alpha = solve_lower(L, tape.constant(y));
    value = -0.5 * dot(alpha, alpha) - 0.5 * log_determinant_of_factor(L) -
            0.5 * static_cast<double>(y.size()) * std::log(2 * std::numbers::pi);
  }
  Vector gradient() const {
    const Gradients g = value.tape().gradient(value);
    return Vector{{g[log_variance](0, 0), g[log_lengthscale](0, 0), g[log_noise](0, 0)}};
  }
};

struct EvidenceProblem {
  Matrix r2;
  Vector y;
  explicit EvidenceProblem(Index n) : r2(n, n), y(n) {
    for (Index i = 0; i < n; ++i) {
      y(i) = std::sin(0.9 * i) + 0.2 * std::cos(5.0 * i);
      for (Index j = 0; j < n; ++j) r2(i, j) = std::pow(0.3 * (i - j), 2);
    }
  }
};

TEST(Composite, LogMarginalLikelihoodAgainstTheClosedForm) {
  const EvidenceProblem p(12);
  std::mt19937_64 engine(9);
  Tape tape;
  for (int point = 0; point < 10; ++point) {
    Vector theta = random_matrix(engine, 3, 1, -1, 1);
    if (point == 9) theta << 2.0, 0.5, -11.0;  // nearly noiseless: condition 1e8
    tape.clear();
    const Evidence evidence(tape, theta, p.r2, p.y);

    // ½tr((ααᵀ − K⁻¹) ∂K/∂θ), α = K⁻¹y
    const double l2 = std::exp(2 * theta(1));
    const Matrix Kff = std::exp(theta(0)) * (-0.5 / l2 * p.r2).array().exp().matrix();
    Matrix K = Kff;
    K.diagonal().array() += std::exp(theta(2));
    const Cholesky factor = cholesky(K);
    const Vector alpha = factor.solve(ConstVector(p.y));
    Matrix inner = -factor.inverse();
    for (Index j = 0; j < inner.cols(); ++j) inner.col(j) += alpha * alpha(j);
    const Vector closed{{0.5 * frobenius(inner, Kff),
                         0.5 * frobenius(inner, Kff.cwiseProduct(p.r2) / l2),
                         0.5 * inner.trace() * std::exp(theta(2))}};
    const double value = -0.5 * p.y.dot(alpha) - 0.5 * factor.log_determinant() -
                         6.0 * std::log(2 * std::numbers::pi);
    const double scale = std::max(1.0, closed.cwiseAbs().maxCoeff());
    EXPECT_NEAR(evidence.value.scalar(), value, point == 9 ? 1e-6 * std::abs(value) : 1e-10);
    EXPECT_LE((evidence.gradient() - closed).cwiseAbs().maxCoeff(),
              (point == 9 ? 1e-6 : 1e-10) * scale)
        << evidence.gradient().transpose() << " against " << closed.transpose();
    auto f = [&](const Vector& t) {
      Tape other;
      return Evidence(other, t, p.r2, p.y).value.scalar();
    };
    expect_gradient(f, evidence.gradient(), theta);
  }
}

// The collapsed bound of Titsias in its small matrices, as functions of Kuu's and Kuf's parameters.
TEST(Composite, CollapsedBoundLikeExpression) {
  Check({{3, 3}, {3, 5}, {5, 1}, {1, 1}}, [](Tape& tape, Inputs in) {
    const Var one = tape.constant(1.0);
    const Var Luu = cholesky(add_to_diagonal(matmul_nt(in[0], in[0]), one));
    const Var noise = softplus(in[3]);
    const Var A = solve_lower(Luu, in[1]);
    const Var LB = cholesky(add_to_diagonal(matmul_nt(A, A) / noise, one));
    const Var c = solve_lower(LB, A * in[2]) / noise;
    return 0.5 * dot(c, c) - 0.5 * log_determinant_of_factor(LB) - 0.5 * dot(in[2], in[2]) / noise +
           0.5 * trace(matmul_nt(A, A)) / noise - 2.5 * log(noise);
  }).at_random_points();
}

TEST(Tape, ReuseAfterClearGivesTheSameAndKeepsTheMemory) {
  const EvidenceProblem p(12);
  const Vector theta{{0.3, 0.1, -1.0}};
  Tape tape;
  const double *first_value = nullptr, *first_bar = nullptr;
  Vector first_gradient;
  Index size = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    tape.clear();
    EXPECT_EQ(tape.size(), 0);
    const Evidence evidence(tape, theta, p.r2, p.y);
    const Vector gradient = evidence.gradient();
    const double* value = evidence.value.value().data();
    const double* bar = tape.gradient(evidence.value)[evidence.log_noise].data();
    if (repeat == 0) {
      first_value = value;
      first_bar = bar;
      first_gradient = gradient;
      size = tape.size();
    }
    EXPECT_EQ(value, first_value);
    EXPECT_EQ(bar, first_bar);
    EXPECT_EQ(gradient, first_gradient);  // to the bit
    EXPECT_EQ(tape.size(), size);
  }
}

TEST(Tape, ReuseWithOtherShapesAndOperations) {
  Tape tape;
  const Var big = tape.input(Matrix::Ones(5, 5));
  EXPECT_EQ(tape.gradient(sum(matmul(big, big)))[big], Matrix::Constant(5, 5, 10.0));
  tape.clear();
  const Var small = tape.input(Matrix::Constant(2, 1, 3.0));
  const Var other = tape.input(1.0);
  const Gradients g = tape.gradient(sum(square(small)));
  EXPECT_EQ(g[small], Matrix::Constant(2, 1, 6.0));
  EXPECT_EQ(g[other], Matrix::Zero(1, 1));
}

TEST(Tape, ValuesStayPutWhileItGrows) {
  Tape tape;
  const Var x = tape.input(Matrix::Ones(2, 2));
  const Matrix& value = x.value();
  Var y = x;
  for (int n = 0; n < 1000; ++n) y = y + 1.0;
  EXPECT_EQ(&value, &x.value());
  EXPECT_EQ(y.value()(0, 0), 1001.0);
}

TEST(Tape, GradientsOfSeveralScalarsAndIntermediates) {
  Tape tape;
  const Var x = tape.input(2.0);
  const Var y = square(x);
  const Var a = 3.0 * y, b = exp(x);
  const Gradients first = tape.gradient(a);
  EXPECT_EQ(first[x](0, 0), 12.0);
  EXPECT_EQ(first[y](0, 0), 3.0);
  const Gradients second = tape.gradient(b);
  EXPECT_EQ(second[x](0, 0), std::exp(2.0));
  EXPECT_EQ(second[y](0, 0), 0.0);  // exp(x) does not go through y
  EXPECT_TRUE(contains(input_error([&] { first[x]; }), "earlier sweep"));
}

TEST(Tape, ConstantsAreNotDifferentiated) {
  Tape tape;
  int pulled = 0;
  const Var c = tape.constant(2.0), x = tape.input(3.0);
  auto counting = [&](Var in) {
    return tape.custom({in}, in.value(), [&](const Matrix& bar, std::span<Matrix*> bars) {
      ++pulled;
      *bars[0] += bar;
    });
  };
  const Var from_constant = counting(c);
  EXPECT_FALSE(from_constant.needs_gradient());
  EXPECT_EQ(tape.gradient(x * from_constant)[x](0, 0), 2.0);
  EXPECT_EQ(pulled, 0);
  EXPECT_EQ(tape.gradient(x * counting(x))[x](0, 0), 6.0);
  EXPECT_EQ(pulled, 1);
  counting(x);  // unused by the scalar below
  EXPECT_EQ(tape.gradient(x * c)[x](0, 0), 2.0);
  EXPECT_EQ(pulled, 1);
  EXPECT_EQ(tape.gradient(c)[x](0, 0), 0.0);
  EXPECT_TRUE(contains(input_error([&] { tape.gradient(x * c)[c]; }), "Tape::input"));
}

// Σ sin(a)ᵢⱼ·bᵢⱼ as one operation of the caller's own.
TEST(Tape, CustomOperation) {
  auto sin_times = [](Tape& tape, Var a, Var b) {
    return tape.custom({a, b}, a.value().array().sin() * b.value().array(),
                       [a, b](const Matrix& bar, std::span<Matrix*> bars) {
                         if (bars[0])
                           bars[0]->array() +=
                               bar.array() * a.value().array().cos() * b.value().array();
                         if (bars[1]) bars[1]->array() += bar.array() * a.value().array().sin();
                       });
  };
  Check({{2, 3}, {2, 3}}, [&](Tape& t, Inputs in) {
    return sin_times(t, in[0], in[1]) + hadamard(in[0], in[1]);
  }).at_random_points();
  Check({{2, 3}}, [&](Tape& t, Inputs in) {
    return sin_times(t, in[0], in[0]);
  }).at_random_points();
  Check({{2, 3}}, [&](Tape& t, Inputs in) {
    return sin_times(t, in[0], t.constant(Matrix::Constant(2, 3, 0.7)));
  }).at_random_points();
}

TEST(Tape, CustomOperationsThatAreWrong) {
  Tape tape;
  const Var x = tape.input(Matrix::Ones(2, 2));
  EXPECT_TRUE(
      contains(input_error([&] { tape.custom({}, Matrix::Ones(1, 1), nullptr); }), "pullback"));
  const Tape::Pullback nothing = [](const Matrix&, std::span<Matrix*>) {};
  EXPECT_TRUE(
      contains(input_error([&] { tape.custom({}, Matrix::Ones(1, 1), nothing); }), "input"));
  const Var bad = tape.custom(
      {x}, Matrix::Ones(1, 1), [](const Matrix& bar, std::span<Matrix*> bars) { *bars[0] = bar; },
      "gram");
  const std::string message = input_error([&] { tape.gradient(bad); });
  EXPECT_TRUE(contains(message, "gram") && contains(message, "1×1") && contains(message, "2×2"))
      << message;
}

TEST(Tape, AFailedOperationLeavesNoTrace) {
  Tape tape;
  const Var x = tape.input(Matrix::Ones(2, 3));
  const Var y = sum(square(x));
  const Index before = tape.size();
  EXPECT_THROW(x + tape.input(Matrix::Ones(3, 3)), InputError);
  EXPECT_THROW(cholesky(x), InputError);
  EXPECT_THROW(cholesky(tape.input(-Matrix::Identity(3, 3))), NumericalError);
  EXPECT_EQ(tape.size(), before + 2);  // the two inputs
  const Var z = y + sum(x);
  EXPECT_EQ(tape.gradient(z)[x], Matrix::Constant(2, 3, 3.0));
}

TEST(Tape, BadShapesNameTheOperationAndBothShapes) {
  Tape tape;
  const Var a = tape.input(Matrix::Ones(2, 3)), b = tape.input(Matrix::Ones(4, 5));
  const std::vector<std::pair<std::string, std::function<Var()>>> both{
      {"+", [&] { return a + b; }},
      {"-", [&] { return a - b; }},
      {"/", [&] { return a / b; }},
      {"hadamard", [&] { return hadamard(a, b); }},
      {"matmul", [&] { return matmul(a, b); }},
      {"matmul", [&] { return a * b; }},
      {"matmul AᵀB", [&] { return matmul_tn(a, b); }},
      {"matmul ABᵀ", [&] { return matmul_nt(a, b); }},
      {"frobenius", [&] { return frobenius(a, b); }},
      {"dot", [&] { return dot(a, b); }},
      {"hstack",
       [&] {
         return hstack({a, b});
       }},
      {"vstack", [&] {
         return vstack({a, b});
       }}};
  for (const auto& [name, apply] : both) {
    const std::string message = input_error(apply);
    EXPECT_TRUE(contains(message, name) && contains(message, "2×3") && contains(message, "4×5"))
        << message;
  }
  const std::vector<std::pair<std::string, std::function<Var()>>> one{
      {"cholesky", [&] { return cholesky(a); }},
      {"log_determinant", [&] { return log_determinant(a); }},
      {"log_determinant_of_factor", [&] { return log_determinant_of_factor(a); }},
      {"solve_lower", [&] { return solve_lower(a, b); }},
      {"solve_lower_right", [&] { return solve_lower_right(a, b); }},
      {"trace", [&] { return trace(a); }},
      {"diagonal", [&] { return diagonal(a); }},
      {"diagonal_matrix", [&] { return diagonal_matrix(a); }},
      {"add_to_diagonal", [&] { return add_to_diagonal(a, b); }},
      {"reshape", [&] { return reshape(a, 4, 2); }},
      {"block", [&] { return block(a, 1, 0, 2, 2); }}};
  for (const auto& [name, apply] : one) {
    const std::string message = input_error(apply);
    EXPECT_TRUE(contains(message, name) && contains(message, "2×3")) << message;
  }
  const Var L = tape.input(Matrix::Identity(3, 3));
  EXPECT_TRUE(contains(input_error([&] { solve_lower(L, b); }), "4×5"));
  EXPECT_TRUE(contains(input_error([&] { solve_lower_right(L, b); }), "4×5"));
  EXPECT_TRUE(contains(input_error([&] { add_to_diagonal(L, b); }), "4×5"));
  EXPECT_TRUE(contains(input_error([&] { tape.gradient(a); }), "2×3"));
  EXPECT_TRUE(contains(input_error([&] { a.scalar(); }), "2×3"));
}

TEST(Tape, VarsThatDoNotBelong) {
  Tape tape, other;
  const Var x = tape.input(1.0), y = other.input(1.0);
  EXPECT_TRUE(contains(input_error([&] { x + y; }), "different tapes"));
  EXPECT_TRUE(contains(input_error([&] { tape.gradient(y); }), "another tape"));
  EXPECT_TRUE(contains(input_error([&] { tape.gradient(x)[y]; }), "another tape"));
  EXPECT_TRUE(contains(input_error([&] { exp(Var()); }), "no tape"));
  tape.clear();
  EXPECT_TRUE(contains(input_error([&] { exp(x); }), "cleared"));
  EXPECT_TRUE(contains(input_error([&] { x.value(); }), "cleared"));
}

TEST(Tape, ANonFiniteValueIsTracedToItsOperation) {
  Tape tape;
  const Var x = tape.input((Matrix(2, 1) << 1.0, -1.0).finished());
  const Var y = sum(exp(log(x)));
  try {
    tape.gradient(y);
    FAIL() << "the gradient of NaN was taken";
  } catch (const NumericalError& e) {
    EXPECT_TRUE(contains(e.what(), "row 1") && contains(e.what(), "log")) << e.what();
  }
}

TEST(Tape, EmptyMatrices) {
  Tape tape;
  const Var a = tape.input(Matrix(0, 3)), b = tape.input(Matrix::Ones(3, 2));
  EXPECT_EQ((a * b).rows(), 0);
  const Var total = sum(matmul_tn(a, a)) + sum(b);
  EXPECT_EQ(total.scalar(), 6.0);
  const Gradients g = tape.gradient(total);
  EXPECT_EQ(g[a].cols(), 3);
  EXPECT_EQ(g[b], Matrix::Ones(3, 2));
}

}  // namespace
}  // namespace covary::autodiff_test
