#pragma once

#include <functional>
#include <string>
#include <vector>

#include "covary/features/choice.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/models/regression.hpp"

namespace covary {

struct CompressOptions {
  // KL(small ‖ given) that is allowed, in nats for each row that the posterior was trained on.
  double loss = 0.01;
  // Kinds to be tried, of which the smallest posterior is taken; none: points and basis(2), (4) and
  // (8).
  std::vector<FeatureChoice> features = {};
  Index most_inducing = 500;
  Index iterations = 200;  // of training each
  std::uint64_t seed = 0;
  std::function<void(const std::string&)> tell = nullptr;

  void check() const;
};

template <class Fit>
struct CompressedFit {
  Fit fit;
  std::string features;
  Index inducing = 0;
  double loss = 0.0;  // reached, in nats a row
  double numbers = 0.0, numbers_before = 0.0;
};
using Compressed = CompressedFit<RegressionFit>;

// The smallest posterior of inducing variables that is within the loss of the given one, parameters
// of the kernel as they are; see docs/compression.md. Needs the outputs of an exact posterior and
// nothing but itself of a sparse one. NumericalError where no number of variables up to the most
// does.
Compressed compress(const RegressionFit& fit, const CompressOptions& options = {});
// Of one kernel for all functions, through inducing inputs.
CompressedFit<GeneralisedFit> compress(const GeneralisedFit& fit,
                                       const CompressOptions& options = {});

}  // namespace covary
