// The vector loops at every instruction set that the machine has: against long doubles, and against
// the baseline.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/linalg/vector_math.hpp"
#include "linalg/naive.hpp"

namespace covary {
namespace {

using Exact = long double;
constexpr double unit = std::numeric_limits<double>::epsilon();

class SimdLevels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      set_simd_level(GetParam());
    } catch (const Unsupported&) {
      GTEST_SKIP() << "this machine has no " << GetParam();
    }
  }
  void TearDown() override { set_simd_level("auto"); }

  // What f() computes at this level and at the baseline.
  template <class F>
  std::pair<Matrix, Matrix> both(const F& f) const {
    set_simd_level(GetParam());
    const Matrix own = f();
    set_simd_level("baseline");
    const Matrix base = f();
    set_simd_level(GetParam());
    return {own, base};
  }
};

Vector grid(double low, double high, Index n) {
  Vector out = Vector::LinSpaced(n, low, high);
  for (Index i = 0; i < n; ++i) out(i) += 1e-4 * std::sin(static_cast<double>(i));
  return out;
}

// The largest error of f over x, relative to the exact one.
template <class F>
double worst(const Vector& x, const Vector& values, const F& exact) {
  double out = 0.0;
  for (Index i = 0; i < x.size(); ++i) {
    const Exact e = exact(Exact(x(i)));
    out = std::max(out, static_cast<double>(std::abs((Exact(values(i)) - e) / e)));
  }
  return out;
}

TEST_P(SimdLevels, FunctionsOfOneNumber) {
  Vector x(40000);
  x << grid(-707.5, 700.0, 20000), grid(-3.0, 3.0, 20000);
  const auto exp_of = [&] {
    Vector out(x.size());
    vector_exp(x.data(), out.data(), x.size());
    return out;
  };
  EXPECT_LE(worst(x, exp_of(), [](Exact v) { return std::exp(v); }), 4e-16);
  const auto [e, e0] = both(exp_of);
  EXPECT_LE((e.array() / e0.array() - 1.0).abs().maxCoeff(), 2.0 * unit);

  const Vector y = grid(-707.0, 707.0, 40000);
  const auto plus_of = [&] {
    Vector out(y.size());
    vector_softplus(y.data(), out.data(), y.size());
    return out;
  };
  const auto sigmoid_of = [&] {
    Vector out(y.size());
    vector_sigmoid(y.data(), out.data(), y.size());
    return out;
  };
  EXPECT_LE(worst(y, plus_of(),
                  [](Exact v) { return std::log1p(std::exp(-std::abs(v))) + (v > 0 ? v : 0); }),
            1e-15);
  EXPECT_LE(worst(y, sigmoid_of(), [](Exact v) { return 1 / (1 + std::exp(-v)); }), 1e-15);
  for (const auto& [own, base] : {both(plus_of), both(sigmoid_of)})
    EXPECT_LE((own.array() / base.array() - 1.0).abs().maxCoeff(), 4.0 * unit);
}

TEST_P(SimdLevels, SlopeAndFactor) {
  const Vector x = grid(0.0, 900.0, 5000);
  const auto f = [&] {
    Vector out(x.size());
    vector_exp(x.data(), out.data(), x.size(), -0.75, 2.5);
    return out;
  };
  // The product −0.75·x is exact to half a unit in its last place, which the exponential enlarges.
  const Vector values = f();
  for (Index i = 0; i < x.size(); ++i) {
    const Exact e = Exact(2.5) * std::exp(Exact(-0.75) * x(i));
    EXPECT_LE(std::abs(static_cast<double>((values(i) - e) / e)), (6.0 + 0.75 * x(i)) * 0.5 * unit);
  }
  const auto [own, base] = both(f);
  EXPECT_LE((own.array() / base.array() - 1.0).abs().maxCoeff(), 700.0 * unit);
}

// A sum of n products has an error of at most n units of the sum of their sizes; vectors add in
// another order, and hardly anything of that comes about.
TEST_P(SimdLevels, ProductsAndTheirSum) {
  for (const Index n : {1, 8, 63, 1000}) {
    const Vector x = random_matrix(n, 1, 1), y = random_matrix(n, 1, 2);
    const auto f = [&] {
      Vector out(n + 1);
      out(n) = vector_product(1.7, x.data(), y.data(), out.data(), n);
      return out;
    };
    const Vector values = f();
    Exact sum = 0, size = 0;
    for (Index i = 0; i < n; ++i) {
      const Exact e = Exact(1.7) * x(i) * y(i);
      EXPECT_LE(std::abs(static_cast<double>(values(i) - e)),
                1.01 * unit * std::abs(static_cast<double>(e)));
      sum += e;
      size += std::abs(e);
    }
    EXPECT_LE(std::abs(static_cast<double>(values(n) - sum)), 4.0 * unit * double(size));
    const auto [own, base] = both(f);
    EXPECT_EQ(Matrix(own.topRows(n)), Matrix(base.topRows(n)));
    EXPECT_NEAR(own(n), base(n), 4.0 * unit * double(size));
  }
}

TEST_P(SimdLevels, SquaredDistancesAndTheirPullback) {
  for (const Index dims : {1, 3, 4, 6, 37})
    for (const auto& [nx, nz] : {std::pair<Index, Index>{5, 3}, {16, 8}, {67, 21}}) {
      SCOPED_TRACE(testing::Message() << nx << "×" << nz << ", " << dims << " dimensions");
      const Matrix x = random_matrix(nx, dims, 1), z = random_matrix(nz, dims, 2),
                   W = random_matrix(nx, nz, 3);
      const auto distances = [&, rows = nx, cols = nz] {
        Matrix r2(rows, cols);
        squared_distances(x.data(), rows, z.data(), cols, dims, r2.data());
        return r2;
      };
      const auto pullback = [&, rows = nx, cols = nz] {  // per_dim, xbar, zbar, one below another
        Vector per_dim = Vector::Zero(dims);
        Matrix out = Matrix::Zero(1 + rows + cols, dims), xbar = Matrix::Zero(rows, dims),
               zbar = Matrix::Zero(cols, dims);
        squared_distances_pullback(x.data(), rows, z.data(), cols, dims, W.data(), per_dim.data(),
                                   xbar.data(), zbar.data());
        out << per_dim.transpose(), xbar, zbar;
        return out;
      };
      const Matrix r2 = distances(), bars = pullback();
      Matrix sizes = Matrix::Zero(bars.rows(), dims);  // Σ|…|, of which an error is a share
      std::vector<Exact> exact(static_cast<std::size_t>(bars.size()));
      const auto add = [&](Index row, Index d, Exact v) {
        exact[static_cast<std::size_t>(row * dims + d)] += v;
        sizes(row, d) += std::abs(static_cast<double>(v));
      };
      for (Index j = 0; j < nz; ++j)
        for (Index i = 0; i < nx; ++i) {
          Exact sum = 0;
          for (Index d = 0; d < dims; ++d) {
            const Exact away = Exact(x(i, d)) - z(j, d);
            sum += away * away;
            add(0, d, W(i, j) * away * away);
            add(1 + i, d, 2 * W(i, j) * away);
            add(1 + nx + j, d, -2 * W(i, j) * away);
          }
          EXPECT_LE(std::abs(static_cast<double>(r2(i, j) - sum)),
                    (2.0 + std::sqrt(static_cast<double>(dims))) * unit * double(sum));
        }
      for (Index row = 0; row < bars.rows(); ++row)
        for (Index d = 0; d < dims; ++d)
          EXPECT_LE(std::abs(static_cast<double>(bars(row, d) -
                                                 exact[static_cast<std::size_t>(row * dims + d)])),
                    8.0 * unit * sizes(row, d));
      const auto [own, base] = both(distances);
      EXPECT_LE(((own - base).array() / base.array()).abs().maxCoeff(),
                (2.0 + std::sqrt(static_cast<double>(dims))) * unit);
      const auto [own_bars, base_bars] = both(pullback);
      EXPECT_LE((own_bars - base_bars).cwiseQuotient(sizes).cwiseAbs().maxCoeff(), 8.0 * unit);
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdLevels, testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace covary
