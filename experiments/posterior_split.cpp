// What inducing variables are (van der Wilk 2018, Figs 2.1, 2.4, 2.5): an exact posterior
// is nearly one from a handful of pseudo-observations; f = g + h splits it into what data can
// change and what they cannot. The thesis gives pictures only. Ours: Snelson's 200 points with the
// exact optimum's parameters; then unit variance, ℓ = 0.6, noise sd 0.1 and three inducing inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/kernels/kernels.hpp"
#include "experiments.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

// E2.1, Fig. 2.1
void pseudo_observations(Result& result, std::uint64_t seed) {
  const Data data = snelson();
  const Found exact = fit_exact(data, seed);
  const Vector grid = Vector::LinSpaced(241, 0.0, 6.0);
  const Prediction e =
      condition_on(exact.theta.kernel(), data.X.col(0), data.Y.col(0), exact.theta.noise)
          .predict(inputs(grid));
  Matrix away(3, 3);
  Prediction shown;
  Found handful;
  const Index sizes[] = {8, 12, 15};
  for (Index i = 0; i < 3; ++i) {
    const RowMatrix start = inputs(Vector::LinSpaced(sizes[i], 0.1, 5.9));
    const Found f = fit_sparse(data, "vfe", start, exact.theta, true);
    const Prediction p = sparse_posterior(data, "vfe", f.Z, exact.theta).predict(inputs(grid));
    const Vector sd = e.variance_f.cwiseSqrt(), own = p.variance_f.cwiseSqrt();
    away.row(i) << (p.mean - e.mean).cwiseQuotient(sd).cwiseAbs().maxCoeff(),
        own.cwiseQuotient(sd).maxCoeff(), f.nlml - exact.nlml;
    result.add(fmt::format("E2.1 {} inducing inputs: mean off by; sd larger by; KL", sizes[i]),
               i == 2 ? "nearly identical" : "",
               fmt::format("{:.3f} sd; {:.1f} %; {:.3f} nats", away(i, 0), 100 * (away(i, 1) - 1),
                           away(i, 2)));
    if (i == 2) shown = p, handful = f;
  }
  result.claim("fifteen pseudo-observations stand for 200 points (0.1 sd, 5 % of the sd)",
               away(2, 0) < 0.1 && away(2, 1) < 1.05,
               fmt::format("{:.3f} sd, {:.1f} %", away(2, 0), 100 * (away(2, 1) - 1)));
  Matrix picture(grid.size(), 5);
  picture << grid, e.mean, e.variance_f.cwiseSqrt(), shown.mean, shown.variance_f.cwiseSqrt();
  result.series.push_back({"Fig. 2.1: exact posterior, and from 15 inducing variables",
                           {"x", "exact", "exact sd", "sparse", "sparse sd"},
                           picture});
  Matrix at(handful.Z.rows(), 2);
  at << handful.Z, sparse_posterior(data, "vfe", handful.Z, exact.theta).predict(handful.Z).mean;
  result.series.push_back({"data", {"x", "mean of u"}, at});
}

constexpr double far = 4.0;  // where no inducing input reaches

// E2.3, E2.4: Z = 0, 1, 2; three points beside 1, or at 4.
void split(Result& result) {
  const Theta theta{1.0, 0.6, 0.01};
  const RowMatrix Z = inputs((Vector(3) << 0, 1, 2).finished());
  const Vector grid = Vector::LinSpaced(281, -1.0, 6.0);
  const auto posterior = [&](double where) {
    const Data data{inputs((Vector(3) << where - 0.1, where, where + 0.1).finished()),
                    inputs((Vector(3) << 0.9, 1.0, 1.1).finished())};
    return sparse_posterior(data, "vfe", Z, theta);
  };
  const SparsePosterior near = posterior(1.0), away = posterior(far);
  const SplitPrediction n = near.split(inputs(grid)), a = away.split(inputs(grid));
  const Prediction pn = near.predict(inputs(grid)), pa = away.predict(inputs(grid));
  const Vector prior_g = theta.variance - n.h_variance.array();

  const double at_Z = near.split(Z).h_variance.maxCoeff();
  result.claim("h is certain at the inducing inputs (E2.3, P24)", at_Z < 1e-9,
               fmt::format("variance at most {:.1e}", at_Z));
  const double sum =
      std::max((n.g_variance.col(0) + n.h_variance - pn.variance_f.col(0)).cwiseAbs().maxCoeff(),
               (n.g_mean - pn.mean).cwiseAbs().maxCoeff());
  result.claim("g + h is the posterior", sum < 1e-10,
               fmt::format("largest difference {:.1e}", sum));
  result.claim("h is the same whatever the data", (n.h_variance - a.h_variance).norm() == 0.0,
               "bit for bit");
  const auto at = [&](const auto& values, double x) {
    Index i = 0;
    (grid.array() - x).abs().minCoeff(&i);
    return values(i, 0);
  };
  result.add("E2.4 data at 1, an inducing input: variance of g, before and after", "",
             fmt::format("{:.3f}, {:.4f}", at(prior_g, 1.0), at(n.g_variance, 1.0)));
  result.add("E2.4 total variance at 1", "",
             fmt::format("1 to {:.4f}; exact {:.4f}", at(pn.variance_f, 1.0), 0.01 / 3.01),
             "exact: three points at 1 itself");
  result.claim("near an inducing input g shrinks and the total variance falls (E2.4)",
               at(pn.variance_f, 1.0) < 0.05, fmt::format("{:.4f}", at(pn.variance_f, 1.0)));
  result.add("E2.4 data at 4, far from all: variance of g there, before and after", "",
             fmt::format("{:.1e}, {:.1e}", at(prior_g, far), at(a.g_variance, far)));
  result.claim("far from all of them the variance cannot fall", at(pa.variance_f, far) > 0.98,
               fmt::format("{:.4f}", at(pa.variance_f, far)));
  Matrix prior(grid.size(), 3), near_picture(grid.size(), 4), far_picture(grid.size(), 4);
  prior << grid, prior_g, n.h_variance;
  near_picture << grid, n.g_variance, n.h_variance, pn.variance_f;
  far_picture << grid, a.g_variance, a.h_variance, pa.variance_f;
  result.series.push_back({"Fig. 2.4: the prior's variance, Z = 0, 1, 2", {"x", "g", "h"}, prior});
  result.series.push_back(
      {"Fig. 2.5: variance after three points near 1", {"x", "g", "h", "total"}, near_picture});
  result.series.push_back(
      {"Fig. 2.5: variance after three points near 4", {"x", "g", "h", "total"}, far_picture});
}

}  // namespace

Result posterior_split(std::uint64_t seed) {
  Result result;
  result.name = "posterior-split";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Figs 2.1, "
      "2.4, 2.5";
  pseudo_observations(result, seed);
  split(result);
  return result;
}

}  // namespace covary::experiments
