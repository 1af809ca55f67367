// Finitely many basis functions against a GP (van der Wilk 2018, Figs 1.2–1.6). The thesis
// gives ten bases on about [2, 8], their shape and nothing else. Ours: centres spread evenly over
// [2, 8], width 1, unit weight variance, noise sd 0.1, eight inputs spread evenly over [2.5, 7.5].
// The GP is the limit of ever more such bases, a squared exponential with ℓ = √2, of the variance
// that the basis model has at x = 5.
#include "covary/inference/basis_regression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr double noise_variance = 0.01;

Vector centres() { return Vector::LinSpaced(10, 2.0, 8.0); }
Matrix basis(const Vector& x) { return bump_basis(x, centres()); }
Vector data_inputs() { return Vector::LinSpaced(8, 2.5, 7.5); }
Vector prior_sd(const Vector& x) { return basis(x).rowwise().norm(); }
Kernel limit() {
  const double sd = prior_sd(Vector::Constant(1, 5.0))[0];
  return se(false, {sd * sd, {std::numbers::sqrt2}});
}

// A function of the GP at some inputs, and noisy values of its first eight.
struct Truth {
  Vector f, y;
};
Truth draw(const Vector& x, std::uint64_t seed) {
  Truth truth{prior_draws(limit(), x, 1, seed).col(0), Vector()};
  truth.y = truth.f.head(8) + std::sqrt(noise_variance) * Random(seed, 1).normal_vector(8);
  return truth;
}

void bands(Result& result, std::uint64_t seed) {
  const Vector x = data_inputs(), grid = Vector::LinSpaced(161, -3.0, 13.0);
  const Vector y = draw(x, seed).y;
  const BasisRegression finite(basis(x), y, 1.0, noise_variance);
  const Gaussian f = finite.predict(basis(grid));
  const Vector prior = prior_sd(grid), sd = f.covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
  const Prediction gp = condition_on(limit(), x, y, noise_variance).predict(inputs(grid));
  const Vector gp_sd = gp.variance_f.col(0).cwiseSqrt();
  const double gp_prior =
      std::sqrt(diagonal(limit(), limit().parameters(1).values(), inputs(x))[0]);
  for (const double at : {-2.0, 0.0, 2.0, 5.0, 8.0, 10.0, 12.0}) {
    const auto i = static_cast<Index>(std::lround((at + 3.0) * 10));
    result.add(fmt::format("sd at x = {}: bases prior, posterior; GP posterior", at), "",
               fmt::format("{:.4f}, {:.4f}; {:.4f}", prior[i], sd[i], gp_sd[i]),
               fmt::format("GP prior {:.4f}", gp_prior));
  }
  bool shrinks = true;  // outside [2, 8], at every step away from it
  for (Index i = 1; i <= 50; ++i)
    shrinks = shrinks && prior[i - 1] < prior[i] && prior[161 - i] < prior[160 - i];
  result.claim("finite bases: the prior band only shrinks outside [2, 8] (E1.2)",
               shrinks && prior[10] < 1e-3 * prior.maxCoeff(),
               fmt::format("sd {:.1e} of the largest at x = −2", prior[10] / prior.maxCoeff()));
  result.claim("and so does the posterior band, never above the prior's",
               sd[10] < 1e-3 * prior.maxCoeff() && sd[150] < 1e-3 * prior.maxCoeff() &&
                   ((prior - sd).array() > -1e-12).all(),
               fmt::format("sd {:.1e} at x = −2, {:.1e} at x = 12", sd[10], sd[150]));
  const double back = std::min(gp_sd[0], gp_sd[160]) / gp_prior;
  result.claim("GP: away from data the band is the prior's again (E1.5)", back > 0.99,
               fmt::format("sd {:.5f} of the prior at x = −3 and 13", back));
  Matrix picture(161, 6);
  picture << grid, prior, f.mean, sd, gp.mean, gp_sd;
  result.series.push_back(
      {"bands", {"x", "basis prior sd", "basis mean", "basis sd", "GP mean", "GP sd"}, picture});
}

// How often the 2σ band holds the truth, a draw from the GP, on [9, 12], where there are no bases.
void coverage(Result& result, std::uint64_t seed) {
  constexpr Index sets = 400, tests = 7;
  Vector x(8 + tests);
  x << data_inputs(), Vector::LinSpaced(tests, 9.0, 12.0);
  const Vector far = x.tail(tests);
  Vector finite(sets), gp(sets);
  for (Index s = 0; s < sets; ++s) {
    const Truth truth = draw(x, seed + static_cast<std::uint64_t>(s));
    const auto held = [&](const auto& mean, const auto& variance) {
      return ((truth.f.tail(tests) - mean).array().square() <= 4 * variance.array())
          .template cast<double>()
          .mean();
    };
    const Gaussian f =
        BasisRegression(basis(x.head(8)), truth.y, 1.0, noise_variance).predict(basis(far));
    const Prediction p =
        condition_on(limit(), x.head(8), truth.y, noise_variance).predict(inputs(far));
    finite[s] = held(f.mean, f.covariance.diagonal());
    gp[s] = held(p.mean.col(0), p.variance_f.col(0));
  }
  result.add("2σ band holds a GP's truth on [9, 12]: ten bases", "", mean_sd(finite),
             "nominal 0.954");
  result.add("2σ band holds a GP's truth on [9, 12]: GP", "", mean_sd(gp), "nominal 0.954");
  result.claim("bases: blind to their uncertainty; the GP is not",
               finite.mean() < 0.5 && std::abs(gp.mean() - 0.9545) <
                                          4 * sample_sd(gp) / std::sqrt(static_cast<double>(sets)),
               fmt::format("{:.3f} against {:.3f}", finite.mean(), gp.mean()));
}

// E1.4: var f(x_n) given f(x_1) … f(x_{n−1}) of five bases, and of the GP, on the same points.
void successive_conditionals(Result& result) {
  const Vector five = Vector::LinSpaced(5, 1.0, 9.0);
  Vector x(10);
  x << 0.7, 2.7, 4.7, 6.7, 8.7, 1.7, 3.7, 5.7, 7.7, 9.7;
  const Matrix Phi = bump_basis(x, five);
  const Gaussian finite{Vector::Zero(10), product(Phi, Phi, Op::none, Op::transpose)};
  const Gaussian gp{Vector::Zero(10), prior_covariance(se(false, {1.0, {std::numbers::sqrt2}}), x)};
  const auto conditional = [&](const Gaussian& g, Index n) {
    std::vector<Index> before, all;
    for (Index i = 0; i <= n; ++i) all.push_back(i);
    before.assign(all.begin(), all.end() - 1);
    return condition(marginal(g, all), before, Vector::Zero(n)).covariance(0, 0);
  };
  Matrix picture(10, 3);
  for (Index n = 0; n < 10; ++n)
    picture.row(n) << static_cast<double>(n + 1), conditional(finite, n), conditional(gp, n);
  for (Index n = 0; n < 10; ++n)
    result.add(fmt::format("var of f(x{}) given those before: five bases, GP", n + 1),
               n == 5 ? "0 for the bases" : "",
               fmt::format("{:.2e}, {:.2e}", picture(n, 1), picture(n, 2)));
  const double zero = picture.col(1).tail(5).maxCoeff(), fifth = picture.col(1).head(5).minCoeff();
  result.claim("five bases: zero from the 6th point on, to rounding (E1.4, P3)",
               zero < 1e-10 && fifth > 1e-2,
               fmt::format("at most {:.1e}; before, at least {:.3f}", zero, fifth));
  result.claim("GP: it never is", picture.col(2).minCoeff() > 1e-3,
               fmt::format("at least {:.4f}", picture.col(2).minCoeff()));
  result.series.push_back({"successive conditional variances", {"n", "five bases", "GP"}, picture});
}

// P2: weights conditioned on data, or function values conditioned on data.
void two_views(Result& result, std::uint64_t seed) {
  const Vector x = data_inputs(), grid = Vector::LinSpaced(50, 0.0, 10.0);
  const Vector y = draw(x, seed).y;
  const Gaussian weights = BasisRegression(basis(x), y, 1.0, noise_variance).predict(basis(grid));
  Vector both(58);
  both << grid, x;
  const Matrix Phi = basis(both);
  Gaussian joint{Vector::Zero(58), product(Phi, Phi, Op::none, Op::transpose)};
  joint.covariance.diagonal().tail(8).array() += noise_variance;
  const Gaussian values = condition(joint, {50, 51, 52, 53, 54, 55, 56, 57}, y);
  const double error = std::max((weights.mean - values.mean).cwiseAbs().maxCoeff(),
                                (weights.covariance - values.covariance).cwiseAbs().maxCoeff());
  result.claim("weight space and function space give one posterior (P2)", error < 1e-11,
               fmt::format("largest difference {:.1e}", error));
  double last = 0.0;
  for (const double spacing : {2.0, 1.5, 1.0, 0.5}) {
    const auto M = static_cast<Index>(std::lround(36.0 / spacing)) + 1;
    const Matrix B = bump_basis(grid, Vector::LinSpaced(M, -13.0, 23.0));
    const Matrix K = spacing / std::sqrt(std::numbers::pi) * product(B, B, Op::none, Op::transpose);
    last =
        (K - prior_covariance(se(false, {1.0, {std::numbers::sqrt2}}), grid)).cwiseAbs().maxCoeff();
    result.add(fmt::format("kernel of bases {} apart less that of the GP, largest", spacing), "",
               fmt::format("{:.1e}", last));
  }
  result.claim("ever more bases become the squared exponential", last < 1e-14,
               fmt::format("{:.1e} at spacing 0.5", last));
}

}  // namespace

Result basis_vs_gp(std::uint64_t seed) {
  Result result;
  result.name = "basis-vs-gp";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Figs "
      "1.2–1.6";
  bands(result, seed);
  coverage(result, seed);
  successive_conditionals(result);
  two_views(result, seed);
  return result;
}

}  // namespace covary::experiments
