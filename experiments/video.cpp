// Frames of very many pixels (the claim of Damianou 2015, section 3.5.4, Table 3.2, whose videos
// are not to be had): a generated scene of 320 × 320 pixels in which two lights move, every other
// block of four frames held out. A dynamical GP-LVM of the training frames, whose cost does not
// grow with the pixels, completes held-out frames of which the left half is seen; beside the best
// mean of the nearest one to five training frames. Squared errors a missing pixel; values from 0 to
// 255.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covary/data/split.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index frames = 80, block = 4, latent = 8;
constexpr double noise = 2.0;

Index side() { return few(320, 40); }
Index pixels() { return side() * side(); }

RowMatrix scene(std::uint64_t seed) {
  Random random(seed, 0x71de0);
  RowMatrix out(frames, pixels());
  const double unit = 320.0 / static_cast<double>(side());
  for (Index t = 0; t < frames; ++t) {
    const double at = 2.0 * std::numbers::pi * static_cast<double>(t) / 40.0;
    const double x1 = 160.0 + 90.0 * std::cos(at), y1 = 120.0 + 50.0 * std::sin(at);
    const double x2 = 160.0 + 100.0 * std::sin(0.7 * at + 1.0), size = 40.0 + 12.0 * std::cos(at);
    for (Index i = 0; i < side(); ++i)
      for (Index j = 0; j < side(); ++j) {
        const double u = unit * static_cast<double>(j), v = unit * static_cast<double>(i);
        const double first =
            std::exp(-0.5 * ((u - x1) * (u - x1) + (v - y1) * (v - y1)) / (size * size));
        const double second =
            std::exp(-0.5 * ((u - x2) * (u - x2) + (v - 240.0) * (v - 240.0)) / 900.0);
        out(t, i * side() + j) = 60.0 + 20.0 * std::sin(u / 25.0) * std::cos(v / 30.0) +
                                 110.0 * first + 60.0 * second + noise * random.normal();
      }
  }
  return out;
}

}  // namespace

Result video(const Settings& settings) {
  Result result;
  result.name = "video";
  result.source =
      "the claim of A. Damianou, Deep Gaussian Processes and Variational Propagation of "
      "Uncertainty (2015), section 3.5.4, Table 3.2, on a generated scene";
  const RowMatrix Y = scene(settings.seed);
  std::vector<Index> train, test, seen, missing;
  for (Index t = 0; t < frames; ++t) (t / block % 2 ? test : train).push_back(t);
  for (Index p = 0; p < pixels(); ++p) (p % side() < side() / 2 ? seen : missing).push_back(p);
  const RowMatrix known = take_rows(Y, train), held_out = take_rows(Y, test);
  const auto error = [&](const RowMatrix& predicted) {
    return (predicted - held_out)(Eigen::all, missing).squaredNorm() /
           static_cast<double>(held_out.rows() * static_cast<Index>(missing.size()));
  };

  // The mean of the nearest k frames by the pixels that are seen, the best k.
  const RowMatrix a = held_out(Eigen::all, seen), b = known(Eigen::all, seen);
  double nearest = 1e300;
  Index best_k = 0;
  for (Index k = 1; k <= 5; ++k) {
    RowMatrix mean = RowMatrix::Zero(held_out.rows(), pixels());
    for (Index i = 0; i < a.rows(); ++i) {
      const Vector apart = (b.rowwise() - a.row(i)).rowwise().squaredNorm();
      std::vector<Index> order = columns_between(0, b.rows());
      std::sort(order.begin(), order.end(), [&](Index x, Index y) { return apart(x) < apart(y); });
      for (Index n = 0; n < k; ++n)
        mean.row(i) += known.row(order[static_cast<std::size_t>(n)]) / static_cast<double>(k);
    }
    if (const double e = error(mean); e < nearest) {
      nearest = e;
      best_k = k;
    }
  }

  GplvmOptions o;
  o.latent = latent;
  o.inducing = static_cast<Index>(train.size());
  o.times.resize(known.rows(), 1);
  for (std::size_t i = 0; i < train.size(); ++i)
    o.times(static_cast<Index>(i), 0) = static_cast<double>(train[i]);
  o.dynamics = "matern32 + white";
  o.training.starts = 1;
  o.training.max_iterations = few(o.training.max_iterations, 2);
  o.seed = settings.seed;
  const GplvmFit fit = Gplvm(known, o).fit();
  progress(fmt::format("bound {:.0f} after {:.0f} s: {}", fit.value, fit.summary.seconds,
                       fit.summary.reason));
  RowMatrix half = held_out;
  for (const Index p : missing) half.col(p).setConstant(std::nan(""));
  const auto found = fit.infer(half, few(200, 2));
  const double ours = error(fit.decode(found.mean, found.variance).mean);
  const RowMatrix times = Vector(Eigen::Map<const Eigen::Matrix<Index, Eigen::Dynamic, 1>>(
                                     test.data(), static_cast<Index>(test.size()))
                                     .cast<double>());
  const LatentMarginals between = fit.forecast(times);
  const double by_time = error(fit.decode(between.mean, between.variance).mean);

  result.add("pixels a frame; frames for training; for testing", "103 680 and more",
             fmt::format("{}; {}; {}", pixels(), train.size(), test.size()));
  result.add("squared error a missing pixel: GP-LVM", "2.52, 9.36, 4.01",
             fmt::format("{:.3f}", ours),
             fmt::format("the noise alone is {:.1f}; their videos are others", noise * noise));
  result.add("nearest frames", "2.63, 9.53, 4.15", fmt::format("{:.3f}", nearest),
             fmt::format("the best of 1 to 5: {}", best_k));
  result.add("GP-LVM at the frames' times, nothing seen", "", fmt::format("{:.3f}", by_time));
  result.add("seconds of training; dimensions in use", "",
             fmt::format("{:.1f}; {}", fit.summary.seconds, fit.active().size()));
  result.claim("below the nearest frames", ours < nearest,
               fmt::format("{:.3f} and {:.3f}", ours, nearest));
  Matrix image(side() / 4, side() / 4);
  const RowMatrix shown = fit.decode(found.mean.topRows(1), found.variance.topRows(1)).mean;
  for (Index i = 0; i < image.rows(); ++i)
    for (Index j = 0; j < image.cols(); ++j)
      image(i, j) = j < image.cols() / 2 ? held_out(0, 4 * i * side() + 4 * j)
                                         : shown(0, 4 * i * side() + 4 * j);
  result.series.push_back({"a held-out frame: the left half seen, the right completed", {}, image});
  return result;
}

}  // namespace covary::experiments
