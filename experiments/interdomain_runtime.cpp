// What sums of points cost in training (van der Wilk 2018, section 4.5.4, Figs 4.13 and 4.14;
// E4.11, E4.12): RMSE and NLPD against iterations and time for several (M, C), the same optimiser
// and start for all. A tenth of the thesis's sizes, 3600 rows of kin40k, so that all of it takes
// minutes. Time is that of the processor, which others on the machine do not change; looking at
// test rows is not in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>

#include "basis_support.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index stops[] = {1,   5,   10,  20,  30,  45,  60,   80,   100,  130,  165,
                           200, 270, 370, 500, 670, 900, 1100, 1300, 1500, 1750, 2000};

struct Curve {
  Size size{};
  std::vector<Index> iteration;
  std::vector<double> seconds;  // since the first iteration
  std::vector<Score> scores;

  // A score after so many seconds, between two looks by interpolation.
  double at(double time, double Score::*what) const {
    for (std::size_t i = 1; i < seconds.size(); ++i)
      if (seconds[i] >= time) {
        const double share = (time - seconds[i - 1]) / (seconds[i] - seconds[i - 1]);
        return (1.0 - share) * (scores[i - 1].*what) + share * (scores[i].*what);
      }
    return scores.back().*what;
  }
  // After so many iterations, or at the end where it came before.
  double after(Index iterations, double Score::*what) const {
    std::size_t i = 0;
    while (i + 1 < iteration.size() && iteration[i + 1] <= iterations) ++i;
    return scores[i].*what;
  }
  double each() const {  // seconds an iteration
    return seconds.back() / static_cast<double>(iteration.back() - iteration.front());
  }
  // By how much NLPD fell over the last third of the iterations.
  double late_gain() const {
    for (std::size_t i = 0; i < iteration.size(); ++i)
      if (3 * iteration[i] >= 2 * iteration.back()) return scores[i].nlpd - scores.back().nlpd;
    return 0.0;
  }
};

Curve train(const Task& task, const Size& size, const BasisTraining& how) {
  Curve out{size, {}, {}, {}};
  std::vector<Vector> seen;
  std::clock_t began = 0, now = 0;
  Index iteration = 0, part = -1;
  Vector u;
  const auto keep = [&] {
    out.iteration.push_back(iteration);
    out.seconds.push_back(static_cast<double>(now - began) / CLOCKS_PER_SEC);
    seen.push_back(u);
  };
  SparseRegressionOptions o = basis_options(size, how);
  o.training.after_iteration = [&](const TrainingProgress& training) {
    if (training.over || !training.run) return;
    if (training.part != part) {  // that before was only to start from
      part = training.part;
      out.iteration.clear();
      out.seconds.clear();
      seen.clear();
    }
    now = std::clock();
    iteration = training.run->iterations;
    u = training.run->u;
    if (out.iteration.empty()) began = now;
    if (std::find(std::begin(stops), std::end(stops), iteration) != std::end(stops)) keep();
  };
  SparseRegression model(task.X, task.Y, o);
  model.fit();
  if (iteration != out.iteration.back()) keep();
  o.training.after_iteration = nullptr;
  o.training.max_iterations = 0;  // only to look
  o.subset = 0;
  SparseRegression look(task.X, task.Y, o);
  for (const Vector& at : seen) {
    Parameters p = model.parameters();
    p.set_values(p.constrain(at));
    look.set_parameters(p, model.features());
    out.scores.push_back(score_of(task, size, look.fit()));
  }
  const Score& last = out.scores.back();
  progress(fmt::format("{}: RMSE {:.4f}, NLPD {:.4f}, {} iterations, {:.3f} s each", size.name(),
                       last.rmse, last.nlpd, out.iteration.back(), out.each()));
  return out;
}

// Of the curves with one point a variable, or with more: the one with the best bound by then.
const Curve& best_by(const std::vector<Curve>& curves, bool many, double time) {
  const Curve* best = nullptr;
  for (const Curve& c : curves)
    if ((c.size.C > 1) == many &&
        (!best || c.at(time, &Score::bound) > best->at(time, &Score::bound)))
      best = &c;
  return *best;
}

void draw(Result& result, const std::string& name, const std::vector<Curve>& curves, double first,
          double last) {
  constexpr Index steps = 40;
  const auto n = static_cast<Index>(curves.size());
  std::vector<std::string> by_iteration{"log₁₀ iteration"}, by_time{"log₁₀ seconds"};
  for (const Curve& c : curves) {
    by_iteration.push_back(c.size.name());
    by_time.push_back(c.size.name());
  }
  for (double Score::*what : {&Score::rmse, &Score::nlpd}) {
    const std::string score = what == &Score::rmse ? "RMSE" : "NLPD";
    Matrix a(std::ssize(stops), n + 1), b(steps, n + 1);
    for (Index i = 0; i < a.rows(); ++i) {
      a(i, 0) = std::log10(static_cast<double>(stops[i]));
      for (Index j = 0; j < n; ++j)
        a(i, j + 1) = curves[static_cast<std::size_t>(j)].after(stops[i], what);
    }
    for (Index i = 0; i < steps; ++i) {
      const double time = first * std::pow(last / first, static_cast<double>(i) / (steps - 1));
      b(i, 0) = std::log10(time);
      for (Index j = 0; j < n; ++j)
        b(i, j + 1) = curves[static_cast<std::size_t>(j)].at(time, what);
    }
    result.series.push_back(
        {fmt::format("{}: {} against iterations", name, score), by_iteration, a});
    result.series.push_back({fmt::format("{}: {} against time", name, score), by_time, b});
  }
}

struct Compared {
  std::vector<Curve> curves;
  const Curve *one = nullptr, *many = nullptr;  // the best bounds at equal time
  double time = 0.0;                            // that of the quickest
};

Compared compare(Result& result, const std::string& name, const Task& task,
                 const std::vector<Size>& sizes, const BasisTraining& how) {
  Compared out;
  out.time = INFINITY;
  double first = 0.0;
  for (const Size& size : sizes) {
    out.curves.push_back(train(task, size, how));
    out.time = std::min(out.time, out.curves.back().seconds.back());
    first = std::max(first, out.curves.back().seconds[1]);
  }
  for (const Curve& c : out.curves) {
    const Score& s = c.scores.back();
    result.add(fmt::format("{}, {}: RMSE; NLPD; bound a row after {} iterations", name,
                           c.size.name(), c.iteration.back()),
               "", fmt::format("{:.4f}; {:.4f}; {:.4f}", s.rmse, s.nlpd, s.bound),
               fmt::format("{:.3f} s an iteration; NLPD fell by {:.4f} over the last third",
                           c.each(), c.late_gain()));
  }
  for (const Curve& c : out.curves)
    result.add(fmt::format("{}, {}: RMSE; NLPD; bound a row after {:.0f} s", name, c.size.name(),
                           out.time),
               "",
               fmt::format("{:.4f}; {:.4f}; {:.4f}", c.at(out.time, &Score::rmse),
                           c.at(out.time, &Score::nlpd), c.at(out.time, &Score::bound)),
               "equal time: that of the quickest");
  out.one = &best_by(out.curves, false, out.time);
  out.many = &best_by(out.curves, true, out.time);
  draw(result, name, out.curves, std::min(first, 0.5 * out.time), out.time);
  return out;
}

std::string both(const Compared& c) {
  return fmt::format("{}: {:.4f}; {}: {:.4f}", c.many->size.name(),
                     c.many->at(c.time, &Score::rmse), c.one->size.name(),
                     c.one->at(c.time, &Score::rmse));
}

}  // namespace

Result interdomain_runtime(const Settings& settings) {
  Result result;
  result.name = "interdomain-runtime";
  result.source =
      "M. van der Wilk, Sparse Gaussian Process Approximations and Applications (2018), section "
      "4.5.4, Figs 4.13 and 4.14";
  const BasisTraining how{.iterations = settings.repeats ? settings.repeats : few(2000, 6),
                          .seed = settings.seed,
                          .subset = 300};
  Settings some = settings;
  if (!some.rows) some.rows = 4000;
  const Compared kin = compare(result, "kin40k", read_kin40k(some),
                               {{75, 1}, {100, 1}, {200, 1}, {75, 2}, {75, 10}}, how);
  result.claim(
      "kin40k: an iteration costs more with C = 10", kin.curves[4].each() > kin.curves[0].each(),
      fmt::format("{:.1f} times that of C = 1", kin.curves[4].each() / kin.curves[0].each()));
  result.claim("kin40k: C = 10 still improves where C = 1 hardly does (E4.11)",
               kin.curves[4].late_gain() > kin.curves[0].late_gain(),
               fmt::format("NLPD fell by {:.4f} and {:.4f} over the last third",
                           kin.curves[4].late_gain(), kin.curves[0].late_gain()));
  result.claim(
      "kin40k: at equal time the best bound of C > 1 does not make up for it in RMSE (E4.11)",
      kin.many->at(kin.time, &Score::rmse) >= kin.one->at(kin.time, &Score::rmse), both(kin));
  const Compared park = compare(result, "Parkinsons", read_parkinsons(settings),
                                {{50, 1}, {100, 1}, {200, 1}, {50, 2}, {50, 5}}, how);
  result.claim(
      "Parkinsons: at equal time the best bound of C > 1 is as good in RMSE, to 2 % (E4.12)",
      park.many->at(park.time, &Score::rmse) <= 1.02 * park.one->at(park.time, &Score::rmse),
      both(park));
  return result;
}

}  // namespace covary::experiments
