// What a latent-variable model of other than Gaussian outputs says of outputs and of further rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "covary/error.hpp"
#include "covary/inference/uncollapsed.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "models/row_adam.hpp"
#include "statistics/expectations.hpp"
#include "statistics/sampled_rows.hpp"

namespace covary {
namespace {

constexpr Index draws = 16;
constexpr double first_rate = 0.1, last_rate = 0.005;

// The training row whose outputs are the nearest to what is observed of y, or −1.
Index nearest_row(const RowMatrix& training, const RowMatrix& Y, Index i) {
  double least = std::numeric_limits<double>::infinity();
  Index found = -1;
  if (Y.row(i).array().isNaN().all()) return found;
  for (Index r = 0; r < training.rows(); ++r) {
    double sum = 0.0;
    for (Index p = 0; p < Y.cols(); ++p)
      if (!std::isnan(Y(i, p))) sum += std::pow(Y(i, p) - training(r, p), 2);
    if (sum < least) {
      least = sum;
      found = r;
    }
  }
  return found;
}

}  // namespace

Prediction GplvmFit::through_likelihood(Prediction f) const {
  if (!likelihood) return f;
  for (Index p = 0; p < f.mean.cols(); ++p) {
    const PredictiveMoments y = predictive_moments(
        *likelihood, likelihood_values, Matrix(f.mean.col(p)), Matrix(f.variance_f.col(p)));
    f.mean.col(p) = y.mean;
    f.variance_y.col(p) = y.variance;
  }
  return f;
}

// Rows do not see each other, so that all of them move together. The bound of a row is of its own
// draws.
GplvmFit::Inferred GplvmFit::infer_by_draws(ConstRows rows, Index iterations) const {
  if (rows.cols() != outputs())
    throw InputError(fmt::format("the rows have {} outputs, the model {}", rows.cols(), outputs()));
  const RowMatrix Y = rows;
  for (Index p = 0; p < Y.cols(); ++p) likelihood->check(Vector(Y.col(p)));
  const Index n = Y.rows(), Q = latent();
  const RowMatrix training = decode(mean).mean;
  RowMatrix start = RowMatrix::Zero(n, 2 * Q);
  for (Index i = 0; i < n; ++i)
    if (const Index r = nearest_row(training, Y, i); r >= 0)
      start.row(i) << mean.row(r), variance.row(r).array().log().matrix();
  RowAdam adam(std::move(start));
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  const RowMatrix deviates = row_deviates(all, Q, draws, 0);
  const InducingView u = mappings.front().posterior.inducing();
  static const Mean zero;
  const SweepContext context{
      u.features.get(), &u.kernel.node(), u.theta.data(), u.z.data(), 0.0, &zero, Matrix(), u.Luu};
  const WhitenedGaussian q = mappings.front().posterior.q_of_v();
  const RowLikelihood terms = row_likelihood(*likelihood, likelihood_values);
  Inferred out;
  const auto moments = [&] {
    out.mean = adam.u.leftCols(Q);
    out.variance = adam.u.rightCols(Q).array().exp();
  };
  for (Index k = 0; k < iterations && n > 0; ++k) {
    moments();
    GaussianRowGradient g;
    const GaussianRows source(out.mean, out.variance, Y, deviates);
    row_terms({&context, 1}, terms, q, Sweep(source, 32), RowAdjoints::all, &g);
    RowMatrix down(n, 2 * Q);
    down << out.mean - g.mean_bar,
        (0.5 * (out.variance.array() - 1.0) - g.variance_bar.array() * out.variance.array())
            .matrix();
    const double part =
        static_cast<double>(k) / static_cast<double>(std::max<Index>(1, iterations - 1));
    adam.step(all, down, first_rate * std::pow(last_rate / first_rate, part));
  }
  moments();
  out.bound =
      -0.5 * (out.mean.array().square() + out.variance.array() - out.variance.array().log() - 1.0)
                 .rowwise()
                 .sum();
  for (Index i = 0; i < n; ++i) {
    const RowMatrix m = out.mean.row(i), S = out.variance.row(i), y = Y.row(i),
                    e = deviates.middleRows(i * draws, draws);
    const GaussianRows source(m, S, y, e);
    out.bound(i) += row_terms({&context, 1}, terms, q, Sweep(source, 32), RowAdjoints::none).value;
  }
  return out;
}

}  // namespace covary
