// Walks and runs of CMU's subject 35 (Damianou 2015, section 3.5.3, Table 3.1): 59 numbers a frame,
// 31 sequences for training. Of the last half of a further run (motion 29) the right leg or the
// upper body is missing. Nine latent dimensions, 100 inducing inputs. The dynamical models place
// the test run as a sequence of its own, from the latent means of the nearest training frames, and
// are trained on with it among their data, as in the document. --repeats are seeds, of the inducing
// inputs' start; what all models complete is averaged.
//   RA: the root mean square error of the angles in degrees.
//   SC: the squares of errors times the scales of Taylor et al., over the missing columns.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "ledger.hpp"
#include "map_rows.hpp"
#include "mocap_runs.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

constexpr Index first_missing = 62, map_every = 4;
constexpr double ten_frames = 10 * frame_seconds;

// The completions of all models: their sum, and the errors of the one with the best bound.
struct Together {
  RowMatrix sum;
  double count = 0.0, bound = -std::numeric_limits<double>::infinity();
  Error best;

  void add(const Completed::Of& model, const Error& error) {
    if (count == 0.0) sum.setZero(model.missing.rows(), model.missing.cols());
    sum += model.missing;
    count += 1.0;
    if (model.bound <= bound) return;
    bound = model.bound;
    best = error;
  }
  RowMatrix mean() const { return sum / count; }
};

}  // namespace

Result mocap_walk_run(const Settings& settings, Ledger& ledger) {
  Result result;
  result.name = "mocap-walk-run";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 3.5.3, Table 3.1";
  const Motions train = read_motions("features59_train.csv.gz");
  Motions test = read_motions("features59_test.csv.gz", 29);
  test.missing_from = few(first_missing, 20);
  const Vector scale = read_data("cmu_mocap_35/taylor_scale.csv").values.col(0);
  const std::vector<Problem> problems = {{"legs", 7, 14, 6.84, 2.94},
                                         {"body", 20, 50, 11.95, 1.90}};
  const auto add = [&](const Problem& p, const std::string& what, const std::string& reported,
                       const RowMatrix& predicted, const std::string& remark = "") {
    const Error e = p.error(predicted(Eigen::all, p.missing), test, scale);
    const std::string measured = fmt::format("{:.2f} / {:.2f}", e.SC, e.RA);
    progress(fmt::format("{}, {}: {}", p.name, what, measured));
    result.add(fmt::format("{}, {}: SC / RA", p.name, what), reported, measured, remark);
    return e;
  };

  const RowMatrix centred = train.Y.rowwise() - train.Y.colwise().mean();
  const double freedom = static_cast<double>(train.Y.rows() - 1);
  const RowMatrix unit = (centred.colwise().squaredNorm() / freedom).cwiseSqrt().cwiseInverse();
  const auto scaled = [&](const RowMatrix& Y) { return RowMatrix(Y * unit.row(0).asDiagonal()); };
  const char* published[2][2] = {{"14.0 / 4.11", "13.5 / 4.44"}, {"30.9 / 3.20", "20.8 / 2.62"}};
  const double numbers[2][2][2] = {{{14.0, 4.11}, {13.5, 4.44}}, {{30.9, 3.20}, {20.9, 2.62}}};
  bool same = true;
  for (std::size_t k = 0; k < 2; ++k)
    for (int s = 0; s < 2; ++s) {
      const Problem& p = problems[k];
      const auto rows = s ? nearest_rows(scaled(test.Y), scaled(train.Y), p.seen)
                          : nearest_rows(test.Y, train.Y, p.seen);
      const Error e = add(p, s ? "nearest neighbour, scaled" : "nearest neighbour", published[k][s],
                          take_rows(train.Y, rows));
      same = same && std::abs(e.SC - numbers[k][s][0]) <= 0.05 &&
             std::abs(e.RA - numbers[k][s][1]) <= 0.005;
    }
  result.claim("the four rows of nearest neighbours", same, same ? "yes" : "no");

  const struct {
    Index latent;
    const char* reported[2];
  } points[] = {{3, {"11.4 / 3.40", "16.9 / 2.49"}},
                {4, {"9.7 / 3.38", "20.7 / 2.72"}},
                {5, {"13.4 / 4.25", "23.4 / 2.78"}}};
  for (const auto& q : points) {
    const MapGplvmFit model = train_map_dynamical(train.Y, train.times, train.sequences, q.latent,
                                                  map_every, settings.seed);
    for (std::size_t k = 0; k < 2; ++k)
      add(problems[k], fmt::format("MAP GP-LVM with dynamics, Q = {}", q.latent), q.reported[k],
          map_dynamical_completion(model, problems[k].masked(test), test.times),
          fmt::format("every {}th frame", map_every));
  }

  const struct {
    const char *kernel, *name, *reported[2], *dimensions;
  } priors[] = {{"se + white", "dynamical, se", {"7.76 / 3.28", "11.95 / 1.90"}, "3"},
                {"matern32 + white", "dynamical, matern32", {"6.84 / 2.94", "13.93 / 2.24"}, "4"}};
  const Index n = test.Y.rows(), repeats = settings.repeats ? settings.repeats : 1;
  std::vector<Together> together(problems.size());
  for (const auto& prior : priors) {
    std::vector<Together> of_prior(problems.size());
    for (const double lengthscale : {0.0, ten_frames}) {
      const std::string name = fmt::format("{}, from {}", prior.name,
                                           lengthscale > 0.0 ? "ten frames" : "the likeliest");
      std::vector<Completed> models;
      for (Index r = 0; r < repeats; ++r) {
        const auto seed = settings.seed + static_cast<std::uint64_t>(r);
        models.push_back(Completed::from(
            ledger.once(
                fmt::format("{}, seed {}", name, seed), Completed::count(problems, n),
                [&] {
                  return complete(train, test, problems, prior.kernel, lengthscale, seed).numbers();
                }),
            problems, n));
      }
      for (std::size_t k = 0; k < problems.size(); ++k) {
        Vector SC(repeats), RA(repeats), bounds(repeats), lengthscales(repeats), dims(repeats);
        for (Index r = 0; r < repeats; ++r) {
          const Completed& c = models[static_cast<std::size_t>(r)];
          const Error e = problems[k].error(c.problems[k].missing, test, scale);
          SC(r) = e.SC;
          RA(r) = e.RA;
          bounds(r) = c.problems[k].bound;
          lengthscales(r) = c.lengthscale / frame_seconds;
          dims(r) = c.dims;
          together[k].add(c.problems[k], e);
          of_prior[k].add(c.problems[k], e);
          progress(fmt::format("{}, {}, seed {}: {:.2f} / {:.2f}, bound {:.0f}", problems[k].name,
                               name, settings.seed + static_cast<std::uint64_t>(r), e.SC, e.RA,
                               c.problems[k].bound));
        }
        result.add(fmt::format("{}, {}: SC / RA", problems[k].name, name), prior.reported[k],
                   fmt::format("{} / {}", mean_sd(SC, 2), mean_sd(RA, 2)),
                   fmt::format("{:.1f} dimensions ({}), {:.1f} frames, bound {}", dims.mean(),
                               prior.dimensions, lengthscales.mean(), mean_sd(bounds, 0)));
      }
    }
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const Error e = problems[k].error(of_prior[k].mean(), test, scale);
      result.add(fmt::format("{}, {}, the mean of {} models: SC / RA", problems[k].name, prior.name,
                             of_prior[k].count),
                 prior.reported[k], fmt::format("{:.2f} / {:.2f}", e.SC, e.RA));
    }
  }
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const Problem& p = problems[k];
    const RowMatrix mean = together[k].mean();
    const Index widest = moves_most(train.Y(Eigen::all, p.missing));
    Matrix course(n, 3);
    course << test.times, test.Y.col(p.missing[static_cast<std::size_t>(widest)]), mean.col(widest);
    result.series.push_back({fmt::format("{}: the missing angle that moves most", p.name),
                             {"seconds", "truth", "completed"},
                             course});
    const Error e = p.error(mean, test, scale);
    const std::string level = fmt::format("at or below SC {} and RA {}", p.best_SC, p.best_RA);
    const auto claim = [&](const std::string& what, const Error& of) {
      result.claim(fmt::format("{}, {}: {}", p.name, what, level),
                   of.SC <= p.best_SC && of.RA <= p.best_RA,
                   fmt::format("{:.2f} / {:.2f}", of.SC, of.RA));
    };
    claim("the model of the best bound", together[k].best);
    claim(fmt::format("the mean of {} models", together[k].count), e);
  }
  const GplvmFit still = Gplvm(train.Y, walk_options(train, "", settings.seed)).fit();
  const char* of_static[] = {"14.22 / 5.09", "18.79 / 2.79"};
  for (std::size_t k = 0; k < 2; ++k) {
    const Problem& p = problems[k];
    const auto found = still.infer(p.masked(test), few(200, 2));
    add(p, "static", of_static[k], still.decode(found.mean, found.variance).mean,
        fmt::format("{} dimensions (5)", still.active().size()));
  }
  return result;
}

}  // namespace covary::experiments
