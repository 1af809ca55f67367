// FITC and VFE against the number of inducing inputs (van der Wilk 2018, Fig. 3.5): 1024 training
// and 1024 test points, inputs N(0, I) in four dimensions, a function of an isotropic squared
// exponential with ℓ = 1.5, σ_f = 1, noise variance 0.01. M in powers of two from 16 to 1024, Z
// from the first M of one random order of the rows, everything trained together from the kernel's
// own start. Our limits of iterations, 200 to M = 128 and 100, 50, 20 beyond, are stated because
// they matter: what FITC reaches at large M is a local optimum (remark 7). One data set, as in the
// thesis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/metrics.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index dims = 4, count = 7;

Index iterations(Index M) { return M <= 128 ? 200 : M == 256 ? 100 : M == 512 ? 50 : 20; }

// NLML, σ_n, NLPP, SMSE
Vector scores(const RegressionFit& fit, const Data& test) {
  const Prediction p = fit.predict(test.X);
  return (Vector(4) << -fit.value, std::sqrt(fit.posterior.noise_variance()),
          nlpd(test.Y.col(0), p.mean.col(0), p.variance_y.col(0)),
          smse(test.Y.col(0), p.mean.col(0)))
      .finished();
}

std::string print(const Vector& s) {
  return fmt::format("{:.1f}; {:.4f}; {:.3f}; {:.4f}", s[0], s[1], s[2], s[3]);
}

}  // namespace

Result synthetic_4d_m_sweep(std::uint64_t seed) {
  Result result;
  result.name = "synthetic-4d-m-sweep";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Fig. 3.5";
  const Index N = few(1024, 64);
  const RowMatrix X = Random(seed, 1).normal_matrix(2 * N, dims);
  const Kernel truth = se(false, {1.0, {1.5}});
  const Vector f = sample_prior(truth, truth.parameters(dims).values(), X, 1, seed).col(0);
  const Vector y = f + 0.1 * Random(seed, 2).normal_vector(2 * N);
  const Data train{X.topRows(N), y.head(N)}, test{X.bottomRows(N), y.tail(N)};

  progress("the full GP");
  RegressionOptions exact_options;
  exact_options.kernel = "se";
  exact_options.scale_inputs = exact_options.scale_outputs = ScaleMode::none;
  exact_options.training.starts = 1;
  exact_options.training.max_iterations = few(exact_options.training.max_iterations, 5);
  exact_options.standard_errors = Switch::off;
  const Vector exact = scores(Regression(train.X, train.Y, exact_options).fit(), test);
  result.add("full GP: NLML; σ_n; NLPP; SMSE", "", print(exact), "true σ_n: 0.1");

  const auto order = Random(seed, 3).permutation(N);
  Matrix vfe(count, 5), fitc(count, 5);
  for (Index i = 0; i < count; ++i) {
    const Index M = N / 64 << i;
    const std::vector<Index> rows(order.begin(), order.begin() + M);
    for (const bool is_fitc : {false, true}) {
      SparseRegressionOptions o;
      o.kernel = "se";
      o.approximation = is_fitc ? "fitc" : "vfe";
      o.Z = train.X(rows, Eigen::all);
      o.scale_inputs = o.scale_outputs = ScaleMode::none;
      o.subset = 0;
      o.certificate_flops = 0;
      o.training.max_iterations = few(iterations(M), 2);
      const RegressionFit fit = SparseRegression(train.X, train.Y, o).fit();
      const Vector s = scores(fit, test);
      Matrix& table = is_fitc ? fitc : vfe;
      table.row(i) << static_cast<double>(M), s.transpose();
      const std::string name = fmt::format("{}, M = {}", is_fitc ? "FITC" : "VFE", M);
      progress(fmt::format("{}: {} ({:.0f} s)", name, print(s), fit.summary.seconds));
      result.add(name + ": NLML; σ_n; NLPP; SMSE", "", print(s));
    }
  }
  Vector falls = vfe.col(1).head(count - 1) - vfe.col(1).tail(count - 1);
  result.claim(
      "VFE: the bound improves with every doubling of M, never past the full GP",
      falls.minCoeff() > -0.01 * std::abs(exact[0]) && vfe.col(1).minCoeff() > exact[0] - 0.01,
      fmt::format("{:.1f} at M = 16, {:.1f} at 1024, full {:.1f}", vfe(0, 1), vfe(count - 1, 1),
                  exact[0]));
  result.claim(
      "VFE over-estimates σ_n at small M and comes down to the full GP's",
      vfe(0, 2) > 1.2 * exact[1] && vfe(count - 1, 2) < 1.05 * exact[1],
      fmt::format("{:.3f} to {:.3f}, full {:.3f}", vfe(0, 2), vfe(count - 1, 2), exact[1]));
  Index lowest = 0;
  fitc.col(1).minCoeff(&lowest);
  result.claim("FITC 1: improves at small M", fitc(0, 1) > fitc(1, 1) && fitc(0, 1) > exact[0],
               fmt::format("NLML {:.1f}, then {:.1f}", fitc(0, 1), fitc(1, 1)));
  result.claim("FITC 2: then over-estimates the evidence, with σ_n far too small",
               fitc.col(1).minCoeff() < exact[0] && fitc.col(2).minCoeff() < 0.5 * exact[1],
               fmt::format("NLML {:.1f} at M = {:.0f}; least σ_n {:.1e}", fitc(lowest, 1),
                           fitc(lowest, 0), fitc.col(2).minCoeff()));
  result.claim(
      "and its NLPP is worse there than the full GP's", fitc(lowest, 3) > exact[2] + 0.01,
      fmt::format("{:.3f} at M = {:.0f}, full {:.3f}", fitc(lowest, 3), fitc(lowest, 0), exact[2]));
  result.claim(
      "FITC 3: back at the full GP for M = N, a local optimum",
      std::abs(fitc(count - 1, 1) - exact[0]) < 0.25 * std::abs(fitc(lowest, 1) - exact[0]),
      fmt::format("NLML {:.1f}, σ_n {:.3f}", fitc(count - 1, 1), fitc(count - 1, 2)));
  const char* const names[] = {"NLML", "σ_n", "NLPP", "SMSE"};
  for (Index j = 0; j < 4; ++j) {
    Matrix picture(count, 4);
    picture << vfe.col(0).array().log2().matrix(), vfe.col(j + 1), fitc.col(j + 1),
        Vector::Constant(count, exact[j]);
    result.series.push_back(
        {fmt::format("Fig. 3.5: {}", names[j]), {"log2 M", "VFE", "FITC", "full GP"}, picture});
  }
  return result;
}

}  // namespace covary::experiments
