// FITC's evidence held against an upper bound on that of the full GP (van der Wilk 2018, Figs
// 3.6–3.8), on the even rows of Snelson's set. As in the thesis: FITC with Z from random rows, four
// restarts, the best kept, everything trained together; the bounds at FITC's parameters, with
// FITC's own Z and with Z trained on the bound. All rows are negative log evidences, so the upper
// bound is a floor: a FITC below it over-estimates, proven in O(NM²).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/features/selection.hpp"
#include "experiments.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index sizes[] = {2, 4, 6, 8, 10, 12, 16, 20};
constexpr Index count = 8;

// The tighter of two trained floors: from the rows that leave least variance, and from these.
double trained_floor(const Data& data, Index M, const Theta& t, const RowMatrix& from) {
  const Vector theta = (Vector(2) << t.variance, t.lengthscale).finished();
  const RowMatrix greedy = select_inducing(Selection::greedy_variance, M, data.X, "se", theta, 0).Z;
  double best = nlml_floor(data, greedy, t);
  for (const RowMatrix& Z : {greedy, from})
    if (Z.rows() == M) best = std::max(best, nlml_floor(data, tighten_upper_bound(data, Z, t), t));
  return best;
}

std::string short_nlml(double value) {
  return std::abs(value) < 1e4 ? fmt::format("{:.2f}", value) : fmt::format("{:.2g}", value);
}

// E3.7, E3.8
void floors(Result& result, const Data& data, std::uint64_t seed) {
  const double alone = independent_nlml(data);
  result.add("independent Gaussian: NLML", "132.19 (spec)", fmt::format("{:.2f}", alone));
  Matrix table(count, 6);
  bool sandwich = true;
  Index exposed = 0, over = 0;
  const Index growing[] = {2, 4, 6, 8, 10, 12, 16, 20, 24, 30, 40};
  Matrix grown(11, 5);
  for (Index i = 0; i < 11; ++i) grown(i, 0) = static_cast<double>(growing[i]);
  Index column = 1;
  for (Index i = 0; i < count; ++i) {
    const Index M = sizes[i];
    progress(fmt::format("E3.7: FITC and its bounds, M = {}", M));
    const Found fitc = search(data, "fitc", M, 4, seed);
    const double exact = exact_nlml(data, fitc.theta);
    const double own = nlml_floor(data, fitc.Z, fitc.theta);
    const double trained = std::max(own, trained_floor(data, M, fitc.theta, fitc.Z));
    const double vfe = -sparse_at(data, "vfe", fitc.Z, fitc.theta).value;
    const double slack = 1e-8 * std::max(1.0, std::abs(exact));
    sandwich = sandwich && own <= exact + slack && trained <= exact + slack && exact <= vfe + slack;
    over += fitc.nlml < exact;
    exposed += fitc.nlml < trained;
    table.row(i) << static_cast<double>(M), fitc.nlml, own, trained, exact, alone;
    result.add(fmt::format("E3.7 M = {}: FITC; floor, its Z; floor, trained Z; exact", M), "",
               fmt::format("{:.2f}; {}; {}; {}", fitc.nlml, short_nlml(own), short_nlml(trained),
                           short_nlml(exact)),
               fmt::format("σ_n {:.2g}{}", fitc.theta.noise_sd(),
                           fitc.nlml < trained ? ", over-estimate proven" : ""));
    // E3.8: how many inducing inputs the proof takes.
    Index needed = 0;
    for (Index j = 0; j < 11; ++j) {
      const double floor =
          trained_floor(data, growing[j], fitc.theta, growing[j] == M ? fitc.Z : RowMatrix());
      if (!needed && fitc.nlml < floor) needed = growing[j];
      if (column < 5 && (M == 4 || M == 6 || M == 10 || M == 20)) grown(j, column) = floor;
    }
    column += M == 4 || M == 6 || M == 10 || M == 20;
    result.add(fmt::format("E3.8 M = {}: FITC below the full GP by; proven with M_bound =", M),
               M == 4            ? "about right"
               : M <= 8 && M > 4 ? "more than M"
               : M > 8           ? "detected"
                                 : "",
               fmt::format("{} nats; {}", short_nlml(exact - fitc.nlml),
                           needed ? fmt::format("{}", needed) : "none up to 40"));
  }
  result.claim("floor ≤ exact ≤ VFE at every one (P7)", sandwich, "8 models of FITC");
  result.claim("FITC over-estimates the evidence from small M on", over >= count - 2,
               fmt::format("in {} of {}", over, count));
  result.claim("the trained bound exposes it once M is large", exposed >= 2,
               fmt::format("in {} of {}; at M = 20: {}", exposed, count,
                           table(count - 1, 1) < table(count - 1, 3) ? "yes" : "no"));
  // A picture needs one scale: what σ_n → 0 throws away is cut at the independent Gaussian.
  const Matrix shown = table.cwiseMin(2 * alone).cwiseMax(-2 * alone);
  result.series.push_back(
      {"Fig. 3.6: negative log evidence at FITC's parameters (cut at twice the independent one)",
       {"M", "FITC", "floor, FITC's Z", "floor, trained Z", "full GP", "independent"},
       shown});
  result.series.push_back({"Fig. 3.7: trained floors of four FITC models",
                           {"M_bound", "FITC M = 4", "M = 6", "M = 10", "M = 20"},
                           grown.cwiseMin(2 * alone).cwiseMax(-2 * alone)});
}

// The spec's example: a FITC with a healthy noise, floors from evenly spread inducing inputs.
void spread(Result& result, const Data& data, std::uint64_t seed) {
  progress("E3.8: FITC, M = 20, with σ_n above 0.1");
  Found best;
  best.nlml = INFINITY;
  for (Index r = 0; r < 10; ++r) {
    const Found f = fit_from_random(data, "fitc", 20, seed, r);
    if (f.theta.noise_sd() > 0.1 && f.nlml < best.nlml) best = f;
  }
  if (!best.Z.rows()) return;
  const RowMatrix even = inputs(Vector::LinSpaced(20, data.X.minCoeff(), data.X.maxCoeff()));
  const double exact = exact_nlml(data, best.theta), own = nlml_floor(data, best.Z, best.theta),
               floor = nlml_floor(data, even, best.theta);
  result.add("E3.8 FITC, M = 20: NLML, σ_n; exact there", "28.14, 0.19; 49.42 (spec)",
             fmt::format("{:.2f}, {:.2f}; {:.2f}", best.nlml, best.theta.noise_sd(), exact),
             fmt::format("{} coincident", coincident(best.Z)));
  result.add("its floor with its own Z; with 20 evenly spread", "useless; 49.10 (spec)",
             fmt::format("{:.2f}; {:.2f}", own, floor));
  result.claim("evenly spread inducing inputs prove the over-estimate",
               best.nlml < floor && floor <= exact + 1e-8,
               fmt::format("{:.2f} < {:.2f} ≤ {:.2f}", best.nlml, floor, exact));
}

// E3.9: all inducing inputs shifted together, the parameters those of the full GP.
void offsets(Result& result, const Data& data, std::uint64_t seed) {
  progress("E3.9: all inducing inputs shifted");
  const Found exact = fit_exact(data, seed);
  const RowMatrix start = inputs(Vector::LinSpaced(10, 0.2, 5.8));
  const Found vfe = fit_sparse(data, "vfe", start, exact.theta, true);
  const Vector shift = Vector::LinSpaced(161, -0.8, 0.8);
  Matrix curve(shift.size(), 4);
  for (Index i = 0; i < shift.size(); ++i) {
    const RowMatrix Z = (vfe.Z.array() + shift[i]).matrix();
    curve.row(i) << shift[i], -sparse_at(data, "vfe", Z, exact.theta).value,
        -sparse_at(data, "fitc", Z, exact.theta).value, exact.nlml;
  }
  Index at_vfe = 0, at_fitc = 0;
  const double least_vfe = curve.col(1).minCoeff(&at_vfe),
               least_fitc = curve.col(2).minCoeff(&at_fitc);
  result.add("E3.9 M = 10: least negative bound, where; full GP", "",
             fmt::format("{:.3f} at {:+.2f}; {:.3f}", least_vfe, shift[at_vfe], exact.nlml));
  result.add(
      "E3.9 FITC: from … to …, least at", "",
      fmt::format("{:.3f} … {:.3f}, {:+.2f}", least_fitc, curve.col(2).maxCoeff(), shift[at_fitc]));
  result.claim("the bound is nowhere better than the full GP, best at the trained place",
               least_vfe >= exact.nlml - 1e-8 && std::abs(shift[at_vfe]) < 0.011,
               fmt::format("gap {:.3f} there", least_vfe - exact.nlml));
  result.claim("FITC's own evidence moves with Z and passes that of the full GP (P23)",
               least_fitc < exact.nlml - 0.01 && curve.col(2).maxCoeff() - least_fitc > 0.1,
               fmt::format("{:.3f} below, at an offset of {:+.2f}", exact.nlml - least_fitc,
                           shift[at_fitc]));
  result.series.push_back({"Fig. 3.8: all inducing inputs shifted",
                           {"offset", "negative bound", "FITC", "full GP"},
                           curve});
}

}  // namespace

Result snelson_upper_bounds(std::uint64_t seed) {
  Result result;
  result.name = "snelson-upper-bounds";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), Figs "
      "3.6–3.8";
  const Data all = snelson(), even = every_second(all, 0);
  floors(result, even, seed);
  spread(result, even, seed);
  offsets(result, all, seed);
  return result;
}

}  // namespace covary::experiments
