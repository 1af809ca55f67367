#include "covary/linalg/vector_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/special.hpp"
#include "linalg/naive.hpp"

namespace covary {
namespace {

// Each build in turn; a machine tests those that it has.
class VectorMath : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      set_simd_level(GetParam());
    } catch (const Unsupported&) {
      GTEST_SKIP() << "this machine has no " << GetParam();
    }
    ASSERT_EQ(simd_level(), GetParam());
  }
  void TearDown() override { set_simd_level("auto"); }
};

TEST_P(VectorMath, ExpIsWithinTwoUnitsInTheLastPlace) {
  std::vector<double> x;
  for (double v = -708.0; v <= 700.0; v += 0.0137) x.push_back(v);
  for (double v = -1.0; v <= 1.0; v += 1.3e-4) x.push_back(v);
  for (double v = 1e-320; v < 1e-3; v *= 7.0) x.push_back(v), x.push_back(-v);
  std::vector<double> out(x.size());
  vector_exp(x.data(), out.data(), static_cast<Index>(x.size()));
  double worst = 0.0, worst_at = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::abs(out[i] / std::exp(x[i]) - 1.0);
    if (!(error <= worst)) worst = error, worst_at = x[i];
  }
  EXPECT_LE(worst, 4.5e-16) << "at " << worst_at;
}

TEST_P(VectorMath, ExpAtItsEnds) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> x{0.0,    -0.0, -708.0, std::nextafter(-708.0, -inf),
                        -709.0, -1e6, -1e300, -inf};
  vector_exp(x.data(), x.data(), static_cast<Index>(x.size()));  // in place
  EXPECT_EQ(x[0], 1.0);
  EXPECT_EQ(x[1], 1.0);
  EXPECT_NEAR(x[2] / std::exp(-708.0), 1.0, 4e-16);
  for (std::size_t i = 3; i < x.size(); ++i) EXPECT_EQ(x[i], 0.0) << i;
  double none = std::numeric_limits<double>::quiet_NaN();
  vector_exp(&none, &none, 1);
  EXPECT_TRUE(std::isnan(none)) << "not-a-number must not become a number";
  vector_exp(nullptr, nullptr, 0);
}

// Every length, so that vectors and their remainders are both taken.
TEST_P(VectorMath, ExpOfEveryShortLength) {
  for (Index n = 0; n <= 35; ++n) {
    const Vector x = random_matrix(n, 1, 7);
    Vector out = Vector::Constant(n + 1, -3.0);
    vector_exp(x.data(), out.data(), n);
    for (Index i = 0; i < n; ++i) EXPECT_NEAR(out(i), std::exp(x(i)), 1e-15 * std::exp(x(i)));
    EXPECT_EQ(out(n), -3.0) << "written beyond the end";
  }
}

TEST_P(VectorMath, ExpWithASlopeAndAFactor) {
  const Vector x = random_matrix(35, 1, 7);
  Vector out(35);
  vector_exp(x.data(), out.data(), 35, -0.5, 3.0);
  for (Index i = 0; i < 35; ++i) EXPECT_NEAR(out(i), 3.0 * std::exp(-0.5 * x(i)), 1e-14);
}

TEST_P(VectorMath, SoftplusAndSigmoidToTheLastPlaces) {
  std::vector<double> x{0.0, -0.0, -707.9, 707.9, 1e300, std::numeric_limits<double>::infinity()};
  for (double v = -50.0; v <= 50.0; v += 1.7e-3) x.push_back(v);
  for (double v = 1e-320; v < 1e-3; v *= 7.0) x.push_back(v), x.push_back(-v);
  const auto n = static_cast<Index>(x.size());
  std::vector<double> plus(x.size()), slope(x.size());
  vector_softplus(x.data(), plus.data(), n);
  vector_sigmoid(x.data(), slope.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_DOUBLE_EQ(plus[i], softplus(x[i])) << x[i];  // four units in the last place
    EXPECT_DOUBLE_EQ(slope[i], sigmoid(x[i])) << x[i];
  }
  double none = std::numeric_limits<double>::quiet_NaN(), far = -1e6;
  vector_softplus(&far, &far, 1);  // in place
  EXPECT_EQ(far, 0.0);
  for (const auto f : {vector_softplus, vector_sigmoid}) {
    f(&none, &none, 1);
    EXPECT_TRUE(std::isnan(none)) << "not-a-number must not become a number";
  }
}

TEST_P(VectorMath, ProductAndItsSum) {
  for (const Index n : {0, 1, 7, 35}) {
    const Vector x = random_matrix(n, 1, 1), y = random_matrix(n, 1, 2);
    Vector out = Vector::Constant(n + 1, -3.0);
    const double sum = vector_product(2.5, x.data(), y.data(), out.data(), n);
    EXPECT_NEAR(sum, 2.5 * x.dot(y), 1e-13);
    EXPECT_LE(largest_difference(out.head(n), 2.5 * x.cwiseProduct(y)), 1e-14);
    EXPECT_EQ(out(n), -3.0) << "written beyond the end";
  }
}

struct Pairs {
  Index nx, nz, dims;
};
const std::vector<Pairs> shapes{{1, 1, 1},   {5, 3, 1}, {7, 11, 3}, {64, 33, 8},
                                {130, 2, 5}, {3, 4, 0}, {0, 4, 2},  {4, 0, 2}};

TEST_P(VectorMath, SquaredDistances) {
  for (const auto& [nx, nz, dims] : shapes) {
    const Matrix x = random_matrix(nx, dims, 1), z = random_matrix(nz, dims, 2);
    Matrix r2 = Matrix::Constant(nx, nz, -1.0);
    squared_distances(x.data(), nx, z.data(), nz, dims, r2.data());
    for (Index j = 0; j < nz; ++j)
      for (Index i = 0; i < nx; ++i) {
        double sum = 0.0;
        for (Index d = 0; d < dims; ++d) sum += (x(i, d) - z(j, d)) * (x(i, d) - z(j, d));
        EXPECT_NEAR(r2(i, j), sum, 1e-14 * (1.0 + sum));
      }
  }
  // coincident points are at distance zero exactly, far from the origin too
  const Matrix x = 1e8 * random_matrix(9, 4, 3);
  Matrix r2(9, 9);
  squared_distances(x.data(), 9, x.data(), 9, 4, r2.data());
  EXPECT_TRUE(r2.diagonal().isZero(0.0));
}

TEST_P(VectorMath, SquaredDistancesPullbackAddsTheDefinition) {
  for (const auto& [nx, nz, dims] : shapes)
    for (const bool want_x : {true, false})
      for (const bool want_z : {true, false}) {
        const Matrix x = random_matrix(nx, dims, 1), z = random_matrix(nz, dims, 2);
        const Matrix W = random_matrix(nx, nz, 3);
        const Matrix start_d = random_matrix(dims, 1, 4), start_x = random_matrix(nx, dims, 5),
                     start_z = random_matrix(nz, dims, 6);
        Matrix per_dim = start_d, xbar = start_x, zbar = start_z;
        squared_distances_pullback(x.data(), nx, z.data(), nz, dims, W.data(), per_dim.data(),
                                   want_x ? xbar.data() : nullptr, want_z ? zbar.data() : nullptr);
        Matrix expect_d = start_d, expect_x = start_x, expect_z = start_z;
        for (Index d = 0; d < dims; ++d)
          for (Index j = 0; j < nz; ++j)
            for (Index i = 0; i < nx; ++i) {
              const double diff = x(i, d) - z(j, d);
              expect_d(d) += W(i, j) * diff * diff;
              if (want_x) expect_x(i, d) += 2.0 * W(i, j) * diff;
              if (want_z) expect_z(j, d) -= 2.0 * W(i, j) * diff;
            }
        EXPECT_LE(largest_difference(per_dim, expect_d), 1e-11);
        EXPECT_LE(largest_difference(xbar, expect_x), 1e-12);
        EXPECT_LE(largest_difference(zbar, expect_z), 1e-12);
      }
}

INSTANTIATE_TEST_SUITE_P(Levels, VectorMath, testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& level) { return level.param; });

TEST(SimdLevel, AnUnknownNameIsRefusedAndAutoRestores) {
  const std::string before = simd_level();
  EXPECT_THROW(set_simd_level("altivec"), Unsupported);
  EXPECT_EQ(simd_level(), before);
  set_simd_level("baseline");
  EXPECT_EQ(simd_level(), "baseline");
  set_simd_level("auto");
  EXPECT_EQ(simd_level(), before);
}

}  // namespace
}  // namespace covary
