#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "covary/inference/exact.hpp"
#include "covary/inference/function_model.hpp"
#include "covary/linalg/blas.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary::testing {

// The small problem of the classification spec, section 3: three labels, se of variance 2.
struct ThreePoints {
  FunctionModel model{"se",
                      "bernoulli(logit)",
                      {},
                      (RowMatrix(3, 1) << -1, 0, 1.5).finished(),
                      (Vector(3) << 1, 0, 1).finished()};
  FunctionParameters at{(Vector(2) << 2, 1).finished(), Vector(), Vector()};
  RowMatrix X_new = (RowMatrix(1, 1) << 0.7).finished();
};
constexpr double three_points_exact = -2.349120929445;

// A model with targets that suit its likelihood, one of them missing, and a constant mean.
struct LatentCase {
  FunctionModel model;
  FunctionParameters at;
};
inline LatentCase latent_case(const char* likelihood, std::uint64_t seed, Index N = 14) {
  const auto data = small_data(N, 2, 1, seed);
  const Likelihood l(likelihood);
  Random random(seed, 1);
  Vector y = data.Y.col(0);
  for (Index n = 0; n < N; ++n) {
    if (l.classes() == 2)
      y(n) = y(n) + random.normal() > 0 ? 1 : 0;
    else if (l.classes() > 2)
      y(n) = std::clamp(std::floor(y(n) + 2), 0.0, l.classes() - 1.0);
    else if (l.aux() == Aux::trials)
      y(n) = std::clamp(std::floor(y(n) + 2.5), 0.0, 5.0);
    else if (l.aux() == Aux::exposure)
      y(n) = std::floor(std::exp(y(n)) + random.uniform());
    else if (l.print().starts_with("beta"))
      y(n) = 1 / (1 + std::exp(-y(n)));
    else if (l.print().starts_with("gamma") || l.print().starts_with("exp"))
      y(n) = std::exp(y(n));
  }
  y(3) = std::nan("");
  LatentCase out{{"se(ard)", l, "constant", data.X, y}, {}};
  if (l.aux() == Aux::trials) out.model.aux = Vector::Constant(N, 5.0);
  out.at.kernel = Vector(3);
  for (Index i = 0; i < 3; ++i) out.at.kernel(i) = std::exp(0.3 * random.normal());
  out.at.likelihood = l.parameters().values();
  out.at.mean_weights = Vector::Constant(1, 0.2);
  return out;
}

using LatentMethod = std::function<FunctionApproximation(
    const FunctionModel&, const FunctionParameters&, FunctionParameters*)>;

// The gradient in the parameters of the kernel, the likelihood and the mean against differences.
inline void expect_latent_gradient(const LatentCase& c, const LatentMethod& method) {
  const Index K = c.at.kernel.size(), L = c.at.likelihood.size();
  const auto unpack = [&](const Vector& v) {
    return FunctionParameters{v.head(K), v.segment(K, L), v.tail(v.size() - K - L)};
  };
  Vector at(K + L + c.at.mean_weights.size()), given(at.size());
  at << c.at.kernel, c.at.likelihood, c.at.mean_weights;
  FunctionParameters g;
  method(c.model, c.at, &g);
  given << g.kernel, g.likelihood, g.mean_weights;
  expect_gradient([&](const Vector& v) { return method(c.model, unpack(v), nullptr).value; }, given,
                  at);
}

// With a Gaussian likelihood every method is exact regression: evidence, gradient, predictions.
inline void expect_exact_regression(const LatentMethod& method) {
  const LatentCase c = latent_case("gaussian(variance=0.3)", 5);
  std::vector<Index> rows;
  for (Index n = 0; n < c.model.y.size(); ++n)
    if (!std::isnan(c.model.y(n))) rows.push_back(n);
  const RowMatrix X = c.model.X(rows, Eigen::all);
  const Matrix Y = (c.model.y(rows).array() - 0.2).matrix();
  Jitter jitter;
  ExactGradient e;
  const double value = exact_log_evidence("se(ard)", c.at.kernel, X, Y, 0.3, Vector(), jitter, &e);
  FunctionParameters g;
  const FunctionApproximation q = method(c.model, c.at, &g);
  EXPECT_NEAR(q.value, value, 1e-8);
  EXPECT_LE((g.kernel - e.theta_bar).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_NEAR(g.likelihood(0), e.noise_bar, 1e-8);
  EXPECT_NEAR(g.mean_weights(0), -e.Y_bar.sum(), 1e-8);

  const RowMatrix X_new = Random(9).normal_matrix(6, 2);
  Matrix C = gram("se(ard)", c.at.kernel, X);
  C.diagonal().array() += 0.3;
  const Cholesky factor = cholesky(C);
  const Matrix k = cross("se(ard)", c.at.kernel, X, X_new);
  const Vector mean = product(k, factor.solve(Y), Op::transpose).col(0).array() + 0.2;
  const Vector variance =
      c.at.kernel(0) - k.cwiseProduct(factor.solve(k)).colwise().sum().transpose().array();
  const auto p = q.posterior.predict(X_new);
  EXPECT_LE((p.mean - mean).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LE((p.variance - variance).cwiseAbs().maxCoeff(), 1e-8);
}

// A missing target is as a row that is not there.
inline void expect_missing_left_out(const LatentMethod& method) {
  const LatentCase c = latent_case("bernoulli(logit)", 8);
  FunctionModel without = c.model;
  std::vector<Index> rows;
  for (Index n = 0; n < c.model.y.size(); ++n)
    if (!std::isnan(c.model.y(n))) rows.push_back(n);
  ASSERT_LT(rows.size(), static_cast<std::size_t>(c.model.y.size()));
  without.X = c.model.X(rows, Eigen::all);
  without.y = c.model.y(rows);
  EXPECT_EQ(method(c.model, c.at, nullptr).value, method(without, c.at, nullptr).value);
}

// T17: flipped labels give the mirrored posterior and the same value.
inline void expect_flip_symmetry(const LatentMethod& method) {
  ThreePoints s;
  const auto before = method(s.model, s.at, nullptr);
  s.model.y = 1.0 - s.model.y.array();
  const auto after = method(s.model, s.at, nullptr);
  EXPECT_NEAR(after.value, before.value, 1e-12);
  EXPECT_NEAR(after.posterior.predict(s.X_new).mean(0), -before.posterior.predict(s.X_new).mean(0),
              1e-10);
}

}  // namespace covary::testing
