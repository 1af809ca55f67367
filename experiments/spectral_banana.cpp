// Products of eigenfunctions for classification (Burt 2018, section 5.2, Fig. 5.6): a full
// classifier of the 400 usual rows of banana, se with a lengthscale for each input and probit link,
// is the truth; new inputs are normal with the moments of the old, independent of each other, and
// labels are drawn with its probabilities. Then SVGP with M trained points, from k-means, and with
// the M eigenfunctions of largest eigenvalue whose measure is trained, beside full VI. Starts,
// sizes and 200 iterations were fixed before a score was seen. Scores are expectations under the
// truth at further inputs, without the noise of labels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "classification_support.hpp"
#include "covary/data/table.hpp"
#include "covary/features/selection.hpp"
#include "covary/kernels/kernels.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index sizes[] = {4, 9, 16, 36, 64, 100};
constexpr Index count = 6, default_repeats = 3;

RowMatrix normal_like(const RowMatrix& X, Index n, Random random) {
  const Eigen::RowVectorXd mean = X.colwise().mean();
  const Eigen::RowVectorXd sd =
      ((X.rowwise() - mean).colwise().squaredNorm() / static_cast<double>(X.rows())).cwiseSqrt();
  return (random.normal_matrix(n, X.cols()).array().rowwise() * sd.array()).rowwise() +
         mean.array();
}

// E[−log q(y)] less the entropy of y: nats a row that q loses to the truth.
double expected_loss(const Vector& truth, const Vector& q) {
  const auto p = truth.array().max(1e-12).min(1.0 - 1e-12),
             r = q.array().max(1e-12).min(1.0 - 1e-12);
  return (p * (p / r).log() + (1.0 - p) * ((1.0 - p) / (1.0 - r)).log()).mean();
}

struct Scores {
  Matrix bound, excess, loss, seconds;  // repetitions × sizes

  explicit Scores(Index repeats, Index n)
      : bound(repeats, n), excess(repeats, n), loss(repeats, n), seconds(repeats, n) {}
  std::string show(Index m) const {
    return fmt::format("{}; {}; {}", mean_se(bound.col(m), 2), mean_se(excess.col(m), 4),
                       mean_se(loss.col(m), 4));
  }
};

}  // namespace

Result spectral_banana(const Settings& settings) {
  Result result;
  result.name = "spectral-banana";
  const Index training_rows = few(400, 120), test_rows = few(4000, 100);
  result.source =
      "D. Burt, Spectral Methods in Gaussian Process Approximations (2018), section 5.2, Fig. 5.6";
  const Index repeats = settings.repeats ? settings.repeats : few(default_repeats, 1);
  const Table usual = read_data("banana/train400.csv");
  const Classes original{usual.values.leftCols(2),
                         (usual.values.col(2).array() > 0.0).cast<double>()};
  const ClassifierSetup setup{se(true, {2.0, {1.0, 1.0}}), "bernoulli(probit)", 200, settings.seed};
  const Classifier truth = train_latent(Inference::vi, original, setup);
  progress("the truth: " + truth.brief());
  const double reach = original.X.cwiseAbs().maxCoeff();

  Scores points(repeats, count), eigen(repeats, count), full(repeats, 1);
  for (Index r = 0; r < repeats; ++r) {
    Random random(settings.seed, 0xba0000 + static_cast<std::uint64_t>(r));
    Classes train{normal_like(original.X, training_rows, random), Vector(training_rows)};
    const Vector labels = truth.probability(train.X);
    Random coins(settings.seed, 0xba1000 + static_cast<std::uint64_t>(r));
    for (Index i = 0; i < training_rows; ++i) train.y(i) = coins.uniform() < labels(i) ? 1.0 : 0.0;
    const RowMatrix Xtest = normal_like(
        original.X, test_rows, Random(settings.seed, 0xba2000 + static_cast<std::uint64_t>(r)));
    const Vector p = truth.probability(Xtest);
    const auto keep = [&](Scores& to, Index m, const Classifier& fit) {
      const Vector q = fit.probability(Xtest);
      to.bound(r, m) = fit.gp->value;
      to.excess(r, m) = expected_excess(p, q);
      to.loss(r, m) = expected_loss(p, q);
      to.seconds(r, m) = fit.seconds;
      progress(fmt::format("repetition {}: {}; excess error {:.4f}", r + 1, fit.brief(),
                           to.excess(r, m)));
    };
    const auto draw = [&](const std::string& name, const Classifier& fit) {
      const Matrix line = boundary(fit, reach);
      if (r == 0 && line.rows() > 1)
        result.series.push_back({name + ": the decision boundary", {"x0", "x1"}, line});
    };
    for (Index m = 0; m < count; ++m) {
      const RowMatrix Z = select_inducing(Selection::kmeans, sizes[m], train.X, setup.kernel,
                                          setup.kernel.parameters(2).values(), setup.seed)
                              .Z;
      const Classifier by_points = train_sparse(Z, train, setup),
                       by_eigen = train_features("eigen", sizes[m], train, setup);
      keep(points, m, by_points);
      keep(eigen, m, by_eigen);
      draw(fmt::format("{} points", sizes[m]), by_points);
      draw(fmt::format("{} eigenfunctions", sizes[m]), by_eigen);
    }
    const Classifier all = train_latent(Inference::vi, train, setup);
    keep(full, 0, all);
    draw("full VI", all);
    draw("the truth", truth);
  }

  Matrix bounds(count, 4), excess(count, 4);
  for (Index m = 0; m < count; ++m) {
    const auto M = static_cast<double>(sizes[m]);
    result.add(fmt::format("M = {}, points: bound; excess error; expected loss", sizes[m]), "",
               points.show(m), fmt::format("{:.1f} s", points.seconds.col(m).mean()));
    result.add(fmt::format("M = {}, eigenfunctions: the same", sizes[m]), "", eigen.show(m),
               fmt::format("{:.1f} s", eigen.seconds.col(m).mean()));
    bounds.row(m) << M, points.bound.col(m).mean(), eigen.bound.col(m).mean(), full.bound.mean();
    excess.row(m) << M, points.excess.col(m).mean(), eigen.excess.col(m).mean(), full.excess.mean();
  }
  result.add("full VI: the same", "", full.show(0),
             fmt::format("{:.1f} s; means of {} repetitions and their errors", full.seconds.mean(),
                         repeats));
  const std::vector<std::string> heads{"M", "points", "eigenfunctions", "full VI"};
  result.series.push_back({"the bound against M", heads, bounds});
  result.series.push_back({"excess error against M", heads, excess});

  bool behind = true;
  for (Index m = 0; m < 3; ++m)
    behind = behind && points.bound.col(m).mean() > eigen.bound.col(m).mean() &&
             points.loss.col(m).mean() < eigen.loss.col(m).mean();
  result.claim("up to M = 16 points have the better bound and the better probabilities (E16)",
               behind, behind ? "at 4, 9 and 16" : "no");
  const double least = (eigen.bound.rightCols(count - 1) - eigen.bound.leftCols(count - 1))
                           .colwise()
                           .mean()
                           .minCoeff();
  result.claim("the bound of eigenfunctions rises with M", least > 0.0,
               fmt::format("least step {:+.3f}", least));
  const double left = full.bound.mean() - eigen.bound.col(count - 1).mean(),
               worse = eigen.excess.col(count - 1).mean() - full.excess.mean();
  result.claim("with 100 eigenfunctions it is within 1 nat of full VI, the error to 0.002",
               left < 1.0 && std::abs(worse) < 0.002,
               fmt::format("{:.3f} nats, {:+.4f}", left, worse));
  return result;
}

}  // namespace covary::experiments
