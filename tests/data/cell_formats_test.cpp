// Tables as they come: decimal commas, marks of numbers, dates of several kinds.

#include <cmath>

#include "covary/data/columns.hpp"
#include "covary/data/csv.hpp"
#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

Table column(const std::string& cells, const TableOptions& options = {}) {
  return parse_csv("k;x\n" + cells, "t.csv", options);
}

TEST(CellFormats, MarkedNumbersAreNumbersAndSaidSo) {
  const Table t = parse_csv(
      "comma;point;money;share;swiss;spaced\n"
      "1,5;1,234.5;€ 1.234,50;12,5 %;1'000.5;1 234,5\n"
      "-0,25;-12;€ -7,00;;2'000'000;NA\n",
      "t.csv");
  EXPECT_EQ(t.values.row(0), (RowMatrix{{1.5, 1234.5, 1234.5, 12.5, 1000.5, 1234.5}}));
  EXPECT_EQ(t.values.row(1).head(3), (RowMatrix{{-0.25, -12, -7}}));
  EXPECT_TRUE(std::isnan(t.values(1, 3)) && std::isnan(t.values(1, 5)));
  EXPECT_EQ(t.values(1, 4), 2e6);
  ASSERT_EQ(t.notes.size(), 6U);
  EXPECT_EQ(t.notes[1], "column 'point' holds marked numbers: '1,234.5' is read as 1234.5");
  EXPECT_EQ(t.notes[3], "column 'share' holds marked numbers: '12,5 %' is read as 12.5");
  EXPECT_EQ(t.formats.at("comma"), CellFormat::comma);
  EXPECT_EQ(t.formats.at("point"), CellFormat::point);
}

TEST(CellFormats, WhatIsNotWrittenAlikeStaysText) {
  for (const char* cells : {"10 %;1\n0.1;2\n", "$5;1\n€6;2\n", "1,23,4;1\n2,5;2\n", "1,5,;1\n",
                            "1.2.3;1\n", "1,5x;1\n", "1.234,5;1\n1,234.5;2\n", ",;1\n", "%;1\n"})
    EXPECT_TRUE(column(cells).is_text(0)) << cells;
}

TEST(CellFormats, AnUnclearDecimalSignAsksWhenTheColumnIsUsed) {
  const std::string cells = "1,234;1\n5,678;2\n";
  const Table t = column(cells);
  EXPECT_TRUE(t.is_text(0));
  const std::string message = message_of<InputError>([&] { numeric_columns(t, {0}); });
  EXPECT_NE(message.find("'1,234'; choose it with --decimal point or --decimal comma"),
            std::string::npos)
      << message;
  EXPECT_EQ(column(cells, {.decimal = CellFormat::point}).values(1, 0), 5678);
  EXPECT_EQ(column(cells, {.decimal = CellFormat::comma}).values(1, 0), 5.678);
  EXPECT_EQ(column(cells, {.formats = {{"k", CellFormat::point}}}).values(1, 0), 5678);
}

TEST(CellFormats, OtherColumnsSayWhatTheDecimalSignIs) {
  EXPECT_EQ(column("1,234;0,5\n").values(0, 0), 1.234);
  EXPECT_EQ(column("1,234;1,000.5\n").values(0, 0), 1234);
  // Points separate thousands where commas are decimal; 1.2345 does not.
  const Table t = column("1.234;0,5\n999;1,5\n");
  EXPECT_EQ(t.values.col(0), (Vector{{1234, 999}}));
  EXPECT_EQ(t.notes.size(), 2U);
  EXPECT_EQ(column("1.2345;0,5\n").values(0, 0), 1.2345);
}

TEST(CellFormats, DatesOfSeveralKinds) {
  const Table t = parse_csv(
      "a;b;c;d;e\n"
      "01.02.2021;31/1/2021;1/31/21;2021/02/01;2021-02-01T02:30:00+02:00\n"
      "28.12.2020 12:00;1/2/2021;2/1/2021;NA;2021-02-01T00:30:00Z\n",
      "t.csv");
  EXPECT_EQ(t.values(0, 0), 18659);
  EXPECT_EQ(t.values(1, 0), 18624.5);
  EXPECT_EQ(t.values.col(1), (Vector{{18658, 18659}}));
  EXPECT_EQ(t.values.col(2), (Vector{{18658, 18659}}));
  EXPECT_EQ(t.values(0, 3), 18659);
  EXPECT_EQ(t.values(0, 4), t.values(1, 4));
  EXPECT_TRUE(is_date(t.formats, "a") && is_date(t.formats, "e") && !is_date(t.formats, "f"));
  EXPECT_EQ(t.notes[1], "column 'b' holds dates, day before month, read as days since 1970-01-01");
}

TEST(CellFormats, AnUnclearOrderOfDayAndMonthAsks) {
  const std::string cells = "1/2/2021;1\n3/4/2021;2\n";
  const std::string message = message_of<InputError>([&] { numeric_columns(column(cells), {0}); });
  EXPECT_NE(message.find("'1/2/2021'; choose it with --dates dmy or --dates mdy"),
            std::string::npos)
      << message;
  EXPECT_EQ(column(cells, {.dates = CellFormat::day_first}).values(0, 0), 18659);
  EXPECT_EQ(column(cells, {.dates = CellFormat::month_first}).values(0, 0), 18629);
  // As in training, though there only one order fitted.
  EXPECT_EQ(column(cells, {.formats = {{"k", CellFormat::month_first}}}).values(0, 0), 18629);
  EXPECT_EQ(column("1/1/2021;1\n").values(0, 0), 18628);  // the same in both
}

TEST(CellFormats, DatesAreWrittenAsDates) {
  const Table t = parse_csv("d,k\n2021-02-01,a\n2021-02-01 13:45:30.25,\"b,\"\nNA,\n", "t.csv");
  EXPECT_EQ(format_csv(t), "d,k\n2021-02-01,a\n2021-02-01T13:45:30.250,\"b,\"\n,\n");
  EXPECT_EQ(format_date(-0.5), "1969-12-31T12:00:00");
}

TEST(CellFormats, TextInMemoryIsSettledToo) {
  Table t = numeric_table(RowMatrix::Constant(2, 2, std::nan("")));
  t.text[0] = {"1,5", "2,5"};
  t.text[1] = {"a", "2"};
  settle_text(t, 0);
  settle_text(t, 1);
  EXPECT_EQ(t.values.col(0), (Vector{{1.5, 2.5}}));
  EXPECT_TRUE(t.is_text(1));
}

TEST(Table, KnowsTheLinesOfItsRows) {
  const Table t = parse_csv("x,k\n\n1,\"a\nb\"\n2,c\n", "t.csv");
  EXPECT_EQ(t.where(0), "line 3");
  EXPECT_EQ(t.where(1), "line 5");
  EXPECT_EQ(t.take({1}).where(0), "line 5");
  EXPECT_EQ(t.take({1}).text[1].front(), "c");
  EXPECT_EQ(numeric_table(RowMatrix::Zero(2, 1)).where(1), "row 1");
}

}  // namespace
}  // namespace covary
