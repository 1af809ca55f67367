#include "covary/inference/exact_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

constexpr Index block = 512;  // rows predicted at a time
constexpr double log_2pi = 1.83787706640934548356;

}  // namespace

ExactPosterior::ExactPosterior(ExactPosteriorParts parts) : parts_(std::move(parts)) {
  Index formed = parts_.X.rows();  // at once; the rest was appended
  for (const Index m : parts_.appended) formed -= m;
  for (Pattern& pattern : missing_patterns(Matrix(has_outputs() ? parts_.Y : parts_.alpha))) {
    const auto& rows = pattern.rows;
    auto from = std::lower_bound(rows.begin(), rows.end(), formed);
    if (from == rows.begin())
      throw InputError(fmt::format("output column {} has no observed value before further rows",
                                   pattern.columns.front()));
    Group g{{}, parts_.X(rows, Eigen::all), factor_of({rows.begin(), from}), {}};
    Index stop = formed;
    for (const Index m : parts_.appended) {
      const auto to = std::lower_bound(from, rows.end(), stop += m);
      g.factor = extended(g.factor, {rows.begin(), from}, {from, to});
      from = to;
    }
    g.pattern = std::move(pattern);
    groups_.push_back(std::move(g));
  }
  finish();
}

ExactPosterior::ExactPosterior(ExactPosteriorParts parts, const std::vector<Group>& before,
                               std::vector<Pattern> patterns)
    : parts_(std::move(parts)) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const auto& rows = patterns[i].rows;
    const auto from = rows.begin() + before[i].factor.size();
    Group g{{},
            parts_.X(rows, Eigen::all),
            extended(before[i].factor, {rows.begin(), from}, {from, rows.end()}),
            {}};
    g.pattern = std::move(patterns[i]);
    groups_.push_back(std::move(g));
  }
  finish();
}

// Of K + Σ at these rows.
Cholesky ExactPosterior::factor_of(const std::vector<Index>& rows) const {
  const RowMatrix X = parts_.X(rows, Eigen::all);
  Matrix K(X.rows(), X.rows());
  Jitter jitter{parts_.jitter};
  cholesky_in_place(
      K,
      [&] {
        gram_lower(parts_.kernel.node(), parts_.theta.data(), X, K);
        K.diagonal().array() += parts_.noise_variance;
        if (parts_.point_noise.size()) K.diagonal() += parts_.point_noise(rows);
      },
      jitter, "the covariance of y");
  K.triangularView<Eigen::StrictlyUpper>().setZero();
  return {std::move(K), jitter.added};
}

// The factor of these rows, with the fresh ones below them.
Cholesky ExactPosterior::extended(const Cholesky& factor, const std::vector<Index>& rows,
                                  const std::vector<Index>& fresh) const {
  if (fresh.empty()) return factor;
  const RowMatrix X = parts_.X(rows, Eigen::all), Xnew = parts_.X(fresh, Eigen::all);
  Matrix corner = gram(parts_.kernel, parts_.theta, Xnew);
  corner.diagonal().array() += parts_.noise_variance;
  if (parts_.point_noise.size()) corner.diagonal() += parts_.point_noise(fresh);
  Jitter jitter;
  return append_rows(factor, cross(parts_.kernel, parts_.theta, Xnew, X), corner, jitter,
                     "the covariance of y with the new rows");
}

void ExactPosterior::finish() {
  for (Group& g : groups_) {
    jitter_ = std::max(jitter_, g.factor.jitter);
    g.alpha = has_outputs() ? g.factor.solve(residual(g.pattern))
                            : Matrix(parts_.alpha(g.pattern.rows, g.pattern.columns));
  }
}

ExactPosterior without_outputs(ExactPosterior posterior) {
  ExactPosteriorParts& parts = posterior.parts_;
  if (!posterior.has_outputs()) return posterior;
  RowMatrix alpha = RowMatrix::Constant(parts.Y.rows(), parts.Y.cols(), std::nan(""));
  for (const auto& g : posterior.groups_) alpha(g.pattern.rows, g.pattern.columns) = g.alpha;
  parts.alpha = std::move(alpha);
  parts.Y.resize(0, 0);
  return posterior;
}

std::shared_ptr<const PosteriorNode> ExactPosterior::stripped() const {
  return std::make_shared<const ExactPosterior>(without_outputs(*this));
}

bool ExactPosterior::can(Capability c) const {
  switch (c) {
    case Capability::gaussian_inputs:
      return parts_.mean.is_zero();
    case Capability::function_draws:
    case Capability::further_rows:
    case Capability::compression:
    case Capability::leave_one_out:
    case Capability::training_outputs:
      return has_outputs();
    case Capability::inducing:
    case Capability::split:
      return false;
    default:
      return true;
  }
}

double ExactPosterior::observations() const {
  return static_cast<double>((!training_outputs().array().isNaN()).count());
}

double ExactPosterior::stored_numbers() const {
  const double N = static_cast<double>(parts_.X.rows());
  return N * static_cast<double>(functions() + dims()) + N * N;
}

const RowMatrix& ExactPosterior::training_outputs() const {
  if (!has_outputs())
    throw Unsupported(
        "the model was saved without its training outputs, which this needs; it predicts, but the "
        "evidence, leave-one-out checks, reports and further rows take a model saved with them");
  return parts_.Y;
}

Matrix ExactPosterior::mean_at(ConstRows X) const {
  if (parts_.mean.is_zero()) return Matrix::Zero(X.rows(), functions());
  return product(parts_.mean.basis(X), parts_.mean_weights);
}

Matrix ExactPosterior::residual(const Pattern& pattern) const {
  const RowMatrix X = parts_.X(pattern.rows, Eigen::all);
  const Matrix m = mean_at(X);
  return training_outputs()(pattern.rows, pattern.columns) - m(Eigen::all, pattern.columns);
}

const ExactPosterior::Group& ExactPosterior::group_of(Index output) const {
  check_function(output);
  for (const Group& g : groups_)
    if (std::count(g.pattern.columns.begin(), g.pattern.columns.end(), output)) return g;
  throw InputError("unreachable: every output has a group");
}

RowMatrix ExactPosterior::predict_mean(ConstRows X) const {
  check_inputs(X);
  RowMatrix out = mean_at(X);
  for (Index first = 0; first < X.rows(); first += block) {
    const Index size = std::min(block, X.rows() - first);
    for (const Group& g : groups_) {
      const Matrix K = cross(parts_.kernel, parts_.theta, g.X, X.middleRows(first, size));
      const Matrix mean = product(K, g.alpha, Op::transpose);
      for (std::size_t c = 0; c < g.pattern.columns.size(); ++c)
        out.col(g.pattern.columns[c]).segment(first, size) += mean.col(static_cast<Index>(c));
    }
  }
  return out;
}

Prediction ExactPosterior::predict(ConstRows X) const {
  check_inputs(X);
  const Index n = X.rows(), P = functions();
  Prediction out{mean_at(X), RowMatrix(n, P), RowMatrix(n, P)};
  for (Index first = 0; first < n; first += block) {
    const Index size = std::min(block, n - first);
    const auto rows = X.middleRows(first, size);
    const Vector prior = diagonal(parts_.kernel, parts_.theta, rows);
    for (const Group& g : groups_) {
      Matrix V = cross(parts_.kernel, parts_.theta, g.X, rows);  // N×size
      const Matrix mean = product(V, g.alpha, Op::transpose);
      solve_lower(g.factor.L, V);
      const Vector variance = (prior - V.colwise().squaredNorm().transpose()).cwiseMax(0.0);
      for (std::size_t c = 0; c < g.pattern.columns.size(); ++c) {
        const Index p = g.pattern.columns[c];
        out.mean.col(p).segment(first, size) += mean.col(static_cast<Index>(c));
        out.variance_f.col(p).segment(first, size) = variance;
      }
    }
  }
  out.variance_y = out.variance_f.array() + parts_.noise_variance;
  return out;
}

FunctionMarginals ExactPosterior::marginals(ConstRows X) const {
  const Prediction p = predict(X);
  return {p.mean, p.variance_f};
}

Matrix ExactPosterior::covariance(ConstRows X, Index output) const {
  check_inputs(X);
  const Group& g = group_of(output);
  Matrix C = gram(parts_.kernel, parts_.theta, X);
  Matrix V = cross(parts_.kernel, parts_.theta, g.X, X);
  solve_lower(g.factor.L, V);
  syrk(-1.0, V, Op::transpose, 1.0, C);
  mirror_lower(C);
  C.diagonal() = C.diagonal().cwiseMax(0.0);
  return C;
}

std::vector<RowFunctions> ExactPosterior::by_rows() const {
  std::vector<RowFunctions> out;
  for (const Group& g : groups_)
    out.push_back({g.pattern.columns,
                   parts_.kernel,
                   parts_.theta,
                   g.X,
                   {g.alpha.data(), g.alpha.rows(), g.alpha.cols()},
                   [&g](Matrix k) -> Vector {
                     solve_lower(g.factor.L, k);
                     return k.colwise().squaredNorm().transpose();
                   },
                   [&g](ConstMatrix k) { return g.factor.solve(k); }});
  return out;
}

double ExactPosterior::log_evidence() const {
  double value = 0.0;
  for (const Group& g : groups_) {
    const double p = static_cast<double>(g.alpha.cols()), n = static_cast<double>(g.X.rows());
    value -= 0.5 * (frobenius(residual(g.pattern), g.alpha) +
                    p * (g.factor.log_determinant() + n * log_2pi));
  }
  return value;
}

// With c = L⁻¹y, y_n given those before it is N(y_n − L_nn c_n, L_nn²).
Vector ExactPosterior::one_step_log_densities(Index output) const {
  const Group& g = group_of(output);
  const auto& columns = g.pattern.columns;
  const Index at = std::find(columns.begin(), columns.end(), output) - columns.begin();
  Matrix c = residual(g.pattern).col(at);
  solve_lower(g.factor.L, c);
  Vector out(c.rows());
  for (Index n = 0; n < c.rows(); ++n)
    out(n) = -0.5 * (c(n, 0) * c(n, 0) + log_2pi) - std::log(g.factor.L(n, n));
  return out;
}

LeaveOneOut ExactPosterior::leave_one_out() const {
  const RowMatrix& Y = training_outputs();
  const Index N = parts_.X.rows(), P = functions();
  LeaveOneOut out{RowMatrix::Constant(N, P, std::nan("")), RowMatrix::Constant(N, P, std::nan("")),
                  0.0};
  for (const Group& g : groups_) {
    const Vector precision = g.factor.inverse().diagonal();
    for (std::size_t c = 0; c < g.pattern.columns.size(); ++c)
      for (Index i = 0; i < g.X.rows(); ++i) {
        const Index n = g.pattern.rows[static_cast<std::size_t>(i)], p = g.pattern.columns[c];
        const double variance = 1.0 / precision(i),
                     error = g.alpha(i, static_cast<Index>(c)) * variance;
        out.mean(n, p) = Y(n, p) - error;
        out.variance(n, p) = variance;
        out.log_density -= 0.5 * (error * error / variance + std::log(variance) + log_2pi);
      }
  }
  return out;
}

ExactPosterior ExactPosterior::with(ConstRows X, ConstRows Y, ConstVector point_noise) const {
  static_cast<void>(training_outputs());  // refuses where there are none
  check_inputs(X);
  const Index m = X.rows();
  if (Y.rows() != m || Y.cols() != functions())
    throw InputError(fmt::format("the new outputs are {}×{}, expected {}×{}", Y.rows(), Y.cols(), m,
                                 functions()));
  if (parts_.point_noise.size() ? point_noise.size() != m : point_noise.size() != 0)
    throw InputError(
        fmt::format("the model has {} noise for each row; the new rows must have as well",
                    parts_.point_noise.size() ? "its own" : "no"));
  ExactPosteriorParts parts = parts_;
  const Index N = parts_.X.rows();
  parts.X.conservativeResize(N + m, Eigen::NoChange);
  parts.Y.conservativeResize(N + m, Eigen::NoChange);
  parts.X.bottomRows(m) = X;
  parts.Y.bottomRows(m) = Y;
  if (point_noise.size()) {
    parts.point_noise.conservativeResize(N + m);
    parts.point_noise.tail(m) = point_noise;
  }
  auto patterns = missing_patterns(Matrix(parts.Y));
  const bool same_groups =
      patterns.size() == groups_.size() &&
      std::equal(patterns.begin(), patterns.end(), groups_.begin(),
                 [](const Pattern& a, const Group& b) { return a.columns == b.pattern.columns; });
  if (!same_groups) {
    parts.appended.clear();
    return ExactPosterior(std::move(parts));
  }
  parts.appended.push_back(m);
  return ExactPosterior(std::move(parts), groups_, std::move(patterns));
}

}  // namespace covary
