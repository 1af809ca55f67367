#pragma once

#include <optional>
#include <string>

#include "covary/features/choice.hpp"
#include "covary/models/generalised.hpp"
#include "covary/models/logistic_regression.hpp"

namespace covary::experiments {

// Two classes: inputs in the units of the data, labels 0 and 1.
struct Classes {
  RowMatrix X;
  Vector y;

  Index size() const { return X.rows(); }
};

// What every Gaussian-process classifier of an experiment has in common. Inputs are not scaled.
struct ClassifierSetup {
  Kernel kernel = "se";  // with its starts
  Likelihood likelihood = "bernoulli(logit)";
  Index iterations = 100;
  std::uint64_t seed = 0;
};

// A trained classifier: one of the two.
struct Classifier {
  std::string name;
  double seconds = 0.0;  // of training
  std::optional<GeneralisedFit> gp = {};
  std::optional<LogisticFit> logistic = {};

  Vector probability(ConstRows X) const;        // of label 1
  double value(const std::string& path) const;  // of a parameter
  std::string brief() const;                    // seconds, evidence, why it stopped
};

Classifier train_logistic(const Classes& data);
Classifier train_latent(Inference method, const Classes& data, const ClassifierSetup& setup);
// Inducing inputs begin at Z, or at M random rows of the data, and are trained with the rest.
Classifier train_sparse(ConstRows Z, const Classes& data, const ClassifierSetup& setup);
Classifier train_sparse(Index M, const Classes& data, const ClassifierSetup& setup);
// M features of another kind, which start from no inputs.
Classifier train_features(const FeatureChoice& kind, Index M, const Classes& data,
                          const ClassifierSetup& setup);

// Of pairs of rows: where a lengthscale may start.
double median_distance(const RowMatrix& X, std::uint64_t seed);
double correct_rate(const Classes& test, ConstVector probability);
// By how much the error exceeds that of the Bayes rule, on average over all labels that the rows
// may have: a measure with far less noise than the labels drawn.
double expected_excess(ConstVector truth, ConstVector probability);
// Where the probability of label 1 crosses one half within [−reach, reach]², as points between
// neighbours of a square grid.
Matrix boundary(const Classifier& fit, double reach);
// A picture of a function over [low, high]², the second input upwards: rows are its values from the
// top.
RowMatrix square_grid(double low, double high, Index side);
Matrix square_image(ConstVector values);

// "0.873 ± 0.012": the mean of repetitions and its standard error; of one, the value alone.
std::string mean_se(ConstVector values, int decimals = 3);

}  // namespace covary::experiments
