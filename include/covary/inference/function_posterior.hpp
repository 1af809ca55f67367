#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "covary/inference/inducing_posterior.hpp"
#include "covary/inference/joint_posterior.hpp"
#include "covary/inference/latent.hpp"

namespace covary {

// q(f) of the latent functions behind a datum, whichever inference made it. Immutable and
// thread-safe.
class FunctionPosterior {
 public:
  // Of the rows themselves, one for each latent function; they are independent under q.
  FunctionPosterior(std::vector<LatentPosterior> p);              // NOLINT: a kind of it
  FunctionPosterior(InducingPosterior p) : any_(std::move(p)) {}  // NOLINT
  // Of the rows themselves, the functions correlated under q.
  FunctionPosterior(JointPosterior p) : any_(std::move(p)) {}  // NOLINT

  bool is_sparse() const { return std::holds_alternative<InducingPosterior>(any_); }
  bool is_joint() const { return std::holds_alternative<JointPosterior>(any_); }
  const std::vector<LatentPosterior>& latent() const;  // Unsupported where it is another kind
  const InducingPosterior& inducing() const;
  const JointPosterior& joint() const;

  Index latents() const;
  Index dims() const;
  const Kernel& kernel() const;  // of the first latent function
  const Mean& mean() const;
  FunctionMarginals predict(ConstRows X) const;  // of each function by itself
  // Joint draws of the functions over the rows X, white noise included: one n×L matrix for each
  // draw. n² numbers and n³/3 flops for each function.
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const;

 private:
  std::variant<std::vector<LatentPosterior>, InducingPosterior, JointPosterior> any_;
};

}  // namespace covary
