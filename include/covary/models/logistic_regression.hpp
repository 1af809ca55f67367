#pragma once

#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

struct LogisticOptions {
  bool intercept = true;
  // λ of the penalty on the weights of the standardised inputs, so that units do not matter; never
  // on the intercept. ½λ|w|² for two classes, ½λ Σ_k |w_k − w̄|² for more, which favours none.
  double ridge = 0;
  Index max_iterations = 100;
  // Converged when no entry of the gradient, in standardised inputs, exceeds this times N.
  double tolerance = 1e-10;
  std::vector<std::string> input_names = {};  // for messages

  void check() const;
};

enum class LogisticOutcome {
  fitted,
  separated,     // classes that a hyperplane separates have no estimate: the weights diverge
  singular,      // inputs that are combinations of others: no unique estimate
  not_converged  // the limit of iterations came first
};

// Either weights or the reason why there are none: predict() throws then.
struct LogisticFit {
  LogisticOutcome outcome = LogisticOutcome::not_converged;
  std::string message;        // of an outcome other than `fitted`: what is wrong and the way out
  Matrix weights;             // D×K in the units of the data; those of class 0 are zero
  Vector intercepts;          // K; zero without an intercept
  double log_likelihood = 0;  // without the penalty
  Index iterations = 0;

  bool fitted() const { return outcome == LogisticOutcome::fitted; }
  // n×K class probabilities. NumericalError with the message when there are no weights.
  RowMatrix predict(ConstRows X) const;
};

// p(class k | x) ∝ exp(w_kᵀx + b_k), by maximum likelihood: Newton's method, which for these models
// is iteratively reweighted least squares (Green, 1984). Labels are 0 … classes − 1, NaN where
// missing. InputError for bad data and for a class without a row. An iteration costs O(N (D K)²).
LogisticFit fit_logistic_regression(ConstRows X, ConstVector labels, Index classes,
                                    const LogisticOptions& options = {});

}  // namespace covary
