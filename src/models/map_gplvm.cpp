#include "covary/models/map_gplvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "covary/data/pca.hpp"
#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/random/random.hpp"
#include "models/class_separation.hpp"
#include "models/latent_views.hpp"
#include "models/map_gplvm_impl.hpp"
#include "models/times.hpp"

namespace covary {
namespace {

Vector flat(const RowMatrix& m) { return Eigen::Map<const Vector>(m.data(), m.size()); }

}  // namespace

void MapGplvmOptions::check() const {
  if (latent < 1)
    throw InputError(fmt::format("the latent space needs at least one dimension, got {}", latent));
  if (!(snr > 1.0)) throw InputError(fmt::format("snr must exceed 1, got {}", snr));
  if (!(jitter >= 0.0) || !std::isfinite(jitter))
    throw InputError(fmt::format("jitter must be finite and not negative, got {}", jitter));
  if (!(discriminative >= 0.0) || !std::isfinite(discriminative))
    throw InputError(
        fmt::format("the strength of the discriminative prior must not be negative, "
                    "got {}",
                    discriminative));
  if (back_constraint) back_constraint->check();
  training.check();
}

MapGplvm::MapGplvm(ConstRows Y, MapGplvmOptions options)
    : impl_(std::make_unique<Impl>(Y, std::move(options))) {}
MapGplvm::MapGplvm(MapGplvm&&) noexcept = default;
MapGplvm& MapGplvm::operator=(MapGplvm&&) noexcept = default;
MapGplvm::~MapGplvm() = default;

Parameters& MapGplvm::parameters() { return impl_->parameters_; }
const Parameters& MapGplvm::parameters() const { return impl_->parameters_; }
const MapGplvmOptions& MapGplvm::options() const { return impl_->options_; }
const std::vector<std::string>& MapGplvm::warnings() const { return impl_->warnings_; }
Index MapGplvm::rows() const { return impl_->rows(); }
RowMatrix MapGplvm::inputs() const { return impl_->inputs_at(impl_->parameters_.values().data()); }
double MapGplvm::log_likelihood() const {
  Jitter jitter{impl_->options_.jitter};
  return impl_->evaluate(impl_->parameters_.values(), jitter, nullptr).likelihood -
         impl_->log_jacobian_;
}
std::optional<double> MapGplvm::objective(const Vector& u, Vector* gradient, Jitter& jitter) const {
  return impl_->objective(u, gradient, jitter);
}
void MapGplvm::resume(TrainingState state) { impl_->resume_ = std::move(state); }
MapGplvmFit MapGplvm::fit() { return impl_->fit(); }

MapGplvm::Impl::Impl(ConstRows Y, MapGplvmOptions options) : options_(std::move(options)) {
  options_.check();
  take(Y);
  const Index N = Y.rows(), Q = options_.latent;
  if (options_.discriminative > 0.0) check_class_overlap(options_.labels, N, Q);
  if (const RowMatrix& m = options_.start; m.size() && (m.rows() != N || m.cols() != Q))
    throw InputError(
        fmt::format("start is {}×{}, the latent inputs are {}×{}", m.rows(), m.cols(), N, Q));
  if (options_.times.size()) {
    if (options_.times.rows() != N)
      throw InputError(fmt::format("there are {} times for {} rows", options_.times.rows(), N));
    dynamics_ = std::make_shared<DynamicalInputs>(
        DynamicalOptions{options_.dynamics, options_.times, options_.sequences, Q});
    check_times(options_.times, dynamics_->options().sequences, options_.dynamics, warnings_);
    options_.sequences = dynamics_->options().sequences;
  }
  if (options_.back_constraint)
    recognition_ = make_recognition(*options_.back_constraint, all_outputs(), Q);
  declare();
}

void MapGplvm::Impl::take(ConstRows Y) {
  check_latent_outputs(Y);
  for (LatentView& view : checked_views(options_.views, Y.cols())) {
    View v;
    const RowMatrix own = Y(Eigen::all, view.columns);
    for (Index p = 0; p < own.cols(); ++p)
      if (own.col(p).array().isNaN().all())
        throw InputError(fmt::format("output column {} has no observed value; leave it out",
                                     view.columns[static_cast<std::size_t>(p)]));
    ScalingFit scaling = fit_scaling(own, options_.scale_outputs);
    for (auto& w : scaling.warnings) warnings_.push_back(std::move(w));
    log_jacobian_ += scaling.scaling.log_jacobian(own);
    v.Y = scaling.scaling.apply(own);
    v.scaling = std::move(scaling.scaling);
    v.view = std::move(view);
    views_.push_back(std::move(v));
  }
}

double MapGplvm::Impl::View::mean_square() const {
  const auto seen = Y.array().isNaN().select(0.0, Y.array());
  const double count = static_cast<double>(Y.size() - Y.array().isNaN().count());
  return std::max(seen.square().sum() / count, 1e-12);
}

RowMatrix MapGplvm::Impl::all_outputs() const {
  Index P = 0, at = 0;
  for (const View& v : views_) P += v.Y.cols();
  RowMatrix out(rows(), P);
  for (const View& v : views_) {
    out.middleCols(at, v.Y.cols()) = v.Y;
    at += v.Y.cols();
  }
  return out;
}

// Principal components of all views, each of the same weight, with unit variance. What the table
// does not have is small noise, and of further starts all of it is shaken.
RowMatrix MapGplvm::Impl::start_inputs(Index start) const {
  const Index N = rows(), Q = options_.latent;
  Random random(options_.seed, 0x6d61 + static_cast<std::uint64_t>(start));
  RowMatrix out = options_.start;
  if (out.size() == 0) {
    RowMatrix table = all_outputs();
    Index at = 0;
    for (const View& v : views_) {
      table.middleCols(at, v.Y.cols()) /=
          std::sqrt(static_cast<double>(v.Y.cols()) * v.mean_square());
      at += v.Y.cols();
    }
    table = table.array().isNaN().select(0.0, table);
    const Pca all = Pca::fit(table);
    const Pca pca = all.first(std::min(Q, all.size()));
    out = 0.1 * random.normal_matrix(N, Q);
    out.leftCols(pca.size()) = pca.transform(table);
    out.leftCols(pca.size()).array().rowwise() /= pca.variances.array().sqrt().transpose();
  }
  if (start > 0) out += 0.5 * random.normal_matrix(N, Q);
  return out;
}

std::string MapGplvm::Impl::path(const View& v, const std::string& rest) const {
  return views_.size() == 1 ? rest : fmt::format("views.{}.{}", v.view.name, rest);
}

void MapGplvm::Impl::declare_inputs(Parameters& out, ConstRows X) const {
  if (recognition_) {
    recognition_->declare(out, X);
    return;
  }
  RowMatrix values = X;
  for (const Block& b : blocks_) {
    Matrix own = X.middleRows(b.first, b.L.rows());
    solve_lower(b.L, own);
    values.middleRows(b.first, b.L.rows()) = own;
  }
  out.add({blocks_.empty() ? "latent.X" : "latent.whitened", flat(values), Transform::real(),
           X.rows(), X.cols()});
}

void MapGplvm::Impl::declare() {
  const RowMatrix X = start_inputs(0);
  const Index Q = options_.latent;
  Parameters dynamics;
  if (dynamics_) {
    Parameters all;
    dynamics_->declare(all, X, 0.5);
    for (const Parameter& p : all.all())
      if (p.path.starts_with("dynamics")) dynamics.add(p);
    // X = L·v for a factor of the prior's covariance where training starts: as smooth as the prior
    // for optimisers, whatever becomes of its lengthscale.
    const auto& first = options_.sequences;
    for (std::size_t s = 0; s < first.size() && !recognition_; ++s) {
      const Index end = s + 1 < first.size() ? first[s + 1] : rows();
      Matrix K = gram(options_.dynamics, dynamics.values(),
                      options_.times.middleRows(first[s], end - first[s]));
      K.diagonal().array() += 1e-3 * K.diagonal().mean();
      blocks_.push_back({first[s], cholesky(std::move(K), "the dynamics' Gram matrix").L});
    }
  }
  declare_inputs(parameters_, X);
  dynamics_offset_ = parameters_.size();
  for (const Parameter& p : dynamics.all()) parameters_.add(p);
  DataScale scale = DataScale::unit(Q);
  for (View& v : views_) {
    scale.y_variance = v.mean_square();
    v.offset = parameters_.size();
    const Parameters own = options_.kernel.parameters(scale);
    for (Parameter p : own.all()) {
      p.path = path(v, p.path);
      parameters_.add(std::move(p));
    }
    const double noise = scale.y_variance / options_.snr;
    parameters_.add({path(v, "likelihood.variance"), Vector::Constant(1, noise),
                     Transform::positive(noise, 1e-4 * noise)});
  }
  hold_scale(views_.front());
}

void MapGplvm::Impl::hold_scale(const View& v) {
  std::vector<Index> linear;
  if (const auto form = options_.kernel.node().gaussian_form(options_.latent))
    for (const GaussianTerm& t : form->terms)
      linear.insert(linear.end(), t.linear.begin(), t.linear.end());
  Index at = 0;
  const Parameters own = options_.kernel.parameters(options_.latent);
  for (const Parameter& p : own.all()) {
    if (p.path.ends_with(".lengthscales") ||
        std::find(linear.begin(), linear.end(), at) != linear.end()) {
      parameters_.set(path(v, p.path), 1.0);
      parameters_.fix(path(v, p.path));
      return;
    }
    at += p.value.size();
  }
}

RowMatrix MapGplvm::Impl::inputs_at(const double* values) const {
  if (recognition_) return recognition_->inputs(values);
  RowMatrix out = Eigen::Map<const RowMatrix>(values, rows(), options_.latent);
  for (const Block& b : blocks_) {
    Matrix own = out.middleRows(b.first, b.L.rows());
    multiply_lower(b.L, own);
    out.middleRows(b.first, b.L.rows()) = own;
  }
  return out;
}

void MapGplvm::Impl::inputs_pullback(const double* values, const RowMatrix& X_bar,
                                     double* values_bar) const {
  if (recognition_) {
    recognition_->pullback(values, X_bar, values_bar);
    return;
  }
  Eigen::Map<RowMatrix> out(values_bar, rows(), options_.latent);
  out = X_bar;
  for (const Block& b : blocks_) {
    Matrix own = X_bar.middleRows(b.first, b.L.rows());
    multiply_lower(b.L, own, Op::transpose);
    out.middleRows(b.first, b.L.rows()) = own;
  }
}

double MapGplvm::Impl::log_prior_of(const RowMatrix& X, ConstVector values, RowMatrix* X_bar,
                                    Vector* values_bar) const {
  double value = 0.0;
  if (dynamics_) {
    const Index T = options_.dynamics.parameter_count(options_.times.cols());
    const Vector theta = values.segment(dynamics_offset_, T);
    const auto& first = options_.sequences;
    for (std::size_t s = 0; s < first.size(); ++s) {
      const Index n = (s + 1 < first.size() ? first[s + 1] : rows()) - first[s];
      ExactGradient g;
      Jitter jitter;  // what the factor needs is part of the prior
      value += exact_log_evidence(options_.dynamics, theta, options_.times.middleRows(first[s], n),
                                  Matrix(X.middleRows(first[s], n)), 0.0, Vector(), jitter,
                                  X_bar ? &g : nullptr);
      if (!X_bar) continue;
      X_bar->middleRows(first[s], n) += g.Y_bar;
      values_bar->segment(dynamics_offset_, T) += g.theta_bar;
    }
  } else if (options_.prior) {
    value -=
        0.5 * (X.squaredNorm() + static_cast<double>(X.size()) * std::log(2.0 * std::numbers::pi));
    if (X_bar) *X_bar -= X;
  }
  if (options_.discriminative > 0.0)
    value -= options_.discriminative *
             class_overlap(X, options_.labels, -options_.discriminative, X_bar);
  return value;
}

MapGplvm::Impl::Terms MapGplvm::Impl::evaluate(ConstVector values, Jitter& jitter,
                                               Vector* values_bar) const {
  const RowMatrix X = inputs_at(values.data());
  if (!X.allFinite()) throw NumericalError("the latent inputs are not finite");
  RowMatrix X_bar = RowMatrix::Zero(X.rows(), X.cols());
  if (values_bar) *values_bar = Vector::Zero(values.size());
  Terms out;
  const Index K = options_.kernel.parameter_count(options_.latent);
  for (const View& v : views_) {
    ExactGradient g;
    g.want_X = true;
    out.likelihood +=
        exact_log_evidence(options_.kernel, values.segment(v.offset, K), X, v.Y,
                           values(v.offset + K), Vector(), jitter, values_bar ? &g : nullptr);
    if (!values_bar) continue;
    values_bar->segment(v.offset, K) = g.theta_bar;
    (*values_bar)(v.offset + K) = g.noise_bar;
    X_bar += g.X_bar;
  }
  out.prior = log_prior_of(X, values, values_bar ? &X_bar : nullptr, values_bar);
  if (values_bar) inputs_pullback(values.data(), X_bar, values_bar->data());
  return out;
}

std::optional<double> MapGplvm::Impl::objective(const Vector& u, Vector* gradient,
                                                Jitter& jitter) const {
  return minus_log_posterior(parameters_, u, gradient, [&](ConstVector values, Vector* bar) {
    const Terms terms = evaluate(values, jitter, bar);
    return std::optional(terms.likelihood + terms.prior);
  });
}

}  // namespace covary
