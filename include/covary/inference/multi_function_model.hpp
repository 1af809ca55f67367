#pragma once

#include <vector>

#include "covary/inference/function_model.hpp"
#include "covary/inference/variational.hpp"

namespace covary {

// y_n ~ p(y | f_1(x_n), …, f_L(x_n)) with independent f_l ~ GP(m_l, k_l): softmax, robust-max,
// heteroscedastic noise, and with L = 1 what FunctionModel is.
struct MultiFunctionModel {
  std::vector<Kernel> kernels = {"se"};  // one for all latent functions, or one for each
  Likelihood likelihood = "softmax(2)";
  Mean mean;  // of every f_l, each with weights of its own
  RowMatrix X;
  Vector y;                       // NaN where missing: such rows are left out
  Vector aux = {}, weights = {};  // as in FunctionModel
};

// Values of the parameters, or the derivatives by them.
struct MultiFunctionParameters {
  std::vector<Vector> kernels;  // as many as the model has
  Vector likelihood;
  Matrix mean_weights;  // basis × L
};

struct MultiFunctionApproximation {
  double value = 0.0;
  Matrix mean, variance;                     // of f at the observed rows, N×L
  std::vector<FunctionPosterior> posterior;  // independent under q
  int iterations = 0;
};

// variational_approximation() for several latent functions: the best q(f) = Π_l q(f_l), each of the
// form it has for one. What the data say of f_l and f_k together is not in q; the bound pays for
// that. L·N³ flops a step.
MultiFunctionApproximation variational_approximation(const MultiFunctionModel& model,
                                                     const MultiFunctionParameters& parameters,
                                                     MultiFunctionParameters* gradient = nullptr,
                                                     const VariationalOptions& options = {});

}  // namespace covary
