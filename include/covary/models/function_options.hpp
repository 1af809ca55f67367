#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "covary/data/scaling.hpp"
#include "covary/kernels/kernel.hpp"
#include "covary/kernels/mean.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "covary/models/input_map.hpp"
#include "covary/training/options.hpp"

namespace covary {

// What every model y ~ p(y | f(x)) takes, with inducing inputs (SvgpOptions) and without
// (GeneralisedOptions). These have the same fields, so that all of theirs can be named at once.
struct FunctionOptions {
  Kernel kernel = "se(ard)";
  Likelihood likelihood = "bernoulli";
  Mean mean = {};  // zero
  // With several latent functions: a kernel, and inducing inputs, of its own for each.
  bool separate_kernels = false;
  // Beside y: exposure, trials or noise variances, and the weights of the rows; N, or empty.
  Vector aux = {}, weights = {};
  std::vector<std::string> classes = {};  // names of labels 0, 1, …, for the fit to keep
  ScaleMode scale_inputs = ScaleMode::columns;
  ScaleMode scale_outputs = ScaleMode::columns;  // only where targets are any real number
  // The model sees so many principal components of the scaled inputs, or the latent space of a
  // Bayesian GP-LVM of them, which starts with so many dimensions and is trained for as many
  // iterations; at most one of the two. 0 and 0: the inputs themselves.
  Index pca = 0, gplvm = 0;
  // Found before by a model of the same rows and options (input_map()); else it is found anew.
  InputMap input_map = {};
  std::uint64_t seed = 0;
  TrainingOptions training = {};

  void check(Inference method) const;
};

// Options with those of this struct, or of another with the same fields.
template <class To, class From>
To with_function_options(const From& from, To to = {}) {
  to.kernel = from.kernel;
  to.likelihood = from.likelihood;
  to.mean = from.mean;
  to.separate_kernels = from.separate_kernels;
  to.aux = from.aux;
  to.weights = from.weights;
  to.classes = from.classes;
  to.scale_inputs = from.scale_inputs;
  to.scale_outputs = from.scale_outputs;
  to.pca = from.pca;
  to.gplvm = from.gplvm;
  to.input_map = from.input_map;
  to.seed = from.seed;
  to.training = from.training;
  return to;
}

// Whether the latent functions have nothing in common, so that each wants a kernel of its own:
// unless they are the classes of one model.
bool functions_differ(const Likelihood& likelihood);

}  // namespace covary
