#include "covary/report/page.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/report/table_picture.hpp"
#include "report/svg.hpp"

namespace covary {
namespace {

const char* nasty = "<script>alert(\"x\")</script> & 'y'";

TEST(Page, EscapesEveryText) {
  Page page(nasty, nasty);
  Figure f = Chart(nasty, nasty, nasty)
                 .line(Vector::LinSpaced(2, 0, 1), Vector::Zero(2), Ink::a, nasty)
                 .figure();
  f.description = f.caption = nasty;
  page.section(nasty)
      .heading(nasty)
      .paragraph(nasty)
      .list({nasty}, true)
      .key_numbers({{nasty, nasty}});
  page.table({nasty, {nasty}, {{nasty, nasty}}, "l"}).figures({f});
  const std::string html = page.html();
  testing::expect_sound(html);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("alert(\"x\")"), std::string::npos);
  EXPECT_GT(testing::count(html, "&lt;script&gt;"), 12u);
}

TEST(Page, HoldsAllItShows) {
  const std::string html = Page("t", "l").section("s").html();
  EXPECT_EQ(html.find("http:"), std::string::npos);
  EXPECT_EQ(html.find("https:"), std::string::npos);
  EXPECT_EQ(html.find("url("), std::string::npos);
  EXPECT_EQ(html.find("@import"), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(Page, CanBeReadWithoutSeeing) {
  Page page("title", "lead");
  const Figure f = Chart("picture", "x", "y").describe("what it shows").figure();
  page.section("one").figures({f, f}).section("two").table(
      {"caption", {"a", "b"}, {{"r", "1"}}, "lr"});
  const std::string html = page.html();
  EXPECT_NE(html.find("<html lang=\"en\">"), std::string::npos);
  EXPECT_NE(html.find("class=\"skip\" href=\"#content\""), std::string::npos);
  EXPECT_EQ(testing::count(html, "role=\"img\""), 2u);
  EXPECT_NE(html.find("<desc id=\"d2\">what it shows</desc>"), std::string::npos);
  EXPECT_EQ(testing::count(html, "aria-labelledby=\"t1 d1\""), 1u);
  EXPECT_NE(html.find("<a href=\"#part-2\">two</a>"), std::string::npos);
  EXPECT_NE(html.find("<h2 id=\"part-2\">two</h2>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">r</th><td class=\"r\">1</td>"), std::string::npos);
  EXPECT_NE(html.find(">caption</span></caption>"), std::string::npos);
}

TEST(Page, SaysASharedLegendOnce) {
  const Vector v = Vector::LinSpaced(2, 0, 1);
  const Figure f = Chart("p", "x", "y").line(v, v, Ink::a, "shared").figure();
  const Figure other = Chart("p", "x", "y").line(v, v, Ink::b, "other").figure();
  EXPECT_EQ(testing::count(Page("t", "l").figures({f, f, f}).html(), "</span>shared</li>"), 1u);
  EXPECT_EQ(testing::count(Page("t", "l").figures({f, f, other}).html(), "</span>shared</li>"), 2u);
}

Matrix table(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix out(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index i = 0;
  for (const auto& row : rows) {
    Index j = 0;
    for (const double v : row) out(i, j++) = v;
    ++i;
  }
  return out;
}

TEST(TablePictures, ChooseTheKindByTheTable) {
  const auto lines =
      table_pictures({{"l", {"x", "mean", "sd", "b"}, table({{0, 1, 2, 3}, {1, 2, 1, 0}})}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(testing::paths(lines[0].body, "line").size(), 2u);
  EXPECT_EQ(testing::paths(lines[0].body, "band").size(), 1u);
  EXPECT_EQ(lines[0].legend.front().text, "mean ± 2 sd");
  const auto rows = table_pictures({{"l", {"a", "b", "c"}, table({{1, 1, 1}, {0, 2, 2}})}});
  EXPECT_EQ(testing::paths(rows.at(0).body, "line").size(), 3u);
  const auto points = table_pictures({{"p", {"a", "b"}, table({{1, 1}, {0, 2}})}});
  EXPECT_EQ(testing::paths(points.at(0).body, "dots").size(), 1u);
  for (const auto& names : {std::vector<std::string>{}, {"a", "b", "c"}}) {
    const auto image = table_pictures({{"i", names, table({{1, 2, 3}, {2, 5, 6}, {3, 6, 9}})}});
    EXPECT_NE(image.at(0).body.find("class=\"image\""), std::string::npos);
  }
}

TEST(TablePictures, DataJoinThePictureBefore) {
  const NumberTable curve{"c", {"x", "f"}, table({{0, 1}, {1, 2}})},
      data{"data", {"x", "y"}, table({{1, 1}, {0, 2}})};
  const auto joined = table_pictures({curve, data});
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(testing::paths(joined[0].body, "dots").size(), 1u);
  EXPECT_EQ(table_pictures({data, curve}).size(), 2u);
  EXPECT_EQ(joined[0].caption, "");
  NumberTable wild = curve;
  wild.values(1, 1) = 1e6;
  const auto cut = table_pictures({wild, data});
  EXPECT_NE(cut.at(0).caption, "");
  EXPECT_EQ(cut[0].body.find("000<"), std::string::npos);  // no tick near a million
}

TEST(TablePictures, InducingInputsJoinPointsOfTheSameColumns) {
  const NumberTable points{"p", {"x0", "x1"}, table({{1, 1}, {0, 2}})},
      Z{"inducing inputs", {"x0", "x1"}, table({{1, 0}, {0, 1}})},
      other{"inducing inputs", {"a", "b"}, table({{1, 0}, {0, 1}})};
  const auto joined = table_pictures({points, Z});
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(testing::paths(joined[0].body, "dots").size(), 2u);
  EXPECT_EQ(joined[0].legend.at(0).text, "inducing inputs");
  EXPECT_EQ(table_pictures({points, other}).size(), 2u);
}

TEST(TablePictures, RefuseWhatHasNoPicture) {
  EXPECT_THROW(table_pictures({{"e", {"a"}, Matrix(0, 1)}}), InputError);
  EXPECT_THROW(table_pictures({{"e", {"a", "b"}, Matrix::Ones(2, 1)}}), InputError);
}

}  // namespace
}  // namespace covary
