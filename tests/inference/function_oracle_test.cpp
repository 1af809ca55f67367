// Agreement with scikit-learn's and GPy's Laplace, GPy's EP, GPflow's VGP at its optimum and its
// SVGP at a given q(u); tests/oracles/make_latent.py made the values.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "covary/inference/ep.hpp"
#include "covary/inference/laplace.hpp"
#include "covary/inference/uncollapsed.hpp"
#include "covary/inference/variational.hpp"
#include "covary/linalg/blas.hpp"
#include "support/json_arrays.hpp"

namespace covary {
namespace {

using nlohmann::json;
using testing::rows_of;
using testing::vector_of;

constexpr double tolerance = 1e-8;

json read_oracles() {
  std::ifstream file(COVARY_TEST_DIR "/oracles/latent.json");
  return json::parse(file);
}

// Relative to the largest entry, but never to less than 1e-3.
double gap(const Matrix& ours, const Matrix& theirs) {
  return (ours - theirs).cwiseAbs().maxCoeff() / std::max(1e-3, theirs.cwiseAbs().maxCoeff());
}

// The values at the paths of `named`, in the order of `parameters`; the paths of others are left.
Vector values_at(Parameters parameters, const std::string& prefix, const json& named) {
  for (const auto& [path, value] : named.items())
    if (path.starts_with(prefix)) parameters.set(path, vector_of(value));
  return parameters.values();
}

// The gradient in the kernel's parameters end to end.
Vector kernel_gradient(const Kernel& kernel, Index D, const json& c) {
  const Parameters parameters = kernel.parameters(D);
  Vector out = Vector::Constant(parameters.size(), std::nan(""));
  for (const auto& [path, value] : c.at("gradient").items()) {
    const Vector g = vector_of(value);
    out.segment(parameters.offset(path), g.size()) = g;
  }
  return out;
}

struct OneCase {
  FunctionModel model;
  FunctionParameters at;
  RowMatrix X_new;

  OneCase(const json& c, const json& data)
      : model{c.at("kernel").get<std::string>(),
              c.at("likelihood").get<std::string>(),
              {},
              rows_of(data.at("X")),
              vector_of(data.at(c.at("target").get<std::string>()))},
        X_new(rows_of(data.at("Xstar"))) {
    at.kernel = values_at(model.kernel.parameters(model.X.cols()), "kernel", c.at("parameters"));
    at.likelihood = values_at(model.likelihood.parameters(), "likelihood", c.at("parameters"));
    if (const double constant = c.at("constant_mean"); constant != 0.0) {
      model.mean = "constant";
      at.mean_weights = Vector::Constant(1, constant);
    }
  }
};

FunctionApproximation approximate(const std::string& method, const OneCase& t,
                                  FunctionParameters& gradient) {
  if (method == "laplace") return laplace_approximation(t.model, t.at, &gradient);
  if (method == "ep") return expectation_propagation(t.model, t.at, &gradient);
  return variational_approximation(t.model, t.at, &gradient);
}

std::string label(const json& c) {
  return c.at("peer").get<std::string>() + " " + c.at("method").get<std::string>() + " " +
         c.at("likelihood").get<std::string>();
}

TEST(LatentOracles, ApproximationsAgreeWithPeers) {
  const json all = read_oracles();
  std::set<std::string> kinds;
  for (const json& c : all.at("cases")) {
    const std::string method = c.at("method");
    if (method == "svgp") continue;
    const OneCase t(c, all.at("datasets").at(c.at("dataset").get<std::string>()));
    SCOPED_TRACE(label(c) + ", " + t.model.kernel.print() + ", mean " + t.model.mean.print());
    kinds.insert(label(c));
    FunctionParameters gradient;
    const FunctionApproximation q = approximate(method, t, gradient);
    const double value = c.at("value");
    EXPECT_NEAR(q.value, value, tolerance * std::abs(value));
    EXPECT_LT(gap(gradient.kernel, kernel_gradient(t.model.kernel, t.model.X.cols(), c)),
              tolerance);
    const auto f = q.posterior.predict(t.X_new);
    EXPECT_LT(gap(f.mean, vector_of(c.at("mean_star"))), tolerance);
    EXPECT_LT(gap(f.variance, vector_of(c.at("variance_star"))), tolerance);
    if (!c.contains("mean")) continue;
    EXPECT_LT(gap(q.mean, vector_of(c.at("mean"))), tolerance);
    EXPECT_LT(gap(q.variance, vector_of(c.at("variance"))), tolerance);
  }
  const std::set<std::string> expected{"scikit-learn laplace bernoulli(logit)",
                                       "gpy laplace bernoulli(probit)",
                                       "gpy laplace poisson",
                                       "gpy laplace student_t",
                                       "gpy ep bernoulli(probit)",
                                       "gpflow variational bernoulli(probit)",
                                       "gpflow variational bernoulli(logit)",
                                       "gpflow variational poisson",
                                       "gpflow variational student_t",
                                       "gpflow variational exponential",
                                       "gpflow variational gamma"};
  EXPECT_EQ(kinds, expected);
}

// What is given to SVGP beside a OneCase.
struct Inducing {
  RowMatrix Z;
  WhitenedGaussian q;
  double jitter;

  Inducing(const json& c, const json& data)
      : Z(rows_of(data.at("Z"))), jitter(c.at("jitter").get<double>()) {
    const Index latents = c.at("latents");
    q.m = rows_of(data.at("m")).leftCols(latents);
    for (Index l = 0; l < latents; ++l)
      q.Ls.emplace_back(rows_of(data.at("Ls")[static_cast<std::size_t>(l)]));
  }
};

// The whole call of the bound, for a likelihood of one latent function.
UncollapsedEvaluation evaluate_bound(const OneCase& t, const Inducing& u,
                                     UncollapsedGradient& gradient) {
  const RowMatrix Y = t.model.y;
  const MemoryRows rows(t.model.X, Y, Vector());
  const FeaturesPtr features = inducing_points(t.model.kernel, u.Z);
  const Sweep sweep = Sweep::for_features(rows, features->size());
  const UncollapsedProblem problem{{{features.get(), &t.model.kernel}},
                                   &t.model.mean,
                                   &sweep,
                                   1.0,
                                   row_likelihood(t.model.likelihood, t.at.likelihood)};
  Jitter jitter{u.jitter};
  const UncollapsedValues values{
      {t.at.kernel}, {Eigen::Map<const Vector>(u.Z.data(), u.Z.size())}, t.at.mean_weights, u.q};
  return evaluate_uncollapsed(problem, values, jitter, &gradient);
}

struct Marginals {
  Matrix mean, variance;  // rows × latent functions
};
// m(x) + aᵀm and k(x, x) − |a|² + |Lsᵀa|² with a = Luu⁻¹k(Z, x)
Marginals marginals(const OneCase& t, const Inducing& u, const RowMatrix& X) {
  Matrix Kuu = gram(t.model.kernel, t.at.kernel, u.Z);
  Kuu.diagonal().array() += u.jitter;
  Matrix A = cross(t.model.kernel, t.at.kernel, u.Z, X);
  solve_lower(cholesky(Kuu).L, A);
  Marginals out{product(A, u.q.m, Op::transpose), Matrix(X.rows(), u.q.m.cols())};
  if (!t.model.mean.is_zero()) out.mean.array() += t.at.mean_weights(0);
  const Vector prior = diagonal(t.model.kernel, t.at.kernel, X);
  for (Index l = 0; l < u.q.m.cols(); ++l) {
    const Matrix S = product(u.q.Ls[static_cast<std::size_t>(l)], A, Op::transpose);
    out.variance.col(l) =
        prior - A.colwise().squaredNorm().transpose() + S.colwise().squaredNorm().transpose();
  }
  return out;
}

TEST(LatentOracles, BoundsAtAGivenQAgreeWithGPflow) {
  const json all = read_oracles();
  std::set<std::string> kinds;
  for (const json& c : all.at("cases")) {
    if (c.at("method") != "svgp") continue;
    const json& data = all.at("datasets").at(c.at("dataset").get<std::string>());
    const OneCase t(c, data);
    const Inducing u(c, data);
    const Likelihood& l = t.model.likelihood;
    SCOPED_TRACE(label(c) + ", " + t.model.kernel.print() + ", mean " + t.model.mean.print());
    kinds.insert(label(c));
    const double value = c.at("value");

    const Marginals f = marginals(t, u, t.model.X), f_new = marginals(t, u, t.X_new);
    EXPECT_LT(gap(f.mean, rows_of(c.at("mean"))), tolerance);
    EXPECT_LT(gap(f.variance, rows_of(c.at("variance"))), tolerance);
    EXPECT_LT(gap(f_new.mean, rows_of(c.at("mean_star"))), tolerance);
    EXPECT_LT(gap(f_new.variance, rows_of(c.at("variance_star"))), tolerance);
    const double fit = expectations(l, t.at.likelihood, t.model.y, f.mean, f.variance).value.sum();
    EXPECT_NEAR(fit - whitened_kl(u.q), value, tolerance * std::abs(value));
    if (c.contains("probability")) {
      const Matrix p = class_probabilities(l, t.at.likelihood, f_new.mean, f_new.variance);
      const RowMatrix theirs = rows_of(c.at("probability"));  // of label 1, where there are two
      EXPECT_LT(gap(p.rightCols(theirs.cols()), theirs), tolerance);
    }

    UncollapsedGradient g;
    EXPECT_NEAR(evaluate_bound(t, u, g).value, value, tolerance * std::abs(value));
    EXPECT_LT(gap(g.theta_bar[0], kernel_gradient(t.model.kernel, t.model.X.cols(), c)), tolerance);
    const RowMatrix Z_bar = rows_of(c.at("Z_bar"));
    EXPECT_LT(gap(g.z_bar[0], Eigen::Map<const Vector>(Z_bar.data(), Z_bar.size())), tolerance);
    EXPECT_LT(gap(g.m_bar, rows_of(c.at("m_bar"))), tolerance);
    for (std::size_t k = 0; k < g.Ls_bar.size(); ++k)
      EXPECT_LT(gap(g.Ls_bar[k], rows_of(c.at("Ls_bar")[k])), tolerance);
  }
  const std::set<std::string> expected{"gpflow svgp gaussian", "gpflow svgp bernoulli(probit)",
                                       "gpflow svgp bernoulli(logit)", "gpflow svgp robust_max(3)"};
  EXPECT_EQ(kinds, expected);
}

}  // namespace
}  // namespace covary
