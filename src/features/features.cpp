#include "covary/features/features.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/features/choice.hpp"
#include "covary/features/planner.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/kernels/input_moments.hpp"

namespace covary {

std::unique_ptr<GaussianExpectations> Features::expectations(const double*, const double*) const {
  return nullptr;
}

std::unique_ptr<InputMoments> Features::input_moments(const double*, const double*) const {
  return nullptr;
}

std::optional<Spectrum> Features::spectrum(const double*, const double*) const { return {}; }

RowMatrix inducing_inputs(const Features& features, const double* z, const std::string& need) {
  if (auto Z = features.inputs(z)) return *std::move(Z);
  throw Unsupported(fmt::format(
      "{} inducing variables that are values of the function, which points are; the features are "
      "'{}'",
      need, features.name()));
}

namespace {

[[noreturn]] void refuse_gaussian_inputs(const Features& features) {
  throw Unsupported(fmt::format("'{}' features have no expectations under Gaussian inputs; {} have",
                                features.name(),
                                list_of_kinds([](const auto& k) { return k.gaussian_inputs; })));
}

}  // namespace

std::unique_ptr<GaussianExpectations> gaussian_expectations(const Features& features,
                                                            const double* theta, const double* z) {
  if (auto out = features.expectations(theta, z)) return out;
  refuse_gaussian_inputs(features);
}

std::unique_ptr<InputMoments> input_moments(const Features& features, const double* theta,
                                            const double* z) {
  if (auto out = features.input_moments(theta, z)) return out;
  refuse_gaussian_inputs(features);
}

RowMatrix over_two_deviations(ConstVector mean, ConstVector sd) {
  RowMatrix out(5, mean.size());
  for (Index k = 0; k < 5; ++k) out.row(k) = mean + (static_cast<double>(k) - 2.0) * sd;
  return out;
}

}  // namespace covary
