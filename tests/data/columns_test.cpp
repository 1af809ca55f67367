#include "covary/data/columns.hpp"

#include <cmath>

#include "covary/data/csv.hpp"
#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

using Columns = std::vector<Index>;
using Names = std::vector<std::string>;

Table sample() {
  return parse_csv(
      "sex,length,2,ring:s,Y,Y\nM,1,2,3,4,5\nF,6,7,8,9,10\nI,11,12,13,14,15\nM,,1,1,1,1\n",
      "t.csv");
}

std::string refusal(const Names& specs) {
  return message_of<InputError>([&] { select_columns(sample(), specs); });
}

TEST(SelectColumns, NamesNumbersAndRanges) {
  const Table t = sample();
  EXPECT_EQ(select_columns(t, {"length", "sex"}), (Columns{1, 0}));
  EXPECT_EQ(select_columns(t, {"1", "3"}), (Columns{1, 3}));
  EXPECT_EQ(select_columns(t, {"1:3", "0"}), (Columns{1, 2, 0}));
  EXPECT_EQ(select_columns(t, {"4:"}), (Columns{4, 5}));
  EXPECT_EQ(select_columns(t, {":1"}), (Columns{0}));
  EXPECT_EQ(select_columns(t, {"5:6"}), (Columns{5}));
  EXPECT_EQ(select_columns(t, {"sex:2"}), (Columns{0, 1}));
  EXPECT_TRUE(select_columns(t, {}).empty());
}

TEST(SelectColumns, ANameGoesBeforeANumberOrRange) {
  const Table t = parse_csv("a,0,1:2\n1,2,3\n", "t.csv");
  EXPECT_EQ(select_columns(t, {"0"}), (Columns{1}));
  EXPECT_EQ(select_columns(t, {"1:2"}), (Columns{2}));
}

TEST(SelectColumns, UnknownColumnsGetASuggestionAndTheList) {
  const std::string message = refusal({"Lenght"});
  EXPECT_NE(message.find("'Lenght' (did you mean 'length'?); the columns are"), std::string::npos)
      << message;
  EXPECT_NE(message.find("sex, length, 2, ring:s, Y, Y"), std::string::npos) << message;
  EXPECT_NE(refusal({"6"}).find("6 columns, 0 to 5"), std::string::npos);
  EXPECT_NE(refusal({"0:7"}).find("no column 7"), std::string::npos);
  EXPECT_NE(refusal({"-1"}).find("no column '-1'"), std::string::npos);
  EXPECT_NE(refusal({""}).find("no column ''"), std::string::npos);
  EXPECT_NE(refusal({"99999999999999999999"}).find("no column 9999"), std::string::npos);
}

TEST(SelectColumns, AmbiguousRepeatedAndEmptyAreRefused) {
  EXPECT_NE(refusal({"Y"}).find("columns 4 and 5"), std::string::npos);
  EXPECT_NE(refusal({"length", "0:2"}).find("selected twice"), std::string::npos);
  EXPECT_NE(refusal({"3:3"}).find("empty"), std::string::npos);
  EXPECT_NE(refusal({"4:1"}).find("empty"), std::string::npos);
}

TEST(NumericColumns, TakesNumbersAndRefusesText) {
  const Table t = sample();
  const RowMatrix values = numeric_columns(t, {5, 1});
  EXPECT_EQ(values.topRows(3), (RowMatrix{{5, 1}, {10, 6}, {15, 11}}));
  EXPECT_TRUE(std::isnan(values(3, 1)));
  EXPECT_EQ(numeric_column_numbers(t), (Columns{1, 2, 3, 4, 5}));
  const std::string message = message_of<InputError>([&] { numeric_columns(t, {1, 0}); });
  EXPECT_NE(message.find("'sex' holds text, the first 'M' in line 2"), std::string::npos);
  EXPECT_THROW(numeric_columns(t, {6}), InputError);
}

TEST(OneHot, OneColumnForEachValue) {
  const OneHot h = one_hot(sample(), 0);
  EXPECT_EQ(h.names, (Names{"sex=F", "sex=I", "sex=M"}));
  EXPECT_EQ(h.values, (RowMatrix{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  EXPECT_THROW(one_hot(sample(), 1), InputError);
  EXPECT_THROW(one_hot(sample(), 9), InputError);
}

TEST(OneHot, MissingCellsAreNaNAndLevelsCanBeGiven) {
  const Table t = parse_csv("k,x\nb,1\n?,2\na,3\n", "t.csv");
  const OneHot h = one_hot(t, 0, {"c", "b", "a"});
  EXPECT_EQ(h.levels, (Names{"a", "b", "c"}));
  EXPECT_EQ(h.values.row(0), (RowMatrix{{0, 1, 0}}));
  EXPECT_TRUE(h.values.row(1).array().isNaN().all());
  const std::string message = message_of<InputError>([&] { one_hot(t, 0, {"b", "c"}); });
  EXPECT_NE(message.find("'k' has the value 'a' in line 4; known are b, c"), std::string::npos);
}

}  // namespace
}  // namespace covary
