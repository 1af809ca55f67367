// Where a latent-variable model starts and how it is trained: principal components, a high ratio of
// signal to noise that is held until q(X) has found its place, then everything.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "covary/data/kmeans.hpp"
#include "covary/data/pca.hpp"
#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/random/random.hpp"
#include "models/wide_outputs.hpp"

namespace covary {
namespace {

// Relative to the mean diagonal of Kuu; below it the bound loses next to nothing.
constexpr double usual_jitter = 1e-6;

// Column means in place of what is missing: a start needs no more.
RowMatrix filled(const RowMatrix& Y) {
  RowMatrix out = Y;
  for (Index p = 0; p < Y.cols(); ++p) {
    double sum = 0.0, count = 0.0;
    for (Index i = 0; i < Y.rows(); ++i)
      if (!std::isnan(Y(i, p))) {
        sum += Y(i, p);
        count += 1.0;
      }
    for (Index i = 0; i < Y.rows(); ++i)
      if (std::isnan(Y(i, p))) out(i, p) = count > 0.0 ? sum / count : 0.0;
  }
  return out;
}

// Q principal components with unit variance; what the table does not have is small noise.
RowMatrix components(const RowMatrix& Y, Index Q, Random random) {
  const RowMatrix table = filled(Y);
  RowMatrix out = 0.1 * random.normal_matrix(Y.rows(), Q);
  const Index most = std::min({Q, Y.cols(), Y.rows() - 1});
  for (Index q = most; q > 0; --q) try {
      const Pca pca = Pca::fit(table, q);
      const RowMatrix scores = pca.transform(table);
      for (Index d = 0; d < q; ++d)
        out.col(d) = scores.col(d) / std::sqrt(std::max(pca.variances(d), 1e-12));
      break;
    } catch (const InputError&) {  // fewer directions than that
    }
  return out;
}

}  // namespace

double Gplvm::View::mean_square() const {
  double sum = 0.0, count = silent() * static_cast<double>(Y.rows());
  for (const double y : Y.reshaped())
    if (!std::isnan(y)) {
      sum += y * y;
      count += 1.0;
    }
  return std::max(sum / count, 1e-12);
}

RowMatrix Gplvm::start_means(Index start) const {
  const Index N = views_.front().Y.rows(), Q = options_.latent;
  Random random(options_.seed, 0x6c76 + static_cast<std::uint64_t>(start));
  RowMatrix out = options_.start_mean;
  const auto V = static_cast<Index>(views_.size());
  Index at = out.size() ? Q : 0;
  if (out.size() == 0) out.resize(N, Q);
  for (Index v = 0; at < Q && v < V; ++v) {
    const Index share = (Q - at) / (V - v);
    if (share == 0) continue;
    out.middleCols(at, share) =
        components(views_[static_cast<std::size_t>(v)].Y, share, Random(options_.seed, 0x70ca));
    at += share;
  }
  if (at < Q) out.rightCols(Q - at) = 0.1 * random.normal_matrix(N, Q - at);
  if (start > 0) {  // turned and shaken
    const Matrix turn = random.normal_matrix(Q, Q) * 0.3 + Matrix::Identity(Q, Q);
    out = RowMatrix(out.lazyProduct(turn)) + 0.3 * random.normal_matrix(N, Q);
    for (Index q = 0; q < Q; ++q)
      out.col(q) /= std::sqrt(out.col(q).squaredNorm() / static_cast<double>(N));
  }
  const RowMatrix& known = options_.given.size() ? options_.given : options_.prior_mean;
  for (Index i = 0; i < known.rows(); ++i)
    for (Index q = 0; q < known.cols(); ++q)
      if (!std::isnan(known(i, q))) out(i, q) = known(i, q);
  return out;
}

void Gplvm::declare(ConstRows means, std::uint64_t seed) {
  Parameters all;
  latent_->declare(all, means, options_.start_variance);
  latent_size_ = all.size();
  const Index Q = options_.latent, M = std::min(options_.inducing, means.rows());
  DataScale scale = DataScale::unit(Q);
  for (Index q = 0; q < Q; ++q) {
    const Vector x = means.col(q);
    scale.x_range(q) = std::max(x.maxCoeff() - x.minCoeff(), 1e-6);
    scale.x_sd(q) = std::max(std::sqrt((x.array() - x.mean()).square().mean()), 1e-6);
  }
  for (View& v : views_) {
    if (v.columns.empty()) {
      const MemoryRows rows(means, v.Y, Vector());
      v.columns = columns_by_pattern(rows);
    }
    scale.y_variance = v.mean_square();
    const Clusters clusters = kmeans(means, M, seed);
    v.features = inducing_points(options_.kernel, clusters.centres);
    v.offset = all.size();
    const auto add = [&](const Parameters& own) {
      for (Parameter p : own.all()) {
        p.path = path(v, p.path);
        all.add(std::move(p));
      }
    };
    add(options_.kernel.parameters(scale));
    all.add({path(v, "likelihood.variance"), Vector::Constant(1, scale.y_variance / options_.snr),
             Transform::positive()});
    Parameters own;
    v.features->declare(own);
    add(own);
  }
  parameters_ = std::move(all);
}

void Gplvm::hold() {
  for (const View& v : views_) {
    std::vector<std::string> paths = {path(v, "likelihood.variance")};
    for (const Parameter& p : parameters_.all())
      if (p.path.starts_with(path(v, "kernel")) && p.path.ends_with(".variance"))
        paths.push_back(p.path);
    for (const auto& p : paths) parameters_.fix(p);
  }
}

Minimum Gplvm::train(const LbfgsOptions& training, Jitter& jitter, bool keep_state) {
  LbfgsOptions options = training;
  options.objective_changed = [&jitter] { return std::exchange(jitter.raised, false); };
  // A long step may bring inducing inputs together, and the jitter that Kuu needs there would stay
  // for the run and cost hundreds of nats: such a point is refused while there are others.
  Jitter first = jitter;
  objective(parameters_.flatten(), nullptr, first);
  double most = std::max(first.rung, usual_jitter);
  const Objective f = [&](const Vector& u, Vector* g) -> std::optional<double> {
    Jitter there = jitter;
    const std::optional<double> value = objective(u, g, there);
    if (there.rung > most) return std::nullopt;
    jitter = there;
    return value;
  };
  std::function<void(const RestartsState&)> after;
  if (options_.after_iteration && keep_state)
    after = [&](const RestartsState& s) { options_.after_iteration({s, jitter}); };
  const auto run = [&] {
    Minimum out = minimise_with_restarts(
        f, parameters_.flatten(), 1, [&](Index) { return parameters_.flatten(); }, options, {},
        after);
    parameters_.set_values(parameters_.constrain(out.state.u));
    return out;
  };
  Minimum best = run();
  const bool stopped = options.stop && options.stop();
  if (!best.summary.converged && best.state.iterations < options.max_iterations && !stopped) {
    most = std::numeric_limits<double>::infinity();
    options.max_iterations -= best.state.iterations;
    Minimum more = run();
    more.summary.initial_value = best.summary.initial_value;
    more.summary.iterations += best.summary.iterations;
    more.summary.evaluations += best.summary.evaluations;
    best = std::move(more);
  }
  return best;
}

Minimum Gplvm::train_from(Index start, Jitter& jitter) {
  if (start > options_.first_start) {
    // Other latent inputs and Z; what the caller has set, fixed, tied or given a prior stays.
    Parameters given = parameters_;
    declare(start_means(start), options_.seed + static_cast<std::uint64_t>(start));
    for (const Parameter& p : parameters_.all())
      if ((p.path.starts_with("latent.") || p.path.ends_with("features.Z")) &&
          given.at(p.path).trainable)
        given.set(p.path, p.value);
    parameters_ = std::move(given);
  }
  if (options_.held_iterations > 0 && options_.training.max_iterations > 0) {
    const Parameters before = parameters_;
    say(fmt::format("start {}: {} iterations with the noise and the kernel's variance held", start,
                    options_.held_iterations));
    hold();
    LbfgsOptions held = options_.training;
    held.max_iterations = std::min(held.max_iterations, options_.held_iterations);
    if (parameters_.free_size() > 0) train(held, jitter, false);
    const Vector values = parameters_.values();
    parameters_ = before;
    parameters_.set_values(values);
  }
  say(fmt::format("start {}: all parameters", start));
  return train(options_.training, jitter, true);
}

GplvmFit Gplvm::fit() {
  const auto began = std::chrono::steady_clock::now();
  Jitter jitter{options_.jitter};
  std::optional<Minimum> best;
  Parameters kept;
  std::vector<View> kept_views;
  Jitter kept_jitter;
  std::vector<Summary::Start> table;
  const Parameters given = parameters_;
  const Index first = options_.first_start;
  for (Index start = first; start < first + options_.starts; ++start) {
    parameters_ = given;
    jitter = Jitter{options_.jitter};
    try {
      Minimum found = train_from(start, jitter);
      table.push_back({start, found.state.value, found.summary.iterations, found.summary.converged,
                       found.summary.reason});
      if (!best || found.state.value < best->state.value) {
        best = std::move(found);
        best->summary.best_start = start;
        kept = parameters_;
        kept_views = views_;
        kept_jitter = jitter;
      }
    } catch (const NumericalError& e) {
      table.push_back({start, std::nullopt, 0, false, e.what()});
    }
    if (options_.training.stop && options_.training.stop()) break;
  }
  if (!best) throw NumericalError("no start could be trained: " + table.front().reason);
  parameters_ = std::move(kept);
  views_ = std::move(kept_views);
  if (options_.starts > 1) best->summary.starts = std::move(table);
  GplvmFit out = finished(std::move(*best), kept_jitter);
  out.summary.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

GplvmFit Gplvm::finished(Minimum best, Jitter& jitter) const {
  const Vector values = parameters_.values();
  std::vector<SparseEvaluation> evaluations;
  const double value = evaluate(values, jitter, nullptr, &evaluations);
  const LatentMarginals q = latent_->marginals(values.data());
  Summary& summary = best.summary;
  for (auto& p : summary.trace) p.value += log_jacobian_;
  for (auto& s : summary.starts)
    if (s.value) *s.value += log_jacobian_;
  summary.initial_value += log_jacobian_;
  summary.negate_values();
  summary.objective = "elbo";
  summary.value = value - log_jacobian_;
  summary.jitter = evaluations.front().jitter;
  summary.route = fmt::format("Gaussian inputs: by Ψ2, ρ = {:.1e}", evaluations.front().terms.rho);
  summary.warnings.insert(summary.warnings.begin(), warnings_.begin(), warnings_.end());
  GplvmFit out;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const View& v = views_[i];
    SparseEvaluation& e = evaluations[i];
    SparseValues at = unpack(v, values);
    const double ratio = v.mean_square() / at.noise;
    if (ratio < 10.0)
      summary.warnings.push_back(fmt::format(
          "{}the signal is only {:.1f} times the noise: the model may have explained the outputs "
          "as noise; try more starts, a higher snr or more held iterations",
          v.view.name.empty() ? "" : v.view.name + ": ", ratio));
    if (v.all_Y.size())
      e.factors = {with_all_columns(e.factors.front(), v.all_Y, options_.kernel, at, e.Luu, q)};
    out.mappings.push_back(
        {v.view,
         SparsePosterior({"vfe", options_.kernel, Mean(), v.features, std::move(at),
                          std::move(e.Luu), e.jitter, std::move(e.factors)}),
         v.scaling});
  }
  out.mean = q.mean;
  out.variance = q.variance;
  out.kl_of_dims = q.kl_of_dims;
  if (dynamics_) {
    out.dynamics = dynamics_;
    out.dynamics_values = values.head(latent_size_);
  }
  out.parameters = parameters_;
  out.elbo = summary.value;
  out.log_prior = parameters_.log_prior(values);
  out.summary = std::move(summary);
  return out;
}

}  // namespace covary
