#include "covary/data/csv.hpp"

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

using Names = std::vector<std::string>;

std::string refusal(const std::string& text, const std::string& name = "t.csv") {
  return message_of<FileError>([&] { parse_csv(text, name); });
}

RowMatrix rows(std::initializer_list<std::initializer_list<double>> values) {
  return RowMatrix(values);
}

TEST(Csv, ReadsNumbersUnderAHeader) {
  const Table t = parse_csv("a,b,c\n1,2.5,-3e-2\n+4, .5 ,1E3\n", "t.csv");
  EXPECT_TRUE(t.has_header);
  EXPECT_EQ(t.names, (Names{"a", "b", "c"}));
  EXPECT_EQ(t.values, rows({{1, 2.5, -0.03}, {4, 0.5, 1000}}));
  EXPECT_TRUE(t.notes.empty());
  for (Index j = 0; j < 3; ++j) EXPECT_FALSE(t.is_text(j));
}

TEST(Csv, FirstRowOfNumbersDatesOrMissingCellsIsNoHeader) {
  const Table t = parse_csv("1,NA,2020-01-31\n2,3,2020-02-01\n", "t.csv");
  EXPECT_FALSE(t.has_header);
  EXPECT_EQ(t.names, (Names{"c0", "c1", "c2"}));
  EXPECT_EQ(t.rows(), 2);
  EXPECT_EQ(t.values(0, 2), 18292);
}

TEST(Csv, HeaderCanBeOverridden) {
  TableOptions options;
  options.header = Header::yes;
  Table t = parse_csv("1990,1991\n5,6\n", "t.csv", options);
  EXPECT_EQ(t.names, (Names{"1990", "1991"}));
  EXPECT_EQ(t.values, rows({{5, 6}}));
  options.header = Header::no;
  t = parse_csv("x,1\ny,2\n", "t.csv", options);
  EXPECT_EQ(t.names, (Names{"c0", "c1"}));
  EXPECT_EQ(t.text[0], (Names{"x", "y"}));
}

TEST(Csv, MissingCellsAreNaN) {
  const Table t = parse_csv("a,b,c\n,NA,NaN\nnan,null,?\n1,N/A,-nan\n\"\", ,NULL\n", "t.csv");
  ASSERT_EQ(t.rows(), 4);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j)
      EXPECT_EQ(std::isnan(t.values(i, j)), !(i == 2 && j == 0)) << i << ' ' << j;
  EXPECT_EQ(t.values(2, 0), 1);
  for (Index j = 0; j < 3; ++j) EXPECT_FALSE(t.is_text(j));
}

TEST(Csv, QuotedCells) {
  const Table t = parse_csv(
      "\"the \"\"x\"\"\",\"b,c\",\"two\nlines\"\n\"1.5\",p \"q\",\"u;v\"\n2 , \"r,s\" ,\"\"\n",
      "t.csv");
  EXPECT_EQ(t.names, (Names{"the \"x\"", "b,c", "two\nlines"}));
  EXPECT_EQ(t.values(0, 0), 1.5);
  EXPECT_EQ(t.values(1, 0), 2);
  EXPECT_EQ(t.text[1], (Names{"p \"q\"", "r,s"}));
  EXPECT_EQ(t.text[2], (Names{"u;v", ""}));
}

TEST(Csv, LineEndsByteOrderMarkAndLastLineWithoutEnd) {
  for (const char* text : {"\xEF\xBB\xBFx,y\r\n1,2\r\n3,4\r\n", "x,y\n1,2\n3,4", "x,y\r1,2\r3,4"}) {
    const Table t = parse_csv(text, "t.csv");
    EXPECT_EQ(t.names, (Names{"x", "y"})) << text;
    EXPECT_EQ(t.values, rows({{1, 2}, {3, 4}})) << text;
  }
}

TEST(Csv, BlankLinesAreSkippedAndSaidSo) {
  const Table t = parse_csv("\n\nx,y\n1,2\n  \n\n3,4\n\n\n", "t.csv");
  EXPECT_EQ(t.values, rows({{1, 2}, {3, 4}}));
  ASSERT_EQ(t.notes.size(), 1U);
  EXPECT_EQ(t.notes[0], "blank lines skipped: 4");
  EXPECT_TRUE(parse_csv("x\n1\n\n\n", "t.csv").notes.empty());
}

TEST(Csv, DelimitersAreDetected) {
  const RowMatrix expected = rows({{1, 2}, {3, 4}});
  EXPECT_EQ(parse_csv("a;b\n1;2\n3;4\n", "t.csv").values, expected);
  EXPECT_EQ(parse_csv("a\tb\n1\t2\n3\t4\n", "t.csv").values, expected);
  EXPECT_EQ(parse_csv("a,x\tb,x\n1\t2\n3\t4\n", "t.tsv.gz").values, expected);
  EXPECT_EQ(parse_csv("\"p,q,r\";b\n1;2\n3;4\n", "t.csv").values, expected);
  EXPECT_EQ(parse_csv("  1   2\n 3\t 4  \n", "t.txt").values, expected);
  EXPECT_EQ(parse_csv("  1   2\n 3\t 4  \n", "a.b/train_inputs").values, expected);
  EXPECT_EQ(parse_csv("1, 2\n3, 4\n", "t.txt").values, expected);
  EXPECT_EQ(parse_csv("1|2\n3|4\n", "t.csv", {Header::detect, '|'}).values, expected);
  EXPECT_EQ(parse_csv("5\n6\n", "t.csv").values, rows({{5}, {6}}));
}

TEST(Csv, DatesBecomeDays) {
  const Table t = parse_csv(
      "day,stamp\n2020-01-31,2020-01-31T12:34:56Z\n1958-03-29,1969-12-31 06:00\n"
      ",2000-02-29 00:00:00.5\n",
      "t.csv");
  EXPECT_EQ(t.values(0, 0), 18292);
  EXPECT_EQ(t.values(1, 0), -4296);
  EXPECT_TRUE(std::isnan(t.values(2, 0)));
  EXPECT_NEAR(t.values(0, 1), 18292.52425925926, 1e-10);
  EXPECT_NEAR(t.values(1, 1), -0.75, 1e-14);
  EXPECT_NEAR(t.values(2, 1), 11016 + 0.5 / 86400, 1e-10);
  ASSERT_EQ(t.notes.size(), 2U);
  EXPECT_NE(t.notes[0].find("'day' holds dates"), std::string::npos);
  EXPECT_FALSE(t.is_text(0));
}

TEST(Csv, WhatIsNoDateStaysText) {
  for (const char* cell :
       {"2020-13-01", "2019-02-29", "2020-1-1", "2020-01-01T25:00", "2020-01-01T10",
        "2020-01-01T10:00:00x", "2020-01-01T10:00:0e1", "12:30", "2020-01-01-02"})
    EXPECT_TRUE(parse_csv(std::string("d\n") + cell + "\n2020-01-01\n", "t.csv").is_text(0))
        << cell;
}

TEST(Csv, OtherTextStaysTextAndAStrayWordIsNoted) {
  const Table t = parse_csv("sex,x\nM,1\nF,2\nNA,oops\n", "t.csv");
  EXPECT_EQ(t.text[0], (Names{"M", "F", ""}));
  EXPECT_EQ(t.text[1], (Names{"1", "2", "oops"}));
  EXPECT_TRUE(t.values.array().isNaN().all());
  ASSERT_EQ(t.notes.size(), 1U);
  EXPECT_EQ(t.notes[0], "column 'x' is kept as text because of 'oops' in line 4");
}

TEST(Csv, NumbersAtTheEdgeOfDoubles) {
  const Table t =
      parse_csv("1e400,-1e400,1e-400,inf\n1.7976931348623157e308,4.9e-324,-0,-Infinity\n", "t.csv");
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(t.values, rows({{inf, -inf, 0, inf}, {1.7976931348623157e308, 4.9e-324, 0, -inf}}));
}

TEST(Csv, EmptyNamesAreFilledAndLatin1IsRecoded) {
  const Table t = parse_csv(
      "a,,gr\xF6\xDF"
      "e\n1,2,3\n",
      "t.csv");
  EXPECT_EQ(t.names, (Names{"a", "c1", "größe"}));
  ASSERT_EQ(t.notes.size(), 1U);
  EXPECT_NE(t.notes[0].find("ISO 8859-1"), std::string::npos);
  EXPECT_EQ(parse_csv("größe\n1\n", "t.csv").names, (Names{"größe"}));
}

TEST(Csv, RaggedRowsAreRefusedWithLineAndCounts) {
  const std::string expected = "'t.csv', line 4: expected 3 cells as in the first row, found ";
  EXPECT_EQ(refusal("a,b,c\n1,2,3\n\n4,5\n"), expected + "2");
  EXPECT_EQ(refusal("a,b,c\n1,\"2\n\",3\n4,5,6,7\n"), expected + "4");
}

TEST(Csv, RubbishIsRefused) {
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("\xEF\xBB\xBF").find("empty"), std::string::npos);
  EXPECT_NE(refusal("\n \n\n").find("blank"), std::string::npos);
  EXPECT_NE(refusal("a,b\n").find("no rows"), std::string::npos);
  EXPECT_NE(refusal(std::string("a,b\n1,\0\n", 8)).find("byte 6 is 0x00"), std::string::npos);
  EXPECT_NE(refusal("PK\x03\x04zip").find("not a text table"), std::string::npos);
  EXPECT_NE(refusal("a,b\n1,\"2\n3,4\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal("a,b\n1,\"2\"x\n").find("closing quote"), std::string::npos);
}

TEST(Csv, RandomBytesNeverCrash) {
  Random random(7);
  const std::string alphabet = "01.,;\t\n\r\"ae- +:";
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text;
    for (Index i = random.integer(60); i >= 0; --i)
      text +=
          alphabet[static_cast<std::size_t>(random.integer(static_cast<Index>(alphabet.size())))];
    try {
      const Table t = parse_csv(text, trial % 2 ? "t.csv" : "t.txt");
      ASSERT_EQ(static_cast<Index>(t.names.size()), t.cols());
      ASSERT_GE(t.rows(), 1);
    } catch (const FileError&) {
    }
  }
}

class WriteCsv : public Scratch {};

TEST_F(WriteCsv, RoundTripsEveryBit) {
  Random random(1);
  RowMatrix X(200, 3);
  for (Index i = 0; i < X.size(); ++i)
    X.data()[i] = random.normal() * std::pow(10.0, 40 * random.normal());
  X(0, 0) = std::numeric_limits<double>::quiet_NaN();
  X(1, 0) = 0.1;
  X(1, 1) = std::numeric_limits<double>::denorm_min();
  X(1, 2) = -std::numeric_limits<double>::infinity();
  const Names names{"plain", "with, comma", "with \"quotes\""};
  write_csv(path("out.csv"), names, X);
  const Table t = read_table(path("out.csv"));
  EXPECT_EQ(t.names, names);
  ASSERT_EQ(t.rows(), 200);
  EXPECT_TRUE(std::isnan(t.values(0, 0)));
  RowMatrix back = t.values;
  back(0, 0) = X(0, 0) = 0;
  EXPECT_EQ(back, X);
  EXPECT_EQ(files(), 1U);  // no temporary file stays
}

TEST_F(WriteCsv, WritesTheShortestDigitsAndReplacesTheOldFile) {
  put("out.csv", "old");
  write_csv(path("out.csv"), {}, rows({{0.1, 1e300, 3}}));
  std::ifstream in(path("out.csv"));
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "0.1,1e+300,3");
}

TEST_F(WriteCsv, RefusesWrongNamesAndPaths) {
  EXPECT_THROW(write_csv(path("x.csv"), {"a"}, rows({{1, 2}})), InputError);
  EXPECT_THROW(write_csv(path("none/x.csv"), {}, rows({{1}})), FileError);
  EXPECT_THROW(write_csv(folder_.string(), {}, rows({{1}})), FileError);
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace covary
