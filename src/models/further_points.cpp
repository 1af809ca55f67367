// Where the sums of points of basis(C) start.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/models/sparse_regression.hpp"

namespace covary {

// Where sums of points end depends on the further points of each: random rows, which are there, or
// those that a greedy choice takes next. Either is far behind the other on some data, and a brief
// training of both says which.
void SparseRegression::choose_further_points(Jitter& jitter) {
  const FeatureChoice& kind = options_.features;
  if (kind.kind != FeatureChoice::Kind::basis || kind.points == 1 || kind.stacked ||
      !trains_features() || options_.Z.size() > 0 || options_.training.max_iterations == 0)
    return;
  const Index M = features_->size(), all = M * kind.points;
  constexpr Index most_greedy = 2000;  // beyond, choosing would cost more than many steps
  if (all > std::min(most_greedy, X_.rows())) return;
  const Parameters given = parameters_;
  const Vector theta = given.values().head(options_.kernel.parameter_count(X_.cols()));
  double best = -std::numeric_limits<double>::infinity();
  Parameters kept = given;
  FeaturesPtr features = features_;
  for (const bool greedy : {false, true}) {
    if (greedy) {
      parameters_ = given;
      const RowMatrix Z = select_inducing(Selection::greedy_variance, all, X_, options_.kernel,
                                          theta, options_.seed)
                              .Z;
      if (Z.rows() < all) break;  // the rows have no more to give
      set_features(start_features(kind, options_.kernel, theta, X_, Z, M, options_.seed));
      raise_noise();
    }
    jitter = Jitter{options_.jitter};
    try {
      train(brief_training(), jitter, false);
    } catch (const NumericalError&) {
      continue;
    }
    const double value = bound();
    say(fmt::format("further points at {} rows: bound {:.4f} a row", greedy ? "greedy" : "random",
                    value / static_cast<double>(rows_->rows())));
    if (!(value > best)) continue;
    best = value;
    kept = parameters_;
    features = features_;
  }
  features_ = features;
  parameters_ = kept;
  jitter = Jitter{options_.jitter};
}

}  // namespace covary
