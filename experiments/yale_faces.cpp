// Faces under the same lights (Damianou 2015, section 5.3.2, Figs 5.3 to 5.8): two views of three
// people each from Yale B, rows aligned by the light and with a person drawn anew in each view, so
// that the light is all they share. Here the images are 32 × 32, not 192 × 168.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/table.hpp"
#include "covary/error.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index people = 3, lights = 64, side = 32, pixels = side * side, latent = 14,
                inducing = 120, steps = 6;
constexpr Index iterations = 2000;
constexpr double in_use = 0.01;

// The images of each of six people, in the order of the lights.
std::vector<RowMatrix> read_faces() {
  const RowMatrix all = read_data("yale_faces_b/images-idx3-ubyte.gz").values;
  const RowMatrix label = read_data("yale_faces_b/labels-idx1-ubyte.gz").values;
  std::vector<RowMatrix> out;
  for (Index k = 1; k <= 2 * people; ++k) {
    std::vector<Index> rows;
    for (Index i = 0; i < label.rows(); ++i)
      if (label(i, 0) == static_cast<double>(k)) rows.push_back(i);
    if (static_cast<Index>(rows.size()) != lights)
      throw InputError(
          fmt::format("person {} has {} images, not {}: rows cannot be aligned by the light", k,
                      rows.size(), lights));
    out.push_back(all(rows, Eigen::all) / 255.0);
  }
  return out;
}

}  // namespace

Result yale_faces(const Settings& settings) {
  Result result;
  result.name = "yale-faces";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 5.3.2, Figs 5.3 to 5.8";
  const std::vector<RowMatrix> faces = read_faces();
  const Index N = people * lights;
  RowMatrix Y(N, 2 * pixels);
  std::vector<Index> light;
  std::vector<Index> person[2];
  Random random(settings.seed, 0xfa);
  for (Index l = 0; l < lights; ++l)
    for (int v = 0; v < 2; ++v) {
      // Every person once under every light, in an order of the view's own.
      std::vector<Index> order = columns_between(0, people);
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1],
                  order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
      for (Index k = 0; k < people; ++k) {
        const Index who = order[static_cast<std::size_t>(k)];
        Y.row(l * people + k).segment(v * pixels, pixels) =
            faces[static_cast<std::size_t>(v * people + who)].row(l);
        person[v].push_back(who);
        if (v == 0) light.push_back(l);
      }
    }
  GplvmOptions o;
  o.latent = latent;
  o.inducing = few(inducing, 12);
  o.views = {{"a", columns_between(0, pixels)}, {"b", columns_between(pixels, 2 * pixels)}};
  o.training.starts =
      3;  // components of each view, what the views share, components of both together
  o.fixed_point = few(10, 1);
  o.seed = settings.seed;
  o.training.max_iterations = few(iterations, 2);
  const GplvmFit fit = Gplvm(Y, o).fit();
  const char* starts[] = {"components of each view", "what the views share",
                          "components of both together"};
  for (const auto& start : fit.summary.starts)
    result.add(fmt::format("bound from {}", starts[start.index]), "",
               fmt::format("{:.0f}", start.value.value_or(std::nan(""))),
               start.index == fit.summary.best_start ? "taken" : "");
  progress(fmt::format("bound {:.0f} after {:.0f} s", fit.value, fit.summary.seconds));

  const Matrix w = fit.relevance();
  std::vector<Index> shared, own[2];
  for (Index q = 0; q < latent; ++q) {
    const bool a = w(0, q) > in_use, b = w(1, q) > in_use;
    if (a && b) shared.push_back(q);
    if (a && !b) own[0].push_back(q);
    if (b && !a) own[1].push_back(q);
  }
  result.add("size of the images", "192 × 168", "32 × 32", "the larger ones are not in the data");
  result.add("shared dimensions", "3 of 14", fmt::format("{} of {}", shared.size(), latent),
             "relevance above 0.01 in both views");
  result.add("private dimensions of a; of b", "4; 5",
             fmt::format("{}; {}", own[0].size(), own[1].size()));

  // Neighbours in the shared dimensions: the same light, whoever it is.
  const auto scaled = [&](const std::vector<Index>& dims, Index view) {
    RowMatrix x = fit.mean(Eigen::all, dims);
    for (std::size_t i = 0; i < dims.size(); ++i)
      x.col(static_cast<Index>(i)) *= std::sqrt(w(view, dims[i]));
    return x;
  };
  double same_light = 0.0, same_person[2] = {0.0, 0.0};
  if (!shared.empty()) {
    const RowMatrix x = scaled(shared, 0);
    for (Index i = 0; i < N; ++i) {
      const Vector apart = (x.rowwise() - x.row(i)).rowwise().squaredNorm();
      std::vector<Index> order = columns_between(0, N);
      std::partial_sort(order.begin(), order.begin() + 1 + people - 1, order.end(),
                        [&](Index a, Index b) { return apart(a) < apart(b); });
      for (Index k = 1; k < people; ++k)
        same_light += light[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] ==
                      light[static_cast<std::size_t>(i)];
    }
    same_light /= static_cast<double>(N * (people - 1));
  }
  result.add("of the two neighbours in the shared dimensions: under the same light", "",
             fmt::format("{:.0f} %", 100.0 * same_light),
             "by chance 1 %; there are two such rows in all");
  for (int v = 0; v < 2; ++v) {
    if (own[v].empty()) continue;
    same_person[v] = 1.0 - static_cast<double>(neighbour_errors(scaled(own[v], v), person[v])) /
                               static_cast<double>(N);
    result.add(fmt::format("nearest neighbour in the private dimensions of {}: the same person",
                           v ? "b" : "a"),
               "clusters", fmt::format("{:.0f} %", 100.0 * same_person[v]), "by chance 33 %");
  }
  Matrix weights(latent, 3);
  for (Index q = 0; q < latent; ++q) weights.row(q) << static_cast<double>(q), w(0, q), w(1, q);
  result.series.push_back({"relevance", {"dimension", "view a", "view b"}, weights});
  result.claim("dimensions that the views share", !shared.empty(),
               fmt::format("{} of {}", shared.size(), latent));
  result.claim("half of the neighbours in them under the same light", same_light >= 0.5,
               fmt::format("{:.0f} %", 100.0 * same_light));
  result.claim("nine tenths of the nearest in private dimensions are the same person",
               std::min(same_person[0], same_person[1]) >= 0.9,
               fmt::format("{:.0f} %; {:.0f} %", 100.0 * same_person[0], 100.0 * same_person[1]));
  // A face of each view, one above the other, under the lights that a shared dimension stands for.
  for (const Index q : shared) {
    RowMatrix walk = fit.mean.row(0).replicate(steps, 1);
    walk.col(q) = Vector::LinSpaced(steps, fit.mean.col(q).minCoeff(), fit.mean.col(q).maxCoeff());
    const RowMatrix decoded = fit.decode(walk).mean;
    Matrix strip(2 * side, side * steps);
    for (Index k = 0; k < steps; ++k)
      for (Index v = 0; v < 2; ++v) {
        const RowMatrix face = decoded.row(k).segment(v * pixels, pixels);
        strip.block(v * side, k * side, side, side) =
            Eigen::Map<const RowMatrix>(face.data(), side, side);
      }
    result.series.push_back({fmt::format("two faces along the shared dimension {}", q), {}, strip});
  }
  return result;
}

}  // namespace covary::experiments
