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
#include "ledger.hpp"
#include "small.hpp"
#include "sparse_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index rows = 100, columns = 10, latent = 8, default_repeats = 5;
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

// Of one data set: dimensions shared, private to a and to b, their largest correlations with the
// signals, the bound, and the relevance of every dimension to a and b.
Vector one_set(std::uint64_t seed, std::uint64_t data_seed) {
  const Vector t = Vector::LinSpaced(rows, 0.0, 4.0 * std::numbers::pi);
  const Vector first = t.array().cos(), second = t.array().sin(), shared = t.array().cos().square();
  Random random(data_seed, 0x3e1);
  RowMatrix Y(rows, 2 * columns);
  Y << view(first, shared, random), view(second, shared, random);
  GplvmOptions o;
  o.latent = latent;
  o.kernel = "linear(ard)";
  o.inducing = 20;
  o.views = {{"a", {}}, {"b", {}}};
  for (Index p = 0; p < 2 * columns; ++p) o.views[p < columns ? 0 : 1].columns.push_back(p);
  o.seed = seed;
  o.training.max_iterations = few(o.training.max_iterations, 5);
  const GplvmFit fit = Gplvm(Y, o).fit();
  const Matrix relevance = fit.relevance();
  Vector out = Vector::Zero(7 + 2 * latent);
  for (Index q = 0; q < latent; ++q) {
    const bool a = relevance(0, q) > in_use, b = relevance(1, q) > in_use;
    if (a || b) {
      const Index kind = a && b ? 0 : a ? 1 : 2;
      const Vector& signal = a && b ? shared : a ? first : second;
      out(kind) += 1.0;
      out(3 + kind) = std::max(out(3 + kind), correlation(fit.mean.col(q), signal));
    }
    out.segment(7 + 2 * q, 2) = relevance.col(q);
  }
  out(6) = fit.value;
  return out;
}

}  // namespace

Result mrd_toy(const Settings& settings, Ledger& ledger) {
  Result result;
  result.name = "mrd-toy";
  result.source =
      "A. Damianou, Deep Gaussian Processes and Variational Propagation of Uncertainty (2015), "
      "section 5.3.1, Fig. 5.2";
  const Index repeats = settings.repeats ? settings.repeats : few(default_repeats, 1);
  Index right = 0;
  for (Index r = 0; r < repeats; ++r) {
    const Vector found = ledger.once(fmt::format("data set {}", r), 7 + 2 * latent, [&] {
      return one_set(settings.seed, settings.seed + static_cast<std::uint64_t>(r));
    });
    right += (found.head(3).array() == 1.0).all();
    result.add(fmt::format("data set {}: shared, private to a, private to b", r), "1, 1, 1",
               fmt::format("{}, {}, {}", found(0), found(1), found(2)),
               fmt::format("correlation with the signals {:.3f}, {:.3f}, {:.3f}", found(3),
                           found(4), found(5)));
    progress(fmt::format("data set {}: {} shared, {} and {} private; bound {:.2f}", r, found(0),
                         found(1), found(2), found(6)));
    if (r > 0) continue;
    Matrix weights(latent, 3);
    for (Index q = 0; q < latent; ++q)
      weights.row(q) << static_cast<double>(q), found(7 + 2 * q), found(8 + 2 * q);
    result.series.push_back({"relevance", {"dimension", "view a", "view b"}, weights});
  }
  result.claim("one shared and two private dimensions, in every data set", right == repeats,
               fmt::format("{} of {}", right, repeats));
  return result;
}

}  // namespace covary::experiments
