#pragma once

#include <string>
#include <utility>
#include <vector>

#include "covary/data/scaling.hpp"
#include "covary/inference/posterior.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "covary/models/fit.hpp"
#include "covary/models/input_map.hpp"

namespace covary {

struct SliceSamplingOptions;

struct GeneralisedPrediction {
  // Of the latent functions, in the units the model saw: of each output those of its likelihood,
  // one output after the other.
  FunctionMarginals f;
  Matrix mean, variance;  // of y in its units, n×P; empty for labels without an order
  Matrix probabilities;   // n×K, of the classes of one output; empty without classes
};

// A trained model y ~ p(y | f(x)) of any likelihood, with the units undone. Immutable.
struct GeneralisedFit : FitNode {
  Posterior posterior;
  Likelihood likelihood;
  Vector likelihood_parameters;
  Scaling input_scaling, output_scaling;  // outputs are scaled where they are any real number
  std::vector<std::string> classes = {};  // the names of labels 0, 1, …, or none
  Index rows = 0;                         // with a target, of the data
  InputMap input_map = {};                // from the scaled inputs to what the model sees

  GeneralisedFit(std::string name, Posterior q, Likelihood of, Vector of_likelihood)
      : posterior(std::move(q)),
        likelihood(std::move(of)),
        likelihood_parameters(std::move(of_likelihood)) {
    model = std::move(name);
  }

  std::string kind() const override { return "generalised"; }
  Answer details() const override;
  void store(Archive& to) const override;
  NamedColumns predict(const Table& rows, TableQuestion& question) const override;
  Answer evaluate(const Table& rows, const TableQuestion& question) const override;
  NamedColumns sample(const Table& rows, const TableQuestion& question) const override;
  Fit update(const Table& rows, const TableQuestion& question) const override;
  Smaller compressed(const CompressOptions& options) const override;
  HeldOut held_out(const ModelData& rows) const override;
  std::string in_a_sentence() const;

  Index inputs() const { return input_scaling.cols(); }
  Index outputs() const { return output_scaling.cols(); }
  // From the inputs of the data to those of the model; and back, to the point of the data that lies
  // in the span of the components, or on the manifold of the GP-LVM.
  RowMatrix model_inputs(ConstRows X) const;
  RowMatrix data_inputs(ConstRows X) const;
  // X and y in the units of the data; aux is the column beside y (exposure, trials, noise), or
  // empty for the likelihood's default.
  FunctionMarginals predict_f(ConstRows X) const;
  GeneralisedPrediction predict(ConstRows X, ConstVector aux = Vector()) const;
  // The same at inputs N(X_n, diag(variance_n)), over which the moments are taken too: those of f,
  // and with Gaussian noise of y. In the units of the data.
  GeneralisedPrediction predict_gaussian(ConstRows X, ConstRows variance,
                                         ConstVector aux = Vector()) const;
  // Of the functions, in the units the model saw: the posterior of each term of a sum, and
  // gradients in the inputs of the data, which no input map may stand before.
  std::vector<ComponentPrediction> components(ConstRows X) const;
  PredictionGradient gradient(ConstRows X, Index function = 0) const;
  // Conditioned on further rows with the parameters as they are; of Gaussian noise, and through
  // inducing variables. `noise`: known variances beside that of the likelihood, or none.
  GeneralisedFit with(ConstRows X, ConstRows Y, ConstVector noise = Vector()) const;
  // Joint draws of the latent functions over the rows, in the units the model saw: one n×L matrix
  // for each draw.
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const;
  // The same from the exact posterior p(f | y) of these rows and targets at the parameters as they
  // are, by elliptical slice sampling: the referee of the approximation (inference/
  // slice_sampling.hpp). Every row needs a target. Of Gaussian noise the posterior is exact
  // already.
  std::vector<RowMatrix> sample_exactly(ConstRows X, ConstVector y, ConstVector aux,
                                        const SliceSamplingOptions& options) const;
  // log p(y_np | x_n) under the posterior, n×P, NaN where y is missing.
  Matrix log_density(ConstRows X, ConstRows Y, ConstVector aux = Vector()) const;
};

}  // namespace covary
