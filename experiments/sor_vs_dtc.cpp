// SoR and DTC (van der Wilk 2018, Fig. 2.3): the same mean and the same learning, but SoR's
// functions live in M dimensions and its band collapses away from the inducing inputs, while DTC's
// prior is whole there. Snelson's 200 points, the exact optimum's parameters, eight inducing inputs
// spread over the data; the thesis gives a picture only.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/inference/gaussian.hpp"
#include "experiments.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index M = 8;

// Variance that is left at the other inputs once f is known at some of them, in shares of the
// prior's.
double left_over(const Matrix& covariance, const std::vector<Index>& known, double variance) {
  const Gaussian joint{Vector::Zero(covariance.rows()), covariance};
  const Vector zero = Vector::Zero(static_cast<Index>(known.size()));
  return condition(joint, known, zero).covariance.diagonal().maxCoeff() / variance;
}

// Mean square of second differences over that of the values.
double roughness(const RowMatrix& f) {
  double second = 0.0;
  for (Index i = 1; i + 1 < f.rows(); ++i) {
    const double d = f(i + 1, 0) - 2 * f(i, 0) + f(i - 1, 0);
    second += d * d;
  }
  return second / f.squaredNorm();
}

}  // namespace

Result sor_vs_dtc(std::uint64_t seed) {
  Result result;
  result.name = "sor-vs-dtc";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Fig. 2.3";
  const Data data = snelson();
  const Theta theta = fit_exact(data, seed).theta;
  const RowMatrix Z = inputs(Vector::LinSpaced(M, 0.3, 5.7));
  const SparsePosterior sor = sparse_posterior(data, "sor", Z, theta),
                        dtc = sparse_posterior(data, "dtc", Z, theta),
                        vfe = sparse_posterior(data, "vfe", Z, theta);
  const Vector grid = Vector::LinSpaced(241, -3.0, 9.0);
  const RowMatrix X = inputs(grid);
  const Prediction ps = sor.predict(X), pd = dtc.predict(X), pv = vfe.predict(X);
  const double means = (ps.mean - pd.mean).cwiseAbs().maxCoeff();
  result.claim(
      "one mean, one evidence: the same learning capacity",
      means < 1e-9 && std::abs(sor.log_evidence() - dtc.log_evidence()) < 1e-8,
      fmt::format("largest difference {:.1e}; log evidence {:.4f}", means, dtc.log_evidence()));
  const double same = std::max((pd.mean - pv.mean).cwiseAbs().maxCoeff(),
                               (pd.variance_f - pv.variance_f).cwiseAbs().maxCoeff());
  result.claim("DTC's posterior is VFE's (P26)", same < 1e-9,
               fmt::format("largest difference {:.1e}", same));
  const double prior_sd = std::sqrt(theta.variance);
  result.add("sd of f at x = 9, of the prior's: SoR; DTC", "collapses; grows",
             fmt::format("{:.1e}; {:.5f}", std::sqrt(ps.variance_f(240, 0)) / prior_sd,
                         std::sqrt(pd.variance_f(240, 0)) / prior_sd));
  result.claim("away from the data SoR is certain, DTC back at the prior",
               std::sqrt(ps.variance_f(240, 0)) < 1e-3 * prior_sd &&
                   std::sqrt(pd.variance_f(240, 0)) > 0.999 * prior_sd,
               "at x = 9, three from the data");
  result.claim("SoR is never less certain than DTC",
               (pd.variance_f - ps.variance_f).minCoeff() > -1e-10,
               fmt::format("sd between inducing inputs, mean over the data: {:.4f} and {:.4f}",
                           ps.variance_f.middleRows(60, 121).cwiseSqrt().mean(),
                           pd.variance_f.middleRows(60, 121).cwiseSqrt().mean()));

  // 49 inputs over the data, and f known at every sixth: eight values, then a ninth.
  const RowMatrix some = inputs(Vector::LinSpaced(49, 0.0, 6.0));
  std::vector<Index> known;
  for (Index i = 0; i < M; ++i) known.push_back(3 + 6 * i);
  const double degenerate = left_over(sor.covariance(some), known, theta.variance),
               whole = left_over(dtc.covariance(some), known, theta.variance);
  result.add("variance left when eight values of f are known: SoR; DTC", "0; more",
             fmt::format("{:.1e}; {:.1e}", degenerate, whole), "in shares of the prior's");
  result.claim("SoR's functions lie in eight dimensions, DTC's do not (P25)",
               degenerate < 1e-6 && whole > 1e-3, fmt::format("{:.1e}, {:.1e}", degenerate, whole));

  const RowMatrix fine = inputs(Vector::LinSpaced(121, 0.0, 6.0));
  const auto draws_s = sor.sample(X, 3, seed), draws_d = dtc.sample(X, 3, seed);
  Vector rough_s(20), rough_d(20);
  const auto many_s = sor.sample(fine, 20, seed + 1), many_d = dtc.sample(fine, 20, seed + 1);
  for (Index i = 0; i < 20; ++i) {
    rough_s[i] = roughness(many_s[static_cast<std::size_t>(i)]);
    rough_d[i] = roughness(many_d[static_cast<std::size_t>(i)]);
  }
  result.add("second differences of 20 draws, 1e-6 of their size: SoR; DTC", "smooth; rough",
             fmt::format("{}; {}", mean_sd(1e6 * rough_s, 1), mean_sd(1e6 * rough_d, 1)));
  for (const bool is_dtc : {true, false}) {
    const Prediction& p = is_dtc ? pd : ps;
    const auto& draws = is_dtc ? draws_d : draws_s;
    Matrix picture(grid.size(), 6);
    picture << grid, p.mean, p.variance_f.cwiseSqrt(), draws[0], draws[1], draws[2];
    result.series.push_back({is_dtc ? "Fig. 2.3: DTC" : "Fig. 2.3: SoR",
                             {"x", "mean", "sd", "draw 1", "draw 2", "draw 3"},
                             picture});
    Matrix observed(data.size(), 2);
    observed << data.X, data.Y;
    result.series.push_back({"data", {"x", "y"}, observed});
  }
  return result;
}

}  // namespace covary::experiments
