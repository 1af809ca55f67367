#include "report/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace covary {
namespace {

TEST(Text, EscapesWhatHtmlReads) {
  EXPECT_EQ(escape_html("a<b & \"c\" > 'd'"), "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  EXPECT_EQ(escape_html("&lt;"), "&amp;lt;");
  EXPECT_EQ(escape_html("größe σ² 点 🙂"), "größe σ² 点 🙂");
  EXPECT_EQ(escape_html(""), "");
}

TEST(Text, ReplacesBytesThatAreNoText) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(escape_html(std::string("a\0b", 3)), "a" + mark + "b");
  EXPECT_EQ(escape_html("a\x1B[31m"), "a" + mark + "[31m");
  EXPECT_EQ(escape_html("caf\xE9"), "caf" + mark);             // Latin-1
  EXPECT_EQ(escape_html("\xE2\x82"), mark + mark);             // cut short
  EXPECT_EQ(escape_html("\xC0\xBC"), mark + mark);             // overlong <
  EXPECT_EQ(escape_html("\xED\xA0\x80"), mark + mark + mark);  // a surrogate
  EXPECT_EQ(escape_html("a\tb\n"), "a\tb\n");
}

TEST(Text, ShortensByCharacters) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcd", 3), "ab…");
  EXPECT_EQ(shorten("σσσσ", 4), "σσσσ");
  EXPECT_EQ(shorten("σσσσσ", 4), "σσσ…");
  EXPECT_EQ(shorten("\xFF\xFF\xFF", 2), "\xFF…");
}

TEST(Text, NumbersAreNeverNan) {
  EXPECT_EQ(short_number(0.123456), "0.1235");
  EXPECT_EQ(short_number(std::nan("")), "–");
  EXPECT_EQ(short_number(-INFINITY), "–");
}

}  // namespace
}  // namespace covary
