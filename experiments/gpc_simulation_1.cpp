// Simulation I (Ashouritaklimi 2021, 3.1.1, Figs 3.1–3.3): one input uniform in [0, 11], f =
// 3(sin⁴x + cos³x), labels drawn with probability σ(f); n = 150 to 1500, three quarters for
// training. Logistic regression, and Gaussian-process classifiers by SVGP (M a tenth of the
// training rows, at random rows first), full variational inference, Laplace and EP, all with se +
// white and the logit link, each trained once by its own evidence or bound from ℓ = 1.1 (a tenth of
// the range), variance 4, white 0.01, for at most 100 iterations. White noise is part of f at a row
// of data and at a new row, and in no covariance with inducing variables. All of this was fixed
// before a score was seen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "classification_support.hpp"
#include "covary/data/class_generators.hpp"
#include "covary/data/split.hpp"
#include "covary/kernels/kernels.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index sizes[] = {150, 500, 1000, 1500};
constexpr Index count = 4, models = 5;
constexpr Index default_repeats = 2;
const char* const names[models] = {"LR", "SVGP", "VI", "Laplace", "EP"};

Classifier train(Index which, const Classes& data, std::uint64_t seed) {
  const ClassifierSetup setup{se(false, {4.0, {1.1}}) + white(0.01), "bernoulli(logit)", 100, seed};
  switch (which) {
    case 0:
      return train_logistic(data);
    case 1:
      return train_sparse(data.size() / 10, data, setup);
    case 2:
      return train_latent(Inference::vi, data, setup);
    case 3:
      return train_latent(Inference::laplace, data, setup);
    default:
      return train_latent(Inference::ep, data, setup);
  }
}

struct Scores {
  Matrix seconds[count], correct[count], excess[count], expected[count];  // repetitions × models
  Vector bayes[count];  // of the Bayes rule on the same draws
};

// The fits of one data set as curves, beside the truth and the labels.
void draw(Result& result, const SyntheticClasses& all, const Classes& data,
          const std::vector<Classifier>& fits) {
  constexpr Index grid = 221;
  Matrix curves(grid, 2 + models);
  curves.col(0) = Vector::LinSpaced(grid, 0.0, 11.0);
  curves.col(1) = curves.col(0).unaryExpr([](double x) {
    return 1.0 / (1.0 + std::exp(-3.0 * (std::pow(std::sin(x), 4) + std::pow(std::cos(x), 3))));
  });
  for (Index m = 0; m < models; ++m)
    curves.col(2 + m) = fits[static_cast<std::size_t>(m)].probability(RowMatrix(curves.col(0)));
  Matrix points(data.size(), 2);
  points << data.X, data.y;
  result.series.push_back({fmt::format("Fig. 3.2: P(label 1) at n = {}", all.labels.size()),
                           {"x", "truth", "LR", "SVGP", "VI", "Laplace", "EP"},
                           curves});
  result.series.push_back({"data", {"x", "label"}, points});
}

}  // namespace

Result gpc_simulation_1(const Settings& settings) {
  Result result;
  result.name = "gpc-simulation-1";
  result.source =
      "K. Ashouritaklimi, Sparse Gaussian Process Classification with Variational Inference "
      "(2021), section 3.1.1, Figs 3.1–3.3";
  const Index repeats = settings.repeats ? settings.repeats : few(default_repeats, 1);
  const BayesRates rates = wave_classes_rates();
  Scores s;
  for (Index i = 0; i < count; ++i) {
    const Index n = few(sizes[i], 60);
    for (Matrix* m : {&s.seconds[i], &s.correct[i], &s.excess[i], &s.expected[i]})
      m->resize(repeats, models);
    s.bayes[i].resize(repeats);
    for (Index r = 0; r < repeats; ++r) {
      const std::uint64_t seed = settings.seed + static_cast<std::uint64_t>(r);
      const SyntheticClasses all = wave_classes_data(n, seed);
      const Split split = train_test_split(n, 0.25, seed);
      const Classes data{take_rows(all.X, split.train), all.labels(split.train)},
          test{take_rows(all.X, split.test), all.labels(split.test)};
      const Vector truth = all.probability(split.test);
      s.bayes[i][r] = correct_rate(test, truth);
      std::vector<Classifier> fits;
      for (Index m = 0; m < models; ++m) {
        fits.push_back(train(m, data, seed));
        const Vector p = fits.back().probability(test.X);
        s.seconds[i](r, m) = fits.back().seconds;
        s.correct[i](r, m) = correct_rate(test, p);
        s.excess[i](r, m) = s.bayes[i][r] - s.correct[i](r, m);
        s.expected[i](r, m) = expected_excess(truth, p);
        progress(fmt::format("n = {}, repetition {}: {}; excess {:.4f}", sizes[i], r + 1,
                             fits.back().brief(), s.excess[i](r, m)));
      }
      if (i == count - 1 && r == 0) draw(result, all, data, fits);
    }
  }
  result.add("Bayes rate, by integration", "", fmt::format("{:.4f}", rates.accuracy),
             "no classifier exceeds it on average");
  const char* const reported[models] = {"worst at every n", "0.86–0.90", "0.86–0.90", "0.86–0.90",
                                        ""};
  for (Index i = 0; i < count; ++i) {
    result.add(fmt::format("n = {}, Bayes rule on the same draws: CCR", sizes[i]), "",
               mean_se(s.bayes[i]));
    for (Index m = 0; m < models; ++m)
      result.add(fmt::format("n = {}, {}: CCR; excess error; expected excess", sizes[i], names[m]),
                 reported[m],
                 fmt::format("{}; {}; {}", mean_se(s.correct[i].col(m)),
                             mean_se(s.excess[i].col(m), 4), mean_se(s.expected[i].col(m), 4)),
                 fmt::format("{:.2f} s", s.seconds[i].col(m).mean()));
  }
  const Index last = count - 1;
  // The draws of a few repetitions are a noisy measure, their expectation is not.
  for (const Index m : {1, 2, 3}) {
    result.claim(fmt::format("n = 1500, {}: mean expected excess at most 0.006", names[m]),
                 s.expected[last].col(m).mean() <= 0.006, mean_se(s.expected[last].col(m), 4));
    if (repeats >= 20)
      result.claim(
          fmt::format("n = 1500, {}: mean excess error on the draws at most 0.006", names[m]),
          s.excess[last].col(m).mean() <= 0.006, mean_se(s.excess[last].col(m), 4));
  }
  double least = 1.0;
  for (Index i = 0; i < count; ++i)
    for (Index m = 1; m < models; ++m)
      least = std::min(least, s.correct[i].col(m).mean() - s.correct[i].col(0).mean());
  result.claim("LR is worst at every n (T22)", least > 0.0,
               fmt::format("behind by {:.3f} at least", least));
  Matrix times(count, 1 + models), correct(count, 2 + models);
  for (Index i = 0; i < count; ++i) {
    times.row(i) << static_cast<double>(sizes[i]), s.seconds[i].colwise().mean();
    correct.row(i) << static_cast<double>(sizes[i]), s.bayes[i].mean(),
        s.correct[i].colwise().mean();
  }
  result.series.push_back(
      {"Fig. 3.3a: seconds of training", {"n", "LR", "SVGP", "VI", "Laplace", "EP"}, times});
  result.series.push_back({"Fig. 3.3b: CCR on the test rows",
                           {"n", "Bayes rule", "LR", "SVGP", "VI", "Laplace", "EP"},
                           correct});
  return result;
}

}  // namespace covary::experiments
