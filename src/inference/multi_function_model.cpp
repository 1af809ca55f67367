#include "covary/inference/multi_function_model.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/function_problem.hpp"
#include "inference/multi_function_problem.hpp"

namespace covary {

MultiFunctionProblem::MultiFunctionProblem(const MultiFunctionModel& of,
                                           const MultiFunctionParameters& at, Inference method)
    : model(of), parameters(at) {
  const Index D = of.X.cols(), L = of.likelihood.functions();
  of.likelihood.require(method);
  const auto count = static_cast<Index>(of.kernels.size());
  if (count != 1 && count != L)
    throw InputError(fmt::format(
        "{} has {} latent functions and there are {} kernels; give one for all or one for each",
        of.likelihood.print(), L, count));
  expect_size("the list of kernel parameters", count, static_cast<Index>(at.kernels.size()));
  for (std::size_t i = 0; i < of.kernels.size(); ++i)
    expect_size("the vector of kernel parameters", of.kernels[i].parameter_count(D),
                at.kernels[i].size());
  expect_size("the vector of likelihood parameters", of.likelihood.parameter_count(),
              at.likelihood.size());
  const Index B = of.mean.basis_count(D);
  if (B > 0 && (at.mean_weights.rows() != B || at.mean_weights.cols() != L))
    throw InputError(fmt::format("the mean weights are {}×{}, expected {}×{}",
                                 at.mean_weights.rows(), at.mean_weights.cols(), B, L));
  ObservedRows rows = observed_rows(of.likelihood, of.X, of.y, of.aux, of.weights);
  X = std::move(rows.X);
  y = std::move(rows.y);
  aux = std::move(rows.aux);
  weights = std::move(rows.weights);
  m = B > 0 ? product(of.mean.basis(X), at.mean_weights) : Matrix::Zero(y.size(), L);
  for (std::size_t i = 0; i < of.kernels.size(); ++i)
    grams.push_back(gram(of.kernels[i], at.kernels[i], X));
}

FunctionParameters MultiFunctionProblem::parameters_of(Index l) const {
  return {parameters.kernels[kernel_of(l)], parameters.likelihood,
          model.mean.is_zero() ? Vector(0) : Vector(parameters.mean_weights.col(l))};
}

void MultiFunctionProblem::pullback(const Matrix& alpha, const Matrix& u,
                                    const std::function<Matrix(Index l)>& R,
                                    MultiFunctionParameters& out) const {
  Matrix m_bar = alpha;
  if (u.size() != 0) m_bar += u;
  // ½(α·αᵀ + u·αᵀ + α·uᵀ) = ½(α·hᵀ + h·αᵀ), h = ½α + u
  const Matrix h = m_bar - 0.5 * alpha;
  out.kernels.clear();
  for (std::size_t i = 0; i < grams.size(); ++i) {
    Matrix twice = Matrix::Zero(size(), size());  // 2·K_bar
    for (Index l = 0; l < functions(); ++l) {
      if (kernel_of(l) != i) continue;
      twice -= R(l);
      gemm(1.0, alpha.col(l), Op::none, h.col(l), Op::transpose, 1.0, twice);
      gemm(1.0, h.col(l), Op::none, alpha.col(l), Op::transpose, 1.0, twice);
    }
    const auto K_bar = [&](Index r, Index nr, Index c, Index nc, double* tile) {
      Eigen::Map<Matrix>(tile, nr, nc) = 0.5 * twice.block(r, c, nr, nc);
    };
    out.kernels.push_back(Vector::Zero(parameters.kernels[i].size()));
    gram_pullback(model.kernels[i].node(), parameters.kernels[i].data(), X, K_bar,
                  out.kernels.back());
  }
  out.mean_weights =
      model.mean.is_zero() ? Matrix(0, 0) : product(model.mean.basis(X), m_bar, Op::transpose);
}

}  // namespace covary
