#include "baselines.hpp"

#include <chrono>
#include <functional>
#include <limits>

#include "covary/error.hpp"
#include "covary/models/baselines.hpp"

namespace covary::cli {
namespace {

using Predict = std::function<HeldOut(const ModelData& train, const ModelData& test)>;

Candidate run(const std::string& name, const ModelData& d, const std::vector<Split>& folds,
              const Predict& predict) {
  const auto began = std::chrono::steady_clock::now();
  Candidate c;
  c.model = c.name = name;
  c.converged = true;
  try {
    for (const Split& fold : folds) c.scores.add(predict(d.rows(fold.train), d.rows(fold.test)));
  } catch (const NumericalError& e) {  // separated classes, repeated columns
    c.note = e.what();
    c.scores = {};
  }
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return c;
}

// Of numbers: each output by itself.
template <class Of>
Predict of_numbers(const Of& predict) {
  return [predict](const ModelData& train, const ModelData& test) {
    constexpr double log_2pi = 1.83787706640934548356;
    std::vector<MeanVariance> p;
    for (Index k = 0; k < train.Y.cols(); ++k)
      p.push_back(predict(train, Vector(train.Y.col(k)), test.X));
    HeldOut out;
    for (Index i = 0; i < test.Y.rows(); ++i)
      for (Index k = 0; k < test.Y.cols(); ++k) {
        if (std::isnan(test.Y(i, k))) continue;
        const MeanVariance& own = p[static_cast<std::size_t>(k)];
        // Targets that are all alike have no variance, and a density needs some.
        const double variance = std::max(own.variance(i), std::numeric_limits<double>::min()),
                     error = test.Y(i, k) - own.mean(i);
        out.squared_error.push_back(error * error);
        out.nlpd.push_back(0.5 * (error * error / variance + std::log(variance) + log_2pi));
      }
    return out;
  };
}

// Of classes: by their probabilities.
template <class Of>
Predict of_classes(const Of& probabilities) {
  return [probabilities](const ModelData& train, const ModelData& test) {
    const RowMatrix p = probabilities(train, test);
    HeldOut out;
    for (Index n = 0; n < p.rows(); ++n) {
      if (std::isnan(test.Y(n, 0))) continue;
      Index best = 0;
      p.row(n).maxCoeff(&best);
      out.right.push_back(static_cast<double>(best) == test.Y(n, 0) ? 1.0 : 0.0);
      out.nlpd.push_back(-std::log(p(n, static_cast<Index>(test.Y(n, 0)))));
    }
    return out;
  };
}

// Distances need inputs: those that are missing are taken at the means of the training rows.
RowMatrix with_means(ConstRows X, ConstRows train) {
  RowMatrix out = X;
  for (Index d = 0; d < X.cols(); ++d) {
    const Vector known = train.col(d);
    const double middle =
        known.array().isNaN().all() ? 0.0 : MeanPredictor(known).predict(1).mean(0);
    out.col(d) = X.col(d).array().isNaN().select(middle, X.col(d));
  }
  return out;
}

std::vector<Candidate> for_numbers(const ModelData& d, const std::vector<Split>& folds) {
  const bool holed = d.X.array().isNaN().any();
  Candidate neighbours = run(
      "5 nearest neighbours", d, folds,
      of_numbers([holed](const ModelData& train, const Vector& y, ConstRows X) {
        if (!holed) return NeighbourRegressor(train.X, y).predict(X);
        return NeighbourRegressor(with_means(train.X, train.X), y).predict(with_means(X, train.X));
      }));
  if (holed) neighbours.note = "missing inputs are taken at their means";
  return {std::move(neighbours),
          run("mean", d, folds, of_numbers([](const ModelData&, const Vector& y, ConstRows X) {
                return MeanPredictor(y).predict(X.rows());
              }))};
}

std::vector<Candidate> for_classes(const ModelData& d, const std::vector<Split>& folds) {
  const Index K = d.likelihood->classes();
  const auto logistic = [K](double ridge) {
    return of_classes([=](const ModelData& train, const ModelData& test) -> RowMatrix {
      LogisticOptions options;
      options.ridge = ridge;
      return fit_logistic_regression(train.X, train.Y.col(0), K, options).predict(test.X);
    });
  };
  return {run("logistic regression", d, folds, logistic(0.0)),
          run("logistic regression, ridge 1", d, folds, logistic(1.0)),
          run("5 nearest neighbours", d, folds,
              of_classes([K](const ModelData& train, const ModelData& test) -> RowMatrix {
                return NeighbourClassifier(train.X, Vector(train.Y.col(0)), K).predict(test.X);
              })),
          run("majority", d, folds,
              of_classes([K](const ModelData& train, const ModelData& test) -> RowMatrix {
                return MajorityPredictor(Vector(train.Y.col(0)), K).predict(test.X.rows());
              }))};
}

}  // namespace

std::vector<Candidate> baselines(const ModelData& d, const std::vector<Split>& folds) {
  if (!d.likelihood) return for_numbers(d, folds);
  return d.likelihood->classes() > 0 ? for_classes(d, folds) : std::vector<Candidate>();
}

}  // namespace covary::cli
