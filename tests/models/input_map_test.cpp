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
    Generalised first(X, y, with_function_options<GeneralisedOptions>(o));
    first.fit();
    FunctionOptions again = o;
    again.input_map = first.input_map();
    again.seed = 9;  // would find another one
    Generalised model(X, y, with_function_options<GeneralisedOptions>(again));
    model.start_from(first);
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

// Taken up from any place, of the map or of the model, it ends with the same bits; and so it does
// where time ran out on the way.
template <class Model, class Options>
void is_one_training(Options o) {
  const auto [X, y] = curve(25, 1);
  o.likelihood = "bernoulli(logit)";
  o.training.max_iterations = 12;
  std::vector<TrainingState> states;
  o.training.after_iteration = [&](const TrainingProgress& now) { states.push_back(now.state()); };
  const GeneralisedFit whole = Model(X, y, o).fit();
  const std::size_t count = states.size();
  ASSERT_GT(count, 60U);
  o.training.after_iteration = nullptr;
  const auto ends_the_same = [&](const TrainingState& state) {
    Model again(X, y, o);
    again.resume(state);
    const GeneralisedFit fit = again.fit();
    EXPECT_EQ(fit.value, whole.value);
    EXPECT_EQ(fit.parameters.values(), whole.parameters.values());
    EXPECT_EQ(fit.input_map.gplvm()->of_fit(), whole.input_map.gplvm()->of_fit());
    EXPECT_EQ(fit.summary.evaluations, whole.summary.evaluations);
  };
  for (const std::size_t at : {std::size_t{2}, count / 4, count / 2, count - 8}) {
    SCOPED_TRACE(at);
    ends_the_same(states[at]);
  }
  Index seen = 0;
  TrainingState last;
  o.training.stop = [&] { return seen >= 7; };
  o.training.after_iteration = [&](const TrainingProgress& now) {
    ++seen;
    last = now.state();
  };
  const GeneralisedFit brief = Model(X, y, o).fit();
  EXPECT_EQ(brief.summary.stop, Stop::caller);
  EXPECT_FALSE(brief.summary.converged);
  o.training.stop = nullptr;
  o.training.after_iteration = nullptr;
  ends_the_same(last);
  o.training.max_seconds = 1e-9;
  EXPECT_EQ(Model(X, y, o).fit().summary.stop, Stop::seconds);
}
TEST(InputMap, TheGplvmIsTheFirstStageOfOneTraining) {
  is_one_training<Generalised>(with_function_options<GeneralisedOptions>(with_gplvm()));
  auto o = with_function_options<SvgpOptions>(with_gplvm());
  o.inducing = 5;
  is_one_training<Svgp>(o);
  o.training.batch = 10;
  o.training.steps = 40;
  is_one_training<Svgp>(o);
}

// What is said of the parameters before the map is trained holds there.
TEST(InputMap, SettingsOutlastTheTrainingOfTheMap) {
  const auto [X, y] = curve(25, 1);
  auto o = with_function_options<GeneralisedOptions>(with_gplvm());
  o.kernel = "se";
  Generalised model(X, y, o);
  model.parameters().set("kernel.variance", 3.5);
  model.parameters().fix("kernel.variance");
  EXPECT_EQ(model.fit().parameters.at("kernel.variance").value(0), 3.5);
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
