#include "covary/models/gplvm_sampling.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/linalg/cholesky.hpp"
#include "models/by_view.hpp"
#include "models/latent_views.hpp"

namespace covary {
namespace {

// Block by block of the sequences.
Matrix factor_of(const GplvmFit& fit) {
  const DynamicalOptions& o = fit.dynamics->options();
  const Vector theta = fit.dynamics_values.tail(o.kernel.parameter_count(o.times.cols()));
  const Index N = o.times.rows();
  Matrix out = Matrix::Zero(N, N);
  for (std::size_t s = 0; s < o.sequences.size(); ++s) {
    const Index first = o.sequences[s],
                n = (s + 1 < o.sequences.size() ? o.sequences[s + 1] : N) - first;
    out.block(first, first, n, n) =
        cholesky(gram(o.kernel, theta, o.times.middleRows(first, n)), "the dynamics' Gram matrix")
            .L;
  }
  return out;
}

}  // namespace

UnknownInputs unknown_inputs(const GplvmFit& fit, ConstRows Y) {
  check_latent_outputs(Y);
  if (Y.rows() != fit.mean.rows())
    throw InputError(
        fmt::format("the model was trained on {} rows, the outputs have {}; give those of the "
                    "training rows",
                    fit.mean.rows(), Y.rows()));
  if (!(fit.variance.minCoeff() > 0.0))
    throw Unsupported("sampling is not available for a model with known inputs");
  const std::vector<RowMatrix> rows = rows_by_view(fit, Y);
  UnknownInputs out;
  out.dims = fit.latent();
  for (std::size_t v = 0; v < rows.size(); ++v) {
    const Posterior& p = fit.mappings[v].posterior;
    out.views.push_back({p.kernel(), p.theta(), p.noise_variance(), rows[v]});
  }
  if (fit.dynamics) out.prior_factor = factor_of(fit);
  return out;
}

InputSamples sample_latent(const GplvmFit& fit, ConstRows Y, InputSamplingOptions options) {
  if (options.start.size() == 0) options.start = fit.mean;
  return sample_inputs(unknown_inputs(fit, Y), options);
}

EvidenceEstimate estimate_log_evidence(const GplvmFit& fit, ConstRows Y, Index samples,
                                       double broaden, std::uint64_t seed) {
  EvidenceEstimate out = importance_log_evidence(unknown_inputs(fit, Y), fit.mean, fit.variance,
                                                 samples, broaden, seed);
  for (const auto& m : fit.mappings)
    out.value -= m.scaling.log_jacobian(RowMatrix(Y(Eigen::all, m.view.columns)));
  return out;
}

}  // namespace covary
