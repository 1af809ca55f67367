// What the user says of parameters holds in models that are trained in several parts.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "covary/error.hpp"
#include "covary/models/class_density.hpp"
#include "covary/models/missing_inputs.hpp"
#include "covary/models/uncertain_regression.hpp"
#include "covary/models/warped_regression.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

struct Data {
  RowMatrix X, Y, holed;
  Vector labels;
  Data() {
    Random random(5);
    X = random.normal_matrix(30, 2);
    Y.resize(30, 1);
    Y.col(0) = (2.0 * X.col(0)).array().sin() + 0.5 * X.col(1).array();
    Y += 0.1 * random.normal_matrix(30, 1);
    holed = X;
    for (Index i = 0; i < 24; i += 4)
      holed(i, i % 8 / 4) = std::numeric_limits<double>::quiet_NaN();
    labels = (X.col(0).array() > 0.0).cast<double>();
  }
};

template <class Options>
Options brief() {
  Options o;
  o.inducing = 6;
  o.held_iterations = 5;
  o.training.max_iterations = 15;
  return o;
}

const RegressionFit& record(const MissingInputsFit& fit) { return fit.regression; }
const RegressionFit& record(const UncertainInputsFit& fit) { return fit.regression; }
template <class Record>
const Record& record(const Record& fit) {
  return fit;
}

// Each kind of setting, on paths below `at`.
template <class Make>
void check(const Make& make, const std::string& at = "") {
  const std::string variance = at + "kernel.variance", lengths = at + "kernel.lengthscales",
                    noise = at + "likelihood.variance";
  const auto trained = [&](const auto& say) {
    auto model = make();
    say(model.parameters());
    return record(model.fit());
  };
  const auto plain = trained([](Parameters&) {});
  EXPECT_EQ(plain.value, record(make().fit()).value);  // to look at them changes nothing
  {
    SCOPED_TRACE("set and fixed");
    const auto fit = trained([&](Parameters& p) {
      p.set(noise, 0.07);
      p.fix(noise);
    });
    EXPECT_EQ(fit.parameters.at(noise).value(0), 0.07);
    EXPECT_FALSE(fit.parameters.at(noise).trainable);
    EXPECT_NE(fit.value, plain.value);
  }
  {
    SCOPED_TRACE("fixed at its start");
    Vector start;
    const auto fit = trained([&](Parameters& p) {
      start = p.at(lengths).value;
      p.fix(lengths);
    });
    EXPECT_EQ(fit.parameters.at(lengths).value, start);
  }
  {
    SCOPED_TRACE("bounds");
    const double best = plain.parameters.at(noise).value(0);
    const auto fit = trained([&](Parameters& p) { p.set_bounds(noise, 2.0 * best, 3.0 * best); });
    EXPECT_GT(fit.parameters.at(noise).value(0), 2.0 * best);
    EXPECT_LT(fit.parameters.at(noise).value(0), 3.0 * best);
  }
  {
    SCOPED_TRACE("a prior");
    const auto fit =
        trained([&](Parameters& p) { p.set_prior(variance, Prior::parse("lognormal(1,0.01)")); });
    EXPECT_NEAR(fit.parameters.at(variance).value(0), std::exp(1.0), 0.5);
    EXPECT_NE(fit.log_prior, 0.0);
  }
  {
    SCOPED_TRACE("a tie");
    const auto fit = trained([&](Parameters& p) { p.tie(noise, variance, 0.1); });
    EXPECT_EQ(fit.parameters.at(noise).value(0), 0.1 * fit.parameters.at(variance).value(0));
  }
  {
    SCOPED_TRACE("another start");
    const auto fit = trained([&](Parameters& p) { p.set(variance, 0.2); });
    EXPECT_NE(fit.value, plain.value);
  }
}

TEST(CompositeSettings, MissingInputs) {
  const Data d;
  check([&] { return MissingInputsRegression(d.holed, d.Y, brief<MissingInputsOptions>()); });
}

TEST(CompositeSettings, NoisyInputs) {
  const Data d;
  auto o = brief<UncertainInputsOptions>();
  o.input_variance = RowMatrix::Constant(1, 2, 0.01);
  check([&] { return UncertainInputsRegression(d.X, d.Y, o); });
}

TEST(CompositeSettings, Warped) {
  const Data d;
  check([&] { return WarpedRegression(d.X, d.Y, brief<WarpedRegressionOptions>()); });
}

TEST(CompositeSettings, ClassDensity) {
  const Data d;
  ClassDensityOptions o;
  o.gplvm = brief<GplvmOptions>();
  o.gplvm.latent = 1;
  o.gplvm.training.starts = 1;
  const auto make = [&] { return ClassDensity(d.X, d.labels, o); };
  auto first = make();
  first.parameters().set("class.1.likelihood.variance", 0.3);
  first.parameters().fix("class.1");
  const ClassDensityFit fit = first.fit();
  EXPECT_EQ(fit.parameters.at("class.1.likelihood.variance").value(0), 0.3);
  EXPECT_EQ(fit.densities[1].parameters.at("likelihood.variance").value(0), 0.3);
  EXPECT_NE(fit.parameters.at("class.0.likelihood.variance").value(0), 0.3);
  auto across = make();
  across.parameters().tie("class.1.kernel.variance", "class.0.kernel.variance");
  EXPECT_THROW(across.fit(), InputError);
  check(make, "class.0.");
}

// From all that a fit has, the parts are not trained anew.
TEST(CompositeSettings, FromAFitThatIsThere) {
  const Data d;
  auto o = brief<UncertainInputsOptions>();
  o.input_variance = RowMatrix::Constant(1, 2, 0.01);
  const auto again = [](auto model, const auto& fit) {
    for (const Parameter& p : fit.parameters.all()) model.parameters().set(p.path, p.value);
    return record(model.fit()).value;
  };
  const RegressionFit noisy = UncertainInputsRegression(d.X, d.Y, o).fit().regression;
  o.training.max_iterations = 0;
  EXPECT_NEAR(again(UncertainInputsRegression(d.X, d.Y, o), noisy), noisy.value, 1e-6);
  auto m = brief<MissingInputsOptions>();
  const RegressionFit missing = MissingInputsRegression(d.holed, d.Y, m).fit().regression;
  m.training.max_iterations = 0;
  EXPECT_NEAR(again(MissingInputsRegression(d.holed, d.Y, m), missing), missing.value, 1e-6);
  auto w = brief<WarpedRegressionOptions>();
  const WarpedRegressionFit warped = WarpedRegression(d.X, d.Y, w).fit();
  w.training.max_iterations = 0;
  EXPECT_NEAR(again(WarpedRegression(d.X, d.Y, w), warped), warped.value, 1e-6);
}

TEST(CompositeSettings, FurtherStartsAreNoWorse) {
  const Data d;
  auto m = brief<MissingInputsOptions>();
  const double one = MissingInputsRegression(d.holed, d.Y, m).fit().regression.value;
  m.training.starts = 3;
  const RegressionFit best = MissingInputsRegression(d.holed, d.Y, m).fit().regression;
  EXPECT_EQ(best.summary.starts.size(), 3U);
  EXPECT_GE(best.value, one);
}

}  // namespace
}  // namespace covary
