#include "kernels/sampled_expectations.hpp"

#include <cmath>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/quadrature.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

constexpr Index nodes_of_one = 40, nodes_of_two = 20, pairs_of_more = 256;

}  // namespace

NormalRule::NormalRule(Index dims) {
  if (dims <= 2) {
    const QuadratureRule rule = gauss_hermite(dims == 1 ? nodes_of_one : nodes_of_two);
    const Index n = rule.nodes.size(), all = dims == 1 ? n : n * n;
    deviates.resize(all, dims);
    weights.resize(all);
    for (Index s = 0; s < all; ++s) {
      weights(s) = rule.weights(s % n);
      deviates(s, 0) = rule.nodes(s % n);
      if (dims == 1) continue;
      weights(s) *= rule.weights(s / n);
      deviates(s, 1) = rule.nodes(s / n);
    }
  } else {
    const RowMatrix half = Random(1, 0).normal_matrix(pairs_of_more, dims);
    deviates.resize(2 * pairs_of_more, dims);
    deviates << half, -half;
    weights = Vector::Constant(2 * pairs_of_more, 0.5 / static_cast<double>(pairs_of_more));
  }
}

SampledExpectations::SampledExpectations(Kernel kernel, const double* theta, const RowBlock& Z)
    : kernel_(std::move(kernel)), dims_(Z.dims), rule_(Z.dims), theta_(theta), Z_(Z) {}

RowBlock SampledExpectations::points(const GaussianBlock& x, Index i) {
  points_ = rule_.deviates;
  for (Index d = 0; d < dims_; ++d) {
    const double mean = x.mean.row(i)[d], sd = std::sqrt(x.variance[i * dims_ + d]);
    points_.col(d) = (mean + sd * points_.col(d).array()).matrix();
  }
  return {points_.data(), points_.rows(), dims_, dims_};
}

// A variance of zero gets no gradient: all points fall together there.
void SampledExpectations::pull_points(const GaussianBlock& x, Index i, const RowMatrix& bar,
                                      const GaussianBars& to) const {
  for (Index d = 0; d < dims_; ++d) {
    const Index at = i * dims_ + d;
    const double sd = std::sqrt(x.variance[at]);
    to.mean[at] += bar.col(d).sum();
    if (sd > 0.0)
      to.variance[at] += 0.5 / sd * bar.col(d).cwiseProduct(rule_.deviates.col(d)).sum();
  }
}

const Matrix& SampledExpectations::values(const GaussianBlock& x, Index i) {
  K_.resize(Z_.n, rule_.deviates.rows());
  kernel_.node().evaluate(theta_, {Z_, points(x, i), false}, K_.data());
  return K_;
}

void SampledExpectations::psi0(const GaussianBlock& x, double* out) {
  Vector k(rule_.deviates.rows());
  for (Index i = 0; i < x.mean.n; ++i) {
    kernel_.node().diagonal(theta_, points(x, i), k.data());
    out[i] = dot(rule_.weights, k);
  }
}

void SampledExpectations::psi0_pullback(const GaussianBlock& x, const double* bar,
                                        const GaussianBars& to) {
  for (Index i = 0; i < x.mean.n; ++i) {
    const Vector k_bar = bar[i] * rule_.weights;
    RowMatrix points_bar = RowMatrix::Zero(rule_.deviates.rows(), dims_);
    kernel_.node().diagonal_pullback(theta_, points(x, i), k_bar.data(), to.theta,
                                     points_bar.data());
    pull_points(x, i, points_bar, to);
  }
}

void SampledExpectations::psi1(const GaussianBlock& x, double* out) {
  for (Index i = 0; i < x.mean.n; ++i)
    Eigen::Map<Vector>(out + i * Z_.n, Z_.n) = multiply(values(x, i), rule_.weights);
}

void SampledExpectations::psi1_pullback(const GaussianBlock& x, const double* bar,
                                        const GaussianBars& to) {
  for (Index i = 0; i < x.mean.n; ++i) {
    Matrix K_bar(Z_.n, rule_.deviates.rows());
    for (Index s = 0; s < K_bar.cols(); ++s)
      for (Index k = 0; k < Z_.n; ++k) K_bar(k, s) = rule_.weights(s) * bar[i * Z_.n + k];
    RowMatrix points_bar = RowMatrix::Zero(rule_.deviates.rows(), dims_);
    kernel_.node().pullback(theta_, {Z_, points(x, i), false}, K_bar.data(), to.theta, to.z,
                            points_bar.data());
    pull_points(x, i, points_bar, to);
  }
}

void SampledExpectations::psi2(const GaussianBlock& x, MatrixOut sum, double*) {
  for (Index i = 0; i < x.mean.n; ++i) {
    values(x, i);
    for (Index s = 0; s < K_.cols(); ++s) K_.col(s) *= std::sqrt(rule_.weights(s));
    syrk(1.0, K_, Op::none, 1.0, sum);
  }
}

void SampledExpectations::psi2_pullback(const GaussianBlock& x, ConstMatrix bar,
                                        const GaussianBars& to, const double*) {
  for (Index i = 0; i < x.mean.n; ++i) {
    Matrix K_bar = product(bar, values(x, i));
    for (Index s = 0; s < K_bar.cols(); ++s) K_bar.col(s) *= 2.0 * rule_.weights(s);
    RowMatrix points_bar = RowMatrix::Zero(rule_.deviates.rows(), dims_);
    kernel_.node().pullback(theta_, {Z_, points(x, i), false}, K_bar.data(), to.theta, to.z,
                            points_bar.data());
    pull_points(x, i, points_bar, to);
  }
}

}  // namespace covary
