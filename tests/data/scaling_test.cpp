#include "covary/data/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RowMatrix sample() { return RowMatrix{{1, 10, -2}, {2, nan, 4}, {3, 30, 4}, {nan, 20, -6}}; }

TEST(Scaling, ColumnsHaveMeanZeroAndDeviationOne) {
  const ScalingFit fit = fit_scaling(sample(), ScaleMode::columns);
  EXPECT_TRUE(fit.warnings.empty());
  EXPECT_NEAR(fit.scaling.shift[0], 2, 1e-15);
  EXPECT_NEAR(fit.scaling.scale[0], std::sqrt(2.0 / 3), 1e-15);
  EXPECT_NEAR(fit.scaling.shift[1], 20, 1e-14);
  EXPECT_NEAR(fit.scaling.scale[1], std::sqrt(200.0 / 3), 1e-14);
  EXPECT_NEAR(fit.scaling.shift[2], 0, 1e-15);
  EXPECT_NEAR(fit.scaling.scale[2], std::sqrt(18.0), 1e-14);
  const RowMatrix scaled = fit.scaling.apply(sample());
  EXPECT_NEAR(scaled(0, 0), -std::sqrt(1.5), 1e-14);
  EXPECT_TRUE(std::isnan(scaled(1, 1)));
}

TEST(Scaling, UndoesItself) {
  for (ScaleMode mode : {ScaleMode::columns, ScaleMode::global, ScaleMode::none}) {
    const Scaling s = fit_scaling(sample(), mode).scaling;
    const RowMatrix back = s.undo(s.apply(sample()));
    for (Index i = 0; i < back.size(); ++i) {
      if (std::isnan(sample().data()[i]))
        EXPECT_TRUE(std::isnan(back.data()[i]));
      else
        EXPECT_NEAR(back.data()[i], sample().data()[i], 1e-13);
    }
  }
}

TEST(Scaling, VarianceScalesBySquares) {
  const Scaling s{Vector{{5, 7}}, Vector{{2, 10}}};
  EXPECT_EQ(s.undo_variance(RowMatrix{{1, 1}, {3, 0.5}}), (RowMatrix{{4, 100}, {12, 50}}));
}

TEST(Scaling, LogJacobianTurnsTheDensityIntoTheDatasUnits) {
  const Scaling s{Vector{{1, -2}}, Vector{{3, 0.5}}};
  const RowMatrix Y{{2, nan}, {4, -1}, {nan, -2.5}, {0, nan}};
  EXPECT_NEAR(s.log_jacobian(Y), 3 * std::log(3) + 2 * std::log(0.5), 1e-14);
  // log N(y | 1 + 3·0, 9) = log N(t | 0, 1) − log 3 with t = (y − 1)/3.
  const RowMatrix y{{4}};
  const Scaling one{Vector{{1}}, Vector{{3}}};
  const double t = one.apply(y)(0, 0), log2pi = std::log(2 * M_PI);
  EXPECT_NEAR(-0.5 * (log2pi + t * t) - one.log_jacobian(y),
              -0.5 * (log2pi + std::log(9.0) + 9.0 / 9.0), 1e-14);
}

TEST(Scaling, GlobalKeepsRelativeSizes) {
  const RowMatrix X{{0, 100, 7}, {2, 300, 7}};
  const ScalingFit fit = fit_scaling(X, ScaleMode::global);
  EXPECT_EQ(fit.scaling.shift, (Vector{{1, 200, 7}}));
  const double pooled = std::sqrt((2 * 1.0 + 2 * 1e4 + 0) / 6);
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR(fit.scaling.scale[j], pooled, 1e-12);
  EXPECT_TRUE(fit.warnings.empty());
  EXPECT_NEAR(fit.scaling.apply(X).array().square().mean(), 1, 1e-14);
}

TEST(Scaling, ConstantColumnsAreLeftAloneInAnyUnits) {
  Random random(3);
  for (double unit : {1e-200, 1e-8, 1.0, 1e8, 1e200}) {
    RowMatrix X(50, 4);
    for (Index i = 0; i < 50; ++i) {
      X(i, 0) = 0.1 * unit;                             // constant, not a binary fraction
      X(i, 1) = unit * (3 + 1e-14 * random.uniform());  // constant but for rounding
      X(i, 2) = unit * (1 + 1e-6 * random.normal());    // small, but it varies
      X(i, 3) = 0;
    }
    const ScalingFit fit = fit_scaling(X, ScaleMode::columns, {"a", "b", "c", "d"});
    for (Index j : {0, 1, 3}) {
      EXPECT_EQ(fit.scaling.shift[j], 0) << unit << ' ' << j;
      EXPECT_EQ(fit.scaling.scale[j], 1) << unit << ' ' << j;
    }
    EXPECT_NEAR(fit.scaling.scale[2] / (1e-6 * unit), 1, 0.5) << unit;
    EXPECT_NEAR(fit.scaling.apply(X).col(2).array().square().mean(), 1, 1e-8) << unit;
    ASSERT_EQ(fit.warnings.size(), 1U);
    EXPECT_EQ(fit.warnings[0], "3 columns with one constant value left unscaled: 'a', 'b', 'd'");
  }
}

TEST(Scaling, ColumnsWithoutValuesAndAllConstant) {
  ScalingFit fit = fit_scaling(RowMatrix{{nan, 1}, {nan, 2}}, ScaleMode::columns);
  ASSERT_EQ(fit.warnings.size(), 1U);
  EXPECT_EQ(fit.warnings[0], "1 column without any value left unscaled: 0");
  EXPECT_EQ(fit.scaling.scale[0], 1);
  fit = fit_scaling(RowMatrix{{5, 1}, {5, 1}}, ScaleMode::global);
  EXPECT_EQ(fit.warnings.size(), 1U);
  EXPECT_EQ(fit.scaling.shift, (Vector{{0, 0}}));
  EXPECT_EQ(fit.scaling.scale, (Vector{{1, 1}}));
  fit = fit_scaling(RowMatrix{{5, 1}}, ScaleMode::columns);  // a single row
  EXPECT_EQ(fit.scaling.scale, (Vector{{1, 1}}));
}

TEST(Scaling, BadInputIsRefused) {
  EXPECT_THROW(fit_scaling(RowMatrix(0, 2), ScaleMode::columns), InputError);
  EXPECT_THROW(fit_scaling(RowMatrix(2, 0), ScaleMode::columns), InputError);
  EXPECT_THROW(fit_scaling(RowMatrix{{1, 2}}, ScaleMode::columns, {"a"}), InputError);
  const RowMatrix X{{1, 2}, {3, std::numeric_limits<double>::infinity()}};
  const std::string message = message_of<InputError>([&] {
    fit_scaling(X, ScaleMode::none, {"a", "b"});
  });
  EXPECT_NE(message.find("1 infinite values, the first at row 1 of column 'b'"), std::string::npos);
  EXPECT_THROW(Scaling::identity(2).apply(RowMatrix(1, 3)), InputError);
  EXPECT_THROW(Scaling::identity(2).undo(RowMatrix(1, 3)), InputError);
}

TEST(Scaling, ModesByName) {
  EXPECT_EQ(parse_scale_mode("columns"), ScaleMode::columns);
  EXPECT_EQ(parse_scale_mode("global"), ScaleMode::global);
  EXPECT_EQ(parse_scale_mode("none"), ScaleMode::none);
  EXPECT_THROW(parse_scale_mode("rows"), InputError);
}

TEST(Scaling, ImagesSuggestGlobal) {
  Random random(5);
  RowMatrix images = RowMatrix::Zero(100, 64);  // a constant border of 8 and 56 pixels 0…255
  for (Index i = 0; i < 100; ++i)
    for (Index j = 8; j < 64; ++j) images(i, j) = static_cast<double>(random.integer(256));
  EXPECT_EQ(suggest_mode(images), ScaleMode::global);
  EXPECT_EQ(suggest_mode(images.leftCols(50)), ScaleMode::columns);
  RowMatrix mixed = images;
  mixed.col(8) *= 1000;  // another unit, so that no other column spans half the range
  EXPECT_EQ(suggest_mode(mixed), ScaleMode::columns);
  EXPECT_EQ(suggest_mode(RowMatrix::Zero(5, 60)), ScaleMode::columns);
}

TEST(Scaling, TheSameBitsInBlocksAsInOne) {
  RowMatrix X = Random(5).normal_matrix(100, 3);
  X(3, 1) = X(64, 0) = nan;
  X.col(2).array() += 1e8;
  const auto in_blocks = [&](Index size) {
    return column_moments(3, [&, size](const auto& visit) {
      for (Index i = 0; i < 100; i += size) visit(X.middleRows(i, std::min(size, 100 - i)));
    });
  };
  const ColumnMoments one = in_blocks(100), many = in_blocks(7);
  EXPECT_EQ(one.count, many.count);
  EXPECT_EQ(one.mean, many.mean);
  EXPECT_EQ(one.sd, many.sd);
  const ScalingFit whole = fit_scaling(X, ScaleMode::columns);
  EXPECT_EQ(whole.scaling.scale, fit_scaling(many, ScaleMode::columns).scaling.scale);
  EXPECT_EQ(fit_scaling(many, ScaleMode::none).scaling.scale, Vector::Ones(3));
}

}  // namespace
}  // namespace covary
