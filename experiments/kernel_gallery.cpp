// Draws and covariances of the kernels: 002 Fig. 2.1 (a fit and its draws), Fig. 2.2 (draws with
// their covariance matrices), Fig. 2.3 (exponentiated quadratic plus periodic with a fixed ratio of
// variances) and 000 Fig. 1.4 (E1.3: smooth, rough, repeating). The documents give no parameter
// values. Ours: unit variances, ℓ = 1 where nothing else is said, period 2; each behaviour is
// measured on draws and set beside the number that theory gives for it.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/kernels/kernels.hpp"
#include "covary/models/regression.hpp"
#include "experiments.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr double period = 2.0;

Kernel eq(double lengthscale) { return se(false, {1.0, {lengthscale}}); }
Kernel repeating() { return periodic(false, {1.0, {1.0}}, period); }

// The lengthscale sets how often a draw crosses zero: L/(2πℓ) upcrossings in a length L (Rice).
void lengthscales(Result& result, std::uint64_t seed) {
  constexpr Index draws = 500, n = 301;
  const Vector x = Vector::LinSpaced(n, 0.0, 10.0);
  bool right = true;
  for (const double ell : {0.3, 1.0, 3.0}) {
    const Matrix f = prior_draws(eq(ell), x, draws, seed);
    const Vector up = ((f.topRows(n - 1).array() < 0) && (f.bottomRows(n - 1).array() >= 0))
                          .cast<double>()
                          .colwise()
                          .sum();
    const double exact = 10.0 / (2 * std::numbers::pi * ell);
    const double error = sample_sd(up) / std::sqrt(static_cast<double>(draws));
    right = right && std::abs(up.mean() - exact) < 4 * error;
    result.add(fmt::format("EQ, ℓ = {}: upcrossings of zero in [0, 10]", ell), "", mean_sd(up, 2),
               fmt::format("theory {:.2f}", exact));
  }
  result.claim("upcrossings follow 1/(2πℓ) a unit, to 4 errors (Fig. 2.2)", right,
               fmt::format("{} draws each", draws));
  // Draws at ℓ = 30 less their chord: at the middle of a length L its sd is √3 L²/(8ℓ²) = 0.024.
  Matrix f = prior_draws(eq(30.0), x, draws, seed + 1);
  for (Index s = 0; s < draws; ++s) f.col(s) -= Vector::LinSpaced(n, f(0, s), f(n - 1, s));
  const double bend = f.cwiseAbs().maxCoeff();
  result.claim("ℓ = 30 over a range of 10: almost straight draws (Fig. 2.2)", bend < 0.15,
               fmt::format("largest distance from the chord {:.4f}", bend));
}

// The variance of f(x−h) − 2f(x) + f(x+h) goes as h⁴ for smooth draws, as h³ for draws with one
// derivative (Matérn 3/2) and as h for draws with none (Matérn 1/2).
void smoothness(Result& result, std::uint64_t seed) {
  constexpr Index draws = 200, n = 201;
  const Vector x = Vector::LinSpaced(n, 0.0, 2.0);
  struct Case {
    const char* name;
    Kernel kernel;
    double exponent;
  };
  Matrix picture(n, 4);
  picture.col(0) = x;
  Index column = 1;
  double error = 0.0;
  for (const Case& c :
       {Case{"EQ", eq(1.0), 4.0}, Case{"Matérn 3/2", matern32(false, {1.0, {1.0}}), 3.0},
        Case{"Matérn 1/2", matern12(false, {1.0, {1.0}}), 1.0}}) {
    const Matrix f = prior_draws(c.kernel, x, draws, seed + 2);
    const auto bend = [&](Index h) {
      return (f.topRows(n - 2 * h) - 2 * f.middleRows(h, n - 2 * h) + f.bottomRows(n - 2 * h))
                 .squaredNorm() /
             static_cast<double>((n - 2 * h) * draws);
    };
    const double exponent = std::log2(bend(2) / bend(1));
    error = std::max(error, std::abs(exponent - c.exponent));
    result.add(fmt::format("{}: growth of squared second differences, h^p", c.name), "",
               fmt::format("p = {:.3f}", exponent), fmt::format("theory {}", c.exponent));
    picture.col(column++) = f.col(0);
  }
  result.claim("EQ smooth, Matérn 3/2 rougher, Matérn 1/2 rough (E1.3, Fig. 2.2)", error < 0.15,
               fmt::format("largest error {:.3f}", error));
  result.series.push_back(
      {"draws by smoothness", {"x", "EQ", "Matérn 3/2", "Matérn 1/2"}, picture});
}

void repetition(Result& result, std::uint64_t seed) {
  const Vector x = Vector::LinSpaced(50, 0.0, period * 0.98);
  const FunctionDraw f =
      sample_prior_function(repeating(), repeating().parameters(1).values(), 1, seed + 3);
  const RowMatrix now = f(inputs(x)), later = f(inputs(x.array() + 5 * period));
  const double drift = (later - now).cwiseAbs().maxCoeff();
  result.claim("EQ-periodic draws repeat exactly: f(x + 5T) = f(x) (E1.3, Fig. 2.2e)",
               drift < 1e-12, fmt::format("largest {:.1e}", drift));
}

// Many draws have the covariance they were drawn with.
void covariances(Result& result, std::uint64_t seed) {
  constexpr Index draws = 4000, n = 41;
  const Vector x = Vector::LinSpaced(n, -2.0, 2.0);
  struct Case {
    const char* name;
    Kernel kernel;
  };
  double worst = 0.0;
  for (const Case& c : {Case{"EQ", eq(1.0)}, Case{"Matérn 3/2", matern32(false, {1.0, {1.0}})},
                        Case{"Matérn 1/2", matern12(false, {1.0, {1.0}})},
                        Case{"EQ-periodic", repeating()}, Case{"linear", linear(false, {1.0})},
                        Case{"bias", constant(1.0)}, Case{"EQ + white", eq(1.0) + white(0.1)}}) {
    const Matrix K = prior_covariance(c.kernel, x), f = prior_draws(c.kernel, x, draws, seed + 4);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        const double spread = K(i, i) * K(j, j) + K(i, j) * K(i, j);
        if (spread < 1e-20) continue;  // the linear kernel at x = 0
        const double C = f.row(i).dot(f.row(j)) / draws;
        worst = std::max(worst, std::abs(C - K(i, j)) / std::sqrt(spread / draws));
      }
    result.series.push_back({fmt::format("covariance of {}", c.name), {}, K});
    Matrix picture(n, 4);
    picture << x, f.leftCols(3);
    result.series.push_back(
        {fmt::format("draws of {}", c.name), {"x", "draw 1", "draw 2", "draw 3"}, picture});
  }
  result.claim("draws of seven kernels have their covariance (below 5 errors, 6027 entries)",
               worst < 5.0, fmt::format("{:.2f}", worst));
}

// Fig. 2.1: eight points, then nothing.
void fit_and_draws(Result& result, std::uint64_t seed) {
  const Vector x = (Vector(8) << 0.2, 0.7, 1.1, 1.9, 2.4, 3.0, 3.3, 4.0).finished(),
               y = prior_draws(eq(1.0), x, 1, seed + 5).col(0),
               grid = Vector::LinSpaced(121, -4.0, 14.0);
  const ExactPosterior posterior = condition_on(eq(1.0), x, y, 0.01);
  const Prediction p = posterior.predict(inputs(grid));
  const Vector far = Vector::LinSpaced(11, 10.0, 20.0);
  const double mean = posterior.predict(inputs(far)).mean.cwiseAbs().maxCoeff();
  const auto draws = posterior.sample(inputs(far), 2000, seed + 6);
  double square = 0.0;
  for (const RowMatrix& f : draws) square += f.squaredNorm();
  const double sd = std::sqrt(square / (2000.0 * 11.0));
  const double at_data = posterior.predict(inputs(x)).variance_f.cwiseSqrt().maxCoeff();
  result.claim("far away the mean is zero and the draws still fluctuate (Fig. 2.1)",
               mean < 1e-3 && std::abs(sd - 1.0) < 0.03,
               fmt::format("|mean| ≤ {:.1e}, sd of draws {:.3f} (prior 1)", mean, sd));
  result.claim("the band is narrow at the data", at_data < 0.11,
               fmt::format("sd at most {:.3f}, noise 0.1", at_data));
  Matrix picture(grid.size(), 3);
  picture << grid, p.mean, p.variance_f.cwiseSqrt();
  result.series.push_back({"a fit", {"x", "mean", "sd"}, picture});
}

// Fig. 2.3: the part of the variance that a period does not bring back is r/(1+r)·(1 −
// e^(−T²/2ℓ²)).
void approximately_periodic(Result& result, std::uint64_t seed) {
  const Kernel kernel = repeating() + eq(4.0);
  const Vector x = Vector::LinSpaced(101, 0.0, 5 * period);
  const Index lag = 20;  // one period
  bool right = true;
  double before = 0.0;
  for (const double r : {0.01, 0.1, 1.0, 10.0}) {
    Parameters parameters = kernel.parameters(1);
    parameters.tie("kernel.1.variance", "kernel.0.variance", r);
    parameters.set("kernel.0.variance", 1 / (1 + r));
    const Matrix f = sample_prior(kernel, parameters.values(), inputs(x), 1000, seed + 7);
    const double drift =
        0.5 * (f.bottomRows(101 - lag) - f.topRows(101 - lag)).array().square().mean();
    const double exact = r / (1 + r) * (1 - std::exp(-period * period / (2 * 16.0)));
    right = right && std::abs(drift - exact) < 0.1 * exact && drift > before;
    before = drift;
    result.add(fmt::format("r = {}: variance lost over one period", r), "",
               fmt::format("{:.5f}", drift), fmt::format("theory {:.5f}", exact));
    Matrix picture(101, 2);
    picture << f.leftCols(2);
    result.series.push_back({fmt::format("two outputs, r = {}", r), {"f1", "f2"}, picture});
  }
  result.claim("EQ + EQ-periodic: drift grows with the fixed ratio r (Fig. 2.3)", right,
               "within 10 % of theory at every r");

  // Training keeps the ratio.
  const Vector y = prior_draws(kernel, x, 1, seed + 8).col(0);
  RegressionOptions options;
  options.kernel = kernel;
  options.training.starts = 1;
  Regression model(inputs(x), inputs(y), options);
  const Index free = model.parameters().free_size();
  model.parameters().tie("kernel.1.variance", "kernel.0.variance", 0.1);
  const bool fewer = model.parameters().free_size() == free - 1;
  const Parameters fitted = model.fit().parameters;
  const double ratio =
      fitted.at("kernel.1.variance").value[0] / fitted.at("kernel.0.variance").value[0];
  result.claim("a fit with r tied at 0.1: one parameter fewer, the ratio kept",
               fewer && std::abs(ratio - 0.1) < 1e-15, fmt::format("r = {:.15g}", ratio));
}

}  // namespace

Result kernel_gallery(std::uint64_t seed) {
  Result result;
  result.name = "kernel-gallery";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "Figs 2.1–2.3; M. van der Wilk, Sparse Gaussian Process Approximations and Applications "
      "(2018), Fig. 1.4";
  lengthscales(result, seed);
  smoothness(result, seed);
  repetition(result, seed);
  covariances(result, seed);
  fit_and_draws(result, seed);
  approximately_periodic(result, seed);
  return result;
}

}  // namespace covary::experiments
