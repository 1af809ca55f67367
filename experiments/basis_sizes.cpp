// Sums of points as inducing variables: what C > 1 buys (van der Wilk 2019, sections 4.5.1 to
// 4.5.3, Figs 4.6 to 4.12; E4.4 to E4.10). VFE with M variables of C points each, everything
// trained together by L-BFGS for the same number of iterations. A model that is stored has M + M² +
// M·C(D + 1) numbers.
//   kin40k: 36 000 rows of the 40 000, the other 4000 for testing.
//   Parkinsons: nine of ten rows, total_UPDRS from 20 inputs (the first fold of the data's file).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "covary/data/metrics.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

struct Task {
  RowMatrix X, Y, Xtest, Ytest;
};

struct Size {
  Index M, C;

  Index numbers(Index D) const { return M + M * M + M * C * (D + 1); }
  std::string name() const { return fmt::format("M = {}, C = {}", M, C); }
};

struct Score {
  Size size;
  double rmse = 0.0, nlpd = 0.0, bound = 0.0, noise_sd = 0.0, seconds = 0.0;
  Index iterations = 0, numbers = 0;
};

Task part(const RowMatrix& all, const std::vector<Index>& inputs, Index target, const Split& rows) {
  const auto columns = [&](const std::vector<Index>& of, const std::vector<Index>& which) {
    return RowMatrix(take_rows(all, of)(Eigen::all, which));
  };
  return {columns(rows.train, inputs), columns(rows.train, {target}), columns(rows.test, inputs),
          columns(rows.test, {target})};
}

Task read_kin40k(const Settings& s) {
  const RowMatrix first = read_table(find_data("kin40k/train.csv.gz")).values,
                  second = read_table(find_data("kin40k/test.csv.gz")).values;
  RowMatrix all(first.rows() + second.rows(), first.cols());
  all << first, second;
  if (s.rows && s.rows < all.rows()) all = RowMatrix(all.topRows(s.rows));
  std::vector<Index> inputs(8);
  std::iota(inputs.begin(), inputs.end(), Index{0});
  return part(all, inputs, 8, train_test_split(all.rows(), 0.1, s.seed));
}

Task read_parkinsons(const Settings& s) {
  const RowMatrix all = read_table(find_data("parkinsons/data.csv")).values,
                  fold = read_table(find_data("parkinsons/fold.csv")).values;
  std::vector<Index> inputs;
  for (Index d = 0; d < 21; ++d)
    if (d != 4) inputs.push_back(d);  // motor_UPDRS is a second target
  Split rows;
  const Index N = s.rows ? std::min(s.rows, all.rows()) : all.rows();
  for (Index i = 0; i < N; ++i) (fold(i, 0) == 0.0 ? rows.test : rows.train).push_back(i);
  return part(all, inputs, 21, rows);
}

// Noise of this standard deviation, in those of the training outputs, on all outputs.
Task with_noise(Task task, double sd, std::uint64_t seed) {
  Random random(seed, 0x4015e);
  const double scale = sd * std::sqrt((task.Y.array() - task.Y.mean()).square().mean());
  for (RowMatrix* Y : {&task.Y, &task.Ytest})
    for (Index i = 0; i < Y->rows(); ++i) (*Y)(i) += scale * random.normal();
  return task;
}

Score fit(const Task& task, const Size& size, Index iterations, double seconds, std::uint64_t seed,
          const Parameters* held = nullptr) {
  SparseRegressionOptions o;
  o.kernel = "se(ard)";
  o.features =
      size.C == 1 ? FeatureChoice("points") : FeatureChoice(fmt::format("basis({})", size.C));
  o.inducing = size.M;
  o.starts = 1;
  o.subset = 1000;
  o.seed = seed;
  o.training.max_iterations = iterations;
  if (seconds > 0.0) o.training.max_seconds = seconds;
  o.certificate_flops = 0.0;
  SparseRegression model(task.X, task.Y, o);
  if (held)
    for (const Parameter& p : held->all())
      if (!p.path.starts_with("features.")) {
        model.parameters().set(p.path, p.value);
        model.parameters().fix(p.path);
      }
  const auto began = std::chrono::steady_clock::now();
  const RegressionFit fit = model.fit();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const Prediction p = fit.predict(task.Xtest);
  const double unit = std::sqrt((task.Y.array() - task.Y.mean()).square().mean());
  Score out{size};
  out.rmse = rmse(Vector(task.Ytest.col(0)), Vector(p.mean.col(0))) / unit;
  out.nlpd = nlpd(Vector(task.Ytest.col(0)), Vector(p.mean.col(0)), Vector(p.variance_y.col(0))) -
             std::log(unit);
  out.bound = fit.summary.value / static_cast<double>(task.Y.rows()) + std::log(unit);
  out.noise_sd = std::sqrt(fit.parameters.at("likelihood.variance").value[0]);
  out.seconds = took.count();
  out.iterations = fit.summary.iterations;
  out.numbers = size.numbers(task.X.cols());
  progress(fmt::format("{}: RMSE {:.4f}, NLPD {:.4f}, {} iterations, {:.0f} s", size.name(),
                       out.rmse, out.nlpd, out.iterations, out.seconds));
  return out;
}

std::string show(const Score& s) {
  return fmt::format("{:.4f}; {:.4f}; {:.4f}; {:.3f}; {:.0f} s", s.rmse, s.nlpd, s.bound,
                     s.noise_sd, s.seconds);
}

std::vector<Score> table(Result& result, const Task& task, const std::string& what,
                         const std::vector<Size>& sizes, Index iterations, std::uint64_t seed,
                         const Parameters* held = nullptr) {
  std::vector<Score> out;
  for (const Size& size : sizes) {
    out.push_back(fit(task, size, iterations, 0.0, seed, held));
    result.add(fmt::format("{}{}: RMSE; NLPD; bound a row; noise sd; time", what, size.name()), "",
               show(out.back()), fmt::format("{} numbers", out.back().numbers));
  }
  return out;
}

Series picture(const std::string& name, const std::vector<Score>& scores) {
  Matrix out(static_cast<Index>(scores.size()), 4);
  for (Index i = 0; i < out.rows(); ++i) {
    const Score& s = scores[static_cast<std::size_t>(i)];
    out.row(i) << std::log10(static_cast<double>(s.numbers)), s.rmse, s.nlpd,
        static_cast<double>(s.size.C);
  }
  return {name, {"log₁₀ numbers stored", "RMSE", "NLPD", "C"}, out};
}

// Of the models with one point a variable: how many times smaller the smallest with more is that is
// as good; the median over those that are matched at all.
double compression(const std::vector<Score>& scores, Index* matched) {
  std::vector<double> ratios;
  for (const Score& one : scores) {
    if (one.size.C != 1) continue;
    double best = 0.0;
    for (const Score& more : scores)
      if (more.size.C > 1 && more.nlpd <= one.nlpd)
        best = std::max(best, static_cast<double>(one.numbers) / static_cast<double>(more.numbers));
    if (best > 0.0) ratios.push_back(best);
  }
  *matched = static_cast<Index>(ratios.size());
  if (ratios.empty()) return 0.0;
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

const Score& best_of(const std::vector<Score>& scores, bool many) {
  const Score* best = nullptr;
  for (const Score& s : scores)
    if ((s.size.C > 1) == many && (!best || s.bound > best->bound)) best = &s;
  return *best;
}

}  // namespace

Result kin40k_basis(const Settings& settings) {
  Result result;
  result.name = "kin40k-basis";
  result.source = "van der Wilk (2019), sections 4.5.1 to 4.5.3, Figs 4.6, 4.8, 4.10, 4.11";
  const Task task = read_kin40k(settings);
  const Index iterations = settings.repeats ? settings.repeats : 200;
  const std::vector<Score> asked =
      table(result, task, "", {{10, 20}, {50, 8}, {150, 1}, {200, 1}}, iterations, settings.seed);
  result.add("equal iterations: (10, 20) beats (150, 1) in RMSE", "yes",
             asked[0].rmse < asked[2].rmse ? "yes" : "no");
  result.add("equal iterations: (200, 1) has the better bound than (50, 8), and the worse RMSE",
             "yes; yes",
             fmt::format("{}; {}", asked[3].bound > asked[1].bound ? "yes" : "no",
                         asked[3].rmse > asked[1].rmse ? "yes" : "no"));
  const double least =
      std::min_element(asked.begin(), asked.end(), [](const Score& a, const Score& b) {
        return a.seconds < b.seconds;
      })->seconds;
  for (const Score& s : asked) {
    const Score timed = fit(task, s.size, 100000, least, settings.seed);
    result.add(
        fmt::format("equal time, {}: RMSE; NLPD; bound a row; noise sd; time", s.size.name()), "",
        show(timed), fmt::format("{} iterations", timed.iterations));
  }
  // At most 2000 numbers stored.
  const std::vector<Score> small =
      table(result, task, "small: ", {{30, 1}, {40, 1}, {10, 20}, {20, 8}, {25, 5}, {30, 3}},
            iterations, settings.seed);
  const Score &one = best_of(small, false), &many = best_of(small, true);
  result.claim(
      "of at most 2000 numbers, the best bound of C > 1 beats that of C = 1 in RMSE and NLPD",
      many.rmse < one.rmse && many.nlpd < one.nlpd,
      fmt::format("{}: {:.4f}, {:.4f}; {}: {:.4f}, {:.4f}", many.size.name(), many.rmse, many.nlpd,
                  one.size.name(), one.rmse, one.nlpd));
  table(result, with_noise(task, 0.4, settings.seed),
        "noise of sd 0.4 added: ", {{20, 1}, {20, 8}, {100, 1}}, iterations, settings.seed);
  result.series.push_back(picture("size and error", small));
  return result;
}

Result parkinsons_basis(const Settings& settings) {
  Result result;
  result.name = "parkinsons-basis";
  result.source = "van der Wilk (2019), sections 4.5.1 to 4.5.3, Figs 4.7, 4.9, 4.12";
  const Task task = read_parkinsons(settings);
  const Index iterations = settings.repeats ? settings.repeats : 500;
  const std::vector<Size> sizes = {{20, 1},  {50, 1},  {100, 1}, {200, 1}, {300, 1},
                                   {10, 5},  {20, 2},  {20, 5},  {50, 2},  {50, 5},
                                   {50, 10}, {50, 20}, {100, 2}, {100, 5}, {100, 10}};
  const std::vector<Score> scores = table(result, task, "", sizes, iterations, settings.seed);
  Index matched = 0;
  const double ratio = compression(scores, &matched);
  result.claim(
      "at least 3 times fewer numbers at equal NLPD (E4.10)", ratio >= 3.0,
      fmt::format("{:.1f} times, the median of {} of 5 models with C = 1", ratio, matched));
  table(result, with_noise(task, 0.05, settings.seed),
        "noise of sd 0.05 added: ", {{20, 1}, {20, 5}, {100, 1}, {100, 5}}, iterations,
        settings.seed);
  result.series.push_back(picture("size and error", scores));
  return result;
}

}  // namespace covary::experiments
