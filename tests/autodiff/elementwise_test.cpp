#include <cmath>

#include "autodiff/check.hpp"

namespace covary::autodiff_test {
namespace {

using Inputs = const std::vector<Var>&;

struct Binary {
  const char* name;
  Var (*apply)(Var, Var);
  double (*value)(double, double);
};

class BinaryOperations : public testing::TestWithParam<Binary> {};

TEST_P(BinaryOperations, BroadcastValuesAndGradients) {
  const Binary binary = GetParam();
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{3, 2}, {3, 2}}, {{3, 2}, {1, 2}}, {{3, 2}, {3, 1}}, {{3, 2}, {1, 1}}, {{1, 1}, {3, 2}},
      {{1, 2}, {3, 2}}, {{3, 1}, {3, 2}}, {{3, 1}, {1, 2}}, {{1, 1}, {1, 1}}};
  for (auto [a, b] : shapes) {
    SCOPED_TRACE(testing::Message()
                 << a.rows << "x" << a.cols << " with " << b.rows << "x" << b.cols);
    std::mt19937_64 engine(7);
    const Matrix A = random_matrix(engine, a.rows, a.cols),
                 B = random_matrix(engine, b.rows, b.cols);
    Tape tape;
    const Var out = binary.apply(tape.input(A), tape.input(B));
    ASSERT_EQ(out.rows(), std::max(a.rows, b.rows));
    ASSERT_EQ(out.cols(), std::max(a.cols, b.cols));
    for (Index j = 0; j < out.cols(); ++j)
      for (Index i = 0; i < out.rows(); ++i)
        EXPECT_DOUBLE_EQ(out.value()(i, j),
                         binary.value(A(i % a.rows, j % a.cols), B(i % b.rows, j % b.cols)));
    Check({a, b}, [&](Tape&, Inputs in) {
      return binary.apply(in[0], in[1]);
    }).at_random_points(0.5, 2.0);  // away from a division by zero
  }
}

INSTANTIATE_TEST_SUITE_P(All, BinaryOperations,
                         testing::Values(Binary{"plus", [](Var a, Var b) { return a + b; },
                                                [](double a, double b) { return a + b; }},
                                         Binary{"minus", [](Var a, Var b) { return a - b; },
                                                [](double a, double b) { return a - b; }},
                                         Binary{"over", [](Var a, Var b) { return a / b; },
                                                [](double a, double b) { return a / b; }},
                                         Binary{"hadamard",
                                                [](Var a, Var b) { return hadamard(a, b); },
                                                [](double a, double b) { return a * b; }}),
                         [](const auto& p) { return p.param.name; });

struct Unary {
  const char* name;
  Var (*apply)(Var);
  double (*value)(double);
  double low, high;
};

class UnaryOperations : public testing::TestWithParam<Unary> {};

TEST_P(UnaryOperations, ValuesAndGradients) {
  const Unary unary = GetParam();
  std::mt19937_64 engine(3);
  const Matrix X = random_matrix(engine, 3, 4, unary.low, unary.high);
  Tape tape;
  const Var y = unary.apply(tape.input(X));
  for (Index n = 0; n < X.size(); ++n)
    EXPECT_NEAR(y.value().data()[n], unary.value(X.data()[n]), 1e-14);
  Check({{3, 4}}, [&](Tape&, Inputs in) {
    return unary.apply(in[0]);
  }).at_random_points(unary.low, unary.high);
}

INSTANTIATE_TEST_SUITE_P(
    All, UnaryOperations,
    testing::Values(
        Unary{"exp", exp, [](double x) { return std::exp(x); }, -3, 3},
        Unary{"log", log, [](double x) { return std::log(x); }, 0.3, 4},
        Unary{"sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.3, 4},
        Unary{"square", square, [](double x) { return x * x; }, -3, 3},
        Unary{"reciprocal", reciprocal, [](double x) { return 1 / x; }, 0.5, 4},
        Unary{"pow3", [](Var x) { return pow(x, 3.0); }, [](double x) { return x * x * x; }, -2, 2},
        Unary{"pow_half", [](Var x) { return pow(x, -0.5); },
              [](double x) { return 1 / std::sqrt(x); }, 0.3, 3},
        Unary{"pow0", [](Var x) { return pow(x, 0.0); }, [](double) { return 1.0; }, -2, 2},
        Unary{"sin", sin, [](double x) { return std::sin(x); }, -6, 6},
        Unary{"cos", cos, [](double x) { return std::cos(x); }, -6, 6},
        Unary{"tanh", tanh, [](double x) { return std::tanh(x); }, -3, 3},
        Unary{"softplus", softplus, [](double x) { return std::log(1 + std::exp(x)); }, -5, 5},
        Unary{"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -5, 5},
        Unary{"normal_cdf", normal_cdf,
              [](double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }, -3, 3},
        Unary{"negate", [](Var x) { return -x; }, [](double x) { return -x; }, -3, 3},
        Unary{"plus_number", [](Var x) { return 2.0 + x + 1.0; }, [](double x) { return x + 3; },
              -3, 3},
        Unary{"minus_number", [](Var x) { return 2.0 - (x - 0.5); },
              [](double x) { return 2.5 - x; }, -3, 3},
        Unary{"times_number", [](Var x) { return 2.0 * x * 1.5; }, [](double x) { return 3 * x; },
              -3, 3},
        Unary{"over_number", [](Var x) { return x / 4.0; }, [](double x) { return x / 4; }, -3, 3},
        Unary{"number_over", [](Var x) { return 3.0 / x; }, [](double x) { return 3 / x; }, 0.5,
              3}),
    [](const auto& p) { return p.param.name; });

TEST(Elementwise, FarTailsStayFiniteAndAccurate) {
  Tape tape;
  Matrix X(4, 1);
  X << -800, -40, 40, 800;
  const Var x = tape.input(X);
  const Matrix& plus = softplus(x).value();
  EXPECT_EQ(plus(0), 0.0);
  EXPECT_NEAR(plus(1) / std::exp(-40.0), 1.0, 1e-14);
  EXPECT_EQ(plus(2), 40.0);
  EXPECT_EQ(plus(3), 800.0);
  const Var s = sigmoid(x);
  EXPECT_EQ(s.value()(0), 0.0);
  EXPECT_NEAR(s.value()(1) / std::exp(-40.0), 1.0, 1e-14);
  EXPECT_EQ(s.value()(3), 1.0);
  const Matrix slope = tape.gradient(sum(s))[x];
  EXPECT_NEAR(slope(1) / std::exp(-40.0), 1.0, 1e-14);
  EXPECT_NEAR(slope(2) / std::exp(-40.0), 1.0, 1e-14);  // y(1 − y) would have lost it
  EXPECT_NEAR(normal_cdf(tape.input(-10.0)).scalar(), 7.619853024160527e-24, 1e-37);
}

}  // namespace
}  // namespace covary::autodiff_test
