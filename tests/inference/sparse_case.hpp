#pragma once

#include <cmath>

#include "covary/inference/sparse.hpp"
#include "covary/random/random.hpp"

namespace covary::testing {

inline RowMatrix normal_rows(Index n, Index d, std::uint64_t seed) {
  Random random(seed, 0);
  RowMatrix X(n, d);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = random.normal();
  return X;
}

// A small problem with everything a sweep can be asked for.
struct SparseCase {
  Kernel kernel = "se(ard) + white(variance=0.02)";
  RowMatrix X, Y, Z;
  Vector point_noise;
  Mean mean;
  SparseValues values;
  FeaturesPtr features;

  SparseCase(Index N, Index M, Index D, Index P, std::uint64_t seed, const char* k = nullptr) {
    if (k) kernel = k;
    X = normal_rows(N, D, seed);
    Z = normal_rows(M, D, seed + 1);
    Y = normal_rows(N, P, seed + 2);
    for (Index i = 0; i < N; ++i)
      for (Index p = 0; p < P; ++p) Y(i, p) = 0.3 * Y(i, p) + std::sin(X.row(i).sum() + p);
    features = inducing_points(kernel, Z);
    values.theta = kernel.parameters(D).values();
    values.z = Eigen::Map<const Vector>(Z.data(), Z.size());
    values.noise = 0.13;
  }
  SparseEvaluation evaluate(const Approximation& a, SweepGradient* g = nullptr,
                            Route route = Route::automatic, double jitter = 0.0) const {
    const MemoryRows rows(X, Y, point_noise);
    const Sweep sweep = Sweep::for_features(rows, features->size());
    const SparseProblem problem{a,      features.get(),           &kernel, &mean,
                                &sweep, columns_by_pattern(rows), route};
    Jitter j{jitter};
    return evaluate_sparse(problem, values, j, g);
  }
};

}  // namespace covary::testing
