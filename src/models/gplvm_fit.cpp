#include "covary/models/gplvm_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/row_density.hpp"
#include "models/by_view.hpp"
#include "models/infer_row.hpp"
#include "models/undo_covariance.hpp"

namespace covary {
namespace {

// The weight of each dimension in a kernel: variance/ℓ² of exponential terms and the variances of
// linear ones, each times what it stands for.
Vector weights_of(const Posterior& posterior) {
  const Index Q = posterior.dims();
  const Vector& theta = posterior.theta();
  Vector out = Vector::Zero(Q);
  const auto form = posterior.kernel().node().gaussian_form(Q);
  if (!form) return Vector::Ones(Q);
  for (const GaussianTerm& t : form->terms) {
    double size = t.factor;
    for (const Index at : t.variances) size *= theta(at);
    for (Index q = 0; q < Q; ++q) {
      for (const Index at : t.lengthscales[static_cast<std::size_t>(q)])
        out(q) += size / (theta(at) * theta(at));
      if (t.is_linear() && t.linear[static_cast<std::size_t>(q)] >= 0)
        out(q) += size * theta(t.linear[static_cast<std::size_t>(q)]);
    }
  }
  return out;
}

}  // namespace

Index GplvmFit::outputs() const { return outputs_of_views(*this); }

Matrix GplvmFit::relevance() const {
  Matrix out(static_cast<Index>(mappings.size()), latent());
  for (Index v = 0; v < out.rows(); ++v) {
    const Vector w = weights_of(mappings[static_cast<std::size_t>(v)].posterior);
    out.row(v) = w.transpose() / std::max(w.maxCoeff(), std::numeric_limits<double>::min());
  }
  return out;
}

std::vector<Index> GplvmFit::active() const {
  std::vector<Index> out;
  for (Index q = 0; q < latent(); ++q)
    if (kl_of_dims(q) > 0.05 * static_cast<double>(mean.rows())) out.push_back(q);
  return out;
}

std::vector<Index> GplvmFit::by_relevance() const {
  const Vector largest = relevance().colwise().maxCoeff();
  std::vector<Index> out(static_cast<std::size_t>(latent()));
  std::iota(out.begin(), out.end(), Index{0});
  std::stable_sort(out.begin(), out.end(),
                   [&](Index a, Index b) { return largest(a) > largest(b); });
  return out;
}

RowMatrix GplvmFit::scaled_mean() const {
  const Vector largest = relevance().colwise().maxCoeff();
  RowMatrix out = mean;
  for (Index q = 0; q < latent(); ++q) out.col(q) *= std::sqrt(largest(q));
  return out;
}

std::vector<RowMatrix> GplvmFit::sample(ConstRows X, Index draws, std::uint64_t seed) const {
  return sample_by_view(*this, X, draws, seed);
}

Prediction GplvmFit::decode(ConstRows X) const {
  return through_likelihood(decode_by_view(*this, X.rows(), [&](const Posterior& p) -> Prediction {
    if (p.can(Capability::outputs)) return p.predict(X);
    const FunctionMarginals f = p.marginals(X);
    return {f.mean, f.variance, f.variance};
  }));
}

Prediction GplvmFit::decode(ConstRows at, ConstRows with) const {
  return through_likelihood(decode_by_view(
      *this, at.rows(), [&](const Posterior& p) { return UncertainInputs(p).predict(at, with); }));
}

Matrix GplvmFit::output_covariance(ConstRows at, ConstRows with) const {
  if (likelihood)
    throw Unsupported(
        fmt::format("the covariance of outputs is that of Gaussian noise, not {}; sample() draws "
                    "the functions",
                    likelihood->print()));
  if (mappings.size() > 1)
    throw Unsupported("the covariance of outputs is available for one view; the model has several");
  const auto& m = mappings.front();
  const Matrix C = undo_covariance(m.scaling, UncertainInputs(m.posterior).covariance(at, with));
  Matrix out(C.rows(), C.cols());
  out(m.view.columns, m.view.columns) = C;
  return out;
}

GplvmFit::Inferred GplvmFit::infer(ConstRows Y, Index iterations, Index starts) const {
  if (likelihood) return infer_by_draws(Y, iterations);
  const Index n = Y.rows(), Q = latent(), N = mean.rows();
  const std::vector<RowMatrix> scaled = rows_by_view(*this, Y);
  std::vector<UncertainInputs> maps;
  std::vector<RowMatrix> training;  // what the training rows decode to
  for (const auto& m : mappings) {
    maps.emplace_back(m.posterior);
    training.push_back(m.posterior.predict_mean(mean));
  }
  std::vector<Index> all(static_cast<std::size_t>(Q));
  std::iota(all.begin(), all.end(), Index(0));
  Inferred out{RowMatrix::Zero(n, Q), RowMatrix::Ones(n, Q), Vector::Zero(n)};
  parallel_for(n, [&](Index i) {
    std::vector<UncertainInputs::RowTerm> terms;
    std::vector<std::pair<double, Index>> near(static_cast<std::size_t>(N), {0.0, 0});
    for (Index r = 0; r < N; ++r) near[static_cast<std::size_t>(r)].second = r;
    double jacobian = 0.0;
    bool any = false;
    for (std::size_t v = 0; v < maps.size(); ++v) {
      terms.emplace_back(maps[v], scaled[v].row(i).data());
      for (Index p = 0; p < scaled[v].cols(); ++p) {
        const double y = scaled[v](i, p);
        if (std::isnan(y)) continue;
        any = true;
        jacobian += std::log(mappings[v].scaling.scale(p));
        for (Index r = 0; r < N; ++r)
          near[static_cast<std::size_t>(r)].first += std::pow(y - training[v](r, p), 2);
      }
    }
    if (!any) return;
    const Index tries = std::min(std::max<Index>(1, starts), N);
    std::partial_sort(near.begin(), near.begin() + tries, near.end());
    std::vector<InferredRow> from;
    for (Index t = 0; t < tries; ++t) {
      const Index r = near[static_cast<std::size_t>(t)].second;
      from.push_back({mean.row(r), variance.row(r)});
    }
    // The prior of a row by itself is standard normal.
    const InferredRow found = infer_row(terms, all, from, iterations);
    out.mean.row(i) = found.mean;
    out.variance.row(i) = found.variance;
    out.bound(i) = found.bound - jacobian;
  });
  return out;
}

Vector GplvmFit::log_density(ConstRows Y, Index iterations, Index starts) const {
  const Inferred q = infer(Y, iterations, starts);
  if (likelihood) return q.bound;
  const std::vector<RowMatrix> scaled = rows_by_view(*this, Y);
  std::vector<RowDensity> densities;
  densities.reserve(mappings.size());
  for (const auto& m : mappings) densities.emplace_back(m.posterior.as<SparsePosterior>());
  Vector out(Y.rows());
  parallel_for(Y.rows(), [&](Index i) {
    const RowMatrix m = q.mean.row(i), S = q.variance.row(i);
    double density = -0.5 * (m.array().square() + S.array() - S.array().log() - 1.0).sum();
    for (std::size_t v = 0; v < densities.size(); ++v) {
      const RowMatrix y = scaled[v].row(i);
      density += densities[v](m.data(), S.data(), y.data()) - mappings[v].scaling.log_jacobian(y);
    }
    out(i) = density;
  });
  return out;
}

LatentMarginals GplvmFit::forecast(ConstRows times, Index sequence) const {
  if (!dynamics) throw InputError("no dynamics to forecast from; train the model with times");
  return dynamics->forecast(dynamics_values.data(), times, sequence);
}

Index neighbour_errors(ConstRows X, const std::vector<Index>& labels) {
  if (static_cast<Index>(labels.size()) != X.rows() || X.rows() < 2)
    throw InputError(fmt::format("{} labels for {} rows, of which there must be at least 2",
                                 labels.size(), X.rows()));
  Index errors = 0;
  for (Index i = 0; i < X.rows(); ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    std::size_t found = 0;
    for (Index j = 0; j < X.rows(); ++j) {
      const double d = (X.row(i) - X.row(j)).squaredNorm();
      if (j != i && d < nearest) {
        nearest = d;
        found = static_cast<std::size_t>(j);
      }
    }
    errors += labels[found] != labels[static_cast<std::size_t>(i)];
  }
  return errors;
}

}  // namespace covary
