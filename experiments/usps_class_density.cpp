// Classes of digits by their densities (Damianou 2015, section 3.5.5, Table 3.3): one Bayesian
// GP-LVM a digit of the 7291 USPS training images, ten latent dimensions, 50 inducing inputs,
// pixels as they are but for one common scale; the 2007 test images go to the digit under which
// they are most probable, all digits alike before. At most 500 iterations, q(x) of a test image
// from its nearest neighbour and 100 iterations. Beside it one-against-the-rest logistic regression
// with a ridge of 1 and SVGP with 50 inducing inputs and 40 iterations. Fixed before a score was
// seen.
// --repeats are seeds, of the inducing inputs' start; --rows takes so many rows of either part. The
// support vector machine is that of experiments/usps_svm.py.
#include <fmt/format.h>

#include <algorithm>

#include "covary/data/classification_metrics.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/features/selection.hpp"
#include "covary/models/class_density.hpp"
#include "covary/models/logistic_regression.hpp"
#include "covary/models/svgp.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "ledger.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index digits = 10, pixels = 256;

struct Images {
  RowMatrix X;
  Vector labels;
};

Images read_images(const char* file, Index rows, std::uint64_t seed) {
  const Table table = read_data(file);
  std::vector<Index> kept(static_cast<std::size_t>(table.rows()));
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<Index>(i);
  if (rows > 0 && rows < table.rows()) kept = sample_rows(table.rows(), rows, Random(seed, 0x75));
  const RowMatrix values = take_rows(table.values, kept);
  return {values.rightCols(pixels), values.col(0)};
}

Index errors(const Matrix& scores, const Vector& labels) {
  Index out = 0;
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0;
    scores.row(i).maxCoeff(&best);
    out += static_cast<double>(best) != labels(i);
  }
  return out;
}

Index logistic_errors(const Images& train, const Images& test) {
  Matrix scores(test.X.rows(), digits);
  LogisticOptions o;
  o.ridge = 1.0;
  for (Index k = 0; k < digits; ++k) {
    const Vector own = (train.labels.array() == static_cast<double>(k)).cast<double>();
    scores.col(k) = fit_logistic_regression(train.X, own, 2, o).predict(test.X).col(1);
  }
  return errors(scores, test.labels);
}

Index svgp_errors(const Images& train, const Images& test, std::uint64_t seed) {
  SvgpOptions o;
  o.kernel = "se";
  o.likelihood = "one_vs_rest(10, logit)";
  o.separate_kernels = true;
  o.inducing = few(50, 10);
  o.selection = Selection::kmeans;
  o.scale_inputs = ScaleMode::global;
  o.training.max_iterations = few(40, 1);
  o.seed = seed;
  return errors(Svgp(train.X, train.labels, o).fit().predict(test.X).probabilities, test.labels);
}

// Errors, dimensions in use, NLPD and seconds of one seed.
Vector densities(const Images& train, const Images& test, std::uint64_t seed) {
  ClassDensityOptions o;
  o.uniform_prior = true;
  o.gplvm.latent = 10;
  o.gplvm.training.starts = 1;
  o.gplvm.seed = seed;
  o.gplvm.training.max_iterations = few(500, 2);
  const ClassDensityFit fit = fit_class_density(train.X, train.labels, o);
  Matrix joint(test.X.rows(), digits);
  double used = 0.0, seconds = 0.0;
  for (Index k = 0; k < digits; ++k) {
    const GplvmFit& density = fit.densities[static_cast<std::size_t>(k)];
    joint.col(k) = density.log_density(test.X, few(100, 2), 1);
    used += static_cast<double>(density.active().size()) / digits;
    seconds += density.summary.seconds;
  }
  return Eigen::Vector4d{static_cast<double>(errors(joint, test.labels)), used,
                         nlpd(test.labels, RowMatrix(fit.predict_from(joint))), seconds};
}

}  // namespace

Result usps_class_density(const Settings& settings, Ledger& ledger) {
  Result result;
  result.name = "usps-class-density";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 3.5.5, Table 3.3";
  const Images train = read_images("usps/train.csv.gz", settings.rows, settings.seed),
               test = read_images("usps/test.csv.gz", settings.rows, settings.seed);
  const auto n = static_cast<double>(test.X.rows());
  result.add("rows for training; for testing", "7291; 2007",
             fmt::format("{}; {}", train.X.rows(), test.X.rows()),
             settings.rows ? "a part of the data, by --rows" : "all");
  const Index repeats = settings.repeats ? settings.repeats : few(5, 1);
  Vector wrong(repeats), used(repeats), loss(repeats), seconds(repeats);
  for (Index r = 0; r < repeats; ++r) {
    const Vector found = ledger.once(fmt::format("seed {}", r), 4, [&] {
      return densities(train, test, settings.seed + static_cast<std::uint64_t>(r));
    });
    wrong(r) = found(0), used(r) = found(1), loss(r) = found(2), seconds(r) = found(3);
    progress(fmt::format("seed {}: {} errors, {:.1f} dimensions a digit, {:.0f} s", r, wrong(r),
                         used(r), seconds(r)));
  }
  result.add("class densities: errors", "95", mean_sd(wrong, 1),
             fmt::format("{:.2f} %, sd over {} seeds", 100.0 * wrong.mean() / n, repeats));
  result.add("dimensions in use, a digit", "", mean_sd(used, 1));
  result.add("class densities: nlpd", "", loss.allFinite() ? mean_sd(loss, 3) : "inf",
             loss.allFinite() ? "" : "a digit had a probability of zero to the last bit");
  result.add("seconds of training", "", fmt::format("{:.0f}", seconds.mean()));
  const Index logistic = logistic_errors(train, test);
  progress(fmt::format("logistic regression: {} errors", logistic));
  result.add("logistic regression: errors", "283", fmt::format("{}", logistic),
             "one against the rest, ridge 1");
  const Index svgp = svgp_errors(train, test, settings.seed);
  result.add("GP classification, variational, m = 50: errors", "100", fmt::format("{}", svgp),
             "SVGP, one against the rest");
  result.claim("class densities beat logistic regression",
               wrong.mean() < static_cast<double>(logistic),
               fmt::format("{:.1f} against {}", wrong.mean(), logistic));
  return result;
}

}  // namespace covary::experiments
