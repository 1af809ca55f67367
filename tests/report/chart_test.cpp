#include "covary/report/chart.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "report/axis.hpp"
#include "report/svg.hpp"

namespace covary {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();

Vector vec(std::initializer_list<double> v) {
  return Eigen::Map<const Vector>(v.begin(), static_cast<Index>(v.size()));
}

TEST(Ticks, AreRoundAndWithin) {
  const Ticks t = nice_ticks(0.13, 0.97, 5);
  EXPECT_EQ(t.labels, (std::vector<std::string>{"0.2", "0.4", "0.6", "0.8"}));
  EXPECT_EQ(nice_ticks(-1.0, 1.0, 4).labels,
            (std::vector<std::string>{"−1.0", "−0.5", "0", "0.5", "1.0"}));
  EXPECT_EQ(nice_ticks(0.0, 3e7, 3).labels, (std::vector<std::string>{"0", "1e7", "2e7", "3e7"}));
}

TEST(Ticks, TellApartAndStayFewForAnyRange) {
  for (const double low : {0.0, -3.7, 1e9, 2015.1, -1e-7, 1e-300, -1e300})
    for (const double relative : {1e-8, 1e-3, 1.0, 1e4})
      for (const int count : {1, 3, 5, 8}) {
        const double high = low + relative * std::max(std::abs(low), 1e-12);
        const Ticks t = nice_ticks(low, high, count);
        EXPECT_LE(t.at.size(), static_cast<std::size_t>(count + 1)) << low << " " << high;
        for (std::size_t i = 0; i < t.at.size(); ++i) {
          EXPECT_GE(t.at[i], low - 1e-6 * (high - low));
          EXPECT_LE(t.at[i], high + 1e-6 * (high - low));
          if (i > 0) {
            EXPECT_NE(t.labels[i], t.labels[i - 1]) << low << " " << high;
          }
        }
        if (count >= 3) {
          EXPECT_GE(t.at.size(), 2u) << low << " " << high;
        }
      }
}

TEST(Ticks, OfDatesAreBeginningsOfPeriods) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(date_ticks(18630, 18990, 4).labels, (Labels{"2021-04", "2021-07", "2021-10"}));
  EXPECT_EQ(date_ticks(10000, 18990, 5).labels, (Labels{"2000", "2005", "2010", "2015", "2020"}));
  EXPECT_EQ(
      date_ticks(18659, 18661, 4).labels,
      (Labels{"2021-02-01", "2021-02-01 12:00", "2021-02-02", "2021-02-02 12:00", "2021-02-03"}));
  EXPECT_EQ(date_ticks(18659, 18659.001, 4).at, nice_ticks(18659, 18659.001, 4).at);
  for (const double width : {0.2, 3.0, 50.0, 700.0, 4e4})
    for (const int count : {1, 3, 6}) {
      const Ticks t = date_ticks(18650.3, 18650.3 + width, count);
      EXPECT_LE(t.at.size(), static_cast<std::size_t>(count + 1)) << width;
      for (const double at : t.at) EXPECT_TRUE(at >= 18650.3 && at <= 18650.3 + width);
    }
}

TEST(Range, NeverHasZeroWidth) {
  for (const double v : {0.0, 5.0, -1e-200, 1e200, 3e-310}) {
    Range r;
    r.include(v);
    r.include(nan);
    r.include(infinity);
    EXPECT_EQ(r.low(), v);
    const Range p = r.padded(0.05);
    EXPECT_LT(p.low(), v);
    EXPECT_GT(p.high(), v);
    EXPECT_TRUE(std::isfinite(p.high() - p.low()));
  }
  EXPECT_TRUE(Range().empty());
  EXPECT_LT(Range().padded(0.0).low(), Range().padded(0.0).high());
}

TEST(Axis, MapsEndsToPixels) {
  Range r;
  r.include(2.0);
  r.include(6.0);
  const Axis up(r, 100.0, 0.0, false);
  EXPECT_DOUBLE_EQ(up.pixel(2.0), 100.0);
  EXPECT_DOUBLE_EQ(up.pixel(6.0), 0.0);
  EXPECT_DOUBLE_EQ(up.pixel(3.0), 75.0);
  EXPECT_LT(std::abs(up.pixel(1e299)), 2000.0);
}

TEST(Axis, LogarithmicSpansPowersOfTen) {
  Range r;
  r.include(3e-5);
  r.include(20.0);
  const Axis a(r, 0.0, 70.0, true);
  EXPECT_DOUBLE_EQ(a.pixel(1e-5), 0.0);
  EXPECT_DOUBLE_EQ(a.pixel(100.0), 70.0);
  EXPECT_DOUBLE_EQ(a.pixel(1.0), 50.0);
  EXPECT_FALSE(a.drawable(0.0));
  EXPECT_FALSE(a.drawable(-1.0));
  EXPECT_EQ(a.ticks(10).labels.front(), "1e−5");
}

TEST(Chart, LineGoesThroughItsPoints) {
  const Figure f = Chart("t", "x", "y")
                       .line(vec({0, 1, 2}), vec({0, 10, 5}), Ink::a, "series")
                       .x_limits(0, 2)
                       .y_limits(0, 10)
                       .figure();
  testing::expect_sound(f.body);
  const auto p = testing::numbers(testing::paths(f.body, "line a").at(0));
  ASSERT_EQ(p.size(), 6u);
  EXPECT_EQ(p[0], 0.0);
  EXPECT_NEAR(p[2], 0.5 * p[4], 0.1);  // x = 1 halfway
  EXPECT_EQ(p[3], 0.0);                // y = 10 at the top
  EXPECT_NEAR(p[5], 0.5 * p[1], 0.1);  // y = 5 halfway
  ASSERT_EQ(f.legend.size(), 1u);
  EXPECT_EQ(f.legend[0].mark, "line a");
}

TEST(Chart, BreaksWhereValuesAreNotFinite) {
  const Vector x = vec({0, 1, 2, 3, 4, 5});
  const Vector y = vec({1, 2, nan, 3, infinity, 4});
  const Figure f = Chart("t", "x", "y")
                       .line(x, y, Ink::a)
                       .band(x, y.array() - 1.0, y.array() + 1.0, Ink::b)
                       .points(x, y, Ink::c)
                       .rug(y, Ink::d)
                       .figure();
  testing::expect_sound(f.body);
  EXPECT_EQ(testing::count(testing::paths(f.body, "line a").at(0), "M"), 3u);
  EXPECT_EQ(testing::count(testing::paths(f.body, "band b").at(0), "Z"), 3u);
  EXPECT_EQ(testing::count(testing::paths(f.body, "dots c").at(0), "M"), 4u);
  EXPECT_EQ(testing::count(testing::paths(f.body, "line rug").at(0), "M"), 4u);
}

TEST(Chart, BandRunsOutAndBack) {
  const Figure f = Chart("t", "x", "y")
                       .band(vec({0, 1}), vec({0, 0}), vec({1, 1}), Ink::a)
                       .y_limits(0, 1)
                       .figure();
  const auto p = testing::numbers(testing::paths(f.body, "band a").at(0));
  ASSERT_EQ(p.size(), 8u);
  EXPECT_EQ(p[0], p[6]);
  EXPECT_EQ(p[2], p[4]);
  EXPECT_EQ(p[1], 0.0);
  EXPECT_GT(p[5], 100.0);
}

TEST(Chart, HistogramStandsOnZero) {
  const Figure f = Chart("t", "x", "y").columns(vec({0, 1, 2}), vec({5, 10}), Ink::a).figure();
  const auto p = testing::numbers(testing::paths(f.body, "band column a").at(0));
  ASSERT_EQ(p.size(), 16u);
  EXPECT_EQ(p[1], p[7]);
  EXPECT_NEAR(p[1] - p[3], 0.5 * (p[9] - p[11]), 0.11);
}

TEST(Chart, DrawsNothingAtAllWithoutFailing) {
  for (const Vector& v : {Vector(), vec({nan}), vec({7.0}), vec({3, 3, 3})}) {
    Chart c("t", "x", "y");
    c.line(v, v, Ink::a).points(v, v, Ink::b).band(v, v, v, Ink::c);
    testing::expect_sound(c.figure().body);
    testing::expect_sound(c.log_y().figure().body);
  }
  testing::expect_sound(Chart("t", "x", "y", true).x_limits(nan, nan).figure().body);
}

TEST(Chart, ThinsLongSeries) {
  const Vector x = Vector::LinSpaced(100000, 0, 1);
  const Figure f = Chart("t", "x", "y").line(x, x, Ink::a).points(x, x, Ink::b).figure();
  EXPECT_LT(f.body.size(), 60000u);
  EXPECT_EQ(testing::count(testing::paths(f.body, "dots many b").at(0), "M"), 1500u);
}

TEST(Chart, EscapesItsLabels) {
  const Figure f =
      Chart("t", "<x>&\"", "</text><script>").line(vec({0, 1}), vec({0, 1}), Ink::a).figure();
  testing::expect_sound(f.body);
  EXPECT_NE(f.body.find("&lt;x&gt;&amp;&quot;"), std::string::npos);
  EXPECT_EQ(f.body.find("<script"), std::string::npos);
}

TEST(Chart, RefusesLengthsThatDiffer) {
  EXPECT_THROW(Chart("t", "x", "y").line(vec({1, 2}), vec({1}), Ink::a), InputError);
  EXPECT_THROW(Chart("t", "x", "y").band(vec({1}), vec({1}), vec({1, 2}), Ink::a), InputError);
  EXPECT_THROW(Chart("t", "x", "y").columns(vec({1}), vec({1}), Ink::a), InputError);
}

TEST(BarChart, LengthsAreInProportion) {
  const Figure f = bar_chart("t", {"a<b", "b", "c"}, vec({1.0, 0.5, nan}), "relative");
  testing::expect_sound(f.body);
  std::vector<double> widths;
  for (std::size_t at = 0; (at = f.body.find("class=\"bar\"", at)) != std::string::npos; ++at)
    widths.push_back(std::stod(f.body.substr(f.body.find("width=\"", at) + 7)));
  ASSERT_EQ(widths.size(), 3u);
  EXPECT_NEAR(widths[1], 0.5 * widths[0], 0.1);
  EXPECT_NE(f.body.find("a&lt;b"), std::string::npos);
  EXPECT_NE(f.description.find("b 0.5"), std::string::npos);
  testing::expect_sound(bar_chart("t", {"a"}, vec({0.0}), "v").body);
  testing::expect_sound(bar_chart("t", {}, Vector(), "v").body);
  EXPECT_THROW(bar_chart("t", {"a"}, vec({1, 2}), "v"), InputError);
}

TEST(HeatMap, CoversEachCellOnce) {
  Matrix m(20, 30);
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 30; ++j) m(i, j) = static_cast<double>(i * j);
  m(3, 4) = nan;
  const Figure f = heat_map("t", m);
  testing::expect_sound(f.body);
  double area = 0.0;  // of runs h × v in the paths of the cells
  for (std::size_t at = 0; (at = f.body.find('h', at)) != std::string::npos; ++at) {
    if (f.body[at + 1] < '0' || f.body[at + 1] > '9') continue;
    area += std::stod(f.body.substr(at + 1)) * std::stod(f.body.substr(f.body.find('v', at) + 1));
  }
  EXPECT_NEAR(area, 250.0 * 250.0 * 599.0 / 600.0, 0.002 * 250.0 * 250.0);
  testing::expect_sound(heat_map("t", Matrix::Constant(3, 3, 2.0), {"a", "b", "<c>"}).body);
  testing::expect_sound(heat_map("t", Matrix::Constant(1, 1, nan)).body);
  EXPECT_THROW(heat_map("t", Matrix()), InputError);
}

}  // namespace
}  // namespace covary
