// The table of feature kinds: what it says of them is what they do.
#include <gtest/gtest.h>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/kernels/input_moments.hpp"
#include "features/basis.hpp"
#include "features/features_case.hpp"

namespace covary {
namespace {

FeatureChoice choice_of(const FeatureKind& kind) {
  std::string text = kind.expression;
  if (text.ends_with("(C)")) text.replace(text.size() - 2, 1, "2");
  return text;
}

TEST(FeatureKinds, DoWhatTheTableSays) {
  const RowMatrix X = Random(3).normal_matrix(30, 1);
  for (const FeatureKind* kind : feature_kinds()) {
    SCOPED_TRACE(kind->expression);
    const FeatureChoice choice = choice_of(*kind);
    EXPECT_EQ(choice.kind, kind);
    EXPECT_EQ(choice.inputs(7), kind->around_inputs ? 7 : 0);
    const bool matern = choice.name().starts_with("fourier");
    const Kernel kernel = matern ? "matern12" : "se";
    const Vector theta = kernel.parameters(1).values();
    Index asked = 0;
    const auto choose = [&](Index n) {
      asked = n;
      return RowMatrix(X.topRows(n));
    };
    const FeaturesPtr u = start_features(
        choice, {.kernel = kernel, .theta = theta, .X = X, .M = 4, .choose = choose});
    EXPECT_EQ(u->name(), kind->name);
    EXPECT_EQ(asked, kind->around_inputs ? 4 : 0);
    Parameters own;
    u->declare(own);
    std::string paths;
    for (const Parameter& p : own.all())
      paths += (paths.empty() ? "" : ", ") + p.path.substr(std::string("features.").size());
    EXPECT_EQ(paths, kind->parameters);
    const Vector z = own.values();
    EXPECT_EQ(u->expectations(theta.data(), z.data()) != nullptr, kind->gaussian_inputs);
    EXPECT_EQ(u->input_moments(theta.data(), z.data()) != nullptr, kind->gaussian_inputs);
    if (!kind->gaussian_inputs) {
      EXPECT_THROW(gaussian_expectations(*u, theta.data(), z.data()), Unsupported);
    }
    const bool values = choice.is_points();
    EXPECT_EQ(u->inputs(z.data()).has_value(), values);
    if (!values) {
      EXPECT_THROW(inducing_inputs(*u, z.data(), "a test needs"), Unsupported);
    }
  }
}

TEST(FeatureKinds, RefusalsNameWhatThereIs) {
  try {
    FeatureChoice("patches");
    FAIL();
  } catch (const InputError& e) {
    for (const FeatureKind* kind : feature_kinds())
      EXPECT_NE(std::string(e.what()).find(kind->expression), std::string::npos) << e.what();
  }
  const RowMatrix X = Random(3).normal_matrix(30, 1);
  const Kernel kernel = "se";
  const Vector theta = kernel.parameters(1).values();
  const FeaturesPtr u = start_features("eigen", {.kernel = kernel, .theta = theta, .X = X, .M = 4});
  try {
    gaussian_expectations(*u, theta.data(), start_of(*u).data());
    FAIL();
  } catch (const Unsupported& e) {
    EXPECT_NE(std::string(e.what()).find("points and basis(C)"), std::string::npos) << e.what();
  }
}

// What a bound of Gaussian rows asks of features, as one number, and its gradient.
struct Question {
  Kernel kernel;
  FeaturesPtr u;
  RowMatrix mean, variance;
  Vector psi0_bar;
  Matrix psi1_bar, psi2_bar;

  Question(const char* expression, FeaturesPtr features)
      : kernel(expression), u(std::move(features)) {
    Random random(5);
    const Index M = u->size(), n = 6;
    mean = random.normal_matrix(n, u->dims());
    variance = random.normal_matrix(n, u->dims()).array().square();
    psi0_bar = random.normal_vector(n);
    psi1_bar = random.normal_matrix(M, n);
    psi2_bar = random.normal_matrix(M, M);
    psi2_bar = Matrix(psi2_bar + psi2_bar.transpose());
  }
  GaussianBlock rows() const { return {block_of(mean), variance.data()}; }
  Matrix psi1(const Vector& theta, const Vector& z) const {
    Matrix out(u->size(), mean.rows());
    u->expectations(theta.data(), z.data())->psi1(rows(), out.data());
    return out;
  }
  Matrix psi2(const Vector& theta, const Vector& z) const {
    Matrix out = Matrix::Zero(u->size(), u->size());
    u->expectations(theta.data(), z.data())->psi2(rows(), out);
    return out.selfadjointView<Eigen::Lower>();
  }
  double value(const Vector& theta, const Vector& z) const {
    Vector psi0(mean.rows());
    u->expectations(theta.data(), z.data())->psi0(rows(), psi0.data());
    return psi0.dot(psi0_bar) + psi1(theta, z).cwiseProduct(psi1_bar).sum() +
           psi2(theta, z).cwiseProduct(psi2_bar).sum();
  }
};

FeaturesPtr sums(const char* kernel) {
  Random random(9);
  const RowMatrix Z = random.normal_matrix(6, 2), weights = random.normal_matrix(3, 2);
  return basis_features(kernel, Z, weights);
}

TEST(FeatureKinds, ExpectationsOfSumsHaveTheirGradient) {
  for (const char* kernel : {"se(ard) + white", "se + linear", "matern32"}) {
    SCOPED_TRACE(kernel);
    const Question q(kernel, sums(kernel));
    const Vector theta = Vector::LinSpaced(q.kernel.parameter_count(2), 0.7, 1.4),
                 z = start_of(*q.u);
    const Index T = theta.size(), Z = z.size(), X = q.mean.size();
    Vector at(T + Z + 2 * X), g = Vector::Zero(T + Z + 2 * X);
    at << theta, z, Eigen::Map<const Vector>(q.mean.data(), X),
        Eigen::Map<const Vector>(q.variance.data(), X);
    const auto psi = q.u->expectations(theta.data(), z.data());
    const GaussianBars to{g.data(), g.data() + T, g.data() + T + Z, g.data() + T + Z + X};
    psi->psi0_pullback(q.rows(), q.psi0_bar.data(), to);
    psi->psi1_pullback(q.rows(), q.psi1_bar.data(), to);
    psi->psi2_pullback(q.rows(), q.psi2_bar, to);
    expect_gradient(
        [&](const Vector& v) {
          Question there = q;
          there.mean = Eigen::Map<const RowMatrix>(v.data() + T + Z, q.mean.rows(), 2);
          there.variance = Eigen::Map<const RowMatrix>(v.data() + T + Z + X, q.mean.rows(), 2);
          return there.value(v.head(T), v.segment(T, Z));
        },
        g, at);
  }
}

// Without variance ψ1 is Kuf and Ψ2 is Kuf·Kfu, and sums of one point of weight 1 are points.
TEST(FeatureKinds, ExpectationsOfKnownInputsAreKuf) {
  for (const FeaturesPtr& u : {sums("se"), inducing_points("se", Random(9).normal_matrix(4, 2))}) {
    Question q("se", u);
    const Vector theta = Vector::LinSpaced(2, 0.7, 1.4), z = start_of(*u);
    q.variance.setZero();
    const Matrix K = Kuf_of(*u, theta, z, q.mean);
    EXPECT_LT((q.psi1(theta, z) - K).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT((q.psi2(theta, z) - K * K.transpose()).cwiseAbs().maxCoeff(), 1e-13);
  }
  const RowMatrix Z = Random(9).normal_matrix(4, 2);
  const Question sums_of_one("se", basis_features("se", Z, RowMatrix::Ones(4, 1))),
      points("se", inducing_points("se", Z));
  const Vector theta = Vector::LinSpaced(2, 0.7, 1.4);
  EXPECT_EQ(sums_of_one.psi1(theta, start_of(*sums_of_one.u)),
            points.psi1(theta, start_of(*points.u)));
  EXPECT_EQ(sums_of_one.psi2(theta, start_of(*sums_of_one.u)),
            points.psi2(theta, start_of(*points.u)));
}

}  // namespace
}  // namespace covary
