// Sums of points as inducing variables: what C > 1 buys (van der Wilk 2018, sections 4.5.1 to
// 4.5.3, Figs 4.6 to 4.12; E4.4 to E4.10). VFE with M variables of C points each, everything
// trained together by L-BFGS for the same number of iterations. A model that is stored has M + M² +
// M·C(D + 1) numbers.
//   kin40k: 36 000 rows of the 40 000, the other 4000 for testing.
//   Parkinsons: nine of ten rows, total_UPDRS from 20 inputs (the first fold of the data's file).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "basis_support.hpp"
#include "experiments.hpp"
#include "ledger.hpp"
#include "small.hpp"

namespace covary::experiments {
namespace {

std::string show(const Score& s) {
  return fmt::format("{:.4f}; {:.4f}; {:.4f}; {:.3f}; {:.0f} s", s.rmse, s.nlpd, s.bound,
                     s.noise_sd, s.seconds);
}

// A fit, unless the ledger has it.
Score kept_fit(Ledger& ledger, const std::string& what, const Size& size,
               const std::function<Score()>& fit) {
  const Vector v = ledger.once(what + size.name(), 7, [&] {
    const Score s = fit();
    return Vector{{s.rmse, s.nlpd, s.bound, s.noise_sd, s.seconds,
                   static_cast<double>(s.iterations), static_cast<double>(s.numbers)}};
  });
  return {size, v(0), v(1), v(2), v(3), v(4), std::lround(v(5)), std::lround(v(6))};
}

std::vector<Score> table(Result& result, Ledger& ledger, const Task& task, const std::string& what,
                         const std::vector<Size>& sizes, const BasisTraining& how) {
  std::vector<Score> out;
  for (const Size& size : sizes) {
    out.push_back(kept_fit(ledger, what, size, [&] { return fit_basis(task, size, how); }));
    result.add(fmt::format("{}{}: RMSE; NLPD; bound a row; noise sd; time", what, size.name()), "",
               show(out.back()), fmt::format("{} numbers", out.back().numbers));
  }
  return out;
}

// One line for a point a variable and one for more, by the numbers stored.
void picture(Result& result, std::vector<Score> scores) {
  std::sort(scores.begin(), scores.end(),
            [](const Score& a, const Score& b) { return a.numbers < b.numbers; });
  for (const bool sums : {false, true}) {
    std::vector<Score> own;
    std::copy_if(scores.begin(), scores.end(), std::back_inserter(own),
                 [&](const Score& s) { return (s.size.C > 1) == sums; });
    Matrix out(static_cast<Index>(own.size()), 3);
    for (Index i = 0; i < out.rows(); ++i) {
      const Score& s = own[static_cast<std::size_t>(i)];
      out.row(i) << std::log10(static_cast<double>(s.numbers)), s.rmse, s.nlpd;
    }
    result.series.push_back({sums ? "sums of points" : "one point a variable",
                             {"log₁₀ numbers stored", "RMSE", "NLPD"},
                             out});
  }
}

// How many times smaller the smallest model of sums is that is as good as each with one point a
// variable, in the order of these; 0 where none is.
std::vector<double> compression(const std::vector<Score>& scores, double Score::*score) {
  std::vector<double> out;
  for (const Score& one : scores) {
    if (one.size.C != 1) continue;
    double best = 0.0;
    for (const Score& more : scores)
      if (more.size.C > 1 && more.*score <= one.*score)
        best = std::max(best, static_cast<double>(one.numbers) / static_cast<double>(more.numbers));
    out.push_back(best);
  }
  return out;
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// One point a variable, from the points, the kernel and the noise of trained sums: whether models
// with C = 1 of as many points stopped short of what these hold.
Score from_sums(const Task& task, const RegressionFit& sums, const BasisTraining& how) {
  const Parameter& points = sums.parameters.at("features.Z");
  SparseRegressionOptions o = basis_options({points.rows, 1}, how);
  o.subset = 0;
  o.Z = sums.input_scaling.undo(
      Eigen::Map<const RowMatrix>(points.value.data(), points.rows, points.cols));
  SparseRegression model(task.X, task.Y, o);
  for (const Parameter& p : sums.parameters.all())
    if (!p.path.starts_with("features.")) model.parameters().set(p.path, p.value);
  const RegressionFit fit = model.fit();
  Score out = score_of(task, {points.rows, 1}, fit);
  out.seconds = fit.summary.seconds;
  return out;
}

const Score& best_of(const std::vector<Score>& scores, bool many) {
  const Score* best = nullptr;
  for (const Score& s : scores)
    if ((s.size.C > 1) == many && (!best || s.bound > best->bound)) best = &s;
  return *best;
}

}  // namespace

Result kin40k_basis(const Settings& settings, Ledger& ledger) {
  Result result;
  result.name = "kin40k-basis";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), sections "
      "4.5.1 to 4.5.3, Figs 4.6, 4.8, 4.10, 4.11";
  const Task task = read_kin40k(settings);
  const BasisTraining how{.iterations = settings.repeats ? settings.repeats : few(200, 2),
                          .seed = settings.seed};
  const std::vector<Score> asked =
      table(result, ledger, task, "", {{10, 20}, {50, 8}, {150, 1}, {200, 1}}, how);
  result.add("equal iterations: (10, 20) beats (150, 1) in RMSE", "yes",
             asked[0].rmse < asked[2].rmse ? "yes" : "no");
  result.add("equal iterations: (200, 1) has the better bound than (50, 8), and the worse RMSE",
             "yes; yes",
             fmt::format("{}; {}", asked[3].bound > asked[1].bound ? "yes" : "no",
                         asked[3].rmse > asked[1].rmse ? "yes" : "no"));
  const double most =  // that of the slowest: the start of sums takes longer than points in all
      std::max_element(asked.begin(), asked.end(), [](const Score& a, const Score& b) {
        return a.seconds < b.seconds;
      })->seconds;
  for (const Score& s : asked) {
    const Score timed = kept_fit(ledger, "equal time, ", s.size, [&] {
      return fit_basis(task, s.size,
                       {.iterations = few(100000, 2), .seed = settings.seed, .seconds = most});
    });
    result.add(
        fmt::format("equal time, {}: RMSE; NLPD; bound a row; noise sd; time", s.size.name()), "",
        show(timed), fmt::format("{} iterations", timed.iterations));
  }
  // At most 2000 numbers stored.
  const std::vector<Score> small =
      table(result, ledger, task,
            "small: ", {{30, 1}, {40, 1}, {10, 20}, {20, 8}, {25, 5}, {30, 3}}, how);
  const Score &one = best_of(small, false), &many = best_of(small, true);
  result.claim(
      "of at most 2000 numbers, the best bound of C > 1 beats that of C = 1 in RMSE and NLPD",
      many.rmse < one.rmse && many.nlpd < one.nlpd,
      fmt::format("{}: {:.4f}, {:.4f}; {}: {:.4f}, {:.4f}", many.size.name(), many.rmse, many.nlpd,
                  one.size.name(), one.rmse, one.nlpd));
  table(result, ledger, with_noise(task, 0.4, settings.seed),
        "noise of sd 0.4 added: ", {{20, 1}, {20, 8}, {100, 1}}, how);
  picture(result, small);
  return result;
}

Result parkinsons_basis(const Settings& settings, Ledger& ledger) {
  Result result;
  result.name = "parkinsons-basis";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), sections "
      "4.5.1 to 4.5.3, Figs 4.7, 4.9, 4.12";
  const Task task = read_parkinsons(settings);
  // From exact fits of 300 rows both kinds reach better bounds at most sizes than from 1000.
  const BasisTraining how{.iterations = settings.repeats ? settings.repeats : few(1000, 2),
                          .seed = settings.seed,
                          .subset = 300};
  const std::vector<Size> sizes = {{20, 1},  {50, 1},  {100, 1}, {200, 1}, {300, 1},
                                   {5, 2},   {5, 4},   {6, 4},   {10, 5},  {10, 10},
                                   {20, 5},  {30, 4},  {50, 2},  {50, 5},  {80, 3},
                                   {100, 2}, {100, 5}, {150, 2}, {150, 4}, {200, 3}};
  const std::vector<Score> scores = table(result, ledger, task, "", sizes, how);
  const std::vector<double> nlpd = compression(scores, &Score::nlpd),
                            rmse = compression(scores, &Score::rmse);
  const auto each = [](const std::vector<double>& ratios) {
    return fmt::format("of each with C = 1: {:.1f}", fmt::join(ratios, ", "));
  };
  result.claim("at least 3 times fewer numbers at equal NLPD, in the median (E4.10)",
               median(nlpd) >= 3.0, fmt::format("{:.1f} times; {}", median(nlpd), each(nlpd)));
  result.add("so many times fewer at equal RMSE", "2 to 3",
             fmt::format("{:.1f}; {}", median(rmse), each(rmse)), "0: none is as good");
  const Score unsummed = kept_fit(ledger, "from the points of M = 10, C = 5: ", {50, 1}, [&] {
    std::optional<RegressionFit> sums;
    fit_basis(task, {10, 5}, how, &sums);
    return from_sums(task, *sums, how);
  });
  result.add(
      "M = 50, C = 1, from the points of M = 10, C = 5: RMSE; NLPD; bound a row; noise sd; time",
      "", show(unsummed), fmt::format("{} numbers", unsummed.numbers));
  table(result, ledger, with_noise(task, 0.05, settings.seed),
        "noise of sd 0.05 added: ", {{20, 1}, {20, 5}, {100, 1}, {100, 5}}, how);
  picture(result, scores);
  return result;
}

}  // namespace covary::experiments
