#pragma once

#include "covary/models/regression.hpp"
#include "covary/models/request.hpp"

namespace covary {

// What a request says of every regression.
template <class Options>
Options regression_options(const FitRequest& r) {
  Options o;
  o.kernel = Kernel(r.options.kernel);
  o.scale_inputs = r.input_scale();
  o.scale_outputs = r.output_scale();
  o.jitter = r.options.jitter;
  o.seed = r.options.seed;
  o.training = r.training();
  return o;
}

// The sparse regression that a request asks for.
RegressionFit fit_sparse(FitRequest& r);

}  // namespace covary
