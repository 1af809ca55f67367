#include "covary/models/generalised_fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/slice_sampling.hpp"
#include "covary/inference/uncertain_inputs.hpp"
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

// The probabilities of the classes where there are any: those of correlated functions are not those
// of their marginals.
Matrix probabilities_of(const GeneralisedFit& fit, const FunctionMarginals& f) {
  if (f.between.size()) return softmax_probabilities(f.mean, f.between);
  if (fit.likelihood.classes() == 0 || fit.outputs() > 1) return {};
  return class_probabilities(fit.likelihood, fit.likelihood_parameters, f.mean, f.variance);
}

// With the moments of y where it is a number.
GeneralisedPrediction with_outputs(const GeneralisedFit& fit, FunctionMarginals f,
                                   ConstVector aux) {
  GeneralisedPrediction out;
  out.f = std::move(f);
  out.probabilities = probabilities_of(fit, out.f);
  const Index L = fit.likelihood.functions();
  if (L > 1 && fit.likelihood.classes() > 0) return out;
  RowMatrix mean(out.f.mean.rows(), fit.outputs()), variance = mean;
  for (Index p = 0; p < fit.outputs(); ++p) {
    PredictiveMoments y = predictive_moments(fit.likelihood, fit.likelihood_parameters,
                                             out.f.mean.middleCols(p * L, L),
                                             out.f.variance.middleCols(p * L, L), aux);
    mean.col(p) = y.mean;
    variance.col(p) = y.variance;
  }
  out.mean = fit.output_scaling.undo(mean);
  out.variance = fit.output_scaling.undo_variance(variance);
  return out;
}

void check_outputs(const GeneralisedFit& fit, ConstRows X, ConstRows Y) {
  if (Y.rows() != X.rows())
    throw InputError(fmt::format("{} targets for {} rows", Y.rows(), X.rows()));
  if (Y.cols() != fit.outputs())
    throw InputError(fmt::format("there are {} columns of targets; the model has {} outputs",
                                 Y.cols(), fit.outputs()));
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
  if (input_map) throw Unsupported("gradients are not available with --pca or --gplvm");
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
    throw Unsupported("with Gaussian noise the posterior is exact: draw without a sampler");
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

GeneralisedFit GeneralisedFit::with(ConstRows X, ConstRows Y, ConstVector noise) const {
  check_inputs(*this, X);
  check_aux(noise, X.rows());
  check_outputs(*this, X, Y);
  if (likelihood.aux() != Aux::noise)
    throw Unsupported(fmt::format(
        "adding rows needs Gaussian noise, and the likelihood is {}; fit it again with all rows",
        likelihood.print()));
  for (Index p = 0; p < Y.cols(); ++p) likelihood.check(Vector(Y.col(p)), noise);
  Vector own = Vector::Constant(X.rows(), likelihood_parameters(0));
  if (noise.size()) own += model_aux(*this, noise);
  GeneralisedFit out = *this;
  out.posterior = posterior.with(model_inputs(X), output_scaling.apply(Y), own);
  out.value +=
      out.posterior.log_evidence() - posterior.log_evidence() - output_scaling.log_jacobian(Y);
  for (Index n = 0; n < Y.rows(); ++n) out.rows += !Y.row(n).array().isNaN().all();
  out.diagnostics.clear();  // they were of the rows before
  out.summary.upper_bound.reset();
  return out;
}

GeneralisedPrediction GeneralisedFit::predict(ConstRows X, ConstVector aux) const {
  check_aux(aux, X.rows());
  return with_outputs(*this, predict_f(X), model_aux(*this, aux));
}

GeneralisedPrediction GeneralisedFit::predict_gaussian(ConstRows X, ConstRows variance,
                                                       ConstVector aux) const {
  check_inputs(*this, X);
  check_aux(aux, X.rows());
  if (variance.rows() != X.rows() || variance.cols() != X.cols())
    throw InputError(fmt::format("the variances of the inputs are {}×{}, the inputs {}×{}",
                                 variance.rows(), variance.cols(), X.rows(), X.cols()));
  if (!likelihood.node().conjugate())
    throw Unsupported(fmt::format(
        "at uncertain inputs only Gaussian noise has exact moments of y; the likelihood is {}",
        likelihood.print()));
  if (input_map) throw Unsupported("uncertain inputs are not available with --pca or --gplvm");
  const RowMatrix scaled =
      variance.array().rowwise() / input_scaling.scale.transpose().array().square();
  const Prediction f = UncertainInputs(posterior).predict(model_inputs(X), scaled);
  return with_outputs(*this, {f.mean, f.variance_f}, model_aux(*this, aux));
}

Matrix GeneralisedFit::log_density(ConstRows X, ConstRows Y, ConstVector aux) const {
  check_aux(aux, X.rows());
  check_outputs(*this, X, Y);
  for (Index p = 0; p < Y.cols(); ++p) likelihood.check(Vector(Y.col(p)), aux);
  // No integral is taken over a target that is missing.
  std::vector<Index> seen;
  for (Index n = 0; n < Y.rows(); ++n)
    if (!Y.row(n).array().isNaN().all()) seen.push_back(n);
  const FunctionMarginals f = predict_f(X(seen, Eigen::all));
  const RowMatrix scaled = output_scaling.apply(Y(seen, Eigen::all));
  const Index L = likelihood.functions();
  Matrix out = Matrix::Constant(Y.rows(), Y.cols(), std::nan(""));
  if (f.between.size()) {
    const Matrix p = softmax_probabilities(f.mean, f.between);
    for (std::size_t n = 0; n < seen.size(); ++n)
      out(seen[n], 0) = std::log(p(static_cast<Index>(n), static_cast<Index>(Y(seen[n], 0))));
    return out;
  }
  for (Index p = 0; p < Y.cols(); ++p) {
    std::vector<Index> at, among;  // among those seen, and among all
    for (std::size_t n = 0; n < seen.size(); ++n)
      if (!std::isnan(Y(seen[n], p))) {
        at.push_back(static_cast<Index>(n));
        among.push_back(seen[n]);
      }
    const Vector beside = aux.size() ? Vector(aux(among)) : Vector();
    out(among, p) = log_predictive_density(
                        likelihood, likelihood_parameters, Vector(scaled.col(p)(at)),
                        f.mean.middleCols(p * L, L)(at, Eigen::all),
                        f.variance.middleCols(p * L, L)(at, Eigen::all), model_aux(*this, beside))
                        .array() -
                    std::log(output_scaling.scale(p));
  }
  return out;
}

}  // namespace covary
