#include "covary/parameters/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "covary/error.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

Vector vector(std::initializer_list<double> values) {
  Vector v(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

// The parameters of a product of two kernels with a likelihood.
Parameters example() {
  Parameters p;
  p.add({"kernel.0.variance", vector({1.5}), Transform::positive()});
  p.add({"kernel.0.lengthscales", vector({0.5, 2.0, 1.0}), Transform::positive(1.0, 1e-6), 3, 1});
  p.add({"kernel.1.variance", vector({3.0}), Transform::positive()});
  p.add({"kernel.1.period", vector({2.0}), Transform::positive()});
  p.add({"likelihood.variance", vector({0.1}), Transform::positive(0.1, 1e-8)});
  return p;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}

#define EXPECT_MESSAGE(statement, part)                                     \
  {                                                                         \
    const std::string text_ = message_of([&] { statement; });               \
    EXPECT_NE(text_.find(part), std::string::npos) << "message: " << text_; \
  }

TEST(Parameters, ValuesEndToEndInTheOrderAdded) {
  const Parameters p = example();
  EXPECT_EQ(p.size(), 7);
  EXPECT_EQ(p.free_size(), 7);
  EXPECT_EQ(p.values(), vector({1.5, 0.5, 2.0, 1.0, 3.0, 2.0, 0.1}));
  EXPECT_EQ(p.offset("kernel.0.variance"), 0);
  EXPECT_EQ(p.offset("kernel.0.lengthscales"), 1);
  EXPECT_EQ(p.offset("likelihood.variance"), 6);
  EXPECT_EQ(p.at("kernel.1.period").value(0), 2.0);
  EXPECT_TRUE(p.contains("kernel.1.period"));
  EXPECT_FALSE(p.contains("kernel.1"));
}

TEST(Parameters, AddRefusesTwinsEmptyAndOutOfRange) {
  Parameters p = example();
  EXPECT_MESSAGE(p.add({"likelihood.variance", vector({1.0})}), "'likelihood.variance' exists");
  EXPECT_MESSAGE(p.add({"mean.weights", Vector(0)}), "'mean.weights' has no entries");
  EXPECT_MESSAGE(p.add({"bad", vector({-1.0}), Transform::positive()}), "bad must be");
  EXPECT_EQ(p.all().size(), 5u);
}

TEST(Parameters, APrefixNamesAllBelowIt) {
  Parameters p = example();
  p.fix("kernel");
  EXPECT_EQ(p.free_size(), 1);
  p.unfix("kernel.1");
  EXPECT_EQ(p.free_names(), (std::vector<std::string>{"kernel.1.variance", "kernel.1.period",
                                                      "likelihood.variance"}));
  p.unfix("kernel.0.lengthscales");
  EXPECT_EQ(p.free_names()[1], "kernel.0.lengthscales[1]");
  EXPECT_FALSE(p.at("kernel.0.variance").trainable);
  // a prefix ends at a dot
  EXPECT_MESSAGE(p.fix("kern"), "no parameter 'kern'");
  EXPECT_MESSAGE(p.fix("kernel.0.var"), "did you mean");
}

TEST(Parameters, SingularAndPluralNameTheSame) {
  Parameters p = example();
  p.set("kernel.0.lengthscale", 0.7);
  EXPECT_EQ(p.at("kernel.0.lengthscales").value, vector({0.7, 0.7, 0.7}));
  p.set("kernel.1.variances", 4.0);
  EXPECT_EQ(p.at("kernel.1.variance").value(0), 4.0);
  EXPECT_EQ(p.offset("kernel.1.periods"), 5);
}

TEST(Parameters, UnknownPathsAreAnsweredWithTheClosest) {
  Parameters p = example();
  EXPECT_MESSAGE(p.set("kernel.0.varience", 1.0), "did you mean 'kernel.0.variance'?");
  EXPECT_MESSAGE(p.at("likelihood.noise"), "choose from kernel.0.variance, ");
  EXPECT_MESSAGE(p.offset(""), "no parameter ''");
  EXPECT_MESSAGE(p.at("kernel.0"), "'kernel.0' names 2 parameters");
  EXPECT_EQ(message_of([&] { p.at("zzzzzzzzzzzzzzzzzzzzzzzz"); }).find("did you mean"),
            std::string::npos);
}

TEST(Parameters, SetChecksShapeAndRange) {
  Parameters p = example();
  p.set("kernel.0.lengthscales", vector({1.0, 2.0, 3.0}));
  EXPECT_EQ(p.values().segment(1, 3), vector({1.0, 2.0, 3.0}));
  EXPECT_MESSAGE(p.set("kernel.0.lengthscales", vector({1.0, 2.0})), "has 3 entries, got 2 values");
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()})
    EXPECT_MESSAGE(p.set("kernel.0.variance", bad), "kernel.0.variance must be");
  EXPECT_EQ(p.at("kernel.0.variance").value(0), 1.5);
}

// The default floor is a guard for optimisers, not a limit for the user.
TEST(Parameters, SetLowersTheFloorOfAPositiveParameter) {
  Parameters p = example();
  p.set("likelihood.variance", 1e-12);
  EXPECT_EQ(p.at("likelihood.variance").value(0), 1e-12);
  EXPECT_LT(p.at("likelihood.variance").transform.low(), 1e-12);
  EXPECT_GT(p.at("likelihood.variance").transform.low(), 0.0);
  EXPECT_NEAR(p.constrain(p.flatten())(6) / 1e-12, 1.0, 1e-9);
  // a refused value leaves everything as it was
  Parameters q = example();
  EXPECT_THROW(
      q.set("kernel.0.lengthscales", vector({1e-9, 1.0, std::numeric_limits<double>::infinity()})),
      InputError);
  EXPECT_EQ(q.at("kernel.0.lengthscales").transform.low(), 1e-6);
}

TEST(Parameters, BoundsMoveTheStartInsideAndHold) {
  Parameters p = example();
  p.set_bounds("kernel.0.lengthscales", 0.6, 1.6);
  const Vector inside = p.at("kernel.0.lengthscales").value;
  EXPECT_NEAR(inside(0), 0.7, 1e-15);
  EXPECT_NEAR(inside(1), 1.5, 1e-15);
  EXPECT_EQ(inside(2), 1.0);
  for (const double far : {-1e3, 1e3}) {
    const Vector values = p.constrain(Vector::Constant(7, far));
    for (Index k = 1; k <= 3; ++k) {
      EXPECT_GT(values(k), 0.6);
      EXPECT_LT(values(k), 1.6);
    }
  }
  EXPECT_MESSAGE(p.set("kernel.0.lengthscales", 2.0), "must lie between 0.6 and 1.6, got 2");
  EXPECT_MESSAGE(p.set_bounds("kernel.1.variance", -1.0, 2.0), "lower bound cannot be -1");
  EXPECT_MESSAGE(p.set_bounds("kernel.1.variance", 2.0, 1.0), "low < high");
  EXPECT_EQ(p.at("kernel.1.variance").transform.kind(), Transform::Kind::positive);
  p.add({"order", vector({1.0, 2.0}), Transform::ordered()});
  EXPECT_MESSAGE(p.set_bounds("order", 0.0, 3.0), "order is ordered");
}

TEST(Parameters, ATiedParameterFollows) {
  Parameters p = example();
  p.tie("kernel.1.variance", "kernel.0.variance");
  p.tie("likelihood.variance", "kernel.0.variance", 0.01);
  EXPECT_EQ(p.free_size(), 5);
  EXPECT_EQ(p.values(), vector({1.5, 0.5, 2.0, 1.0, 1.5, 2.0, 0.015}));
  p.set("kernel.0.variance", 4.0);
  EXPECT_EQ(p.at("kernel.1.variance").value(0), 4.0);
  EXPECT_NEAR(p.at("likelihood.variance").value(0), 0.04, 1e-16);
  EXPECT_MESSAGE(p.set("likelihood.variance", 1.0), "is tied to kernel.0.variance");
  p.untie("likelihood.variance");
  p.set("likelihood.variance", 1.0);
  EXPECT_EQ(p.values()(6), 1.0);
  EXPECT_EQ(p.values()(0), 4.0);
  EXPECT_EQ(p.free_size(), 6);
}

TEST(Parameters, TiesOfTiesGoToTheRoot) {
  Parameters p;
  for (const char* name : {"a", "b", "c", "d"}) p.add({name, vector({1.0}), Transform::positive()});
  p.tie("b", "a", 2.0);  // b = 2a
  p.tie("c", "b", 3.0);  // c = 6a, a chain by its target
  EXPECT_EQ(p.values(), vector({1, 2, 6, 1}));
  p.tie("a", "d", 5.0);  // and now a's followers follow d
  EXPECT_EQ(p.values(), vector({5, 10, 30, 1}));
  EXPECT_EQ(p.free_names(), std::vector<std::string>{"d"});
  p.set("d", 2.0);
  EXPECT_EQ(p.values(), vector({10, 20, 60, 2}));
  EXPECT_EQ(p.constrain(p.flatten())(2) / p.constrain(p.flatten())(3), 30.0);
  p.fix("d");
  EXPECT_EQ(p.free_size(), 0);
  EXPECT_EQ(p.constrain(Vector(0)), vector({10, 20, 60, 2}));
}

TEST(Parameters, CyclesAndMisfitsAreRefused) {
  Parameters p = example();
  EXPECT_MESSAGE(p.tie("kernel.0.variance", "kernel.0.variance"), "cannot be tied to itself");
  p.tie("kernel.1.variance", "kernel.0.variance");
  EXPECT_MESSAGE(p.tie("kernel.0.variance", "kernel.1.variance"), "cannot be tied to itself");
  p.tie("likelihood.variance", "kernel.1.variance");
  EXPECT_MESSAGE(p.tie("kernel.0.variance", "likelihood.variance"), "cannot be tied to itself");
  EXPECT_MESSAGE(p.tie("kernel.0.lengthscales", "kernel.1.period"), "(3 entries)");
  EXPECT_MESSAGE(p.tie("kernel.1.period", "kernel.0.variance", -1.0), "kernel.1.period as tied");
  for (const double bad :
       {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_MESSAGE(p.tie("kernel.1.period", "kernel.0.variance", bad), "ratio must be finite");
  EXPECT_MESSAGE(p.tie("kernel.1.period", "nothing"), "no parameter 'nothing'");
  EXPECT_TRUE(p.at("kernel.1.period").tied_to.empty());
}

TEST(Parameters, SetValuesAndSizes) {
  Parameters p = example();
  p.tie("kernel.1.variance", "kernel.0.variance", 2.0);
  Vector v = p.values();
  v(0) = 7.0;
  v(4) = 99.0;  // tied: it follows all the same
  p.set_values(v);
  EXPECT_EQ(p.values()(0), 7.0);
  EXPECT_EQ(p.values()(4), 14.0);
  EXPECT_MESSAGE(p.set_values(Vector::Ones(6)), "expected 7 parameter values, got 6");
  EXPECT_MESSAGE(p.constrain(Vector::Ones(7)), "expected 6 free values, got 7");
  EXPECT_MESSAGE(p.pullback(Vector::Ones(5), Vector::Ones(7)), "expected 6 free values, got 5");
}

// All transforms, ties in a chain, a tie of vectors and fixed parameters at once.
Parameters everything() {
  Parameters p;
  p.add({"real", vector({-0.3, 2.0}), Transform::real()});
  p.add({"copy", vector({1.0, 2.0}), Transform::real()});
  p.add({"positive", vector({0.7}), Transform::positive(2.0, 0.1)});
  p.add({"fixed", vector({3.0}), Transform::positive()});
  p.add({"bounded", vector({0.2, 0.4}), Transform::bounded(-1.0, 0.5)});
  p.add({"triangle", vector({1.0, -0.5, 0.3}), Transform::lower_triangular(), 2, 2});
  p.add({"ordered", vector({-1.0, 0.0, 4.0}), Transform::ordered()});
  p.add({"double", vector({1.0}), Transform::positive()});
  p.add({"triple", vector({1.0}), Transform::positive()});
  p.fix("fixed");
  p.tie("copy", "real", -1.5);
  p.tie("triple", "double", 3.0);
  p.tie("double", "positive", 2.0);
  return p;
}

TEST(Parameters, FlattenAndConstrainAreInverse) {
  const Parameters p = everything();
  EXPECT_EQ(p.size(), 16);
  EXPECT_EQ(p.free_size(), 11);
  EXPECT_LE((p.constrain(p.flatten()) - p.values()).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_EQ(static_cast<Index>(p.free_names().size()), p.free_size());
  Parameters q = p;
  q.set_values(p.constrain(Vector::Constant(11, 0.3)));
  EXPECT_LE((q.flatten() - Vector::Constant(11, 0.3)).cwiseAbs().maxCoeff(), 1e-14);
}

// An optimiser that ran to the ends of the ranges leaves values that can be flattened again.
TEST(Parameters, FlattenAfterARunToTheEnds) {
  for (const double far : {-1e4, -60.0, 60.0, 1e3}) {
    Parameters p = everything();
    p.set_values(p.constrain(Vector::Constant(11, far)));
    EXPECT_TRUE(p.flatten().allFinite()) << far;
  }
}

TEST(Parameters, PullbackThroughTiesAndTransforms) {
  const Parameters p = everything();
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  for (int point = 0; point < 10; ++point) {
    const double spread = point == 9 ? 6.0 : 1.0;
    const Vector u = Vector::NullaryExpr(11, [&] { return spread * normal(engine); });
    const Vector w = Vector::NullaryExpr(16, [&] { return normal(engine); });
    const auto f = [&](const Vector& at) { return p.constrain(at).array().sin().matrix().dot(w); };
    const Vector values_bar = w.array() * p.constrain(u).array().cos();
    expect_gradient(f, p.pullback(u, values_bar), u);
  }
}

TEST(Parameters, LogPriorIsTheSumOverParametersThatAreNotTied) {
  Parameters p = everything();
  p.set_prior("positive", Prior::gamma(2.0, 1.0));
  p.set_prior("double", Prior::gamma(9.0, 9.0));  // tied, so it does not count
  p.set_prior("real", Prior::normal(0.0, 1.0));
  const double expected = Prior::gamma(2.0, 1.0).log_density(0.7) +
                          Prior::normal(0.0, 1.0).log_density(-0.3) +
                          Prior::normal(0.0, 1.0).log_density(2.0);
  EXPECT_NEAR(p.log_prior(p.values()), expected, 1e-14);
  Vector bar = Vector::Ones(16);
  p.log_prior(p.values(), &bar);
  Vector slope = bar.array() - 1.0;  // added to what was there
  expect_gradient([&](const Vector& v) { return p.log_prior(v); }, slope, p.values());
  EXPECT_MESSAGE(p.set_prior("ordered", Prior::gamma(1.0, 1.0)),
                 "gives no density to ordered = -1");
}

TEST(Parameters, TheTableHasALineAnEntry) {
  Parameters p = example();
  p.tie("kernel.1.variance", "kernel.0.variance", 2.0);
  p.fix("kernel.1.period");
  p.set_prior("likelihood.variance", Prior::half_cauchy(1.0));
  p.set_bounds("kernel.0.lengthscales", 0.1, 10.0);
  const std::string table = p.table();
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + p.size());
  for (const char* part : {"kernel.0.lengthscales[0]", "kernel.0.lengthscales[2]", "3x1", "scalar",
                           "2*kernel.0.variance", "halfcauchy(1)", "fixed", "(0.1, 10)", "1.5"})
    EXPECT_NE(table.find(part), std::string::npos) << part << " is not in\n" << table;
  const Vector errors = vector({0.125, 0.25, 0.375, std::nan(""), 0.625});
  const std::string with_errors = p.table(&errors);
  EXPECT_EQ(std::count(with_errors.begin(), with_errors.end(), '\n'), 1 + p.size());
  for (const char* part : {"s.e.", "0.125", "0.25", "0.375", "0.625"})
    EXPECT_NE(with_errors.find(part), std::string::npos) << part << " is not in\n" << with_errors;
  EXPECT_EQ(with_errors.find("nan"), std::string::npos);
}

TEST(Parameters, ALongParameterIsOneLineOfTheTable) {
  Parameters p;
  p.add({"features.Z", Vector::LinSpaced(41, -2.0, 3.0), Transform::real(), 41, 1});
  p.add({"kernel.variance", Vector::Ones(1), Transform::positive(1.0)});
  Vector errors = Vector::Constant(42, 0.125);
  errors(41) = 0.25;
  const std::string table = p.table(&errors);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
  EXPECT_NE(table.find("-2…3"), std::string::npos) << table;
  EXPECT_NE(table.find("41x1"), std::string::npos) << table;
  EXPECT_NE(table.find("0.25"), std::string::npos) << table;  // of the variance
  EXPECT_EQ(table.find("0.125"), std::string::npos) << table;
}

}  // namespace
}  // namespace covary
