// Joint draws of latent functions from each kind of posterior.
#include <fmt/format.h>

#include <functional>

#include "covary/error.hpp"
#include "covary/inference/function_posterior.hpp"
#include "covary/inference/gaussian.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "inference/sparse_blocks.hpp"

namespace covary {
namespace {

// Draws of N(0, C), n×draws; every function has a stream of its own.
Matrix deviations(Matrix C, Index draws, std::uint64_t seed, Index function) {
  mirror_lower(C);
  C.diagonal() = C.diagonal().cwiseMax(0.0);
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

Matrix covariance(const LatentPosterior& p, ConstRows X) {
  Matrix C = gram(p.kernel, p.parameters.kernel, X);
  const Matrix k = cross(p.kernel, p.parameters.kernel, p.X, X);
  gemm(-1.0, k, Op::transpose, p.factor.apply_block(k), Op::none, 1.0, C);
  return C;
}

Matrix covariance(const InducingPosterior& posterior, ConstRows X, Index l) {
  const auto& all = posterior.parts();
  const InducingPart& p = all.parts[all.parts.size() == 1 ? 0 : static_cast<std::size_t>(l)];
  Matrix C = gram(p.kernel, p.theta, X);
  Matrix a = whitened(*p.features, p.theta.data(), p.z.data(), p.Luu, rows_of(X, 0, X.rows()));
  syrk(-1.0, a, Op::transpose, 1.0, C);
  multiply_lower(all.q.Ls[static_cast<std::size_t>(l)], a, Op::transpose);
  syrk(1.0, a, Op::transpose, 1.0, C);
  return C;
}

// cov(f_c, f_k) = δ_ck(K_c − own_c) + shared_cᵀ·shared_k: what the functions have in common is one
// draw of N numbers, and no matrix is larger than that of one function.
std::vector<RowMatrix> sample_joint(const JointPosterior& p, ConstRows X, Index draws,
                                    std::uint64_t seed) {
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
    Matrix out = deviations(std::move(own), draws, seed, l);
    gemm(1.0, blocks.shared[c], Op::transpose, common, Op::none, 1.0, out);
    return out;
  });
}

}  // namespace

std::vector<RowMatrix> FunctionPosterior::sample(ConstRows X, Index draws,
                                                 std::uint64_t seed) const {
  if (draws < 1)
    throw InputError(fmt::format("the number of draws must be at least 1, got {}", draws));
  if (is_joint()) return sample_joint(joint(), X, draws, seed);
  const Matrix mean = predict(X).mean;
  return around(mean, draws, [&](Index l) {
    return deviations(is_sparse() ? covariance(inducing(), X, l)
                                  : covariance(latent()[static_cast<std::size_t>(l)], X),
                      draws, seed, l);
  });
}

}  // namespace covary
