// Digits with loops and without (Ashouritaklimi 2021, 3.2, Table 3.2, Figs B.1, B.2): USPS images,
// train and test pooled, 0 6 8 9 (label 0) against 1 2 3 5 (label 1), three quarters for training.
// Squared exponential over the 256 pixels as they are, logit link; SVGP with M a tenth of the
// training rows and Laplace, from the median distance of the rows as ℓ and variance 4; full
// variational inference where at most 1000 rows train. Fixed before a score was seen, but for the
// limit of iterations: it was 40 and 20 in a first run, which ended while the bound still rose. One
// split unless --repeats says otherwise, as a training takes minutes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "classification_support.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/features/selection.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index pixels = 256, full_limit = 1000, models = 3;
const char* const names[models] = {"SVGP", "Laplace", "VI"};
const char* const reported[models] = {"2.16 h; 0.98", "2.23 h; 0.98", "8.83 h; 0.97"};

Classes read_digits() {
  const Table train = read_data("usps/train.csv.gz"), test = read_data("usps/test.csv.gz");
  RowMatrix all(train.rows() + test.rows(), 1 + pixels);
  all << train.values, test.values;
  std::vector<Index> kept;
  std::vector<double> labels;
  for (Index i = 0; i < all.rows(); ++i) {
    const auto digit = static_cast<int>(std::lround(all(i, 0)));
    if (digit == 4 || digit == 7) continue;
    kept.push_back(i);
    labels.push_back(digit == 0 || digit == 6 || digit >= 8 ? 0.0 : 1.0);
  }
  return {take_rows(all, kept).rightCols(pixels),
          Eigen::Map<const Vector>(labels.data(), static_cast<Index>(labels.size()))};
}

Classes rows_of(const Classes& data, const std::vector<Index>& rows) {
  return {take_rows(data.X, rows), data.y(rows)};
}

// Of every second pixel, so that the picture stays small.
Matrix correlations(const RowMatrix& X) {
  Matrix some = X(Eigen::all, Eigen::seq(0, pixels - 1, 2));
  some.rowwise() -= some.colwise().mean().eval();
  const Vector norm = some.colwise().norm().transpose().cwiseMax(1e-12);
  some.array().rowwise() /= norm.transpose().array();
  return product(some, some, Op::transpose);
}

// The share of ones found against that of zeros taken for ones, on a common grid.
Vector roc_on(const Vector& grid, const Classes& test, const Vector& p) {
  const RocCurve roc = roc_curve(test.y, p);
  Vector out(grid.size());
  Index at = 0;
  for (Index i = 0; i < grid.size(); ++i) {
    while (at + 1 < roc.false_positive.size() && roc.false_positive[at + 1] <= grid[i]) ++at;
    out[i] = roc.true_positive[at];
  }
  return out;
}

Classifier train(Index which, const Classes& data, std::uint64_t seed) {
  const double distance = median_distance(data.X, seed);
  const ClassifierSetup setup{se(false, {4.0, {distance}}), "bernoulli(logit)", 200, seed};
  return which == 0 ? train_sparse(data.size() / 10, data, setup)
                    : train_latent(which == 1 ? Inference::laplace : Inference::vi, data, setup);
}

}  // namespace

Result gpc_usps_loops(const Settings& settings) {
  Result result;
  result.name = "gpc-usps-loops";
  result.source =
      "K. Ashouritaklimi, Sparse Gaussian Process Classification with Variational Inference "
      "(2021), section 3.2, Table 3.2, Figs B.1, B.2";
  const Index repeats = settings.repeats ? settings.repeats : 1;
  Classes all = read_digits();
  result.add(
      "images with loops; without", "3916; 3738",
      fmt::format("{:.0f}; {:.0f}", static_cast<double>(all.size()) - all.y.sum(), all.y.sum()));
  const bool whole = settings.rows == 0 || settings.rows >= all.size();
  if (!whole) all = rows_of(all, sample_rows(all.size(), settings.rows, Random(settings.seed, 42)));
  constexpr Index grid = 101;
  Matrix roc = Matrix::Zero(grid, 1 + models);
  roc.col(0) = Vector::LinSpaced(grid, 0.0, 1.0);
  Matrix hours(repeats, models), correct(repeats, models), area(repeats, models),
      loss(repeats, models);
  std::string logistic;
  Index run = models, training_rows = 0;
  for (Index r = 0; r < repeats; ++r) {
    const std::uint64_t seed = settings.seed + static_cast<std::uint64_t>(r);
    const Split split = train_test_split(all.size(), 0.25, seed);
    const Classes data = rows_of(all, split.train), test = rows_of(all, split.test);
    training_rows = data.size();
    run = training_rows > full_limit ? models - 1 : models;
    const Classifier lr = train_logistic(data);
    if (r == 0)
      logistic = lr.logistic->fitted()
                     ? fmt::format("CCR {:.4f}", correct_rate(test, lr.probability(test.X)))
                     : lr.logistic->message;
    progress("LR: " + logistic);
    for (Index m = 0; m < run; ++m) {
      const Classifier fit = train(m, data, seed);
      const Vector p = fit.probability(test.X);
      hours(r, m) = fit.seconds / 3600.0;
      correct(r, m) = correct_rate(test, p);
      area(r, m) = auc(test.y, p);
      loss(r, m) = nlpd(test.y, two_class_probabilities(p));
      progress(fmt::format("{}, ℓ {:.2f}, variance {:.1f}; CCR {:.4f}", fit.brief(),
                           fit.value("kernel.lengthscales"), fit.value("kernel.variance"),
                           correct(r, m)));
      if (r == 0) roc.col(1 + m) = roc_on(roc.col(0), test, p);
    }
  }
  result.add("rows for training; for testing", "",
             fmt::format("{}; {}", training_rows, all.size() - training_rows),
             whole ? "all" : "a part of the data, by --rows");
  for (Index m = 0; m < run; ++m)
    result.add(fmt::format("{}: time; CCR", names[m]), reported[m],
               fmt::format("{:.4f} h; {}", hours.col(m).mean(), mean_se(correct.col(m), 4)),
               fmt::format("AUC {}, NLPD {}", mean_se(area.col(m), 5), mean_se(loss.col(m), 4)));
  if (run < models)
    result.add("VI: time; CCR", reported[models - 1], "",
               fmt::format("not run beyond {} rows", full_limit));
  result.add("LR", "no convergence", logistic);
  if (whole)
    for (Index m = 0; m < run; ++m)
      result.claim(fmt::format("{}: CCR at least 0.985", names[m]), correct.col(m).mean() >= 0.985,
                   mean_se(correct.col(m), 4));
  std::vector<std::string> columns{"zeros taken for ones"};
  for (Index m = 0; m < run; ++m) columns.emplace_back(names[m]);
  result.series.push_back(
      {"Fig. B.2: share of ones found", columns, Matrix(roc.leftCols(1 + run))});
  result.series.push_back(
      {"Fig. B.1: correlations of every second pixel", {}, correlations(all.X)});
  return result;
}

}  // namespace covary::experiments
