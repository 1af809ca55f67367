#pragma once

#include "covary/inference/exact.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/sparse_case.hpp"

namespace covary::testing {

// A case with what a SparseProblem points at.
struct BuiltProblem {
  SparseCase t;
  MemoryRows rows;
  Sweep sweep;
  SparseProblem problem;

  explicit BuiltProblem(const SparseCase& from, const Approximation& a = "vfe")
      : t(from),
        rows(t.X, t.Y, t.point_noise),
        sweep(Sweep::for_features(rows, t.features->size())),
        problem{a, t.features.get(), &t.kernel, &t.mean, &sweep, columns_by_pattern(rows)} {}
  BuiltProblem(const BuiltProblem&) = delete;
  BuiltProblem& operator=(const BuiltProblem&) = delete;
};

// The log evidence of the exact model.
inline double exact_evidence(const SparseCase& t) {
  Matrix R = t.Y;
  if (!t.mean.is_zero()) R -= product(t.mean.basis(t.X), t.values.mean_weights);
  Jitter j;
  return exact_log_evidence(t.kernel, t.values.theta, t.X, R, t.values.noise, t.point_noise, j);
}

// A trace of the size of the noise makes upper bounds tell.
inline SparseCase close_case(std::uint64_t seed, Index N = 60, Index M = 25) {
  SparseCase t(N, M, 2, 1, seed, "se");
  t.values.theta(1) = 1.5;
  return t;
}

// A mean function, missing outputs and known noise.
inline SparseCase with_everything(SparseCase t) {
  t.Y(3, 0) = t.Y(9, 1) = t.Y(20, 1) = std::nan("");
  t.point_noise = Vector::LinSpaced(t.X.rows(), 0.0, 0.5);
  t.mean = "linear";
  t.values.mean_weights = Matrix::Constant(t.X.cols() + 1, t.Y.cols(), 0.2);
  return t;
}

// All values of a case end to end, and back.
inline Vector packed(const SparseValues& v) {
  Vector x(v.theta.size() + v.z.size() + 1 + v.mean_weights.size());
  x << v.theta, v.z, v.noise,
      Eigen::Map<const Vector>(v.mean_weights.data(), v.mean_weights.size());
  return x;
}
inline SparseValues unpacked(const Vector& x, SparseValues v) {
  const Index T = v.theta.size(), Z = v.z.size(), W = v.mean_weights.size();
  v.theta = x.head(T);
  v.z = x.segment(T, Z);
  v.noise = x(T + Z);
  v.mean_weights.reshaped() = x.tail(W);
  return v;
}
inline Vector packed(const SweepGradient& g) {
  Vector x(g.theta_bar.size() + g.z_bar.size() + 1 + g.mean_bar.size());
  x << g.theta_bar, g.z_bar, g.noise_bar,
      Eigen::Map<const Vector>(g.mean_bar.data(), g.mean_bar.size());
  return x;
}

}  // namespace covary::testing
