#pragma once

#include <gtest/gtest.h>

#include "covary/features/features.hpp"
#include "covary/linalg/spectrum.hpp"
#include "covary/random/random.hpp"
#include "support/gradient_check.hpp"

namespace covary {

inline Vector start_of(const Features& u) {
  Parameters p;
  u.declare(p);
  return p.values();
}
inline RowBlock block_of(const RowMatrix& X) { return {X.data(), X.rows(), X.cols(), X.cols()}; }
inline Matrix Kuf_of(const Features& u, const Vector& theta, const Vector& z, const RowMatrix& X) {
  Matrix K(u.size(), X.rows());
  u.Kuf(theta.data(), z.data(), block_of(X), K.data());
  return K;
}

// The pullbacks of random weights agree with differences, by the kernel's parameters, the feature's
// own and the inputs.
inline void check_feature_gradients(const Features& u, const Vector& theta, const Vector& z,
                                    const RowMatrix& X, std::uint64_t seed = 0) {
  const Index M = u.size(), N = X.rows(), T = theta.size(), Z = z.size();
  Random random(seed, 7);
  Matrix Kuu_bar = random.normal_matrix(M, M);
  Kuu_bar = Matrix(Kuu_bar + Kuu_bar.transpose());
  const Matrix Kuf_bar = random.normal_matrix(M, N);
  Vector at(T + Z + X.size());
  at << theta, z, Eigen::Map<const Vector>(X.data(), X.size());
  const auto f = [&](const Vector& v) {
    const RowMatrix inputs = Eigen::Map<const RowMatrix>(v.data() + T + Z, N, X.cols());
    const Vector own = v.segment(T, Z);
    return u.Kuu(v.data(), own.data()).cwiseProduct(Kuu_bar).sum() +
           Kuf_of(u, v.head(T), own, inputs).cwiseProduct(Kuf_bar).sum();
  };
  Vector g = Vector::Zero(at.size());
  u.Kuu_pullback(theta.data(), z.data(), Kuu_bar, g.data(), g.data() + T);
  u.Kuf_pullback(theta.data(), z.data(), block_of(X), nullptr, Kuf_bar.data(), g.data(),
                 g.data() + T, g.data() + T + Z);
  expect_gradient(f, g, at);
}

// [Kuu Kuf; Kfu Kff] has no negative eigenvalue (P30).
inline void check_feature_order(const Features& u, const Kernel& kernel, const Vector& theta,
                                const Vector& z, const RowMatrix& X) {
  const Index M = u.size(), N = X.rows();
  Matrix joint(M + N, M + N);
  joint.topLeftCorner(M, M) = u.Kuu(theta.data(), z.data());
  EXPECT_EQ(joint.topLeftCorner(M, M), joint.topLeftCorner(M, M).transpose());
  joint.topRightCorner(M, N) = Kuf_of(u, theta, z, X);
  joint.bottomLeftCorner(N, M) = joint.topRightCorner(M, N).transpose();
  joint.bottomRightCorner(N, N) = cross(kernel, theta, X, X);
  const Vector eigenvalues = symmetric_eigen(joint).values;
  EXPECT_GE(eigenvalues.minCoeff(), -1e-12 * eigenvalues.maxCoeff());
}

// Both, at the feature's starts.
inline void check_features(const Features& u, const Kernel& kernel, const Vector& theta,
                           const RowMatrix& X, std::uint64_t seed = 0) {
  const Vector z = start_of(u);
  ASSERT_EQ(z.size(), u.parameter_count());
  check_feature_order(u, kernel, theta, z, X);
  check_feature_gradients(u, theta, z, X, seed);
}

}  // namespace covary
