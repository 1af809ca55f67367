#pragma once

#include <functional>

#include "covary/inference/multi_function_model.hpp"

namespace covary {

// A MultiFunctionModel at given parameters: what the methods share. Missing rows are gone.
struct MultiFunctionProblem {
  // Checks shapes, targets and that the likelihood offers the method.
  MultiFunctionProblem(const MultiFunctionModel& model, const MultiFunctionParameters& parameters,
                       Inference method);

  Index size() const { return y.size(); }
  Index functions() const { return m.cols(); }
  std::size_t kernel_of(Index l) const {
    return grams.size() == 1 ? 0 : static_cast<std::size_t>(l);
  }
  const Matrix& K(Index l) const { return grams[kernel_of(l)]; }
  Datum datum(Index n) const {
    return {y(n), aux.size() != 0 ? aux(n) : model.likelihood.node().default_aux(),
            parameters.likelihood.data()};
  }
  double weight(Index n) const { return weights.size() != 0 ? weights(n) : 1.0; }
  // Of the posterior of f_l.
  FunctionParameters parameters_of(Index l) const;
  // K_bar of each latent function ½(α·αᵀ − R) + ½(u·αᵀ + α·uᵀ) and m_bar = α + u, pulled back to
  // the kernels and the mean weights, as FunctionProblem::pullback does for one. u may be empty.
  void pullback(const Matrix& alpha, const Matrix& u, const std::function<Matrix(Index l)>& R,
                MultiFunctionParameters& out) const;

  const MultiFunctionModel& model;
  const MultiFunctionParameters& parameters;
  RowMatrix X;
  Vector y, aux, weights;
  Matrix m;                   // the mean functions at X, N×L
  std::vector<Matrix> grams;  // of each kernel
};

}  // namespace covary
