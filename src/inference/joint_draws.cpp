// Covariances and joint draws of functions whose posteriors know no likelihood.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "covary/error.hpp"
#include "covary/inference/gaussian.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "inference/inducing_posterior.hpp"
#include "inference/site_posterior.hpp"
#include "inference/sparse_blocks.hpp"

namespace covary {
namespace {

void check_draws(Index draws) {
  if (draws < 1)
    throw InputError(fmt::format("the number of draws must be at least 1, got {}", draws));
}

// Draws of N(0, C), n×draws; every function has a stream of its own.
Matrix deviations(Matrix C, Index draws, std::uint64_t seed, Index function) {
  return sample(Gaussian{Vector::Zero(C.rows()), std::move(C)}, draws,
                seed + static_cast<std::uint64_t>(function) * 0x9e3779b97f4a7c15u);
}

// What is added to the mean of function l, n×draws.
using Deviation = std::function<Matrix(Index l)>;

std::vector<RowMatrix> around(const Matrix& mean, Index draws, const Deviation& deviation) {
  std::vector<RowMatrix> out(static_cast<std::size_t>(draws), RowMatrix(mean));
  for (Index l = 0; l < mean.cols(); ++l) {
    const Matrix d = deviation(l);
    for (Index s = 0; s < draws; ++s) out[static_cast<std::size_t>(s)].col(l) += d.col(s);
  }
  return out;
}

// The same for every function: m + N(0, C_l).
std::vector<RowMatrix> independent(const PosteriorNode& p, ConstRows X, Index draws,
                                   std::uint64_t seed) {
  check_draws(draws);
  return around(p.predict_mean(X), draws,
                [&](Index l) { return deviations(p.covariance(X, l), draws, seed, l); });
}

Matrix symmetric(Matrix C) {
  mirror_lower(C);
  C.diagonal() = C.diagonal().cwiseMax(0.0);
  return C;
}

}  // namespace

Matrix SitePosterior::covariance(ConstRows X, Index function) const {
  check_inputs(X);
  const FunctionPosterior& p = part(function);
  Matrix C = gram(p.kernel, p.parameters.kernel, X);
  const Matrix k = cross(p.kernel, p.parameters.kernel, p.X, X);
  gemm(-1.0, k, Op::transpose, p.factor.apply_block(k), Op::none, 1.0, C);
  return symmetric(std::move(C));
}

std::vector<RowMatrix> SitePosterior::sample(ConstRows X, Index draws, std::uint64_t seed) const {
  return independent(*this, X, draws, seed);
}

Matrix InducingPosterior::covariance(ConstRows X, Index function) const {
  check_inputs(X);
  check_function(function);
  if (!is_mixed()) return own_covariance(X, function);
  Matrix C = Matrix::Zero(X.rows(), X.rows());
  for (Index l = 0; l < own_functions(); ++l)
    C += std::pow(parts_.mixing(function, l), 2) * own_covariance(X, l);
  return C;
}

Matrix InducingPosterior::own_covariance(ConstRows X, Index function) const {
  const InducingPart& p = part(function);
  Matrix C = gram(p.kernel, p.theta, X);
  Matrix a = whitened(*p.features, p.theta.data(), p.z.data(), p.Luu, rows_of(X, 0, X.rows()));
  syrk(-1.0, a, Op::transpose, 1.0, C);
  multiply_lower(parts_.q.Ls[static_cast<std::size_t>(function)], a, Op::transpose);
  syrk(1.0, a, Op::transpose, 1.0, C);
  return symmetric(std::move(C));
}

std::vector<RowMatrix> InducingPosterior::sample(ConstRows X, Index draws,
                                                 std::uint64_t seed) const {
  if (!is_mixed()) return independent(*this, X, draws, seed);
  check_draws(draws);
  std::vector<RowMatrix> out(static_cast<std::size_t>(draws), predict_mean(X));
  for (Index l = 0; l < own_functions(); ++l) {
    const Matrix d = deviations(own_covariance(X, l), draws, seed, l);
    for (Index s = 0; s < draws; ++s)
      out[static_cast<std::size_t>(s)] += d.col(s) * parts_.mixing.col(l).transpose();
  }
  return out;
}

Matrix SoftmaxPosterior::covariance(ConstRows X, Index function) const {
  check_inputs(X);
  Matrix C = gram(kernel(function), theta(function), X);
  const Matrix k = cross(kernel(function), theta(function), of_.X, X);
  gemm(-1.0, k, Op::transpose, product(of_.factor.dense(function), k), Op::none, 1.0, C);
  return symmetric(std::move(C));
}

// cov(f_c, f_k) = δ_ck(K_c − own_c) + shared_cᵀ·shared_k: what the functions have in common is one
// draw of N numbers, and no matrix is larger than that of one function.
std::vector<RowMatrix> SoftmaxPosterior::sample(ConstRows X, Index draws,
                                                std::uint64_t seed) const {
  check_draws(draws);
  const JointPosterior& p = of_;
  const Index L = p.alpha.cols();
  std::vector<Matrix> k;
  for (std::size_t i = 0; i < p.kernels.size(); ++i)
    k.push_back(cross(p.kernels[i], p.parameters.kernels[i], p.X, X));
  const auto part_of = [&](Index l) { return k.size() == 1 ? 0 : static_cast<std::size_t>(l); };
  std::vector<const Matrix*> of_class;
  for (Index l = 0; l < L; ++l) of_class.push_back(&k[part_of(l)]);
  const SoftmaxFactor::Blocks blocks = p.factor.blocks(of_class);
  Matrix common(p.X.rows(), draws);
  Random random(seed, 1);
  for (Index s = 0; s < draws; ++s) common.col(s) = random.normal_vector(p.X.rows());
  return around(p.predict(X).mean, draws, [&](Index l) {
    const auto c = static_cast<std::size_t>(l);
    Matrix own = gram(p.kernels[part_of(l)], p.parameters.kernels[part_of(l)], X) - blocks.own[c];
    Matrix out = deviations(symmetric(std::move(own)), draws, seed, l);
    gemm(1.0, blocks.shared[c], Op::transpose, common, Op::none, 1.0, out);
    return out;
  });
}

}  // namespace covary
