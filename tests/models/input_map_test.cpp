#include "covary/models/input_map.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/models/generalised.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

struct Curve {
  RowMatrix X;
  Vector y;
};
// Four columns in various units that one number t decides, and with it the class.
Curve curve(Index n, std::uint64_t seed) {
  const RowMatrix noise = Random(seed).normal_matrix(n, 4);
  Curve out{RowMatrix(n, 4), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const double t = -1.5 + 3.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    out.X.row(i) << t, 50.0 * std::sin(2.0 * t), t * t + 7.0, std::tanh(2.0 * t);
    out.X.row(i) += 0.02 * noise.row(i);
    out.y(i) = std::abs(t) < 0.7 ? 1.0 : 0.0;
  }
  return out;
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& e) {
    return e.what();
  }
  return "nothing was refused";
}

FunctionOptions with_gplvm() {
  FunctionOptions o;
  o.gplvm = 2;
  o.training.max_iterations = 30;
  return o;
}

// The latent space of the scaled inputs is what another model sees that is given it.
TEST(InputMap, GplvmIsTheModelOfTheLatentSpace) {
  const auto [X, y] = curve(25, 1);
  const RowMatrix X_new = curve(5, 2).X;
  const FunctionOptions whole = with_gplvm();
  FunctionOptions seen;
  seen.training = whole.training;
  seen.scale_inputs = ScaleMode::none;
  const Scaling scaling = fit_scaling(X, ScaleMode::columns).scaling;
  GplvmOptions o;
  o.latent = 2;
  o.training.max_iterations = 30;
  const LatentFeatures features(Gplvm(scaling.apply(X), o).fit());
  const RowMatrix rows = features.of_fit(), rows_new = features.transform(scaling.apply(X_new));
  const auto same = [&](const GeneralisedFit& a, const GeneralisedFit& b) {
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.predict(X_new).probabilities, b.predict(rows_new).probabilities);
    EXPECT_EQ(a.sample(X_new, 2, 3), b.sample(rows_new, 2, 3));
    EXPECT_EQ(a.inputs(), 4);
    EXPECT_EQ(a.posterior.dims(), features.size());
    EXPECT_NE(refusal([&] { a.predict(RowMatrix::Zero(1, 2)); }).find("2 columns"),
              std::string::npos);
  };
  const GeneralisedFit fit =
      Generalised(X, y, with_function_options<GeneralisedOptions>(whole)).fit();
  same(fit, Generalised(rows, y, with_function_options<GeneralisedOptions>(seen)).fit());
  auto sparse = with_function_options<SvgpOptions>(whole),
       sparse_seen = with_function_options<SvgpOptions>(seen);
  sparse.Z = X_new;
  sparse_seen.Z = rows_new;
  same(Svgp(X, y, sparse).fit(), Svgp(rows, y, sparse_seen).fit());
  // There and back: at the same place of the curve.
  EXPECT_LT((fit.model_inputs(fit.data_inputs(rows)) - rows).cwiseAbs().mean(), 0.1);
}

// B14: rows without a target say where the inputs lie.
TEST(InputMap, RowsWithoutATargetTakePartInTheGplvm) {
  auto [X, y] = curve(48, 3);
  const Vector truth = y;
  for (Index i = 0; i < 48; ++i)
    if (i % 6 != 0) y(i) = std::nan("");
  FunctionOptions long_enough = with_gplvm();
  long_enough.training.max_iterations = 300;
  const GeneralisedFit fit =
      Generalised(X, y, with_function_options<GeneralisedOptions>(long_enough)).fit();
  EXPECT_EQ(fit.rows, 8);
  EXPECT_EQ(fit.input_map.gplvm()->fit().mean.rows(), 48);
  const Matrix p = fit.predict(X).probabilities;
  Index errors = 0;
  for (Index i = 0; i < 48; ++i) errors += (p(i, 1) > 0.5) != (truth(i) > 0.5);
  EXPECT_LE(errors, 8);
  // A weight of zero is a row that is not there.
  FunctionOptions weighted = with_gplvm();
  weighted.weights = Vector::Ones(48);
  weighted.weights.tail(18).setZero();
  const GeneralisedFit fewer =
      Generalised(X, y, with_function_options<GeneralisedOptions>(weighted)).fit();
  EXPECT_EQ(fewer.input_map.gplvm()->fit().mean.rows(), 30);
}

TEST(InputMap, AMapFoundBeforeIsNotFoundAgain) {
  const auto [X, y] = curve(20, 4);
  for (const bool latent : {true, false}) {
    FunctionOptions o = with_gplvm();
    if (!latent) o.gplvm = 0, o.pca = 2;
    const Generalised first(X, y, with_function_options<GeneralisedOptions>(o));
    FunctionOptions again = o;
    again.input_map = first.input_map();
    again.seed = 9;  // would find another one
    Generalised model(X, y, with_function_options<GeneralisedOptions>(again));
    EXPECT_EQ(model.objective(model.parameters().flatten(), nullptr),
              first.objective(first.parameters().flatten(), nullptr));
    if (latent) {
      EXPECT_NE(refusal([&] {
                  Generalised(X.topRows(12), y.head(12),
                              with_function_options<GeneralisedOptions>(again));
                }).find("has 20 rows, the data 12"),
                std::string::npos);
    }
  }
}

// The time of the map's training counts, and its progress is seen; a checkpoint is not of it.
TEST(InputMap, TrainsWithinTheLimitOfTime) {
  const auto [X, y] = curve(25, 1);
  auto o = with_function_options<GeneralisedOptions>(with_gplvm());
  o.likelihood = "bernoulli(logit)";
  Index of_map = 0, of_model = 0;
  o.training.after_iteration = [&](const TrainingProgress& now) {
    ++(now.state ? of_model : of_map);
  };
  Generalised whole(X, y, o);
  EXPECT_GT(of_map, 0);
  EXPECT_EQ(of_model, 0);
  whole.fit();
  EXPECT_GT(of_model, 0);
  o.training.max_seconds = 1e-9;
  of_map = of_model = 0;
  const GeneralisedFit brief = Generalised(X, y, o).fit();
  EXPECT_EQ(of_map + of_model, 0);
  EXPECT_EQ(brief.summary.stop, Stop::seconds);
}

TEST(InputMap, RefusesWhatHasNoMeaning) {
  const auto [X, y] = curve(30, 5);
  const auto told = [&, &X = X, &y = y](Index pca, Index gplvm) {
    FunctionOptions o;
    o.pca = pca;
    o.gplvm = gplvm;
    return refusal([&] { Generalised(X, y, with_function_options<GeneralisedOptions>(o)); });
  };
  EXPECT_NE(told(0, -1).find("gplvm is -1"), std::string::npos);
  EXPECT_NE(told(0, 5).find("there are 4 input columns"), std::string::npos);
  EXPECT_NE(told(1, 1).find("not both"), std::string::npos);
}

}  // namespace
}  // namespace covary
