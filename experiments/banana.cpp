// The banana data: SVGP's decision boundary with M = 4 … 64 inducing inputs (after Hensman et al.
// 2015, Fig. 1). Squared exponential, probit link, inputs as in the file, from ℓ = 1 and variance
// 2, Z from k-means, at most 200 iterations; fixed before an error was seen. The first repetition
// has the usual 400 training rows, the others random ones; all other rows of the 5300 are for
// testing.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "classification_support.hpp"
#include "covary/data/classification_metrics.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index sizes[] = {4, 8, 16, 32, 64};
constexpr Index count = 5, models = count + 1, training_rows = 400, default_repeats = 5;

struct Sides {
  Classes train, test;
};

Classes read(const std::string& name) {
  const Table t = read_data("banana/" + name);
  return {t.values.leftCols(2), (t.values.col(2).array() > 0.0).cast<double>()};
}

Sides split(const Classes& all, const Classes& usual, Index repetition, std::uint64_t seed) {
  std::vector<bool> trains(static_cast<std::size_t>(all.size()), false);
  if (repetition == 0 && !is_small()) {
    std::multiset<std::pair<double, double>> wanted;
    for (Index i = 0; i < usual.size(); ++i) wanted.emplace(usual.X(i, 0), usual.X(i, 1));
    for (Index i = 0; i < all.size(); ++i) {
      const auto found = wanted.find({all.X(i, 0), all.X(i, 1)});
      if (found == wanted.end()) continue;
      wanted.erase(found);
      trains[static_cast<std::size_t>(i)] = true;
    }
    if (!wanted.empty())
      throw InputError(fmt::format("{} training rows of banana/train400.csv are not in full.csv",
                                   wanted.size()));
  } else {
    for (const Index i : sample_rows(all.size(), few(training_rows, 100), Random(seed, 31)))
      trains[static_cast<std::size_t>(i)] = true;
  }
  std::vector<Index> train, test;
  for (Index i = 0; i < all.size(); ++i)
    (trains[static_cast<std::size_t>(i)] ? train : test).push_back(i);
  return {{take_rows(all.X, train), all.y(train)}, {take_rows(all.X, test), all.y(test)}};
}

void draw(Result& result, const Classifier& fit, Index M, double reach) {
  const Matrix line = boundary(fit, reach);
  if (line.rows() < 2) return;
  result.series.push_back({fmt::format("M = {}: the decision boundary", M), {"x0", "x1"}, line});
  const Vector z = fit.gp->parameters.at("features.Z").value;
  result.series.push_back(
      {"inducing inputs", {"x0", "x1"}, Eigen::Map<const RowMatrix>(z.data(), M, 2)});
}

}  // namespace

Result banana(const Settings& settings) {
  Result result;
  result.name = "banana";
  result.source = "after Hensman, Matthews & Ghahramani (2015), Fig. 1";
  const Index repeats = settings.repeats ? settings.repeats : few(default_repeats, 1);
  const Classes all = read("full.csv"), usual = read("train400.csv");
  const double reach = usual.X.cwiseAbs().maxCoeff();
  // Of the five M and of the model without inducing inputs.
  Matrix error(repeats, models), bound(repeats, models), loss(repeats, models),
      seconds(repeats, models);
  for (Index r = 0; r < repeats; ++r) {
    const std::uint64_t seed = settings.seed + static_cast<std::uint64_t>(r);
    const Sides data = split(all, usual, r, seed);
    const ClassifierSetup setup{se(false, {2.0, {1.0}}), "bernoulli(probit)", 200, seed};
    for (Index m = 0; m < models; ++m) {
      const bool full = m == count;
      const RowMatrix Z =
          full ? RowMatrix()
               : select_inducing(Selection::kmeans, sizes[m], data.train.X, setup.kernel,
                                 setup.kernel.parameters(2).values(), seed)
                     .Z;
      const Classifier fit = full ? train_latent(Inference::vi, data.train, setup)
                                  : train_sparse(Z, data.train, setup);
      const Vector p = fit.probability(data.test.X);
      error(r, m) = 1.0 - correct_rate(data.test, p);
      loss(r, m) = nlpd(data.test.y, two_class_probabilities(p));
      bound(r, m) = fit.gp->value;
      seconds(r, m) = fit.seconds;
      progress(
          fmt::format("repetition {}, {}: {}; error {:.4f}", r + 1,
                      full ? std::string("no inducing inputs") : fmt::format("M = {}", sizes[m]),
                      fit.brief(), error(r, m)));
      if (r == 0 && !full) draw(result, fit, sizes[m], reach);
    }
  }
  Matrix picture(count, 3);
  for (Index m = 0; m < models; ++m) {
    result.add(fmt::format("{}: bound; error; NLPD",
                           m == count ? std::string("full VI") : fmt::format("M = {}", sizes[m])),
               "",
               fmt::format("{}; {}; {}", mean_se(bound.col(m), 2), mean_se(error.col(m), 4),
                           mean_se(loss.col(m), 4)),
               fmt::format("usual rows: {:.2f}; {:.4f}; {:.1f} s", bound(0, m), error(0, m),
                           seconds.col(m).mean()));
    if (m < count)
      picture.row(m) << static_cast<double>(sizes[m]), bound.col(m).mean(), bound.col(count).mean();
  }
  const Vector gains =
      (bound.middleCols(1, models - 1) - bound.leftCols(models - 1)).colwise().mean().transpose();
  result.claim("the mean bound rises with M and never passes full VI's",
               gains.minCoeff() > -1e-3 * std::abs(bound(0, count)),
               fmt::format("least step {:+.3f}", gains.minCoeff()));
  result.claim(
      "M = 64 is within 1 nat of full VI and as good a classifier, to 0.002",
      bound.col(count).mean() - bound.col(count - 1).mean() < 1.0 &&
          std::abs(error.col(count - 1).mean() - error.col(count).mean()) < 0.002,
      fmt::format("{:.3f} nats, {:+.4f}", bound.col(count).mean() - bound.col(count - 1).mean(),
                  error.col(count - 1).mean() - error.col(count).mean()));
  result.series.push_back({"the bound against M", {"M", "SVGP", "full VI"}, picture});
  Matrix errors = picture;
  errors.col(1) = error.leftCols(count).colwise().mean().transpose();
  errors.col(2).setConstant(error.col(count).mean());
  result.series.push_back({"the test error against M", {"M", "SVGP", "full VI"}, errors});
  return result;
}

}  // namespace covary::experiments
