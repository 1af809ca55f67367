#include "covary/inference/inducing_posterior.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/sparse_blocks.hpp"

namespace covary {

InducingPosterior::InducingPosterior(InducingPosteriorParts parts) : parts_(std::move(parts)) {
  const auto& q = parts_.q;
  const Index L = q.m.cols(), M = q.m.rows();
  const auto count = static_cast<Index>(parts_.parts.size());
  if (L == 0 || static_cast<Index>(q.Ls.size()) != L || (count != 1 && count != L))
    throw InputError(
        fmt::format("q(v) has {} means and {} factors for {} kernels: a posterior needs one of "
                    "each, and one kernel or as many",
                    L, q.Ls.size(), count));
  for (const auto& p : parts_.parts)
    if (!p.features || p.features->size() != M || p.Luu.rows() != M || p.Luu.cols() != M ||
        p.features->dims() != dims())
      throw InputError(fmt::format("q(v) has {} rows, which its inducing variables do not fit", M));
  for (const Matrix& factor : q.Ls)
    if (factor.rows() != M || factor.cols() != M)
      throw InputError(fmt::format("a factor of q(v) is {}×{} for {} inducing variables",
                                   factor.rows(), factor.cols(), M));
  if (!parts_.mean.is_zero() && (parts_.mean_weights.rows() != parts_.mean.basis_count(dims()) ||
                                 parts_.mean_weights.cols() != L))
    throw InputError("the weights of the mean function do not fit it");
}

FunctionMarginals InducingPosterior::predict(ConstRows X) const {
  if (X.cols() != dims())
    throw InputError(fmt::format(
        "the model was trained on {} input columns, the new inputs have {}", dims(), X.cols()));
  const Index n = X.rows(), L = latents();
  FunctionMarginals out{Matrix::Zero(n, L), Matrix(n, L)};
  if (!parts_.mean.is_zero()) out.mean = product(parts_.mean.basis(X), parts_.mean_weights);
  for_blocks(n, [&](Index first, Index size) {
    const RowBlock x = rows_of(X, first, size);
    Matrix a;
    Vector residual(size);
    for (Index l = 0; l < L; ++l) {
      if (l < static_cast<Index>(parts_.parts.size())) {  // else shared with the one before
        const InducingPart& p = parts_.parts[static_cast<std::size_t>(l)];
        a = whitened(*p.features, p.theta.data(), p.z.data(), p.Luu, x);
        p.kernel.node().diagonal(p.theta.data(), x, residual.data());
        residual = (residual - a.colwise().squaredNorm().transpose()).cwiseMax(0.0).eval();
      }
      out.mean.col(l).segment(first, size) += multiply(a, parts_.q.m.col(l), Op::transpose);
      Matrix spread = a;
      multiply_lower(parts_.q.Ls[static_cast<std::size_t>(l)], spread, Op::transpose);
      out.variance.col(l).segment(first, size) =
          residual + spread.colwise().squaredNorm().transpose();
    }
  });
  return out;
}

}  // namespace covary
