#pragma once

#include <variant>
#include <vector>

#include "covary/inference/inducing_posterior.hpp"
#include "covary/inference/latent.hpp"

namespace covary {

// q(f) of the latent functions behind a datum, whichever inference made it. Immutable and
// thread-safe.
class FunctionPosterior {
 public:
  // Of the rows themselves, one for each latent function; they are independent under q.
  FunctionPosterior(std::vector<LatentPosterior> p);              // NOLINT: a kind of it
  FunctionPosterior(InducingPosterior p) : any_(std::move(p)) {}  // NOLINT

  bool is_sparse() const { return std::holds_alternative<InducingPosterior>(any_); }
  const std::vector<LatentPosterior>& latent() const;  // Unsupported when sparse, and the reverse
  const InducingPosterior& inducing() const;

  Index latents() const;
  Index dims() const;
  const Kernel& kernel() const;  // of the first latent function
  const Mean& mean() const;
  FunctionMarginals predict(ConstRows X) const;

 private:
  std::variant<std::vector<LatentPosterior>, InducingPosterior> any_;
};

}  // namespace covary
