#pragma once

#include "covary/inference/latent.hpp"

namespace covary {

// A LatentModel at given parameters: what the methods share. Missing rows are gone.
struct LatentProblem {
  // Checks shapes, targets and that the likelihood offers the method.
  LatentProblem(const LatentModel& model, const LatentParameters& parameters, Inference method);

  Index size() const { return y.size(); }
  Datum datum(Index n) const {
    return {y(n), aux.size() != 0 ? aux(n) : model.likelihood.node().default_aux(),
            parameters.likelihood.data()};
  }
  // q(f) with the mean m + K·alpha, and its marginals. The value is left to the method.
  LatentApproximation approximation(Vector alpha, Vector lambda, SiteFactor factor,
                                    Vector variance) const;
  // K_bar = ½(alpha·alphaᵀ − R) + ½(u·alphaᵀ + alpha·uᵀ) and m_bar = alpha + u, pulled back to the
  // kernel and the mean weights; R = q.factor.dense(). u is how the value depends on alpha being a
  // fixed point; empty where it is stationary there.
  void pullback(const LatentPosterior& q, const Matrix& R, ConstVector u,
                LatentParameters& out) const;

  const LatentModel& model;
  const LatentParameters& parameters;
  RowMatrix X;
  Vector y, aux;
  Vector m;  // the mean function at X
  Matrix K;
};

}  // namespace covary
