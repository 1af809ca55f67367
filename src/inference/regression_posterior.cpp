#include "covary/inference/regression_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"

namespace covary {

const ExactPosterior& RegressionPosterior::exact() const {
  if (const auto* p = std::get_if<ExactPosterior>(&any_)) return *p;
  throw Unsupported(fmt::format(
      "this needs an exact model, which keeps its training data; the model is {}", model()));
}

const SparsePosterior& RegressionPosterior::sparse() const {
  if (const auto* p = std::get_if<SparsePosterior>(&any_)) return *p;
  throw Unsupported("this needs a sparse model; the model is exact");
}

std::string RegressionPosterior::model() const {
  return is_exact() ? "exact" : sparse().parts().approximation.print();
}

const Kernel& RegressionPosterior::kernel() const {
  return is_exact() ? exact().parts().kernel : sparse().parts().kernel;
}

const Vector& RegressionPosterior::theta() const {
  return is_exact() ? exact().parts().theta : sparse().parts().values.theta;
}

const Mean& RegressionPosterior::mean() const {
  return is_exact() ? exact().parts().mean : sparse().parts().mean;
}

double RegressionPosterior::noise_variance() const {
  return is_exact() ? exact().parts().noise_variance : sparse().parts().values.noise;
}

Index RegressionPosterior::rows() const {
  if (is_exact()) return exact().parts().X.rows();
  double most = 0.0;
  for (const auto& g : sparse().parts().groups) most = std::max(most, g.rows);
  return static_cast<Index>(most);
}

Index RegressionPosterior::outputs() const {
  return std::visit([](const auto& p) { return p.outputs(); }, any_);
}

Index RegressionPosterior::dims() const {
  return std::visit([](const auto& p) { return p.dims(); }, any_);
}

double RegressionPosterior::jitter() const {
  return is_exact() ? exact().jitter() : sparse().parts().jitter;
}

double RegressionPosterior::log_evidence() const {
  return is_exact() ? exact().log_evidence() : sparse().value();
}

Prediction RegressionPosterior::predict(ConstRows X) const {
  return std::visit([&](const auto& p) { return p.predict(X); }, any_);
}

RowMatrix RegressionPosterior::predict_mean(ConstRows X) const {
  return std::visit([&](const auto& p) { return p.predict_mean(X); }, any_);
}

Matrix RegressionPosterior::covariance(ConstRows X, Index output) const {
  return std::visit([&](const auto& p) { return p.covariance(X, output); }, any_);
}

std::vector<ComponentPrediction> RegressionPosterior::components(ConstRows X) const {
  return std::visit([&](const auto& p) { return p.components(X); }, any_);
}

PredictionGradient RegressionPosterior::gradient(ConstRows X, Index output) const {
  return std::visit([&](const auto& p) { return p.gradient(X, output); }, any_);
}

std::vector<RowMatrix> RegressionPosterior::sample(ConstRows X, Index draws,
                                                   std::uint64_t seed) const {
  return std::visit([&](const auto& p) { return p.sample(X, draws, seed); }, any_);
}

RegressionPosterior RegressionPosterior::with(ConstRows X, ConstRows Y,
                                              ConstVector point_noise) const {
  return std::visit([&](const auto& p) -> RegressionPosterior { return p.with(X, Y, point_noise); },
                    any_);
}

}  // namespace covary
