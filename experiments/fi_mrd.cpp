// Every output a view of its own (Damianou 2015, section 5.3.6, Fig. 5.16): 120 frames of four
// walks, 63 coordinates of 21 joints, ten latent dimensions from the principal components of all.
// The weights of a joint's three views are clustered: joints that move together should be together,
// as they are when their own courses are clustered.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "covary/data/kmeans.hpp"
#include "covary/data/pca.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "experiments.hpp"
#include "latent_support.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index coordinates = 63, joints = 21, latent = 10, inducing = 20, frames = 30;

// The share of pairs of joints that both clusterings treat alike.
double agreement(const std::vector<Index>& a, const std::vector<Index>& b) {
  double same = 0.0, pairs = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j, pairs += 1.0) same += (a[i] == a[j]) == (b[i] == b[j]);
  return same / pairs;
}

std::vector<Index> clustered(const RowMatrix& rows, Index K, std::uint64_t seed) {
  const Clusters c = kmeans(rows, K, seed);
  return nearest_rows(rows, c.centres);
}

}  // namespace

Result fi_mrd(const Settings& settings) {
  Result result;
  result.name = "fi-mrd";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 5.3.6, Fig. 5.16";
  const RowMatrix all = read_data("silhouette/train.csv.gz").values;
  std::vector<Index> rows;
  for (const Index first : {0, 336, 405, 471})
    for (Index i = 0; i < frames; ++i) rows.push_back(first + 2 * i);
  const RowMatrix Y = take_rows(all, rows).rightCols(coordinates);
  GplvmOptions o;
  o.latent = latent;
  o.inducing = inducing;
  for (Index p = 0; p < coordinates; ++p) o.views.push_back({fmt::format("y{}", p), {p}});
  o.training.starts = 1;
  o.seed = settings.seed;
  o.training.max_iterations = few(300, 2);
  const Pca pca = Pca::fit(Y, latent);
  o.start_mean = pca.transform(Y);
  for (Index q = 0; q < latent; ++q) o.start_mean.col(q) /= std::sqrt(pca.variances(q));
  const GplvmFit fit = Gplvm(Y, o).fit();
  progress(fmt::format("bound {:.1f} after {:.0f} s", fit.value, fit.summary.seconds));

  const Matrix w = fit.relevance();
  RowMatrix weights(joints, 3 * latent), courses(joints, 3 * Y.rows());
  for (Index j = 0; j < joints; ++j)
    for (Index c = 0; c < 3; ++c) {
      weights.row(j).segment(c * latent, latent) = w.row(3 * j + c);
      courses.row(j).segment(c * Y.rows(), Y.rows()) = Y.col(3 * j + c).transpose();
    }
  Matrix curve(8, 2);
  for (Index K = 3; K <= 10; ++K) {
    const auto by_weights = clustered(weights, K, settings.seed),
               by_courses = clustered(courses, K, settings.seed);
    const double alike = agreement(by_weights, by_courses);
    curve.row(K - 3) << static_cast<double>(K), alike;
    if (K == 4 || K == 6)
      result.add(fmt::format("joints by {} clusters of weights", K), "limbs together",
                 fmt::format("{}", fmt::join(by_weights, " ")),
                 fmt::format("by courses {}", fmt::join(by_courses, " ")));
    result.add(fmt::format("{} clusters: pairs of joints treated alike by courses", K), "similar",
               fmt::format("{:.0f} %", 100.0 * alike));
  }
  result.add("dimensions in use", "", fmt::format("{} of {}", fit.active().size(), latent));
  result.series.push_back({"agreement with clusters of the courses", {"clusters", "share"}, curve});
  return result;
}

}  // namespace covary::experiments
