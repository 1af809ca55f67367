// Where the sums of points of basis(C) start.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/linalg/blas.hpp"
#include "features/basis.hpp"
#include "models/restored.hpp"
#include "models/sparse_regression_impl.hpp"

namespace covary {
namespace {

// Kuu⁻¹μ, of several outputs that with the largest.
Vector mean_weights(const SparseEvaluation& e) {
  Vector out;
  for (const SparseFactors& g : e.factors) {
    Matrix weights = g.c;
    solve_lower(g.LB, weights, Op::transpose);
    solve_lower(e.Luu, weights, Op::transpose);
    for (Index p = 0; p < weights.cols(); ++p)
      if (out.size() == 0 || weights.col(p).norm() > out.norm()) out = weights.col(p);
  }
  return out;
}

}  // namespace

// M·C inducing points are trained first, briefly. Their mean Σ αᵢ k(zᵢ, ·) is that of M sums with
// weights α, so that sums begin with the mean of far more points than there are variables. The
// greedy choice has the points that matter most first, one for each sum, then the next M.
void SparseRegression::Impl::set_sums_from(ConstRows rows, Trainer& trainer, Jitter& jitter) {
  const Index C = options_.features.points, M = rows.rows() / C;
  RowMatrix weights(M, C);
  {
    const Restored own(options_.features);
    const Restored all(options_.training);
    options_.features = "points";
    options_.training.max_iterations = brief();
    set_features(inducing_points(options_.kernel, rows));
    train_once(trainer, jitter);
    const Vector alpha = mean_weights(evaluate(parameters_.values(), jitter, nullptr));
    weights = Eigen::Map<const Matrix>(alpha.data(), M, C);
  }
  const Vector Z = parameters_.at("features.Z").value;
  for (Index m = 0; m < M; ++m)  // their size does not matter
    weights.row(m) /= std::max(weights.row(m).cwiseAbs().maxCoeff(), 1e-300);
  set_features(basis_features(
      options_.kernel, Eigen::Map<const RowMatrix>(Z.data(), rows.rows(), rows.cols()), weights));
  raise_noise();
}

// From points, or with further points at random rows that hardly count, as they are: where few
// variables cannot bear what many points have found, the former ends with everything as noise. A
// brief training of both says which.
bool SparseRegression::Impl::choose_start_of_sums(Trainer& trainer, Jitter& jitter) {
  const FeatureChoice kind = options_.features;
  if (!kind.kind->sums_of_points || kind.stacked || kind.points == 1 || !trains_features() ||
      settings_->holds_any() || options_.Z.size() > 0 || options_.training.max_iterations == 0)
    return false;
  const Index all = features_->size() * kind.points;
  constexpr Index most = 2000;  // beyond, points would cost more than many steps
  if (all > std::min(most, X_.rows())) return false;
  const Vector theta = parameters_.values().head(options_.kernel.parameter_count(X_.cols()));
  const RowMatrix rows =
      select_inducing(Selection::greedy_variance, all, X_, options_.kernel, theta, options_.seed).Z;
  if (rows.rows() < all) return false;  // they have no more to give
  const Parameters given = parameters_;
  Parameters kept = given;
  FeaturesPtr features = features_;
  double best = -std::numeric_limits<double>::infinity();
  for (const bool from_points : {false, true}) {
    parameters_ = given;
    jitter = Jitter{options_.jitter};
    try {
      if (from_points)
        set_sums_from(rows, trainer, jitter);
      else
        raise_noise();
      jitter = Jitter{options_.jitter};
      trainer.minimise(problem(jitter), {brief()});
    } catch (const NumericalError&) {
      continue;
    }
    const double value = bound();
    say(fmt::format("sums from {}: bound {:.4f} per row",
                    from_points ? fmt::format("{} points", all) : "random rows",
                    value / static_cast<double>(rows_->rows())));
    if (!(value > best)) continue;
    best = value;
    kept = parameters_;
    features = features_;
  }
  features_ = features;
  parameters_ = kept;
  jitter = Jitter{options_.jitter};
  return true;
}

}  // namespace covary
