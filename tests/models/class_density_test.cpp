#include "covary/models/class_density.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

struct Curves {
  RowMatrix X;
  Vector labels;
};
// Two curves in three columns that cross in the first two of them; twice as many rows of one.
Curves curves(Index n, std::uint64_t seed) {
  Random random(seed);
  Curves out{RowMatrix(3 * n, 3), Vector(3 * n)};
  for (Index i = 0; i < 3 * n; ++i) {
    const double t = 2.0 * random.uniform() - 1.0;
    const bool second = i % 3 != 0;
    out.labels(i) = second ? 1.0 : 0.0;
    out.X.row(i) << t, second ? -t : t, second ? std::cos(3.0 * t) : std::sin(3.0 * t);
    for (Index d = 0; d < 3; ++d) out.X(i, d) += 0.03 * random.normal();
  }
  return out;
}

ClassDensityOptions quick() {
  ClassDensityOptions o;
  o.gplvm.latent = 2;
  o.gplvm.inducing = 8;
  o.gplvm.training.starts = 1;
  o.gplvm.held_iterations = 20;
  o.gplvm.training.max_iterations = 60;
  return o;
}

TEST(ClassDensity, ClassifiesByBayesRule) {
  const auto [X, labels] = curves(15, 1);
  const auto test = curves(10, 2);
  for (const bool uniform : {false, true}) {
    ClassDensityOptions o = quick();
    o.uniform_prior = uniform;
    const ClassDensityFit fit = fit_class_density(X, labels, o);
    EXPECT_EQ(fit.rows(), 45);
    const Matrix joint = fit.log_joint(test.X), p = fit.predict(test.X);
    Index errors = 0;
    for (Index i = 0; i < p.rows(); ++i) {
      EXPECT_NEAR(p.row(i).sum(), 1.0, 1e-12);
      EXPECT_NEAR(p(i, 1), 1.0 / (1.0 + std::exp(joint(i, 0) - joint(i, 1))), 1e-12);
      errors += (p(i, 1) > 0.5) != (test.labels(i) > 0.5);
    }
    EXPECT_LE(errors, 2);
    const Vector own = fit.densities[1].log_density(test.X);
    EXPECT_NEAR(joint(4, 1) - own(4), std::log(uniform ? 0.5 : 2.0 / 3.0), 1e-12);
    // With nothing observed the classes are as probable as before.
    const Matrix unknown = fit.predict(RowMatrix::Constant(1, 3, std::nan("")));
    EXPECT_NEAR(unknown(0, 1), uniform ? 0.5 : 2.0 / 3.0, 1e-9);
  }
}

// Evaluations and seconds are those of all classes, each counted once; and the record has all that
// training starts from.
TEST(ClassDensity, TheSummaryCountsEveryClassOnce) {
  const auto [X, labels] = curves(8, 3);
  const ClassDensityFit fit = fit_class_density(X, labels, quick());
  Index evaluations = 0;
  double seconds = 0.0;
  for (const GplvmFit& density : fit.densities) {
    evaluations += density.summary.evaluations;
    seconds += density.summary.seconds;
  }
  EXPECT_EQ(fit.summary.evaluations, evaluations);
  EXPECT_GE(fit.summary.seconds, seconds);
  EXPECT_LT(fit.densities[1].summary.seconds, fit.summary.seconds);
  ClassDensityOptions o = quick();
  o.gplvm.training.max_iterations = 0;
  ClassDensity again(X, labels, o);
  again.parameters().set_values(fit.parameters.values());
  EXPECT_NEAR(again.fit().value, fit.value, 1e-6 * std::abs(fit.value));
}

TEST(ClassDensity, RowsWithoutALabelAreLeftOut) {
  auto [X, labels] = curves(8, 3);
  labels(0) = labels(1) = std::nan("");
  EXPECT_EQ(fit_class_density(X, labels, quick()).rows(), 22);
}

TEST(ClassDensity, RefusesWhatIsNoClass) {
  const auto [X, labels] = curves(8, 4);
  const auto told = [&, &X = X](const Vector& y, ClassDensityOptions o = quick()) -> std::string {
    try {
      fit_class_density(X, y, std::move(o));
    } catch (const InputError& e) {
      return e.what();
    }
    return "nothing was refused";
  };
  Vector bad = labels;
  bad(5) = 0.5;
  EXPECT_NE(told(bad).find("row 5 is 0.5"), std::string::npos);
  bad(5) = 2.0;
  EXPECT_NE(told(bad).find("class 2 has 1 rows"), std::string::npos);
  EXPECT_NE(told(Vector::Zero(24)).find("two classes"), std::string::npos);
  EXPECT_NE(told(Vector::Zero(3)).find("3 labels for 24 rows"), std::string::npos);
  ClassDensityOptions named = quick();
  named.classes = {"a", "b", "c"};
  EXPECT_NE(told(labels, named).find("class c has 0 rows"), std::string::npos);
  EXPECT_THROW(fit_class_density(X, labels, quick()).predict(RowMatrix::Zero(1, 2)), InputError);
}

}  // namespace
}  // namespace covary
