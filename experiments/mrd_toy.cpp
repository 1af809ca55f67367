// Manifold relevance determination on generated views (Damianou 2015, section 5.3.1, Fig. 5.2):
// a cosine in the first view alone, a sine in the second alone, mapped to ten columns by random
// weights; a squared cosine in both, added to the first five columns of each; noise of 0.1. Linear
// mappings, eight dimensions of which four start from each view.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "classification_support.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index rows = 100, columns = 10, default_repeats = 5;
constexpr double in_use = 0.01;  // relevance, as in reports

RowMatrix view(const Vector& own, const Vector& shared, Random& random) {
  RowMatrix out(rows, columns);
  for (Index p = 0; p < columns; ++p) {
    const double weight = random.uniform(), common = p < columns / 2 ? random.uniform() : 0.0;
    for (Index i = 0; i < rows; ++i)
      out(i, p) = weight * own(i) + common * shared(i) + 0.1 * random.normal();
  }
  return out;
}

double correlation(const Vector& a, const Vector& b) {
  const Vector x = a.array() - a.mean(), y = b.array() - b.mean();
  return std::abs(dot(x, y)) / std::sqrt(x.squaredNorm() * y.squaredNorm());
}

}  // namespace

Result mrd_toy(const Settings& settings) {
  Result result;
  result.name = "mrd-toy";
  result.source = "Damianou (2015), section 5.3.1, Fig. 5.2";
  const Index repeats = settings.repeats ? settings.repeats : default_repeats;
  const Vector t = Vector::LinSpaced(rows, 0.0, 4.0 * std::numbers::pi);
  const Vector first = t.array().cos(), second = t.array().sin(), shared = t.array().cos().square();
  Index right = 0;
  for (Index r = 0; r < repeats; ++r) {
    Random random(settings.seed + static_cast<std::uint64_t>(r), 0x3e1);
    RowMatrix Y(rows, 2 * columns);
    Y << view(first, shared, random), view(second, shared, random);
    GplvmOptions o;
    o.latent = 8;
    o.kernel = "linear(ard)";
    o.inducing = 20;
    o.views = {{"a", {}}, {"b", {}}};
    for (Index p = 0; p < 2 * columns; ++p) o.views[p < columns ? 0 : 1].columns.push_back(p);
    o.seed = settings.seed;
    const GplvmFit fit = Gplvm(Y, o).fit();
    const Matrix relevance = fit.relevance();
    Index both = 0, of_a = 0, of_b = 0;
    double found[3] = {0.0, 0.0, 0.0};
    for (Index q = 0; q < 8; ++q) {
      const bool a = relevance(0, q) > in_use, b = relevance(1, q) > in_use;
      both += a && b;
      of_a += a && !b;
      of_b += b && !a;
      const Vector x = fit.mean.col(q);
      if (a && b) found[0] = std::max(found[0], correlation(x, shared));
      if (a && !b) found[1] = std::max(found[1], correlation(x, first));
      if (b && !a) found[2] = std::max(found[2], correlation(x, second));
    }
    right += both == 1 && of_a == 1 && of_b == 1;
    result.add(fmt::format("data set {}: shared, private to a, private to b", r), "1, 1, 1",
               fmt::format("{}, {}, {}", both, of_a, of_b),
               fmt::format("correlation with the signals {:.3f}, {:.3f}, {:.3f}", found[0],
                           found[1], found[2]));
    progress(fmt::format("data set {}: {} shared, {} and {} private; bound {:.2f}", r, both, of_a,
                         of_b, fit.elbo));
    if (r > 0) continue;
    Matrix weights(8, 3);
    for (Index q = 0; q < 8; ++q)
      weights.row(q) << static_cast<double>(q), relevance(0, q), relevance(1, q);
    result.series.push_back({"relevance", {"dimension", "view a", "view b"}, weights});
  }
  result.claim("one shared and two private dimensions, in every data set", right == repeats,
               fmt::format("{} of {}", right, repeats));
  return result;
}

}  // namespace covary::experiments
