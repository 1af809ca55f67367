#include "inference/joint_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

constexpr Index block = 512;  // new rows predicted at a time

}  // namespace

FunctionMarginals JointMarginals::each() const {
  const Index L = mean.cols();
  FunctionMarginals out{mean, Matrix(mean.rows(), L)};
  for (Index l = 0; l < L; ++l) out.variance.col(l) = covariance.col(l * L + l).cwiseMax(0.0);
  return out;
}

JointMarginals JointPosterior::predict(ConstRows X_new) const {
  const Index n = X_new.rows(), C = alpha.cols();
  if (X_new.cols() != X.cols())
    throw InputError(
        fmt::format("new inputs have {} columns, the model has {}", X_new.cols(), X.cols()));
  JointMarginals out{Matrix::Zero(n, C), Matrix::Zero(n, C * C)};
  if (!mean.is_zero()) out.mean = product(mean.basis(X_new), parameters.mean_weights);
  for (Index first = 0; first < n; first += block) {
    const Index size = std::min(block, n - first);
    const ConstRows rows = X_new.middleRows(first, size);
    std::vector<Matrix> k;
    std::vector<Vector> prior;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      k.push_back(cross(kernels[i], parameters.kernels[i], X, rows));
      prior.push_back(diagonal(kernels[i], parameters.kernels[i], rows));
    }
    std::vector<const Matrix*> of_class;
    for (Index c = 0; c < C; ++c) {
      const std::size_t i = k.size() == 1 ? 0 : static_cast<std::size_t>(c);
      of_class.push_back(&k[i]);
      out.mean.col(c).segment(first, size) += multiply(k[i], alpha.col(c), Op::transpose);
      out.covariance.col(c * C + c).segment(first, size) = prior[i];
    }
    out.covariance.middleRows(first, size) -= factor.reduction(of_class);
  }
  return out;
}

}  // namespace covary
