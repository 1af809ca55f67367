#pragma once

#include <vector>

#include "covary/inference/latent.hpp"
#include "covary/statistics/row_terms.hpp"

namespace covary {

// A kernel with its inducing variables, at their values.
struct InducingPart {
  Kernel kernel = "se";
  Vector theta;
  FeaturesPtr features;
  Vector z;
  Matrix Luu;  // factor of Kuu + jitter
  double jitter = 0.0;
};

struct InducingPosteriorParts {
  std::vector<InducingPart> parts;  // one for all latent functions, or one for each
  Mean mean;
  Matrix mean_weights;  // basis × L, when the mean is not zero
  WhitenedGaussian q;   // M×L
};

// The posterior of L latent functions through q(u): f has the mean m(x) + aᵀm and the variance
// k(x, x) − |a|² + |Lsᵀa|² with a = Luu⁻¹k_u(x). Its size does not depend on the data. Immutable
// and thread-safe.
class InducingPosterior {
 public:
  explicit InducingPosterior(InducingPosteriorParts parts);

  const InducingPosteriorParts& parts() const { return parts_; }
  Index latents() const { return parts_.q.m.cols(); }
  Index dims() const { return parts_.parts.front().features->dims(); }
  // In blocks by threads: memory does not grow with the rows beyond the result.
  FunctionMarginals predict(ConstRows X) const;

 private:
  InducingPosteriorParts parts_;
};

}  // namespace covary
