// Laplace, EP and variational inference on the same data at the same parameters, judged by methods
// that are exact in the long run: where three rows allow it (Ashouritaklimi's small problem) a
// tensor of Gauss–Hermite rules, else elliptical slice sampling for the probabilities and
// importance sampling from EP's posterior for the evidence. The larger problem is 30 rows of
// simulation I with ℓ = 0.8 and a moderate and a large variance: with f far out the posterior is
// skewed, and the methods part.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/class_generators.hpp"
#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "covary/inference/slice_sampling.hpp"
#include "covary/inference/variational.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/linalg/quadrature.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

struct Problem {
  FunctionModel model;
  FunctionParameters theta;
  RowMatrix X_new;

  Problem(RowMatrix X, Vector y, double variance, double lengthscale, RowMatrix to_predict)
      : X_new(std::move(to_predict)) {
    model.kernel = se(false, {variance, {lengthscale}});
    model.likelihood = "bernoulli(logit)";
    model.X = std::move(X);
    model.y = std::move(y);
    theta.kernel = model.kernel.parameters(1).values();
  }
  Vector probability(ConstVector mean, ConstVector variance) const {
    return class_probabilities(model.likelihood, Vector(), Matrix(mean), Matrix(variance)).col(1);
  }
  double log_likelihood(ConstVector f) const {
    double sum = 0.0;
    for (Index n = 0; n < f.size(); ++n)
      sum -= std::log1p(std::exp(model.y[n] > 0.5 ? -f[n] : f[n]));
    return sum;
  }
};

// f at X_new given f at the rows: mean Aᵀf, variances v.
struct Conditional {
  Cholesky K;
  Matrix A;
  Vector variance;

  explicit Conditional(const Problem& p)
      : K(cholesky(gram(p.model.kernel, p.theta.kernel, p.model.X), "the prior covariance")) {
    const Matrix k = cross(p.model.kernel, p.theta.kernel, p.model.X, p.X_new);
    A = K.solve(k);
    variance = (diagonal(p.model.kernel, p.theta.kernel, p.X_new) -
                k.cwiseProduct(A).colwise().sum().transpose())
                   .cwiseMax(0.0);
  }
};

struct Answer {
  double evidence = 0.0;
  Vector probability;
  double evidence_error = 0.0;  // standard errors, of those that sample
  Vector probability_error = {};
};

// Every product of three nodes.
Answer by_quadrature(const Problem& p, Index nodes) {
  const Conditional c(p);
  const QuadratureRule rule = gauss_hermite(nodes);
  double Z = 0.0;
  Vector sum = Vector::Zero(p.X_new.rows());
  for (Index i = 0; i < nodes; ++i)
    for (Index j = 0; j < nodes; ++j)
      for (Index k = 0; k < nodes; ++k) {
        const double weight = rule.weights[i] * rule.weights[j] * rule.weights[k];
        if (weight < 1e-22) continue;
        const Vector z = (Vector(3) << rule.nodes[i], rule.nodes[j], rule.nodes[k]).finished();
        const Vector f = multiply(c.K.L, z);
        const double mass = weight * std::exp(p.log_likelihood(f));
        Z += mass;
        sum += mass * p.probability(multiply(c.A, f, Op::transpose), c.variance);
      }
  return {std::log(Z), sum / Z};
}

// Weights p(y, f)/q(f) of draws from q, in the whitened variables f = L·v, where q is well
// conditioned: N(Lᵀalpha, (I + LᵀΛL)⁻¹).
void importance_evidence(const Problem& p, const FunctionApproximation& q, Index draws,
                         std::uint64_t seed, Answer& out) {
  const Cholesky K = cholesky(gram(p.model.kernel, p.theta.kernel, p.model.X), "the prior");
  const Index N = K.size();
  Matrix root = q.posterior.lambda.cwiseMax(0.0).cwiseSqrt().asDiagonal() * K.L;
  const Cholesky P =
      cholesky(Matrix::Identity(N, N) + product(root, root, Op::transpose), "the precision of q");
  const Vector centre = multiply(K.L, q.posterior.alpha, Op::transpose);
  Random random(seed, 21);
  Vector log_weights(draws);
  for (Index s = 0; s < draws; ++s) {
    const Vector z = random.normal_vector(N);
    Matrix v = z;
    solve_lower(P.L, v, Op::transpose);
    v += centre;
    log_weights[s] = p.log_likelihood(multiply(K.L, v.col(0))) -
                     0.5 * (v.squaredNorm() - z.squaredNorm() + P.log_determinant());
  }
  const double top = log_weights.maxCoeff();
  const Vector w = (log_weights.array() - top).exp();
  const double mean = w.mean();
  out.evidence = top + std::log(mean);
  out.evidence_error =
      std::sqrt((w.array() - mean).square().mean() / static_cast<double>(draws)) / mean;
}

// Probabilities from a chain, their errors from the means of twenty parts of it.
void by_sampling(const Problem& p, Index samples, std::uint64_t seed, Answer& out) {
  constexpr Index parts = 20;
  const Conditional c(p);
  const FunctionSamples chain = elliptical_slice_samples(
      p.model, p.theta, {.samples = samples, .burn_in = few(1000, 50), .thin = 5, .seed = seed});
  const Index n = p.X_new.rows(), each = samples / parts;
  Matrix means = Matrix::Zero(parts, n);
  for (Index part = 0; part < parts; ++part) {
    for (Index s = part * each; s < (part + 1) * each; ++s)
      means.row(part) +=
          p.probability(multiply(c.A, chain.f.row(s).transpose(), Op::transpose), c.variance)
              .transpose();
    means.row(part) /= static_cast<double>(each);
  }
  out.probability = means.colwise().mean();
  out.probability_error =
      ((means.rowwise() - out.probability.transpose()).array().square().colwise().sum() /
       static_cast<double>(parts * (parts - 1)))
          .sqrt()
          .matrix();
}

constexpr Index methods = 3;
const char* const names[methods] = {"Laplace", "EP", "VI"};

FunctionApproximation approximate(Index which, const Problem& p) {
  return which == 0   ? laplace_approximation(p.model, p.theta)
         : which == 1 ? expectation_propagation(p.model, p.theta)
                      : variational_approximation(p.model, p.theta);
}

Answer answer(const FunctionApproximation& q, const Problem& p) {
  const FunctionMarginals f = q.posterior.predict(p.X_new);
  return {q.value, p.probability(f.mean.col(0), f.variance.col(0))};
}

void small_problem(Result& result, std::uint64_t seed) {
  const Problem p((RowMatrix(3, 1) << -1.0, 0.0, 1.5).finished(),
                  (Vector(3) << 1.0, 0.0, 1.0).finished(), 2.0, 1.0,
                  RowMatrix::Constant(1, 1, 0.7));
  const Answer exact = by_quadrature(p, few(60, 20));
  result.add("three rows, quadrature: log p(y); P(label 1 at 0.7)", "-2.349120929",
             fmt::format("{:.9f}; {:.9f}", exact.evidence, exact.probability[0]), "T4");
  const char* const reported[methods] = {"-2.402683067; 0.505724571", "",
                                         "-2.349964005; 0.509347670"};
  Answer of[methods];
  for (Index m = 0; m < methods; ++m) {
    of[m] = answer(approximate(m, p), p);
    result.add(fmt::format("three rows, {}: log p(y); P(label 1 at 0.7)", names[m]), reported[m],
               fmt::format("{:.9f}; {:.9f}", of[m].evidence, of[m].probability[0]),
               fmt::format("evidence off by {:+.5f}", of[m].evidence - exact.evidence));
  }
  Answer sampled;
  by_sampling(p, few(20000, 200), seed, sampled);
  importance_evidence(p, approximate(1, p), few(50000, 500), seed, sampled);
  result.add(
      "three rows, sampling: log p(y); P(label 1 at 0.7)", "",
      fmt::format("{:.5f} ± {:.5f}; {:.5f} ± {:.5f}", sampled.evidence, sampled.evidence_error,
                  sampled.probability[0], sampled.probability_error[0]));
  result.claim("the referees agree with quadrature, to four errors",
               std::abs(sampled.evidence - exact.evidence) < 4 * sampled.evidence_error &&
                   std::abs(sampled.probability[0] - exact.probability[0]) <
                       4 * sampled.probability_error[0],
               fmt::format("{:+.1e}; {:+.1e}", sampled.evidence - exact.evidence,
                           sampled.probability[0] - exact.probability[0]));
  result.claim("quadrature, Laplace and VI as the reference has them, to 1e-8",
               std::abs(exact.evidence + 2.349120929445) < 1e-8 &&
                   std::abs(of[0].evidence + 2.402683066682) < 1e-8 &&
                   std::abs(of[2].evidence + 2.349964004616) < 1e-8,
               fmt::format("{:.9f}", exact.evidence));
}

void wave_problem(Result& result, double variance, Index samples, std::uint64_t seed) {
  const SyntheticClasses data = wave_classes_data(30, seed);
  constexpr Index grid = 45;
  const Vector x = Vector::LinSpaced(grid, 0.0, 11.0);
  const Problem p(data.X, data.labels, variance, 0.8, RowMatrix(x));
  const std::string title = fmt::format("30 rows, variance {:g}", variance);
  progress(title + ": sampling");
  Answer exact;
  by_sampling(p, samples, seed, exact);
  importance_evidence(p, approximate(1, p), few(50000, 500), seed, exact);
  const double noise = exact.probability_error.maxCoeff();
  result.add(title + ", sampling: log p(y)", "",
             fmt::format("{:.4f} ± {:.4f}", exact.evidence, exact.evidence_error),
             fmt::format("probabilities to {:.4f}", noise));
  Answer of[methods];
  double off[methods];
  Matrix picture(grid, 2 + methods);
  picture.col(0) = x;
  picture.col(1) = exact.probability;
  for (Index m = 0; m < methods; ++m) {
    of[m] = answer(approximate(m, p), p);
    off[m] = (of[m].probability - exact.probability).cwiseAbs().maxCoeff();
    picture.col(2 + m) = of[m].probability;
    result.add(fmt::format("{}, {}: log p(y); largest error of a probability", title, names[m]), "",
               fmt::format("{:.4f}; {:.4f}", of[m].evidence, off[m]),
               fmt::format("evidence off by {:+.4f}", of[m].evidence - exact.evidence));
  }
  result.claim(
      title + ": VI is a lower bound, EP's evidence is nearest",
      of[2].evidence < exact.evidence + 4 * exact.evidence_error &&
          std::abs(of[1].evidence - exact.evidence) < std::abs(of[2].evidence - exact.evidence) &&
          std::abs(of[1].evidence - exact.evidence) < std::abs(of[0].evidence - exact.evidence),
      fmt::format("EP {:+.4f}", of[1].evidence - exact.evidence));
  result.claim(title + ": Laplace's probabilities are the furthest off",
               std::max(off[1], off[2]) + 4 * noise < off[0],
               fmt::format("{:.4f}, EP {:.4f}, VI {:.4f}", off[0], off[1], off[2]));
  result.series.push_back(
      {title + ": P(label 1)", {"x", "sampling", "Laplace", "EP", "VI"}, picture});
  Matrix points(30, 2);
  points << data.X, data.labels;
  result.series.push_back({"data", {"x", "label"}, points});
}

}  // namespace

Result gpc_method_comparison(std::uint64_t seed) {
  Result result;
  result.name = "gpc-method-comparison";
  result.source =
      "K. Ashouritaklimi, Sparse Gaussian Process Classification with Variational Inference "
      "(2021); after Nickisch & Rasmussen (2008)";
  small_problem(result, seed);
  wave_problem(result, 8.0, few(40000, 200), seed);
  wave_problem(result, 100.0, few(40000, 200), seed);
  return result;
}

}  // namespace covary::experiments
