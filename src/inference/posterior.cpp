// What a posterior refuses unless its kind offers it.
#include "covary/inference/posterior.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/inference/compression.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/statistics/row_terms.hpp"

namespace covary {

void PosteriorNode::refuse(const std::string& what) const {
  throw Unsupported(fmt::format("{}; the model is {}", what, name()));
}

Index PosteriorNode::rows() const {
  refuse("the posterior does not know its number of rows; ask the fit");
}

double PosteriorNode::noise_variance() const { refuse("this needs a model with Gaussian noise"); }

double PosteriorNode::log_evidence() const {
  refuse("the posterior does not know the evidence; ask the fit");
}

double PosteriorNode::observations() const {
  refuse("the posterior does not know its number of rows; ask the fit");
}

SplitPrediction PosteriorNode::split(ConstRows) const { refuse("this needs a sparse model"); }

Prediction PosteriorNode::predict(ConstRows X) const {
  const double noise = noise_variance();
  const FunctionMarginals f = marginals(X);
  return {f.mean, f.variance, f.variance.array() + noise};
}

RowMatrix PosteriorNode::predict_mean(ConstRows X) const { return marginals(X).mean; }

std::vector<FunctionDraw> PosteriorNode::sample_functions(Index, std::uint64_t, Index) const {
  refuse("draws as functions are not available; sample at given inputs");
}

std::vector<ComponentPrediction> PosteriorNode::components(ConstRows) const {
  refuse("components are not available");
}

PredictionGradient PosteriorNode::gradient(ConstRows, Index) const {
  refuse("gradients with respect to the inputs are not available");
}

UncertainInputs PosteriorNode::at_gaussians() const {
  refuse("uncertain inputs are not available");
}

Posterior PosteriorNode::further(ConstRows, ConstRows, ConstVector) const {
  refuse("adding rows needs Gaussian noise; fit it again with all rows");
}

Posterior PosteriorNode::further(ConstRows, const std::vector<Matrix>&, ConstRows) const {
  refuse("adding rows with Gaussian inputs needs a sparse model by vfe");
}

CompressionTarget PosteriorNode::compression_target() const {
  refuse("this posterior is not compressed; one by vfe, of inducing inputs, or an exact one, is");
}

LeaveOneOut PosteriorNode::leave_one_out() const {
  refuse("this needs an exact model, which keeps its training data");
}

Vector PosteriorNode::one_step_log_densities(Index) const {
  refuse("this needs an exact model, which keeps its training data");
}

const RowMatrix& PosteriorNode::training_inputs() const {
  refuse("this needs an exact model, which keeps its training data");
}

const RowMatrix& PosteriorNode::training_outputs() const {
  refuse("this needs an exact model, which keeps its training data");
}

const Vector& PosteriorNode::point_noise() const {
  static const Vector none;
  return none;
}

InducingView PosteriorNode::inducing_variables(Index) const { refuse("this needs a sparse model"); }

WhitenedGaussian PosteriorNode::q_of_v() const { refuse("this needs a sparse model"); }

UncertainInputs Posterior::at_gaussians() const { return node_->at_gaussians(); }

CompressionTarget Posterior::compression_target() const { return node_->compression_target(); }

WhitenedGaussian Posterior::q_of_v() const { return node_->q_of_v(); }

void Posterior::wrong_kind() const {
  throw Unsupported(fmt::format("this is not available for the posterior of {}", name()));
}

}  // namespace covary
