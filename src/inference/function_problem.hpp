#pragma once

#include "covary/inference/function_model.hpp"

namespace covary {

// Throws InputError, naming what has a wrong number of entries.
void expect_size(const char* what, Index expected, Index got);

// The rows whose target is not missing and whose weight is not zero, once shapes, inputs, targets
// and weights are checked.
struct ObservedRows {
  RowMatrix X;
  Vector y, aux, weights;
};
ObservedRows observed_rows(const Likelihood& likelihood, ConstRows X, ConstVector y,
                           ConstVector aux, ConstVector weights = Vector());
// A tilted density has no place for a weight.
void refuse_weights(const FunctionModel& model);

// A FunctionModel at given parameters: what the methods share. Missing rows are gone.
struct FunctionProblem {
  // Checks shapes, targets and that the likelihood offers the method.
  FunctionProblem(const FunctionModel& model, const FunctionParameters& parameters,
                  Inference method);

  Index size() const { return y.size(); }
  Datum datum(Index n) const {
    return {y(n), aux.size() != 0 ? aux(n) : model.likelihood.node().default_aux(),
            parameters.likelihood.data()};
  }
  double weight(Index n) const { return weights.size() != 0 ? weights(n) : 1.0; }
  // w·log p(y | f) of each row and its derivatives.
  std::vector<Taylor> terms(const Vector& f) const;
  // q(f) with the mean m + K·alpha, and its marginals. The value is left to the method.
  FunctionApproximation approximation(Vector alpha, Vector lambda, SiteFactor factor,
                                      Vector variance) const;
  // K_bar = ½(alpha·alphaᵀ − R) + ½(u·alphaᵀ + alpha·uᵀ) and m_bar = alpha + u, pulled back to the
  // kernel and the mean weights; R = q.factor.dense(). u is how the value depends on alpha being a
  // fixed point; empty where it is stationary there.
  void pullback(const FunctionPosterior& q, const Matrix& R, ConstVector u,
                FunctionParameters& out) const;

  const FunctionModel& model;
  const FunctionParameters& parameters;
  RowMatrix X;
  Vector y, aux, weights;
  Vector m;  // the mean function at X
  Matrix K;
};

}  // namespace covary
