#include "covary/models/generalised_fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/slice_sampling.hpp"
#include "covary/likelihoods/likelihoods.hpp"

namespace covary {
namespace {

// Known noise variances are in the units of y².
Vector model_aux(const GeneralisedFit& fit, ConstVector aux) {
  if (aux.size() == 0 || fit.likelihood.aux() != Aux::noise) return aux;
  const double scale = fit.output_scaling.scale(0);
  return aux / (scale * scale);
}

void check_aux(ConstVector aux, Index rows) {
  if (aux.size() != 0 && aux.size() != rows)
    throw InputError(fmt::format("the exposure, trials or noise column has {} entries for {} rows",
                                 aux.size(), rows));
}

void check_inputs(const GeneralisedFit& fit, ConstRows X) {
  if (X.cols() != fit.inputs())
    throw InputError(fmt::format("the inputs have {} columns; the model was trained on {}",
                                 X.cols(), fit.inputs()));
  if (!X.allFinite())
    throw InputError("the inputs have values that are not finite; drop those rows");
}

// f at new rows, and with it the probabilities of the classes where there are any: those of
// correlated functions are not those of their marginals.
GeneralisedPrediction predict_classes(const GeneralisedFit& fit, ConstRows X) {
  GeneralisedPrediction out;
  out.f = fit.predict_f(X);
  if (out.f.between.size())
    out.probabilities = softmax_probabilities(out.f.mean, out.f.between);
  else if (fit.likelihood.classes() > 0)
    out.probabilities =
        class_probabilities(fit.likelihood, fit.likelihood_parameters, out.f.mean, out.f.variance);
  return out;
}

}  // namespace

RowMatrix GeneralisedFit::model_inputs(ConstRows X) const {
  return input_map.transform(input_scaling.apply(X));
}

RowMatrix GeneralisedFit::data_inputs(ConstRows X) const {
  return input_scaling.undo(input_map.inverse(X));
}

FunctionMarginals GeneralisedFit::predict_f(ConstRows X) const {
  check_inputs(*this, X);
  return posterior.marginals(model_inputs(X));
}

std::vector<RowMatrix> GeneralisedFit::sample(ConstRows X, Index draws, std::uint64_t seed) const {
  check_inputs(*this, X);
  return posterior.sample(model_inputs(X), draws, seed);
}

std::vector<ComponentPrediction> GeneralisedFit::components(ConstRows X) const {
  check_inputs(*this, X);
  return posterior.components(model_inputs(X));
}

PredictionGradient GeneralisedFit::gradient(ConstRows X, Index function) const {
  check_inputs(*this, X);
  if (input_map)
    throw Unsupported(
        "gradients are not available for a model of principal components or latent inputs");
  PredictionGradient g = posterior.gradient(model_inputs(X), function);
  for (Index d = 0; d < g.mean.cols(); ++d) {
    g.mean.col(d) /= input_scaling.scale(d);
    g.variance.col(d) /= input_scaling.scale(d);
  }
  return g;
}

std::vector<RowMatrix> GeneralisedFit::sample_exactly(ConstRows X, ConstVector y, ConstVector aux,
                                                      const SliceSamplingOptions& options) const {
  check_inputs(*this, X);
  check_aux(aux, X.rows());
  if (y.size() != X.rows())
    throw InputError(fmt::format("{} targets for {} rows", y.size(), X.rows()));
  likelihood.check(y, aux);
  if (likelihood.node().conjugate())
    throw Unsupported("with Gaussian noise the posterior is exact already: draw without a sampler");
  const Index L = likelihood.functions();
  if (posterior.functions() != L)
    throw Unsupported(
        fmt::format("a sampler needs one output of {} with {} functions; the model has {}",
                    likelihood.print(), L, posterior.functions()));
  for (Index n = 0; n < y.size(); ++n)
    if (std::isnan(y(n))) throw InputError(fmt::format("row {} has no target; leave it out", n));
  const RowMatrix Y = y;
  MultiFunctionModel of{{},
                        likelihood,
                        posterior.mean(),
                        model_inputs(X),
                        output_scaling.apply(Y).col(0),
                        model_aux(*this, aux)};
  MultiFunctionParameters at{{}, likelihood_parameters, Matrix()};
  bool alike = true;
  for (Index l = 1; l < L; ++l) alike = alike && posterior.theta(l) == posterior.theta(0);
  of.kernels.clear();
  for (Index l = 0; l < (alike ? 1 : L); ++l) {
    of.kernels.push_back(posterior.kernel(l));
    at.kernels.push_back(posterior.theta(l));
  }
  if (const Index B = of.mean.basis_count(of.X.cols()); B > 0)
    at.mean_weights = Eigen::Map<const RowMatrix>(parameters.at("mean.weights").value.data(), B, L);
  const MultiFunctionSamples drawn = elliptical_slice_samples(of, at, options);
  std::vector<RowMatrix> out(static_cast<std::size_t>(options.samples), RowMatrix(X.rows(), L));
  for (Index s = 0; s < options.samples; ++s)
    for (Index l = 0; l < L; ++l)
      out[static_cast<std::size_t>(s)].col(l) =
          drawn.f[static_cast<std::size_t>(l)].row(s).transpose();
  return out;
}

GeneralisedFit GeneralisedFit::with(ConstRows X, ConstVector y, ConstVector noise) const {
  check_inputs(*this, X);
  check_aux(noise, X.rows());
  if (y.size() != X.rows())
    throw InputError(fmt::format("{} targets for {} rows", y.size(), X.rows()));
  if (likelihood.aux() != Aux::noise)
    throw Unsupported(fmt::format(
        "further rows join models of Gaussian noise alone, and the likelihood is {}; fit it again "
        "with all rows",
        likelihood.print()));
  likelihood.check(y, noise);
  const RowMatrix Y = y;
  Vector own = Vector::Constant(y.size(), likelihood_parameters(0));
  if (noise.size()) own += model_aux(*this, noise);
  GeneralisedFit out = *this;
  out.posterior = posterior.with(model_inputs(X), output_scaling.apply(Y), own);
  out.value +=
      out.posterior.log_evidence() - posterior.log_evidence() - output_scaling.log_jacobian(Y);
  out.rows += (!y.array().isNaN()).count();
  out.diagnostics.clear();  // they were of the rows before
  out.summary.upper_bound.reset();
  return out;
}

GeneralisedPrediction GeneralisedFit::predict(ConstRows X, ConstVector aux) const {
  check_aux(aux, X.rows());
  GeneralisedPrediction out = predict_classes(*this, X);
  if (likelihood.functions() == 1 || likelihood.classes() == 0) {
    PredictiveMoments y = predictive_moments(likelihood, likelihood_parameters, out.f.mean,
                                             out.f.variance, model_aux(*this, aux));
    out.mean = output_scaling.undo(y.mean);
    out.variance = output_scaling.undo_variance(y.variance);
  }
  return out;
}

Vector GeneralisedFit::log_density(ConstRows X, ConstVector y, ConstVector aux) const {
  check_aux(aux, X.rows());
  if (y.size() != X.rows())
    throw InputError(fmt::format("{} targets for {} rows", y.size(), X.rows()));
  likelihood.check(y, aux);
  // No integral is taken over a target that is missing.
  std::vector<Index> observed;
  for (Index n = 0; n < y.size(); ++n)
    if (!std::isnan(y(n))) observed.push_back(n);
  Vector out = Vector::Constant(y.size(), std::nan(""));
  const FunctionMarginals f = predict_f(X(observed, Eigen::all));
  if (f.between.size()) {
    const Matrix p = softmax_probabilities(f.mean, f.between);
    for (std::size_t n = 0; n < observed.size(); ++n)
      out(observed[n]) = std::log(p(static_cast<Index>(n), static_cast<Index>(y(observed[n]))));
    return out;
  }
  const Vector scaled = output_scaling.apply(y(observed)),
               beside = aux.size() ? Vector(aux(observed)) : Vector();
  out(observed) = log_predictive_density(likelihood, likelihood_parameters, scaled, f.mean,
                                         f.variance, model_aux(*this, beside))
                      .array() -
                  std::log(output_scaling.scale(0));
  return out;
}

}  // namespace covary
