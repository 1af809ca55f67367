#include "covary/data/labels.hpp"

#include <cmath>
#include <limits>

#include "covary/data/csv.hpp"
#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

using Names = std::vector<std::string>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Table csv(const std::string& text) { return parse_csv(text, "t.csv"); }

void expect_codes(const Vector& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), static_cast<Index>(expected.size()));
  for (Index i = 0; i < found.size(); ++i) {
    const double e = expected[static_cast<std::size_t>(i)];
    if (std::isnan(e))
      EXPECT_TRUE(std::isnan(found[i])) << i;
    else
      EXPECT_EQ(found[i], e) << i;
  }
}

void expect_in(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Labels, TextIsSortedAndMissingCellsAreNaN) {
  const Table t = csv("x,kind\n1,setosa\n2,virginica\n3,\n4,Versicolor\n5,NA\n6,setosa\n");
  const Labels labels = Labels::from(t, 1);
  EXPECT_EQ(labels.names, (Names{"Versicolor", "setosa", "virginica"}));
  EXPECT_EQ(labels.classes(), 3);
  const Vector codes = labels.encode(t, 1);
  expect_codes(codes, {1, 2, nan, 0, nan, 1});
  EXPECT_EQ(labels.decode(codes), (Names{"setosa", "virginica", "", "Versicolor", "", "setosa"}));
}

TEST(Labels, TheSecondOfTrueAndFalseIsThePositiveOne) {
  for (const auto& [cells, names] :
       std::vector<std::pair<Names, Names>>{{{"true", "false", "true"}, {"false", "true"}},
                                            {{"yes", "no", "yes"}, {"no", "yes"}},
                                            {{"True", "False", "True"}, {"False", "True"}},
                                            {{"1", "0", "1"}, {"0", "1"}},
                                            {{"1", "-1", "1"}, {"-1", "1"}}}) {
    const Labels labels = Labels::from(cells);
    EXPECT_EQ(labels.names, names);
    expect_codes(labels.encode(cells), {1, 0, 1});
  }
}

TEST(Labels, WholeNumbersWithGapsAreSortedByValue) {
  const Table t = csv("digit,x\n12,0\n3,0\n7,0\nnan,0\n3,0\n");
  const Labels labels = Labels::from(t, 0);
  EXPECT_EQ(labels.names, (Names{"3", "7", "12"}));
  expect_codes(labels.encode(t, 0), {2, 0, 1, nan, 0});
  // The same from numbers, written as they may be.
  EXPECT_EQ(Labels::from(Vector{{12, 3, 7, nan, 3}}).names, labels.names);
  EXPECT_EQ(Labels::from(csv("d,x\n12.0,0\n3e0,0\n7.,0\n"), 0).names, labels.names);
  EXPECT_EQ(Labels::from(Names{"12", "3", "7", "nan", "3"}).names, labels.names);
  EXPECT_EQ(Labels::from(Vector{{-0.0, -3, 2, 0.0}}).names, (Names{"-3", "0", "2"}));
  EXPECT_EQ(Labels::from(Vector{{1234567, 1e15}}).names, (Names{"1234567", "1000000000000000"}));
}

TEST(Labels, NumbersBesideWordsAreWords) {
  const Table t = csv("grade,x\n10,1\n9,1\nfail,1\n");
  const Labels labels = Labels::from(t, 0);
  EXPECT_EQ(labels.names, (Names{"10", "9", "fail"}));
  // A later table that happens to hold only numbers there still finds its classes.
  expect_codes(labels.encode(csv("grade,x\n9,1\n10,2\n"), 0), {1, 0});
  expect_codes(Labels::from(Vector{{3, 7}}).encode(Names{"7.0", "03", "7", ""}), {1, 0, 1, nan});
  // "1" and "01" differ as text, so that their value names neither.
  const Labels twins = Labels::from(Names{"1", "01", "2"});
  expect_codes(twins.encode(Names{"01", "1", "2.0", "1.0"}, Unseen::missing), {0, 1, 2, nan});
}

TEST(Labels, AnUnseenClassIsRefusedOrMissing) {
  const Labels labels = Labels::from(Names{"a", "b"});
  const Table t = csv("x,kind\n1,b\n2,c\n3,a\n");
  const std::string message = message_of<InputError>([&] { labels.encode(t, 1); });
  expect_in(message, "column 'kind' has the class 'c' in line 3");
  expect_in(message, "known are a, b");
  expect_codes(labels.encode(t, 1, Unseen::missing), {1, nan, 0});
  expect_in(message_of<InputError>([&] { labels.encode(Vector{{3.0}}); }), "'3' in row 0");
  EXPECT_THROW(Labels{}.encode(t, 1), InputError);
}

TEST(Labels, WhatIsNoSetOfClassesIsRefused) {
  expect_in(message_of<InputError>([] { Labels::from(csv("k,x\na,1\na,2\n"), 0); }),
            "column 'k' has one class only, 'a', in its 2 rows");
  expect_in(message_of<InputError>([] { Labels::from(csv("k,x\n,1\nNA,2\n"), 0); }),
            "column 'k' has no label");
  const std::string message =
      message_of<InputError>([] { Labels::from(csv("k,x\n1,1\n2.5,2\n"), 0); });
  expect_in(message, "column 'k' has 2.5 in line 3");
  expect_in(message, "regression");
  EXPECT_THROW(Labels::from(Vector{{1, std::numeric_limits<double>::infinity()}}), InputError);
  EXPECT_THROW(Labels::from(csv("k,x\na,1\nb,2\n"), 2), InputError);
  EXPECT_THROW(Labels::from(Names{}), InputError);
}

TEST(Labels, DecodingAndCountingRefuseWhatIsNoClass) {
  const Labels labels = Labels::from(Names{"a", "b"});
  for (const double bad : {2.0, -1.0, 0.5, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(labels.decode(Vector{{0, bad}}), InputError);
    expect_in(message_of<InputError>([&] { class_counts(Vector{{0, bad}}, 2); }), "row 1");
  }
  EXPECT_EQ(class_counts(Vector{{0, 2, nan, 2}}, 3), (std::vector<Index>{1, 0, 2}));
}

}  // namespace
}  // namespace covary
