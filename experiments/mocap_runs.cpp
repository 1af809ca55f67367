#include "mocap_runs.hpp"

#include <cmath>
#include <numbers>

#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index columns = 59, latent = 9, inducing = 100, train_iterations = 200,
                joint_iterations = 100;

}  // namespace

Motions read_motions(const std::string& name, Index only) {
  const RowMatrix all = read_data("cmu_mocap_35/" + name).values;
  Motions out;
  std::vector<Index> rows;
  std::vector<double> times;
  double motion = -1.0;
  for (Index i = 0; i < all.rows(); ++i) {
    if (only && std::lround(all(i, 0)) != only) continue;
    if (all(i, 0) != motion) {
      motion = all(i, 0);
      out.sequences.push_back(static_cast<Index>(rows.size()));
    }
    rows.push_back(i);
    times.push_back(frame_seconds *
                    static_cast<double>(static_cast<Index>(rows.size()) - out.sequences.back()));
  }
  out.Y = take_rows(all, rows).rightCols(columns);
  out.times = Eigen::Map<const Vector>(times.data(), static_cast<Index>(times.size()));
  return out;
}

Problem::Problem(std::string n, Index first, Index end, double SC, double RA)
    : name(std::move(n)), missing(columns_between(first, end)), best_SC(SC), best_RA(RA) {
  for (Index p = 0; p < columns; ++p)
    if (p < first || p >= end) seen.push_back(p);
}

Error Problem::error(const RowMatrix& predicted, const Motions& run, const Vector& scale) const {
  double scaled = 0.0, angles = 0.0, count = 0.0;
  for (Index i = run.missing_from; i < run.Y.rows(); ++i)
    for (Index k = 0; k < predicted.cols(); ++k) {
      const Index p = missing[static_cast<std::size_t>(k)];
      const double e = (predicted(i, k) - run.Y(i, p)) * 180.0 / std::numbers::pi;
      scaled += std::pow(e * scale(p + 9), 2);
      angles += e * e;
      count += 1.0;
    }
  return {scaled / static_cast<double>(missing.size()), std::sqrt(angles / count)};
}

RowMatrix Problem::masked(const Motions& run) const {
  RowMatrix Y = run.Y;
  for (Index i = run.missing_from; i < Y.rows(); ++i)
    for (const Index p : missing) Y(i, p) = std::nan("");
  return Y;
}

GplvmOptions walk_options(const Motions& train, const std::string& dynamics, std::uint64_t seed) {
  GplvmOptions o;
  o.latent = latent;
  o.inducing = few(inducing, 12);
  o.training.starts = 1;
  o.held_iterations = few(100, 2);
  o.seed = seed;
  o.training.max_iterations = few(train_iterations, 2);
  if (dynamics.empty()) return o;
  o.dynamics = Kernel(dynamics);
  o.times = train.times;
  o.sequences = train.sequences;
  return o;
}

Vector Completed::numbers() const {
  std::vector<double> out{bound, dims, lengthscale};
  for (const Of& p : problems) {
    out.push_back(p.bound);
    out.insert(out.end(), p.missing.reshaped().begin(), p.missing.reshaped().end());
  }
  return Eigen::Map<const Vector>(out.data(), static_cast<Index>(out.size()));
}

Index Completed::count(const std::vector<Problem>& problems, Index frames) {
  Index out = 3;
  for (const Problem& p : problems) out += 1 + frames * static_cast<Index>(p.missing.size());
  return out;
}

Completed Completed::from(const Vector& v, const std::vector<Problem>& problems, Index frames) {
  Completed out{v(0), v(1), v(2), {}};
  Index at = 3;
  for (const Problem& p : problems) {
    const auto width = static_cast<Index>(p.missing.size());
    out.problems.push_back({v(at), v.segment(at + 1, frames * width).reshaped(frames, width)});
    at += 1 + frames * width;
  }
  return out;
}

Completed complete(const Motions& train, const Motions& run, const std::vector<Problem>& problems,
                   const std::string& kernel, double lengthscale, std::uint64_t seed) {
  GplvmOptions o = walk_options(train, kernel, seed);
  if (lengthscale > 0.0) o.dynamics_start = Vector{{1.0, lengthscale, 1e-3}};
  const GplvmFit model = train_dynamical(train.Y, o, kernel);
  Completed out{model.value,
                static_cast<double>(model.active().size()),
                model.parameters.at("dynamics.0.lengthscales").value(0),
                {}};
  for (const Problem& p : problems) {
    const RowMatrix seen = p.masked(run);
    const RowMatrix start = take_rows(model.mean, nearest_rows(run.Y, train.Y, p.seen));
    const auto placed = model.infer_sequence(
        seen, run.times, {.start_means = {start}, .iterations = few(100, 2), .own_noise = true});
    const GplvmFit all = train_with_sequence(model, train.Y, o, seen, run.times, placed.mean,
                                             few(joint_iterations, 2));
    const Index n = run.Y.rows();
    const RowMatrix Y = all.decode(all.mean.bottomRows(n), all.variance.bottomRows(n)).mean;
    out.problems.push_back({all.value, Y(Eigen::all, p.missing)});
  }
  return out;
}

}  // namespace covary::experiments
