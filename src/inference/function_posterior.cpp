#include "covary/inference/function_posterior.hpp"

#include "covary/error.hpp"

namespace covary {

FunctionPosterior::FunctionPosterior(std::vector<LatentPosterior> p) : any_(std::move(p)) {
  if (latent().empty()) throw InputError("a posterior needs at least one latent function");
}

const std::vector<LatentPosterior>& FunctionPosterior::latent() const {
  if (const auto* p = std::get_if<std::vector<LatentPosterior>>(&any_)) return *p;
  throw Unsupported(is_joint()
                        ? "the latent functions are correlated; ask for their joint posterior"
                        : "a model of inducing variables keeps no posterior of the rows "
                          "themselves");
}

const InducingPosterior& FunctionPosterior::inducing() const {
  if (const auto* p = std::get_if<InducingPosterior>(&any_)) return *p;
  throw Unsupported("only a sparse model has inducing variables");
}

const JointPosterior& FunctionPosterior::joint() const {
  if (const auto* p = std::get_if<JointPosterior>(&any_)) return *p;
  throw Unsupported("the latent functions of this model are independent under its posterior");
}

Index FunctionPosterior::latents() const {
  if (is_joint()) return joint().alpha.cols();
  return is_sparse() ? inducing().latents() : static_cast<Index>(latent().size());
}

Index FunctionPosterior::dims() const {
  if (is_joint()) return joint().X.cols();
  return is_sparse() ? inducing().dims() : latent().front().X.cols();
}

const Kernel& FunctionPosterior::kernel() const {
  if (is_joint()) return joint().kernels.front();
  return is_sparse() ? inducing().parts().parts.front().kernel : latent().front().kernel;
}

const Mean& FunctionPosterior::mean() const {
  if (is_joint()) return joint().mean;
  return is_sparse() ? inducing().parts().mean : latent().front().mean;
}

FunctionMarginals FunctionPosterior::predict(ConstRows X) const {
  if (is_sparse()) return inducing().predict(X);
  if (is_joint()) return joint().predict(X).each();
  FunctionMarginals out{Matrix(X.rows(), latents()), Matrix(X.rows(), latents())};
  for (Index l = 0; l < latents(); ++l) {
    const FunctionMarginals one = latent()[static_cast<std::size_t>(l)].predict(X);
    out.mean.col(l) = one.mean;
    out.variance.col(l) = one.variance;
  }
  return out;
}

}  // namespace covary
