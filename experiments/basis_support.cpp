#include "basis_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "covary/data/metrics.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/random/random.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

Task part(const RowMatrix& all, const std::vector<Index>& inputs, Index target, const Split& rows) {
  const auto columns = [&](const std::vector<Index>& of, const std::vector<Index>& which) {
    return RowMatrix(take_rows(all, of)(Eigen::all, which));
  };
  return {columns(rows.train, inputs), columns(rows.train, {target}), columns(rows.test, inputs),
          columns(rows.test, {target})};
}

}  // namespace

double Task::unit() const { return std::sqrt((Y.array() - Y.mean()).square().mean()); }

Task read_kin40k(const Settings& s) {
  const RowMatrix first = read_data("kin40k/train.csv.gz").values,
                  second = read_data("kin40k/test.csv.gz").values;
  RowMatrix all(first.rows() + second.rows(), first.cols());
  all << first, second;
  if (s.rows && s.rows < all.rows()) all = RowMatrix(all.topRows(s.rows));
  std::vector<Index> inputs(8);
  std::iota(inputs.begin(), inputs.end(), Index{0});
  return part(all, inputs, 8, train_test_split(all.rows(), 0.1, s.seed));
}

Task read_parkinsons(const Settings& s) {
  const RowMatrix all = read_data("parkinsons/data.csv").values,
                  fold = read_data("parkinsons/fold.csv").values;
  std::vector<Index> inputs;
  for (Index d = 0; d < 21; ++d)
    if (d != 4) inputs.push_back(d);  // motor_UPDRS is a second target
  Split rows;
  const Index N = s.rows ? std::min(s.rows, all.rows()) : all.rows();
  for (Index i = 0; i < N; ++i) (fold(i, 0) == 0.0 ? rows.test : rows.train).push_back(i);
  return part(all, inputs, 21, rows);
}

Task with_noise(Task task, double sd, std::uint64_t seed) {
  Random random(seed, 0x4015e);
  const double scale = sd * task.unit();
  for (RowMatrix* Y : {&task.Y, &task.Ytest})
    for (Index i = 0; i < Y->rows(); ++i) (*Y)(i) += scale * random.normal();
  return task;
}

std::string Size::name() const { return fmt::format("M = {}, C = {}", M, C); }

Score score_of(const Task& task, const Size& size, const RegressionFit& fit) {
  const Prediction p = fit.predict(task.Xtest);
  const double unit = task.unit();
  Score out{size};
  out.rmse = rmse(Vector(task.Ytest.col(0)), Vector(p.mean.col(0))) / unit;
  out.nlpd = nlpd(Vector(task.Ytest.col(0)), Vector(p.mean.col(0)), Vector(p.variance_y.col(0))) -
             std::log(unit);
  out.bound = fit.summary.value / static_cast<double>(task.Y.rows()) + std::log(unit);
  out.noise_sd = std::sqrt(fit.parameters.at("likelihood.variance").value[0]);
  out.iterations = fit.summary.iterations;
  out.numbers = size.numbers(task.X.cols());
  return out;
}

SparseRegressionOptions basis_options(const Size& size, const BasisTraining& how) {
  SparseRegressionOptions o;
  o.kernel = "se(ard)";
  // In the small form models are smaller than their names say.
  const Index C = few(size.C, std::min<Index>(size.C, 3));
  o.features = C == 1 ? FeatureChoice("points") : FeatureChoice(fmt::format("basis({})", C));
  o.inducing = few(size.M, 3 + size.M / 50);
  o.training.starts = 1;
  o.subset = few(how.subset, 40);
  o.seed = how.seed;
  o.training.max_iterations = how.iterations;
  if (how.seconds > 0.0) o.training.max_seconds = how.seconds;
  o.certificate_flops = 0.0;
  return o;
}

Score fit_basis(const Task& task, const Size& size, const BasisTraining& how,
                std::optional<RegressionFit>* kept) {
  SparseRegression model(task.X, task.Y, basis_options(size, how));
  if (how.held)
    for (const Parameter& p : how.held->all())
      if (!p.path.starts_with("features.")) {
        model.parameters().set(p.path, p.value);
        model.parameters().fix(p.path);
      }
  const auto began = std::chrono::steady_clock::now();
  const RegressionFit found = model.fit();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  Score out = score_of(task, size, found);
  out.seconds = took.count();
  progress(fmt::format("{}: RMSE {:.4f}, NLPD {:.4f}, {} iterations, {:.0f} s", size.name(),
                       out.rmse, out.nlpd, out.iterations, out.seconds));
  if (kept) kept->emplace(found);
  return out;
}

}  // namespace covary::experiments
