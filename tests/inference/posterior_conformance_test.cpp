// What every posterior must do, whatever made it. A new one is a line in `posteriors`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/inference/compression.hpp"
#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/inference/uncollapsed.hpp"
#include "covary/inference/variational.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "covary/storage/container.hpp"
#include "inference/cglb.hpp"
#include "inference/inducing_posterior.hpp"
#include "inference/pitc.hpp"
#include "inference/site_posterior.hpp"
#include "inference/softmax_laplace.hpp"
#include "inference/sparse_case.hpp"
#include "inference/sparse_ep.hpp"
#include "support/gradient_check.hpp"

namespace covary {
namespace {

constexpr Index all_rows = 24, further = 3;
const char* const kernel = "se(ard) + linear";

testing::SparseCase first_rows(Index rows, const char* of = kernel) {
  testing::SparseCase t(all_rows, 7, 2, 2, 11, of);
  t.X.conservativeResize(rows, Eigen::NoChange);
  t.Y.conservativeResize(rows, Eigen::NoChange);
  return t;
}

ExactPosteriorParts exact_parts(Index rows, const Mean& mean = {}) {
  const auto t = first_rows(rows);
  ExactPosteriorParts parts;
  parts.kernel = t.kernel;
  parts.theta = t.values.theta;
  parts.mean = mean;
  parts.mean_weights = Matrix::Constant(mean.basis_count(2), 2, 0.3);
  parts.noise_variance = t.values.noise;
  parts.X = t.X;
  parts.Y = t.Y;
  return parts;
}

Posterior exact(Index rows, const Mean& mean = {}) {
  return ExactPosterior(exact_parts(rows, mean));
}

// Outputs that are missing, of two patterns.
Posterior exact_with_holes(Index rows) {
  ExactPosteriorParts parts = exact_parts(rows);
  parts.Y(2, 0) = parts.Y(9, 1) = parts.Y(9, 0) = std::nan("");
  return ExactPosterior(std::move(parts));
}

Posterior exact_with_row_noise(Index rows) {
  ExactPosteriorParts parts = exact_parts(rows);
  parts.point_noise = Vector::LinSpaced(all_rows, 0.01, 0.4).head(rows);
  return ExactPosterior(std::move(parts));
}

SparsePosterior factors(const Approximation& a, Index rows) {
  const auto t = first_rows(rows);
  SparseEvaluation e = t.evaluate(a);
  return SparsePosterior(
      {a, t.kernel, t.mean, t.features, t.values, e.Luu, e.jitter, std::move(e.factors)});
}

// Of inducing variables other than points.
Posterior by_features(const char* kind, const char* of, Index rows) {
  auto t = first_rows(rows, of);
  const FeatureChoice choice(kind);
  t.features = start_features(choice, {.kernel = t.kernel,
                                       .theta = t.values.theta,
                                       .X = first_rows(all_rows).X,
                                       .M = 7,
                                       .seed = 3,
                                       .Z = t.Z.topRows(choice.inputs(7))});
  Parameters own;
  t.features->declare(own);
  t.values.z = own.values();
  SparseEvaluation e = t.evaluate("vfe");
  return SparsePosterior(
      {"vfe", t.kernel, t.mean, t.features, t.values, e.Luu, e.jitter, std::move(e.factors)});
}

// Further rows are each a group of their own.
Posterior pitc(Index rows) {
  const auto t = first_rows(rows);
  const MemoryRows source(t.X, t.Y, Vector());
  std::vector<Index> starts{0, 8, 15};
  for (Index i = all_rows - further; i < rows; ++i) starts.push_back(i);
  const Sweep sweep = group_sweep(source, starts, t.features->size());
  const SparseProblem problem{"pitc",  t.features.get(), &t.kernel,
                              &t.mean, &sweep,           columns_by_pattern(source)};
  Jitter jitter;
  SparseEvaluation e = evaluate_pitc(problem, starts, t.values, jitter);
  return SparsePosterior(
      {"pitc", t.kernel, t.mean, t.features, t.values, e.Luu, e.jitter, std::move(e.factors)});
}

Posterior cglb(Index rows) {
  const auto t = first_rows(rows);
  const MemoryRows source(t.X, t.Y, Vector());
  const Sweep sweep = Sweep::for_features(source, t.features->size());
  const SparseProblem problem{"cglb",  t.features.get(), &t.kernel,
                              &t.mean, &sweep,           columns_by_pattern(source)};
  Jitter jitter;
  Matrix v;
  improve_cglb(problem, t.values, v, jitter, {200, 1e-7});
  SparseEvaluation e = evaluate_cglb(problem, t.values, v, jitter).sparse;
  return SparsePosterior({"cglb", t.kernel, t.mean, t.features, t.values, e.Luu, e.jitter,
                          std::move(e.factors), t.X, v});
}

// The best q(u), which is that of VFE.
Posterior svgp(Index rows) {
  const SparsePosterior best = factors("vfe", rows);
  const SparsePosteriorParts& p = best.parts();
  return InducingPosterior({{{p.kernel, p.values.theta, p.features, p.values.z, p.Luu, p.jitter}},
                            {},
                            {},
                            best.q_of_v()});
}

Posterior svgp_of_two_kernels(Index rows) {
  const SparsePosterior best = factors("vfe", rows);
  const SparsePosteriorParts& p = best.parts();
  const Vector theta = 1.3 * p.values.theta;
  Jitter jitter;
  const Cholesky Kuu = factor_Kuu(*p.features, theta, p.values.z, jitter, false);
  return InducingPosterior({{{p.kernel, p.values.theta, p.features, p.values.z, p.Luu, p.jitter},
                             {p.kernel, theta, p.features, p.values.z, Kuu.L, Kuu.jitter}},
                            "constant",
                            Matrix::Constant(1, 2, 0.2),
                            best.q_of_v()});
}

// Three outputs that mix two functions.
Posterior svgp_of_mixtures(Index rows) {
  InducingPosteriorParts parts = svgp(rows).as<InducingPosterior>().parts();
  parts.mixing = (Matrix(3, 2) << 1.0, 0.4, -0.7, 0.9, 0.0, 1.5).finished();
  parts.mean = "constant";
  parts.mean_weights = (Matrix(1, 3) << 0.2, -0.1, 0.4).finished();
  return InducingPosterior(std::move(parts));
}

// A q(u) that is not the best one: --covariance diagonal.
Posterior svgp_of_diagonal_q(Index rows) {
  InducingPosteriorParts parts = svgp(rows).as<InducingPosterior>().parts();
  for (Matrix& factor : parts.q.Ls) factor = Matrix(factor.diagonal().asDiagonal());
  return InducingPosterior(std::move(parts));
}

FunctionModel labels(Index rows, const char* likelihood) {
  const auto t = first_rows(rows);
  return {t.kernel, likelihood, {}, t.X, (t.Y.col(0).array() > 0.2).cast<double>()};
}

using Method =
    std::function<FunctionApproximation(const FunctionModel&, const FunctionParameters&)>;

Posterior sites(Index rows, const Method& method, const char* likelihood = "bernoulli(logit)") {
  const FunctionModel model = labels(rows, likelihood);
  return SitePosterior(
      method(model, {first_rows(rows).values.theta, model.likelihood.parameters().values(), {}})
          .posterior);
}

Posterior sparse_ep(Index rows) {
  const auto t = first_rows(rows);
  const FunctionModel model = labels(rows, "bernoulli(logit)");
  Jitter jitter;
  return sparse_expectation_propagation(
             model, t.features, {t.values.theta, model.likelihood.parameters().values(), {}},
             t.values.z, jitter)
      .posterior;
}

Posterior two_functions(Index rows) {
  const auto t = first_rows(rows);
  return SitePosterior(
      variational_approximation(
          MultiFunctionModel{{t.kernel}, "heteroscedastic", "constant", t.X, t.Y.col(0)},
          {{t.values.theta},
           Likelihood("heteroscedastic").parameters().values(),
           Matrix::Constant(1, 2, -0.5)})
          .posterior);
}

Posterior softmax(Index rows) {
  const auto t = first_rows(rows);
  const Vector y =
      (t.Y.col(0).array() > 0.5)
          .select(Vector::Constant(rows, 2.0), (t.Y.col(0).array() > -0.5).cast<double>().matrix());
  return SoftmaxPosterior(
      laplace_approximation(MultiFunctionModel{{t.kernel}, "softmax(3)", {}, t.X, y},
                            {{t.values.theta}, Vector(), Matrix(0, 3)})
          .posterior);
}

struct Made {
  std::string name;
  std::function<Posterior(Index rows)> make;
  // Whether it is the posterior of its rows with Gaussian noise, which more rows then join.
  bool of_rows = true;
};
void PrintTo(const Made& made, std::ostream* out) { *out << made.name; }

std::vector<Made> posteriors() {
  std::vector<Made> out{
      {"exact", [](Index n) { return exact(n); }},
      {"exact_with_mean", [](Index n) { return exact(n, "linear"); }},
      {"exact_without_outputs", [](Index n) { return exact(n).without_outputs(); }},
      {"exact_with_holes", exact_with_holes},
      {"exact_with_row_noise", exact_with_row_noise},
      {"cglb", cglb},
      {"pitc", pitc},
      {"svgp", svgp},
      {"svgp_of_two_kernels", svgp_of_two_kernels},
      {"svgp_of_mixtures", svgp_of_mixtures},
      {"svgp_of_diagonal_q", svgp_of_diagonal_q, false},
      {"sparse_ep", sparse_ep, false},
      {"laplace",
       [](Index n) {
         return sites(n,
                      [](const auto& m, const auto& at) { return laplace_approximation(m, at); });
       }},
      {"laplace_of_negative_sites",
       [](Index n) {
         return sites(
             n, [](const auto& m, const auto& at) { return laplace_approximation(m, at); },
             "student_t");
       }},
      {"ep",
       [](Index n) {
         return sites(n,
                      [](const auto& m, const auto& at) { return expectation_propagation(m, at); });
       }},
      {"vgp",
       [](Index n) {
         return sites(
             n, [](const auto& m, const auto& at) { return variational_approximation(m, at); });
       }},
      {"two_functions", two_functions},
      {"softmax", softmax}};
  for (const auto& [kind, of] : {std::pair{"basis(2)", kernel},
                                 {"multiscale", "se(ard) + constant"},
                                 {"frequency", "se(ard) + se"},
                                 {"stacked(points)", "se@0 + matern32@1"}})
    out.push_back({kind, [kind, of](Index n) { return by_features(kind, of, n); }});
  for (const char* a : {"sor", "dtc", "fitc", "vfe", "vfe(tight)", "pep(0.5)"})
    out.push_back({a, [a](Index n) { return factors(a, n); }});
  return out;
}

class EveryPosterior : public ::testing::TestWithParam<Made> {
 protected:
  const Posterior p = GetParam().make(all_rows);
  const RowMatrix X = testing::normal_rows(6, 2, 99);
};

// What the noise of the last rows is, for further ones.
Vector noise_of(const Posterior& p) {
  if (!p.can(Capability::outputs)) return Vector::Constant(further, 0.13);
  const Vector& own = p.point_noise();
  return own.size() ? Vector(own.tail(further)) : Vector();
}

double largest(const Matrix& a) { return a.cwiseAbs().maxCoeff(); }

TEST_P(EveryPosterior, TheJointIsSymmetricPositiveSemidefiniteAndHasTheMarginals) {
  const FunctionMarginals f = p.marginals(X);
  ASSERT_EQ(f.mean.cols(), p.functions());
  EXPECT_LT(largest(f.mean - Matrix(p.predict_mean(X))), 1e-10);
  for (Index l = 0; l < p.functions(); ++l) {
    const Matrix C = p.covariance(X, l);
    EXPECT_EQ(C, Matrix(C.transpose()));
    EXPECT_LT(largest(C.diagonal() - f.variance.col(l)), 1e-9);
    Matrix shifted = C;
    shifted.diagonal().array() += 1e-9;
    EXPECT_LE(cholesky(shifted).jitter, 1e-8);
  }
  if (f.between.size()) {
    for (Index l = 0; l < p.functions(); ++l)
      EXPECT_LT(largest(f.between.col(l * p.functions() + l) - f.variance.col(l)), 1e-12);
  }
}

TEST_P(EveryPosterior, VariancesAreNeverNegative) {
  EXPECT_GE(p.marginals(X).variance.minCoeff(), 0.0);
  EXPECT_GE(p.marginals(first_rows(all_rows).X).variance.minCoeff(), 0.0);
  EXPECT_GE(p.marginals(RowMatrix(50.0 * X)).variance.minCoeff(), 0.0);
}

// The draws at these rows have the mean and the covariance of each function there.
void expect_moments(const Posterior& p, const RowMatrix& at, const std::vector<RowMatrix>& all) {
  const auto draws = static_cast<Index>(all.size());
  const FunctionMarginals f = p.marginals(at);
  for (Index l = 0; l < p.functions(); ++l) {
    const Matrix C = p.covariance(at, l);
    Matrix values(3, draws);
    for (Index s = 0; s < draws; ++s)
      values.col(s) = all[static_cast<std::size_t>(s)].col(l) - f.mean.col(l);
    const Vector mean = values.rowwise().mean();
    const Matrix moments = product(values, values, Op::none, Op::transpose) / double(draws);
    for (Index i = 0; i < 3; ++i) {
      EXPECT_NEAR(mean(i), 0.0, 0.1 * std::sqrt(C(i, i)));
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR(moments(i, j), C(i, j), 0.15 * std::sqrt(C(i, i) * C(j, j)));
    }
  }
}

TEST_P(EveryPosterior, DrawsHaveTheMoments) {
  const auto all = p.sample(X.topRows(3), 4000, 5);
  ASSERT_EQ(all.size(), 4000U);
  expect_moments(p, X.topRows(3), all);
  EXPECT_EQ(p.sample(X, 2, 7)[1], p.sample(X, 2, 7)[1]);
}

TEST_P(EveryPosterior, DrawsAsFunctionsHaveTheMoments) {
  if (!p.can(Capability::function_draws)) return;
  const auto functions = p.sample_functions(1500, 5, 100);
  ASSERT_EQ(functions.size(), 1500U);
  std::vector<RowMatrix> all;
  for (const FunctionDraw& f : functions) all.push_back(f(X.topRows(3)));
  expect_moments(p, X.topRows(3), all);
  // One function: the same values, whichever rows are beside.
  EXPECT_LT(largest(functions[7](X).topRows(3) - all[7]), 1e-10);
}

TEST_P(EveryPosterior, GradientsMatchDifferences) {
  if (!p.can(Capability::gradients)) return;
  for (Index l = 0; l < p.functions(); ++l) {
    const PredictionGradient g = p.gradient(X, l);
    for (Index i = 0; i < 2; ++i) {
      const auto at = [&](const Vector& x) { return p.marginals(RowMatrix(x.transpose())); };
      expect_gradient([&](const Vector& x) { return at(x).mean(0, l); }, g.mean.row(i), X.row(i));
      expect_gradient([&](const Vector& x) { return at(x).variance(0, l); }, g.variance.row(i),
                      X.row(i));
    }
  }
}

TEST_P(EveryPosterior, ComponentsAddUpToTheWhole) {
  if (!p.can(Capability::components)) return;
  const auto parts = p.components(X);
  ASSERT_EQ(parts.size(), 2U);
  Matrix sum = p.marginals(X).mean - Matrix(parts[0].mean) - Matrix(parts[1].mean);
  // What is left is the mean function, which is affine here.
  if (p.mean().is_zero()) {
    EXPECT_LT(largest(sum), 1e-9);
  }
  EXPECT_GE(parts[0].variance.minCoeff(), 0.0);
  EXPECT_GE(parts[1].variance.minCoeff(), 0.0);
}

TEST_P(EveryPosterior, AGaussianInputOfNoVarianceIsAPoint) {
  if (!p.can(Capability::gaussian_inputs)) return;
  const Prediction there = p.at_gaussians().predict(X, RowMatrix::Zero(6, 2));
  const FunctionMarginals here = p.marginals(X);
  EXPECT_LT(largest(Matrix(there.mean) - here.mean), 1e-9);
  EXPECT_LT(largest(Matrix(there.variance_f) - here.variance), 1e-8);
}

TEST_P(EveryPosterior, FurtherRowsAreAsIfThereFromTheStart) {
  if (!p.can(Capability::further_rows) || !GetParam().of_rows) return;
  const auto t = first_rows(all_rows);
  const Vector noise = noise_of(p);
  const Posterior before = GetParam().make(all_rows - further),
                  after = before.with(RowMatrix(t.X.bottomRows(further)),
                                      RowMatrix(t.Y.bottomRows(further)), noise);
  const FunctionMarginals a = after.marginals(X), b = p.marginals(X);
  EXPECT_LT(largest(a.mean - b.mean), 1e-8);
  EXPECT_LT(largest(a.variance - b.variance), 1e-8);
  // q(u) by itself has the evidence up to a constant of the data: the rise is what it tells.
  const double rise = p.can(Capability::outputs)
                          ? p.log_evidence() - before.log_evidence()
                          : factors("vfe", all_rows).log_evidence() -
                                factors("vfe", all_rows - further).log_evidence();
  EXPECT_NEAR(after.log_evidence() - before.log_evidence(), rise, 1e-7);
}

TEST_P(EveryPosterior, FurtherGaussianRowsOfNoVarianceArePoints) {
  const auto t = first_rows(further);
  const std::vector<Matrix> S(further, Matrix::Zero(2, 2));
  if (p.name() != "vfe" || !p.can(Capability::gaussian_inputs)) {
    EXPECT_THROW(static_cast<void>(p.with(t.X, S, t.Y)), Unsupported);
    return;
  }
  const FunctionMarginals points = p.with(t.X, t.Y).marginals(X),
                          gaussians = p.with(t.X, S, t.Y).marginals(X);
  EXPECT_LT(largest(gaussians.mean - points.mean), 1e-8);
  EXPECT_LT(largest(gaussians.variance - points.variance), 1e-8);
}

TEST_P(EveryPosterior, StoredAndRestoredItHasTheSameBits) {
  const Posterior back = restore_posterior(parse_container(serialise_container(p.stored())));
  EXPECT_EQ(back.name(), p.name());
  const FunctionMarginals a = back.marginals(X), b = p.marginals(X);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.variance, b.variance);
  EXPECT_EQ(back.covariance(X), p.covariance(X));
  EXPECT_EQ(back.sample(X, 2, 3)[1], p.sample(X, 2, 3)[1]);
}

TEST_P(EveryPosterior, SameBitsForAnyThreads) {
  const RowMatrix many = testing::normal_rows(1100, 2, 98);
  const FunctionMarginals once = p.marginals(many);
  const int before = threads();
  for (const int n : {1, 3}) {
    set_threads(n);
    const FunctionMarginals again = p.marginals(many);
    EXPECT_EQ(again.mean, once.mean);
    EXPECT_EQ(again.variance, once.variance);
  }
  set_threads(before);
}

TEST_P(EveryPosterior, RefusesBadInput) {
  EXPECT_THROW(p.marginals(RowMatrix::Zero(2, 3)), InputError);
  EXPECT_THROW(p.covariance(RowMatrix::Zero(2, 3)), InputError);
  EXPECT_THROW(p.sample(RowMatrix::Zero(2, 3), 1, 0), InputError);
  EXPECT_THROW(p.sample(X, 0, 0), InputError);
  EXPECT_THROW(p.covariance(X, p.functions()), InputError);
  EXPECT_THROW(p.covariance(X, -1), InputError);
  RowMatrix bad = X;
  bad(1, 1) = std::nan("");
  EXPECT_THROW(p.marginals(bad), InputError);
  EXPECT_THROW(p.covariance(bad), InputError);
}

TEST_P(EveryPosterior, DoesWhatItDeclaresAndRefusesTheRest) {
  const auto t = first_rows(further);
  const Vector noise = noise_of(p);
  const RowMatrix Y = t.Y.leftCols(std::min<Index>(2, p.functions()));
  const std::vector<std::pair<Capability, std::function<void()>>> actions{
      {Capability::outputs, [&] { p.predict(X); }},
      {Capability::components, [&] { p.components(X); }},
      {Capability::gradients, [&] { p.gradient(X); }},
      {Capability::gaussian_inputs, [&] { static_cast<void>(p.at_gaussians()); }},
      {Capability::function_draws,
       [&] { EXPECT_TRUE(p.sample_functions(1, 1, 50).front()(X).allFinite()); }},
      {Capability::further_rows, [&] { static_cast<void>(p.with(t.X, Y, noise)); }},
      {Capability::compression, [&] { static_cast<void>(p.compression_target()); }},
      {Capability::leave_one_out, [&] { p.leave_one_out(); }},
      {Capability::training_inputs, [&] { EXPECT_EQ(p.training_inputs().rows(), all_rows); }},
      {Capability::training_outputs, [&] { EXPECT_EQ(p.training_outputs().rows(), all_rows); }},
      {Capability::inducing, [&] { EXPECT_EQ(p.inducing().features->size(), 7); }},
      {Capability::split, [&] { p.split(X); }}};
  for (const auto& [capability, act] : actions) {
    SCOPED_TRACE(static_cast<int>(capability));
    if (p.can(capability)) {
      EXPECT_NO_THROW(act());
    } else {
      EXPECT_THROW(act(), Unsupported);
    }
  }
  EXPECT_EQ(p.can(Capability::exact_evidence), p.name() == "exact");
}

INSTANTIATE_TEST_SUITE_P(Posteriors, EveryPosterior, ::testing::ValuesIn(posteriors()),
                         [](const auto& made) {
                           std::string name = made.param.name;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

}  // namespace
}  // namespace covary
