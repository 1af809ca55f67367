// Predictions of a fit with the scaling of inputs and outputs undone.
#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/models/gaussian_inputs.hpp"
#include "models/undo_covariance.hpp"

namespace covary {
namespace {

RowMatrix scaled_inputs(const RegressionFit& fit, ConstRows X) {
  if (X.cols() != fit.input_scaling.cols())
    throw InputError(
        fmt::format("the model was trained on {} input columns, the new inputs have {}",
                    fit.input_scaling.cols(), X.cols()));
  return fit.input_scaling.apply(X);
}

RowMatrix scaled_variances(const RegressionFit& fit, ConstRows variance) {
  if (variance.cols() != fit.input_scaling.cols())
    throw InputError(fmt::format("there are {} columns of variances for {} inputs", variance.cols(),
                                 fit.input_scaling.cols()));
  return variance.array().rowwise() / fit.input_scaling.scale.transpose().array().square();
}

Prediction unscaled(const Scaling& outputs, const Prediction& p) {
  return {outputs.undo(p.mean), outputs.undo_variance(p.variance_f),
          outputs.undo_variance(p.variance_y)};
}

}  // namespace

Prediction RegressionFit::predict(ConstRows X) const {
  return unscaled(output_scaling, posterior.predict(scaled_inputs(*this, X)));
}

Prediction RegressionFit::predict(ConstRows X, ConstRows variance) const {
  return unscaled(output_scaling, UncertainInputs(posterior).predict(
                                      scaled_inputs(*this, X), scaled_variances(*this, variance)));
}

Prediction predict_gaussian_inputs(const RegressionFit& fit, ConstRows X,
                                   const std::vector<Matrix>& S) {
  const Vector inverse = fit.input_scaling.scale.cwiseInverse();
  std::vector<Matrix> scaled;
  scaled.reserve(S.size());
  for (const Matrix& own : S) {
    if (own.rows() != inverse.size() || (own.cols() != 1 && own.cols() != inverse.size()))
      throw InputError(fmt::format("a covariance of {} inputs is {}×{}", inverse.size(), own.rows(),
                                   own.cols()));
    Matrix to = own.array().colwise() * inverse.array();
    if (own.cols() == 1)
      to.array() *= inverse.array();
    else
      to.array().rowwise() *= inverse.transpose().array();
    scaled.push_back(std::move(to));
  }
  return unscaled(fit.output_scaling,
                  UncertainInputs(fit.posterior).predict(scaled_inputs(fit, X), scaled));
}

Matrix RegressionFit::output_covariance(ConstRows x, ConstRows variance) const {
  return undo_covariance(output_scaling,
                         UncertainInputs(posterior).covariance(scaled_inputs(*this, x),
                                                               scaled_variances(*this, variance)));
}

RowMatrix RegressionFit::predict_mean(ConstRows X) const {
  return output_scaling.undo(posterior.predict_mean(scaled_inputs(*this, X)));
}

Matrix RegressionFit::covariance(ConstRows X, Index output) const {
  Matrix C = posterior.covariance(scaled_inputs(*this, X), output);
  return C * (output_scaling.scale(output) * output_scaling.scale(output));
}

// The mean of a component is a deviation: it is scaled but not shifted.
std::vector<ComponentPrediction> RegressionFit::components(ConstRows X) const {
  auto parts = posterior.components(scaled_inputs(*this, X));
  for (auto& part : parts) {
    for (Index p = 0; p < part.mean.cols(); ++p) part.mean.col(p) *= output_scaling.scale(p);
    part.variance = output_scaling.undo_variance(part.variance);
  }
  return parts;
}

PredictionGradient RegressionFit::gradient(ConstRows X, Index output) const {
  PredictionGradient g = posterior.gradient(scaled_inputs(*this, X), output);
  const double s = output_scaling.scale(output);
  for (Index d = 0; d < g.mean.cols(); ++d) {
    g.mean.col(d) *= s / input_scaling.scale(d);
    g.variance.col(d) *= s * s / input_scaling.scale(d);
  }
  return g;
}

LeaveOneOut RegressionFit::leave_one_out() const {
  LeaveOneOut loo = posterior.leave_one_out();
  const RowMatrix Y = output_scaling.undo(posterior.training_outputs());
  return {output_scaling.undo(loo.mean), output_scaling.undo_variance(loo.variance),
          loo.log_density - output_scaling.log_jacobian(Y)};
}

std::vector<RowMatrix> RegressionFit::sample(ConstRows X, Index draws, std::uint64_t seed) const {
  auto out = posterior.sample(scaled_inputs(*this, X), draws, seed);
  for (auto& f : out) f = output_scaling.undo(f);
  return out;
}

std::vector<FunctionDraw> RegressionFit::sample_functions(Index draws, std::uint64_t seed,
                                                          Index features) const {
  std::vector<FunctionDraw> out;
  for (auto& draw : posterior.sample_functions(draws, seed, features))
    out.push_back([draw, in = input_scaling, undo = output_scaling](ConstRows X) -> RowMatrix {
      return undo.undo(draw(in.apply(X)));
    });
  return out;
}

Fit RegressionFit::stripped() const { return without_outputs(*this); }

RegressionFit without_outputs(RegressionFit fit) {
  fit.posterior = fit.posterior.without_outputs();
  return fit;
}

RegressionFit RegressionFit::with(ConstRows X, ConstRows Y, ConstVector point_noise) const {
  if (Y.cols() != output_scaling.cols())
    throw InputError(fmt::format("the model has {} outputs, the new rows have {}",
                                 output_scaling.cols(), Y.cols()));
  const double s = output_scaling.scale(0);
  RegressionFit out = *this;
  if (data_rows > 0)
    for (Index i = 0; i < Y.rows(); ++i) out.data_rows += !Y.row(i).array().isNaN().all();
  out.posterior = posterior.with(scaled_inputs(*this, X), output_scaling.apply(Y),
                                 point_noise.size() ? Vector(point_noise / (s * s)) : Vector());
  // What the scaling added to the evidence before, and adds for the new rows.
  const double jacobian = posterior.log_evidence() - value + output_scaling.log_jacobian(Y);
  out.value = out.posterior.log_evidence() - jacobian;
  // Those were of the rows before.
  out.diagnostics.clear();
  out.summary.upper_bound.reset();
  return out;
}

}  // namespace covary
