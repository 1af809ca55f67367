// The upper body from the lower one in novel motions, by a GP-LVM trained over minibatches
// (Damianou 2015, section 3.5.6, Figs 3.15 and 3.16). The document has 20 000 frames of 12 subjects
// that it does not name; here are the 2613 of subject 35, 31 walks and runs, and two further
// motions, whose upper body is missing in every frame. Beside it the collapsed model of a subset
// and sparse regression, which the document ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/models/stochastic_gplvm.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index columns = 59, first_upper = 20, end_upper = 50;
constexpr Index latent = 20, inducing = 100, all_steps = 1500;

RowMatrix read_frames(const std::string& name) {
  return read_data("cmu_mocap_35/" + name).values.rightCols(columns);
}

// The root mean square error of the upper body's angles, in degrees.
double error_of(const RowMatrix& predicted, const RowMatrix& truth) {
  return std::sqrt((predicted - truth).squaredNorm() / static_cast<double>(truth.size())) * 180.0 /
         std::numbers::pi;
}

}  // namespace

Result mocap_svi(const Settings& settings) {
  Result result;
  result.name = "mocap-svi";
  const Index batch = few(100, 20), steps = few(all_steps, 5), subset = few(300, 40);
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 3.5.6, Figs 3.15 and 3.16";
  const RowMatrix train = read_frames("features59_train.csv.gz"),
                  test = read_frames("features59_test.csv.gz");
  const std::vector<Index> upper = columns_between(first_upper, end_upper);
  std::vector<Index> lower;
  for (Index p = 0; p < columns; ++p)
    if (p < first_upper || p >= end_upper) lower.push_back(p);
  const RowMatrix truth = test(Eigen::all, upper);
  RowMatrix masked = test;
  for (const Index p : upper) masked.col(p).setConstant(std::nan(""));
  const auto add = [&](const std::string& what, const RowMatrix& predicted,
                       const std::string& remark = "") {
    const double e = error_of(predicted, truth);
    progress(fmt::format("{}: {:.2f}", what, e));
    result.add(what + ", degrees", "", fmt::format("{:.2f}", e), remark);
    return e;
  };
  const auto completed = [&](const GplvmFit& fit) {
    const auto found = fit.infer(masked, few(200, 2));
    return RowMatrix(fit.decode(found.mean, found.variance).mean(Eigen::all, upper));
  };

  add("mean pose", train.colwise().mean()(Eigen::all, upper).replicate(test.rows(), 1));
  add("nearest lower body",
      RowMatrix(take_rows(train, nearest_rows(test, train, lower))(Eigen::all, upper)));

  SparseRegressionOptions sparse;
  sparse.kernel = "se";  // one length: 29 of them overfit
  sparse.inducing = few(inducing, 12);
  sparse.seed = settings.seed;
  sparse.training.max_iterations = few(50, 2);
  const RowMatrix inputs = train(Eigen::all, lower), outputs = train(Eigen::all, upper);
  const RegressionFit regression = SparseRegression(inputs, outputs, sparse).fit();
  const double by_regression =
      add("sparse regression", regression.predict(RowMatrix(test(Eigen::all, lower))).mean,
          fmt::format("VFE, M = {}", inducing));

  GplvmOptions small;
  small.latent = latent;
  small.inducing = few(inducing, 12);
  small.training.starts = 1;
  small.seed = settings.seed;
  small.training.max_iterations = few(150, 2);
  std::vector<Index> some;
  for (Index i = 0; i < subset; ++i) some.push_back(i * train.rows() / subset);
  const GplvmFit collapsed = Gplvm(take_rows(train, some), small).fit();
  const double by_subset =
      add("collapsed GP-LVM of a subset", completed(collapsed),
          fmt::format("{} frames, {} dimensions", subset, collapsed.active().size()));

  StochasticGplvmOptions o;
  o.gplvm = small;
  o.gplvm.training.batch = batch;
  o.gplvm.training.steps = steps;
  const GplvmFit fit = StochasticGplvm(train, o).fit();
  const double by_batches = add("GP-LVM by minibatches", completed(fit),
                                fmt::format("{} steps of {} frames, {:.0f} s, {} dimensions", steps,
                                            batch, fit.summary.seconds, fit.active().size()));
  Matrix course(static_cast<Index>(fit.summary.trace.size()), 2);
  for (Index i = 0; i < course.rows(); ++i) {
    const auto& point = fit.summary.trace[static_cast<std::size_t>(i)];
    course.row(i) << static_cast<double>(point.iteration), point.value;
  }
  result.series.push_back({"the bound over the steps", {"step", "mean of the bound"}, course});
  const std::vector<Index> order = fit.by_relevance();
  Matrix map(fit.mean.rows(), 2);
  map << fit.mean.col(order[0]), fit.mean.col(order[1]);
  result.series.push_back({"the two most relevant dimensions", {"first", "second"}, map});
  result.claim("minibatches of all frames beat the collapsed model of a subset",
               by_batches <= by_subset, fmt::format("{:.2f} and {:.2f}", by_batches, by_subset));
  result.claim("regression, which is told what is missing, beats both",
               by_regression <= std::min(by_batches, by_subset),
               fmt::format("{:.2f}", by_regression));
  return result;
}

}  // namespace covary::experiments
