#include "covary/kernels/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/kernels/formula.hpp"
#include "covary/kernels/kernels.hpp"

namespace covary {
namespace {

std::string printed(const std::string& text) { return parse_kernel(text).print(); }
bool operator==(const Kernel& a, const Kernel& b) { return a.print() == b.print(); }

TEST(Expression, ReadsTheExamplesOfTheDesign) {
  EXPECT_TRUE(parse_kernel("se(ard) + white") == se(true) + white());
  EXPECT_TRUE(parse_kernel("matern32(dims=0,1) * periodic") ==
              on_dims(matern32(), {0, 1}) * periodic());
  EXPECT_TRUE(parse_kernel("se@0 + se@1") == on_dims(se(), {0}) + on_dims(se(), {1}));
  EXPECT_TRUE(parse_kernel("se(ard, lengthscale=0.5) + white") == se(true, {{}, {0.5}}) + white());
  EXPECT_TRUE(parse_kernel("2*se") == 2.0 * se());
  EXPECT_TRUE(parse_kernel("additive(se)") == additive(se()));
  EXPECT_TRUE(parse_kernel("additive(0.5*se + white)") == additive(0.5 * se() + white()));
  EXPECT_TRUE(parse_kernel("(se+linear)*periodic@1") ==
              (se() + linear()) * on_dims(periodic(), {1}));
  EXPECT_TRUE(parse_kernel("rq(alpha=2)") == rq(false, {}, 2.0));
}

TEST(Expression, ReadsEveryKernelWithItsArguments) {
  EXPECT_TRUE(parse_kernel("rbf") == se());
  EXPECT_TRUE(parse_kernel("matern12(variance=2,lengthscales=3)") == matern12(false, {2.0, {3.0}}));
  EXPECT_TRUE(parse_kernel("matern52(ard,lengthscales=1,2,3,variance=4)") ==
              matern52(true, {4.0, {1.0, 2.0, 3.0}}));
  EXPECT_TRUE(parse_kernel("periodic(period=2, lengthscale=0.1)") ==
              periodic(false, {{}, {0.1}}, 2.0));
  EXPECT_TRUE(parse_kernel("cosine(ard, period=1,2)") == cosine({}, {1.0, 2.0}, true));
  EXPECT_TRUE(parse_kernel("linear(ard, variances=1,2)") == linear(true, {1.0, 2.0}));
  EXPECT_TRUE(parse_kernel("poly(3, offset=2, variance=0.5)") == polynomial(3, 0.5, 2.0));
  EXPECT_TRUE(parse_kernel("constant(variance=9)") == constant(9.0));
  EXPECT_TRUE(parse_kernel("white(variance=1e-3)") == white(1e-3));
  EXPECT_TRUE(parse_kernel("se()") == se());
  EXPECT_TRUE(parse_kernel("se(dims=0,2:5,ard)") == on_dims(se(true), {0, 2, 3, 4}));
  EXPECT_TRUE(parse_kernel("additive(se + white)@1:3") ==
              on_dims(additive(se() + white()), {1, 2}));
  const Parameters p = Kernel("se(ard, lengthscales=0.5,2, variance=3)").parameters(2);
  EXPECT_EQ(p.values(), (Vector(3) << 3.0, 0.5, 2.0).finished());
}

TEST(Expression, ProductsBindBeforeSumsAndBracketsBeforeBoth) {
  EXPECT_TRUE(parse_kernel("se + linear * periodic") == se() + linear() * periodic());
  EXPECT_TRUE(parse_kernel("se * linear + periodic") == se() * linear() + periodic());
  EXPECT_TRUE(parse_kernel("((se))") == se());
  EXPECT_TRUE(parse_kernel("se + (linear + white)") == se() + linear() + white());
  EXPECT_TRUE(parse_kernel("(se * linear)@1") == on_dims(se() * linear(), {1}));
  EXPECT_TRUE(parse_kernel("se*linear@1") == se() * on_dims(linear(), {1}));
  EXPECT_FALSE(parse_kernel("se + linear") == parse_kernel("linear + se"));
}

TEST(Expression, SpacesDoNotMatter) {
  EXPECT_EQ(printed("  se ( ard , lengthscale = 0.5 , 2 )\t+\n white @ 0 , 1 "),
            printed("se(ard,lengthscale=0.5,2)+white@0,1"));
}

// The printer and the parser are inverse, for kernels made in C++ too.
TEST(Expression, PrintIsReadBack) {
  const std::vector<Kernel> kernels{se() * (2.0 * matern12()),
                                    2.0 * (3.0 * se()),
                                    (2.0 * se()) * (4.0 * linear() * rq()),
                                    0.1 * (se() + 1e-7 * white()),
                                    on_dims(2.0 * se(), {0}) * periodic(),
                                    on_dims(on_dims(se(true), {1, 0}), {2, 3}),
                                    additive(0.5 * se() + on_dims(linear(), {0})),
                                    (se() + linear()) * (rq() + constant(1.0 / 3.0)) * cosine(),
                                    matern32(true, {1e-300, {0.1 + 0.2, 1e22, 5e-324}}),
                                    polynomial(20, {}, 1e300)};
  for (const Kernel& k : kernels) {
    const Kernel again = parse_kernel(k.print());
    EXPECT_EQ(again.print(), k.print());
    EXPECT_EQ(again.parameter_count(4), k.parameter_count(4)) << k.print();
  }
  EXPECT_EQ((se() * (2.0 * linear())).print(), "2 * se * linear");
  EXPECT_EQ((2.0 * (3.0 * se())).print(), "6 * se");
}

TEST(Expression, KernelsOfTheUsersOwn) {
  const auto mine = [] {
    return formula_kernel("mine", {{"variance", 1.0}},
                          [](auto x, auto z, auto theta) { return theta[0] * x[0] * z[0]; });
  };
  const KernelTable table{{"mine", mine}};
  EXPECT_EQ(parse_kernel("2*mine@1 + se", table).print(), "2 * mine@1 + se");
  EXPECT_THROW(parse_kernel("mine"), ExpressionError);
  EXPECT_THROW(parse_kernel("mine(ard)", table), ExpressionError);
  EXPECT_THROW(parse_kernel("mine(variance=2)", table), ExpressionError);
}

struct Mistake {
  std::string text;
  int column;
  std::string says;
};

TEST(Expression, MistakesPointAtTheirColumn) {
  const std::vector<Mistake> mistakes{
      {"", 1, "empty"},
      {"   ", 4, "empty"},
      {"se + ", 6, "found the end"},
      {"se +", 5, "found the end"},
      {"se * * se", 6, "found '*'"},
      {"see", 1, "did you mean 'se'?"},
      {"se + matern33", 6, "did you mean 'matern32'?"},
      {"SE", 1, "unknown kernel 'SE'"},
      {"se(", 4, "found the end"},
      {"se(ard", 7, "expected ')'"},
      {"(se + white", 12, "expected ')'"},
      {"se)", 3, "unexpected ')'"},
      {"se se", 4, "unexpected 's'"},
      {"se ! white", 4, "unexpected '!'"},
      {"poly", 1, "whole degree"},
      {"poly(0)", 1, "whole degree"},
      {"poly(2.5)", 1, "whole degree"},
      {"linear + poly(21)", 10, "whole degree"},
      {"se(foo=1)", 4, "no parameter 'foo'"},
      {"white + se(ard, foo=1)", 17, "no parameter 'foo'"},
      {"constant(lengthscale=1)", 10, "no parameter 'lengthscale'"},
      {"se(lengthscale=)", 16, "expected a number"},
      {"se(lengthscale=one)", 16, "expected a number"},
      {"se(lengthscale=1e999)", 16, "expected a number"},
      {"se(lengthscale=-1)", 4, "must be positive, got -1"},
      {"se(ard, variance=0)", 9, "must be positive, got 0"},
      {"se(lengthscales=1,2)", 4, "ard"},
      {"cosine(period=1,2)", 8, "ard"},
      {"linear(variance=1,2)", 8, "ard"},
      {"se(variance=1,2)", 4, "one value, got 2"},
      {"se(variance=1, variance=2)", 16, "given twice"},
      {"se(lengthscale=1, lengthscales=2)", 19, "given twice"},
      {"se(dims=0, dims=1)", 12, "given twice"},
      {"se(0.5)", 1, "no bare number"},
      {"se(linear)", 1, "no kernel as an argument"},
      {"white(ard)", 1, "drop 'ard'"},
      {"additive", 1, "additive needs a kernel"},
      {"additive(2)", 1, "additive needs a kernel"},
      {"additive(2*3)", 10, "a number by itself"},
      {"additive(se, 0*se)", 14, "one kernel"},
      {"additive(0*se)", 10, "positive number"},
      {"additive(se, linear)", 14, "one kernel"},
      {"se@", 4, "column number"},
      {"se@-1", 4, "column number"},
      {"se@x", 4, "column number"},
      {"se@0,0", 1, "named twice"},
      {"linear + se@2:1", 13, "empty"},
      {"se@0:999999", 4, "too long"},
      {"se@99999999999999999999", 4, "column number"},
      {"3", 1, "a number by itself"},
      {"se + 3", 6, "a number by itself"},
      {"3@0", 1, "a number by itself"},
      {"-1*se", 1, "positive number"},
      {"se * 0", 6, "positive number"},
      {"--1*se", 1, "expected a number"},
      {"2se", 2, "unexpected 's'"},
  };
  for (const auto& [text, column, says] : mistakes) {
    try {
      const Kernel k = parse_kernel(text);
      ADD_FAILURE() << "'" << text << "' was read as " << k.print();
    } catch (const ExpressionError& e) {
      const std::string message = e.what(), where = "column " + std::to_string(column) + ":";
      EXPECT_NE(message.find(where), std::string::npos)
          << where << " for '" << text << "': " << message;
      EXPECT_NE(message.find(says), std::string::npos)
          << says << " for '" << text << "': " << message;
      // the caret stands under that column
      const std::string caret =
          "\n  " + std::string(static_cast<std::size_t>(column - 1), ' ') + "^";
      EXPECT_NE(message.find(caret), std::string::npos) << message;
    }
  }
}

std::string repeated(const std::string& unit, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += unit;
  return out;
}

TEST(Expression, DeepOrHugeTextIsRefusedQuietly) {
  const std::vector<std::string> texts{
      repeated("(", 90000),
      repeated("(", 100) + "se" + repeated(")", 100),
      repeated("additive(", 11000),
      "se" + repeated("@0", 49000),
      "se" + repeated("+se", 33000),
      "se" + repeated("*se", 33000),
      repeated("2*", 40000),
      std::string(1000000, 's'),
      std::string(99999, '-'),
      "se(lengthscale=" + std::string(90000, '9') + ")",
      "se@" + repeated("0:90000,", 10000),
  };
  for (const auto& text : texts)
    EXPECT_THROW(parse_kernel(text), Error) << text.substr(0, 40) << " …";
  // large but sensible ones are read
  EXPECT_NO_THROW(parse_kernel(repeated("(", 60) + "se" + repeated(")", 60)));
  EXPECT_EQ(parse_kernel("se" + repeated(" + se", 500)).terms(1).size(), 501u);
  std::string lengths = "1";
  for (int d = 1; d < 784; ++d) lengths += "," + std::to_string(d);
  EXPECT_EQ(parse_kernel("se(ard, lengthscales=" + lengths + ")").parameters(784).size(), 785);
}

// Random words of the language, and random bytes: a kernel or an error, nothing else. What is read
// is printed and read again.
TEST(Expression, RandomTextIsReadOrRefused) {
  const std::vector<std::string> words{
      "se",     "rbf",   "matern12", "matern32", "rq",  "periodic", "cosine",      "linear",
      "poly",   "white", "constant", "additive", "ard", "dims",     "lengthscale", "variance",
      "period", "alpha", "(",        ")",        "+",   "*",        "@",           ",",
      "=",      ":",     "-",        "0",        "1",   "2",        "0.5",         "1e-3",
      "1e308",  " ",     "se(ard)",  "poly(2)"};
  std::mt19937_64 engine(2024);
  int read = 0;
  for (int trial = 0; trial < 30000; ++trial) {
    std::string text;
    const auto length = engine() % 12;
    for (std::size_t i = 0; i < length; ++i)
      if (trial % 3 == 0)
        text += static_cast<char>(engine() % 256);
      else
        text += words[engine() % words.size()];
    try {
      const Kernel k = parse_kernel(text);
      ++read;
      EXPECT_EQ(parse_kernel(k.print()).print(), k.print()) << "from '" << text << "'";
      k.parameters(3);
    } catch (const ExpressionError&) {
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(read, 300);
}

}  // namespace
}  // namespace covary
