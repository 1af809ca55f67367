// Pose from silhouettes (Damianou 2015, section 5.3.3, Table 5.1): 63 coordinates of 21 joints from
// 100 numbers of a silhouette, 649 frames of five walks for training, 158 of a sixth for testing.
// The dynamical MRD places the test walk by its silhouettes as a sequence of its own. Its two
// starts, the nearest silhouette of each frame and that of each run of frames, are judged by the
// bound. Where training starts, from how many dimensions, or whether models from several are
// averaged, is chosen by the poses of the two long training walks, each held out in turn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/models/regression.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "map_rows.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index silhouette = 100, joints = 21, pose = 3 * joints, latent = 12, inducing = 100;
constexpr Index static_iterations = 300, iterations = 60;

// Of the training frames.
Index every() { return few(2, 20); }

struct Walks {
  RowMatrix S, P;                // silhouettes and poses
  std::vector<Index> sequences;  // first rows
  RowMatrix times;
};

struct PoseData {
  Walks train, test;
};

PoseData read_walks() {
  const RowMatrix all = read_data("silhouette/train.csv.gz").values;
  PoseData out;
  std::vector<Index> rows;
  std::vector<double> times;
  const Index ranges[][2] = {{0, 100}, {336, 405}, {405, 471}, {471, 954}, {954, 1531}};
  for (const auto& range : ranges) {
    out.train.sequences.push_back(static_cast<Index>(rows.size()));
    for (Index i = range[0]; i < range[1]; i += every()) {
      rows.push_back(i);
      times.push_back(static_cast<double>(i - range[0]));
    }
  }
  const auto take = [&](Walks& w, const std::vector<Index>& which) {
    const RowMatrix part = take_rows(all, which);
    w.S = part.leftCols(silhouette);
    w.P = part.rightCols(pose);
  };
  take(out.train, rows);
  out.train.times = Eigen::Map<const Vector>(times.data(), static_cast<Index>(times.size()));
  const Index n = few(158, 30);
  take(out.test, columns_between(1769, 1769 + n));
  out.test.times = Vector::LinSpaced(n, 0.0, static_cast<double>(n - 1));
  return out;
}

// The walk by itself, or all the others.
Walks some(const Walks& all, std::size_t walk, bool others) {
  Walks out;
  std::vector<Index> rows;
  for (std::size_t s = 0; s < all.sequences.size(); ++s) {
    if ((s == walk) == others) continue;
    out.sequences.push_back(static_cast<Index>(rows.size()));
    const Index end =
        s + 1 < all.sequences.size() ? all.sequences[s + 1] : static_cast<Index>(all.S.rows());
    for (Index i = all.sequences[s]; i < end; ++i) rows.push_back(i);
  }
  out.S = take_rows(all.S, rows);
  out.P = take_rows(all.P, rows);
  out.times = take_rows(all.times, rows);
  return out;
}

// Mean distance of the joints.
double error(const RowMatrix& predicted, const RowMatrix& truth) {
  double sum = 0.0;
  for (Index i = 0; i < truth.rows(); ++i)
    for (Index j = 0; j < pose; j += 3)
      sum += (predicted.row(i).segment(j, 3) - truth.row(i).segment(j, 3)).norm();
  return sum / static_cast<double>(truth.rows() * joints);
}

RowMatrix linear_regression(const Walks& train, const Walks& test) {
  const auto with_one = [](const RowMatrix& S) {
    Matrix out(S.rows(), S.cols() + 1);
    out << S, Vector::Ones(S.rows());
    return out;
  };
  const Matrix A = with_one(train.S);
  const Matrix weights = cholesky(product(A, A, Op::transpose), "the normal equations")
                             .solve(product(A, Matrix(train.P), Op::transpose));
  return product(with_one(test.S), weights);
}

// Of each test frame the training frame whose neighbourhood in time has the nearest silhouettes,
// over 2·window + 1 of its frames.
std::vector<Index> nearest_runs(const Walks& train, const Walks& test, Index window) {
  const auto pace = std::lround(static_cast<double>(every()) / (test.times(1) - test.times(0)));
  Matrix apart(test.S.rows(), train.S.rows());
  for (Index i = 0; i < test.S.rows(); ++i)
    apart.row(i) = (train.S.rowwise() - test.S.row(i)).rowwise().squaredNorm();
  std::vector<Index> out;
  for (Index i = 0; i < test.S.rows(); ++i) {
    Index best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < train.sequences.size(); ++s) {
      const Index first = train.sequences[s],
                  end = s + 1 < train.sequences.size() ? train.sequences[s + 1] : train.S.rows();
      for (Index k = first; k < end; ++k) {
        double sum = 0.0;
        for (Index w = -window; w <= window; ++w)
          sum += apart(std::clamp<Index>(i + pace * w, 0, test.S.rows() - 1),
                       std::clamp<Index>(k + w, first, end - 1));
        if (sum < least) {
          least = sum;
          best = k;
        }
      }
    }
    out.push_back(best);
  }
  return out;
}

RowMatrix exact_regression(const Walks& train, const Walks& test, std::uint64_t seed) {
  RegressionOptions o;
  o.kernel = "se";
  o.training.starts = 1;
  o.training.max_iterations = few(o.training.max_iterations, 3);
  o.seed = seed;
  return Regression(train.S, train.P, o).fit().predict(test.S).mean;
}

// Where training of the MRD starts: twelve dimensions, of components of each view, of what the
// views share and of components of both together, whichever has the best bound; or so many
// components of the poses, which silhouettes then explain as far as they can.
GplvmOptions mrd_options(Index of_poses, std::uint64_t seed, Index most_iterations) {
  GplvmOptions o;
  o.latent = of_poses ? of_poses : latent;
  o.inducing = few(inducing, 12);
  o.views = {{"pose", columns_between(0, pose)},
             {"silhouette", columns_between(pose, pose + silhouette)}};
  if (of_poses) o.start_view = "pose";
  o.training.starts = of_poses ? 1 : 3;
  o.fixed_point = few(10, 1);
  o.seed = seed;
  o.training.max_iterations = few(most_iterations, 2);
  return o;
}

RowMatrix both_views(const Walks& walks) {
  RowMatrix out(walks.S.rows(), pose + silhouette);
  out << walks.P, walks.S;
  return out;
}
RowMatrix silhouettes_alone(const Walks& walks) {
  RowMatrix out = both_views(walks);
  out.leftCols(pose).setConstant(std::nan(""));
  return out;
}

// What models from these starts, and the last three of them together, make of a walk.
constexpr Index starts[] = {0, 4, 6, 9};
struct Ways {
  std::vector<std::string> names, remarks;
  std::vector<RowMatrix> poses, with_noise_of_training;
};

Ways pose_walk(const Walks& train, const Walks& test, std::uint64_t seed) {
  Ways out;
  for (const Index start : starts) {
    GplvmOptions o = mrd_options(start, seed, iterations);
    o.held_iterations = few(iterations, 2);
    o.times = train.times;
    o.sequences = train.sequences;
    out.names.push_back(fmt::format("from {} components of the {}", start ? start : latent,
                                    start ? "poses" : "views"));
    const GplvmFit moving = train_dynamical(both_views(train), o, out.names.back());
    const auto placed = [&](bool own_noise) {
      return moving.infer_sequence(
          silhouettes_alone(test), test.times,
          {.start_means = {take_rows(moving.mean, nearest_rows(test.S, train.S)),
                           take_rows(moving.mean, nearest_runs(train, test, 5))},
           .iterations = few(100, 2),
           .own_noise = own_noise});
    };
    const auto poses = [&](const auto& walk) {
      return RowMatrix(moving.decode(walk.mean, walk.variance).mean.leftCols(pose));
    };
    const auto walk = placed(true);
    out.remarks.push_back(
        fmt::format("bound {:.0f}, of the walk from the two starts {:.0f} and {:.0f}", moving.value,
                    walk.bounds[0], walk.bounds[1]));
    out.poses.push_back(poses(walk));
    out.with_noise_of_training.push_back(poses(placed(false)));
  }
  const auto mean = [](const std::vector<RowMatrix>& of) {
    return RowMatrix((of[1] + of[2] + of[3]) / 3.0);
  };
  out.names.push_back("the mean of the three from the poses");
  out.remarks.push_back("");
  out.poses.push_back(mean(out.poses));
  out.with_noise_of_training.push_back(mean(out.with_noise_of_training));
  return out;
}

// The mean errors of each way for the two long training walks, held out in turn.
std::vector<double> held_out_errors(const Walks& train, std::uint64_t seed) {
  std::vector<double> out;
  for (const std::size_t walk : {3, 4}) {
    const Walks one = some(train, walk, false);
    const Ways ways = pose_walk(some(train, walk, true), one, seed);
    out.resize(ways.poses.size());
    for (std::size_t w = 0; w < out.size(); ++w) {
      const double e = error(ways.poses[w], one.P);
      progress(fmt::format("walk {} held out, {}: {:.3f}", walk + 1, ways.names[w], e));
      out[w] += 0.5 * e;
    }
  }
  return out;
}

}  // namespace

Result pose_silhouette(const Settings& settings) {
  Result result;
  result.name = "pose-silhouette";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 5.3.3, Table 5.1";
  const PoseData d = read_walks();
  const auto add = [&](const std::string& what, const std::string& reported,
                       const RowMatrix& predicted, const std::string& remark = "") {
    const double e = error(predicted, d.test.P);
    progress(fmt::format("{}: {:.3f}", what, e));
    result.add(what, reported, fmt::format("{:.3f}", e), remark);
    return e;
  };
  const auto poses = [&](const std::vector<Index>& rows) { return take_rows(d.train.P, rows); };
  const double baselines[] = {
      add("mean pose", "6.16", d.train.P.colwise().mean().replicate(d.test.P.rows(), 1)),
      add("linear regression", "5.86", linear_regression(d.train, d.test)),
      add("nearest silhouette", "4.88", poses(nearest_rows(d.test.S, d.train.S))),
      add("nearest pose", "2.08", poses(nearest_rows(d.test.P, d.train.P)), "unfair")};
  const double published[] = {6.16, 5.865, 4.88, 2.08};
  bool same = true;
  for (int i = 0; i < 4; ++i) same = same && std::abs(baselines[i] - published[i]) <= 0.01;
  result.claim("the four baselines within 0.01", same, same ? "yes" : "no");
  for (const Index window : {5, 15})
    add(fmt::format("nearest runs of {} silhouettes", 2 * window + 1), "4.04",
        poses(nearest_runs(d.train, d.test, window)), "how long theirs are is not said");
  add("Gaussian-process regression", "4.27", exact_regression(d.train, d.test, settings.seed),
      "exact, one lengthscale");
  add("shared GP-LVM", "5.13",
      shared_gplvm_poses(d.train.P, d.train.S, d.test.S, latent, settings.seed),
      "latent inputs are points");

  const std::vector<double> held_out = held_out_errors(d.train, settings.seed);
  const Ways ways = pose_walk(d.train, d.test, settings.seed);
  for (std::size_t w = 0; w < held_out.size(); ++w)
    result.add(fmt::format("training walks held out, {}", ways.names[w]), "",
               fmt::format("{:.3f}", held_out[w]));
  for (std::size_t w = 0; w < held_out.size(); ++w) {
    const std::string name = "MRD, dynamical, " + ways.names[w];
    add(name + ", silhouettes with the noise of training", "2.94", ways.with_noise_of_training[w]);
    add(name, "2.94", ways.poses[w], ways.remarks[w]);
  }
  const auto chosen = static_cast<std::size_t>(std::min_element(held_out.begin(), held_out.end()) -
                                               held_out.begin());
  const RowMatrix& best = ways.poses[chosen];
  const double ours = error(best, d.test.P);
  result.claim(fmt::format("dynamical MRD, {} (as the walks held out choose), at most 2.94",
                           ways.names[chosen]),
               ours <= 2.94, fmt::format("{:.3f}", ours));
  const GplvmFit still =
      Gplvm(both_views(d.train), mrd_options(0, settings.seed, static_iterations)).fit();
  const auto found = still.infer(silhouettes_alone(d.test), few(200, 2));
  add("MRD, static", "4.67",
      RowMatrix(still.decode(found.mean, found.variance).mean.leftCols(pose)),
      fmt::format("bound {:.0f}", still.value));
  const Index widest = moves_most(d.train.P);
  Matrix course(d.test.P.rows(), 3);
  course << d.test.times, d.test.P.col(widest), best.col(widest);
  result.series.push_back({"the coordinate that moves most, over the test walk",
                           {"frame", "truth", "dynamical MRD"},
                           course});
  return result;
}

}  // namespace covary::experiments
