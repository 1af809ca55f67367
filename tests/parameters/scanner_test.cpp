#include "parameters/scanner.hpp"

#include <gtest/gtest.h>

#include "covary/error.hpp"

namespace covary {
namespace {

TEST(Scanner, OneThingAfterTheOther) {
  const std::string text = "  se_2 ( 1.5e-1 ,7:9) x";
  Scanner s("kernel expression", text);
  EXPECT_EQ(s.at(), 2u);
  EXPECT_FALSE(s.number_next());
  EXPECT_EQ(s.name(), "se_2");
  EXPECT_FALSE(s.accept(','));
  EXPECT_TRUE(s.accept('('));
  EXPECT_TRUE(s.number_next());
  EXPECT_EQ(s.number(), 0.15);
  EXPECT_TRUE(s.accept(','));
  const std::size_t back = s.at();
  EXPECT_EQ(s.integer(9, "a digit"), 7);
  s.back_to(back);
  EXPECT_EQ(s.integer(9, "a digit"), 7);
  EXPECT_TRUE(s.next_is(':'));
  EXPECT_EQ(s.found(), "':'");
  EXPECT_EQ(s.name(), "");
  EXPECT_TRUE(s.accept(':') && !s.at_end());
  EXPECT_EQ(s.integer(9, "a digit"), 9);
  EXPECT_TRUE(s.accept(')'));
  EXPECT_EQ(s.name(), "x");
  EXPECT_TRUE(s.at_end());
  EXPECT_EQ(s.found(), "the end");
  s.expect_end();
}

TEST(Scanner, ErrorsShowThePlace) {
  const auto message = [](const std::string& text, auto&& use) -> std::string {
    Scanner s("likelihood", text);
    try {
      use(s);
    } catch (const ExpressionError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("ab +",
                    [](Scanner& s) {
                      s.name();
                      s.expect_end();
                    }),
            "likelihood, column 4: unexpected '+'\n  ab +\n     ^");
  EXPECT_EQ(message("inf", [](Scanner& s) { s.number(); }),
            "likelihood, column 1: expected a number\n  inf\n  ^");
  EXPECT_EQ(message("12", [](Scanner& s) { s.integer(9, "expected a digit"); }),
            "likelihood, column 1: expected a digit\n  12\n  ^");
}

}  // namespace
}  // namespace covary
