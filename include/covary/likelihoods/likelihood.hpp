#pragma once

#include <string>
#include <vector>

#include "covary/likelihoods/node.hpp"

namespace covary {

// How y arises from f: an immutable value, cheap to copy. It holds structure and starts; parameter
// values are passed in as `theta`, all of them end to end in the order of parameters().
class Likelihood {
 public:
  Likelihood(LikelihoodPtr node) : node_(std::move(node)) {}  // NOLINT: a node is a likelihood
  // Reads an expression such as "bernoulli(probit)"; the grammar is in docs/likelihoods.md.
  Likelihood(const std::string& expression);                                   // NOLINT
  Likelihood(const char* expression) : Likelihood(std::string(expression)) {}  // NOLINT

  std::string print() const { return node_->print(); }
  Index functions() const { return node_->functions(); }
  Index classes() const { return node_->classes(); }
  Aux aux() const { return node_->aux(); }
  Index parameter_count() const { return node_->parameter_count(); }
  Parameters parameters(const std::string& path = "likelihood") const;
  bool supports(Inference method) const { return node_->supports(method); }
  // Throws Unsupported, naming what is offered instead, unless supports(method).
  void require(Inference method) const;
  // What models of Gaussian regression have: Gaussian noise that starts where the data suggest.
  bool is_plain_gaussian() const { return node_->conjugate() && !node_->has_noise_start(); }
  // Throws InputError with the number of targets that cannot be worked with and the first of them.
  // A NaN is a missing target and passes. An empty aux stands for the likelihood's default.
  void check(ConstVector y, ConstVector aux = Vector()) const;

  const LikelihoodNode& node() const { return *node_; }
  // For Laplace and EP; throws Unsupported for several functions a datum.
  const OneFunction& one_function() const;

 private:
  LikelihoodPtr node_;
};

std::string name_of(Inference method);  // "laplace", …

// Rows of observed targets with what q says of f there. Function l of row i is at [l·stride + i].
struct LikelihoodRows {
  Index n = 0;
  const double* y = nullptr;
  const double* aux = nullptr;  // null: the likelihood's default
  const double* mean = nullptr;
  const double* variance = nullptr;
  Index stride = 0;  // at least n; not used with one function
};

// E log p(y_n | f_n) of each row and its derivatives, laid out as their arguments and overwritten;
// theta_bar, of the sum over rows, is added to unless null. For use inside threads: a statistics
// RowExpectation is a lambda around this.
void expectation(const Likelihood& l, const double* theta, const LikelihoodRows& rows,
                 double* value, double* mean_bar, double* variance_bar, double* theta_bar);

// The same for whole columns, by threads. mean, variance: N×L; aux empty for the default. coupling,
// unless null, becomes N × pairs, as in LikelihoodNode::coupled_expectation.
struct Expectations {
  Vector value;                   // N
  Matrix mean_bar, variance_bar;  // N×L
  Vector theta_bar;
};
Expectations expectations(const Likelihood& l, ConstVector theta, ConstVector y, ConstMatrix mean,
                          ConstMatrix variance, ConstVector aux = Vector(),
                          Matrix* coupling = nullptr);

// Mean and variance of y for each row of N(mean, variance).
struct PredictiveMoments {
  Vector mean, variance;
};
PredictiveMoments predictive_moments(const Likelihood& l, ConstVector theta, ConstMatrix mean,
                                     ConstMatrix variance, ConstVector aux = Vector());
// log ∫ p(y | f) N(f; mean, variance) df
Vector log_predictive_density(const Likelihood& l, ConstVector theta, ConstVector y,
                              ConstMatrix mean, ConstMatrix variance, ConstVector aux = Vector());
// N×classes
Matrix class_probabilities(const Likelihood& l, ConstVector theta, ConstMatrix mean,
                           ConstMatrix variance);

// Laplace: log p(y_n | f_n) with three derivatives, and the pullback to the parameters of
// Σ_n w.value·ℓ + w.first·ℓ′ + w.second·ℓ″. Likelihoods of one function.
std::vector<Taylor> log_densities(const Likelihood& l, ConstVector theta, ConstVector y,
                                  ConstVector f, ConstVector aux = Vector());
Vector log_densities_pullback(const Likelihood& l, ConstVector theta, ConstVector y, ConstVector f,
                              const std::vector<Taylor>& weights, ConstVector aux = Vector());

// EP: the tilted moments of one site at power alpha; theta_bar += ∂log Z/∂θ unless null.
Tilted tilted_moments(const Likelihood& l, const Datum& datum, double alpha, double mean,
                      double variance, double* theta_bar = nullptr);

// likelihood × {laplace, ep, vi, sparse_ep, svgp, mcmc}, a row for each built-in one, for the
// documentation.
std::string capability_table();

}  // namespace covary
