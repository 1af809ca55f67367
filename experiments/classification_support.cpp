#include "classification_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "covary/data/classification_metrics.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

FunctionOptions shared_options(const ClassifierSetup& setup) {
  FunctionOptions o;
  o.kernel = setup.kernel;
  o.likelihood = setup.likelihood;
  o.scale_inputs = ScaleMode::none;
  o.seed = setup.seed;
  o.training.max_iterations = few(setup.iterations, 3);
  // An evidence to 1e-7 of itself is far finer than any score can tell.
  o.training.gradient_tolerance = 1e-5;
  o.training.function_tolerance = 1e-7;
  return o;
}

template <class Fit>
auto timed(double& seconds, const Fit& fit) {
  const auto began = std::chrono::steady_clock::now();
  auto out = fit();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

}  // namespace

Vector Classifier::probability(ConstRows X) const {
  return logistic ? Vector(logistic->predict(X).col(1))
                  : Vector(gp->predict(X).probabilities.col(1));
}

double Classifier::value(const std::string& path) const { return gp->parameters.at(path).value[0]; }

std::string Classifier::brief() const {
  if (logistic) return fmt::format("{}: {:.2f} s", name, seconds);
  return fmt::format("{}: {:.1f} s, evidence {:.2f}, {} iterations, {} evaluations, {}", name,
                     seconds, gp->value, gp->summary.iterations, gp->summary.evaluations,
                     gp->summary.reason);
}

Classifier train_logistic(const Classes& data) {
  Classifier out{"LR"};
  out.logistic = timed(out.seconds, [&] { return fit_logistic_regression(data.X, data.y, 2); });
  return out;
}

Classifier train_latent(Inference method, const Classes& data, const ClassifierSetup& setup) {
  auto o = with_function_options<GeneralisedOptions>(shared_options(setup));
  o.method = method;
  o.training.starts = 1;
  Classifier out{method == Inference::laplace ? "Laplace" : method == Inference::ep ? "EP" : "VI"};
  out.gp = timed(out.seconds, [&] { return Generalised(data.X, data.y, o).fit(); });
  return out;
}

Classifier train_sparse(ConstRows Z, const Classes& data, const ClassifierSetup& setup) {
  auto o = with_function_options<SvgpOptions>(shared_options(setup));
  o.Z = Z;
  o.training.batch = data.size();
  Classifier out{"SVGP"};
  out.gp = timed(out.seconds, [&] { return Svgp(data.X, data.y, o).fit(); });
  return out;
}

Classifier train_features(const FeatureChoice& kind, Index M, const Classes& data,
                          const ClassifierSetup& setup) {
  auto o = with_function_options<SvgpOptions>(shared_options(setup));
  o.features = kind;
  o.inducing = M;
  o.training.batch = data.size();
  Classifier out{kind.print()};
  out.gp = timed(out.seconds, [&] { return Svgp(data.X, data.y, o).fit(); });
  return out;
}

Classifier train_sparse(Index M, const Classes& data, const ClassifierSetup& setup) {
  return train_sparse(random_rows(data.X, M, setup.seed, 11), data, setup);
}

double median_distance(const RowMatrix& X, std::uint64_t seed) {
  Random random(seed, 41);
  std::vector<double> distances(1001);
  for (double& d : distances)
    d = (X.row(random.integer(X.rows())) - X.row(random.integer(X.rows()))).norm();
  std::nth_element(distances.begin(), distances.begin() + 500, distances.end());
  return distances[500];
}

double correct_rate(const Classes& test, ConstVector probability) {
  return accuracy(test.y, two_class_probabilities(probability));
}

double expected_excess(ConstVector truth, ConstVector probability) {
  return ((probability.array() >= 0.5) != (truth.array() >= 0.5))
      .select((2.0 * truth.array() - 1.0).abs(), 0.0)
      .mean();
}

RowMatrix square_grid(double low, double high, Index side) {
  const Vector along = Vector::LinSpaced(side, low, high);
  RowMatrix X(side * side, 2);
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j < side; ++j) X.row(i * side + j) << along[j], along[side - 1 - i];
  return X;
}

Matrix square_image(ConstVector values) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(values.size()))));
  const Vector copy = values;
  return Eigen::Map<const RowMatrix>(copy.data(), side, side);
}

Matrix boundary(const Classifier& fit, double reach) {
  const Index side = few(81, 15);
  const RowMatrix X = square_grid(-reach, reach, side);
  const Vector p = fit.probability(X).array() - 0.5;
  std::vector<Vector> crossings;
  for (Index i = 0; i < side * side; ++i)
    for (const Index step : {Index{1}, side}) {
      const Index j = i + step;
      if (j >= side * side || (step == 1 && j % side == 0) || p[i] * p[j] > 0.0 || p[i] == p[j])
        continue;
      const double share = p[i] / (p[i] - p[j]);
      crossings.emplace_back(((1.0 - share) * X.row(i) + share * X.row(j)).transpose());
    }
  Matrix out(static_cast<Index>(crossings.size()), 2);
  for (Index i = 0; i < out.rows(); ++i)
    out.row(i) = crossings[static_cast<std::size_t>(i)].transpose();
  return out;
}

std::string mean_se(ConstVector values, int decimals) {
  if (values.size() == 1) return fmt::format("{:.{}f}", values[0], decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", values.mean(), decimals,
                     sample_sd(values) / std::sqrt(static_cast<double>(values.size())), decimals);
}

}  // namespace covary::experiments
