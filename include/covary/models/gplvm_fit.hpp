#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/data/scaling.hpp"
#include "covary/inference/latent_inputs.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "covary/models/fit.hpp"

namespace covary {

// A group of output columns with a mapping of its own from the latent space.
struct LatentView {
  std::string name;
  std::vector<Index> columns;  // of Y
};

// A trained latent-variable model. Immutable.
struct GplvmFit : FitNode {
  struct Mapping {
    LatentView view;
    Posterior posterior;  // from the latent space, in the units the model saw
    Scaling scaling;      // of the view's columns
  };
  std::vector<Mapping> mappings;
  RowMatrix mean, variance;  // q(X) of the rows, N×Q
  Vector kl_of_dims;         // nats, Q
  // Of a dynamical model: the prior over time and the values of its parameters.
  std::shared_ptr<const DynamicalInputs> dynamics = nullptr;
  Vector dynamics_values = {};
  std::vector<std::string> row_labels = {};  // of the rows, for pictures and scores; or none
  std::vector<std::string> time_names = {};  // of the columns that a dynamical model follows
  // How outputs arise from the functions, where that is not by Gaussian noise: the mapping is then
  // that of the functions, and outputs are not scaled.
  std::optional<Likelihood> likelihood = {};
  Vector likelihood_values = {};

  GplvmFit() { model = "gplvm"; }
  std::string kind() const override { return "gplvm"; }
  Answer details() const override;
  void store(Archive& to) const override;
  NamedColumns predict(const Table& rows, TableQuestion& question) const override;
  Answer evaluate(const Table& rows, const TableQuestion& question) const override;
  NamedColumns sample(const Table& rows, const TableQuestion& question) const override;

  Index latent() const { return mean.cols(); }
  Index outputs() const;
  // How much each mapping uses each dimension: its weight over the largest of the view, views × Q.
  Matrix relevance() const;
  // Dimensions whose mean KL(q‖prior) exceeds 0.05 nats a row.
  std::vector<Index> active() const;
  std::vector<Index> by_relevance() const;  // all of them, the largest over the views first
  // The prior of a dimension, and with it the posterior, may be turned round at no cost: what
  // neighbours and pictures should see is scaled by √weight, of all views together.
  RowMatrix scaled_mean() const;

  // The outputs at points of the latent space, or at Gaussians of it, in the units of the data.
  Prediction decode(ConstRows X) const;
  Prediction decode(ConstRows mean, ConstRows variance) const;
  // Joint draws of the outputs, without noise, at points of the latent space; n×P each.
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const;
  // Of one such Gaussian: the covariance of the outputs' functions, P×P, which share the input.
  // Unsupported with several views, whose kernels differ, and with other likelihoods.
  Matrix output_covariance(ConstRows mean, ConstRows variance) const;

  // q(x) of further rows of outputs, NaN where they are not observed, each by itself: the bound is
  // maximised from the nearest training rows. A row with nothing observed keeps the prior. With
  // other likelihoods by as many steps of Adam over fixed draws, from the nearest row alone.
  struct Inferred {
    RowMatrix mean, variance;  // n×Q
    Vector bound;              // of log p(y | the data), n, in the units of the data
  };
  Inferred infer(ConstRows Y, Index iterations = 200, Index starts = 2) const;

  // log p(y | the data) of further rows, NaN where they are not observed: what they add to the
  // bound at the q(x) that infer() finds, in the units of the data. An estimate and no bound; never
  // below Inferred::bound. With other likelihoods it is the bound.
  Vector log_density(ConstRows Y, Index iterations = 200, Index starts = 2) const;

  // q(X) of a further sequence with these times, NaN where outputs are not observed, of a dynamical
  // model: a bound of log p(Y | the data), with the mappings as they are, is raised by
  // natural-gradient steps from the means of each start, and the best is kept. Without starts: from
  // the training rows that decode nearest to each row. With own noise that of each view is the
  // sequence's own, found by the bound: a new sequence may be less like the training rows than they
  // are like each other, and would be placed as if it were not.
  struct SequenceOptions {
    std::vector<RowMatrix> start_means = {};  // n×Q each
    Index iterations = 100;                   // of each start
    bool own_noise = false;
  };
  struct InferredSequence {
    RowMatrix mean, variance;    // n×Q
    double bound = 0.0;          // in the units of the data
    std::vector<double> bounds;  // of all starts
    Vector noise;                // of the views, in the units the model saw
  };
  InferredSequence infer_sequence(ConstRows Y, ConstRows times,
                                  const SequenceOptions& options) const;
  InferredSequence infer_sequence(ConstRows Y, ConstRows times) const {
    return infer_sequence(Y, times, SequenceOptions());
  }

  // Latent inputs at further times, and what they decode to. sequence −1 is a new one.
  LatentMarginals forecast(ConstRows times, Index sequence = 0) const;

 private:
  Prediction through_likelihood(Prediction f) const;
  Inferred infer_by_draws(ConstRows Y, Index iterations) const;
};

// 1-nearest-neighbour errors of labels over the rows of X, each left out in turn.
Index neighbour_errors(ConstRows X, const std::vector<Index>& labels);

}  // namespace covary
