#include "covary/autodiff/dual.hpp"

#include <random>

#include "support/gradient_check.hpp"

namespace covary {
namespace {

// The gradient by duals, and by differences of the same template at doubles.
template <class F>
void check(F&& f, double low, double high) {
  std::mt19937_64 engine(17);
  std::uniform_real_distribution<double> uniform(low, high);
  for (int point = 0; point < 10; ++point) {
    const Vector x = Vector::NullaryExpr(Dual::lanes, [&] { return uniform(engine); });
    std::array<Dual, Dual::lanes> v;
    for (int k = 0; k < Dual::lanes; ++k) v[static_cast<std::size_t>(k)] = Dual::variable(x(k), k);
    const Dual y = f(v[0], v[1], v[2], v[3]);
    auto value = [&](const Vector& at) { return double(f(at(0), at(1), at(2), at(3))); };
    EXPECT_NEAR(y.value, value(x), 1e-14 * std::max(1.0, std::abs(y.value)));
    expect_gradient(value, Eigen::Map<const Vector>(y.partial.data(), Dual::lanes), x);
  }
}

TEST(Dual, Arithmetic) {
  check([](auto a, auto b, auto c, auto d) { return a * b - c / d + 2.0 * a - 1.0 / b + (-c) * d; },
        0.5, 2);
  check(
      [](auto a, auto b, auto c, auto d) {
        auto s = a;
        s += b;
        s -= 0.5;
        s *= c;
        s /= d;
        return s;
      },
      0.5, 2);
}

TEST(Dual, Functions) {
  using std::abs, std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt, std::tanh;
  check([](auto a, auto b, auto c, auto d) { return exp(a * b) + log(c) * sqrt(d); }, 0.5, 2);
  check([](auto a, auto b, auto c, auto d) { return sin(a) * cos(b) + tanh(c * d); }, -2, 2);
  check([](auto a, auto b, auto c, auto d) { return pow(a, 2.5) + pow(b, c) + pow(d, 0.0); }, 0.5,
        2);
  check([](auto a, auto b, auto c, auto d) { return abs(a + 3.0) * abs(b - 3.0) + c + d; }, -1, 1);
}

TEST(Dual, MaximumAndMinimumFollowTheirBranch) {
  const Dual a = Dual::variable(2.0, 0), b = Dual::variable(3.0, 1);
  EXPECT_EQ(max(a, b).partial[1], 1.0);
  EXPECT_EQ(max(a, b).partial[0], 0.0);
  EXPECT_EQ(min(a, b).partial[0], 1.0);
  EXPECT_EQ(max(a, 5.0).partial[0], 0.0);
  EXPECT_EQ(max(a, 5.0).value, 5.0);
}

TEST(Dual, ComparesByValue) {
  const Dual a = Dual::variable(2.0, 0), b = Dual::variable(3.0, 1);
  EXPECT_TRUE(a < b && b > a && a <= b && b >= a && a != b);
  EXPECT_TRUE(a == Dual(2.0) && a < 2.5 && 1.0 < a);
  EXPECT_FALSE(Dual(std::nan("")) < a);
}

// Matérn 3/2 at coincident points: r = √0 must not poison the gradient, which is zero there.
TEST(Dual, SquareRootOfZeroDistance) {
  const Dual x = Dual::variable(0.4, 0), z = Dual::variable(0.4, 1), l = Dual::variable(0.7, 2);
  const Dual r = sqrt((x - z) * (x - z)) * std::sqrt(3.0) / l;
  const Dual k = (1.0 + r) * exp(-r);
  EXPECT_EQ(k.value, 1.0);
  for (double p : k.partial) EXPECT_EQ(p, 0.0);
  EXPECT_EQ(pow((x - z) * (x - z), 0.5).partial[0], 0.0);
  EXPECT_TRUE(std::isinf(sqrt(Dual::variable(0.0, 0)).partial[0]));
}

}  // namespace
}  // namespace covary
