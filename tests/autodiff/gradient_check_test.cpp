#include "support/gradient_check.hpp"

#include <stdexcept>

namespace covary {
namespace {

// The helper on which every other gradient test leans.
double smooth(const Vector& x) { return std::exp(x(0)) * std::sin(3.0 * x(1)) + x(0) * x(1); }

Vector smooth_gradient(const Vector& x) {
  return Vector{{std::exp(x(0)) * std::sin(3.0 * x(1)) + x(1),
                 3.0 * std::exp(x(0)) * std::cos(3.0 * x(1)) + x(0)}};
}

TEST(GradientCheck, IsAccurateFarBelowItsTolerance) {
  for (double scale : {0.0, 1.0, 3.0}) {
    const Vector x{{0.3 * scale, -0.8 * scale}};
    EXPECT_LE(gradient_error(smooth, smooth_gradient(x), x), 1e-9);
  }
}

TEST(GradientCheck, SeesASmallMistake) {
  const Vector x{{0.3, -0.8}};
  Vector g = smooth_gradient(x);
  g(1) += 2e-5 * g.cwiseAbs().maxCoeff();
  EXPECT_GT(gradient_error(smooth, g, x), 1e-6);
  EXPECT_TRUE(std::isinf(gradient_error(smooth, Vector::Zero(3), x)));
  EXPECT_TRUE(std::isinf(gradient_error(smooth, Vector{{1.0, std::nan("")}}, x)));
}

TEST(GradientCheck, ShortensItsStepAtTheEdgeOfTheDomain) {
  const Vector x{{1e-3}};
  const Vector g{{1e3}};
  EXPECT_LE(gradient_error([](const Vector& v) { return std::log(v(0)); }, g, x), 1e-8);
  auto throwing = [](const Vector& v) {
    if (v(0) <= 0) throw std::domain_error("outside");
    return std::log(v(0));
  };
  EXPECT_LE(gradient_error(throwing, g, x), 1e-8);
  auto never = [](const Vector&) -> double { throw std::domain_error("outside"); };
  EXPECT_TRUE(std::isinf(gradient_error(never, g, x)));
}

TEST(GradientCheck, LargeAndSmallScales) {
  const Vector x{{1e6}};
  EXPECT_LE(gradient_error([](const Vector& v) { return v(0) * v(0); }, Vector{{2e6}}, x), 1e-9);
  auto narrow = [](const Vector& v) { return std::sin(200.0 * v(0)); };
  EXPECT_LE(gradient_error(narrow, Vector{{200.0 * std::cos(20.0)}}, Vector{{0.1}}), 1e-8);
}

}  // namespace
}  // namespace covary
