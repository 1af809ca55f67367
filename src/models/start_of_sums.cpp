// Where the sums of points of basis(C) start.
#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/features/basis.hpp"
#include "covary/features/selection.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/models/sparse_regression.hpp"
#include "models/restored.hpp"

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
void SparseRegression::start_sums_from_points(Jitter& jitter) {
  const FeatureChoice kind = options_.features;
  if (kind.kind != FeatureChoice::Kind::basis || kind.points == 1 || kind.stacked ||
      !trains_features() || options_.Z.size() > 0 || options_.training.max_iterations == 0)
    return;
  const Index M = features_->size(), C = kind.points, all = M * C;
  constexpr Index most = 2000;  // beyond, points would cost more than many steps
  if (all > std::min(most, X_.rows())) return;
  const Vector theta = parameters_.values().head(options_.kernel.parameter_count(X_.cols()));
  const RowMatrix rows =
      select_inducing(Selection::greedy_variance, all, X_, options_.kernel, theta, options_.seed).Z;
  if (rows.rows() < all) return;  // they have no more to give
  const Parameters given = parameters_;
  const FeaturesPtr features = features_;
  try {
    RowMatrix weights(M, C);
    {
      const Restored own(options_.features);
      options_.features = "points";
      set_features(inducing_points(options_.kernel, rows));
      raise_noise();
      train(brief_training(), jitter, false);
      const Vector alpha = mean_weights(evaluate(parameters_.values(), jitter, nullptr));
      weights = Eigen::Map<const Matrix>(alpha.data(), M, C);
    }
    const Vector Z = parameters_.at("features.Z").value;
    for (Index m = 0; m < M; ++m)  // their size does not matter
      weights.row(m) /= std::max(weights.row(m).cwiseAbs().maxCoeff(), 1e-300);
    set_features(basis_features(options_.kernel,
                                Eigen::Map<const RowMatrix>(Z.data(), all, X_.cols()), weights));
    raise_noise();
    say(fmt::format("sums start from {} points: bound {:.4f} a row", all,
                    bound() / static_cast<double>(rows_->rows())));
  } catch (const NumericalError&) {
    features_ = features;
    parameters_ = given;
  }
  jitter = Jitter{options_.jitter};
}

}  // namespace covary
