// What models share that are a latent-variable model trained after a plain sparse regression.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "covary/models/gplvm.hpp"
#include "covary/models/sparse_regression.hpp"
#include "models/user_settings.hpp"

namespace covary {

// From the options of the whole: of the regression of so many rows, as the model sees them.
template <class Options>
SparseRegressionOptions plain_options(const Options& o, Index rows) {
  SparseRegressionOptions r;
  r.kernel = o.kernel;
  r.inducing = std::min(o.inducing, rows);
  r.scale_inputs = r.scale_outputs = ScaleMode::none;
  r.jitter = o.jitter;
  r.seed = o.seed;
  r.training = o.training;
  r.training.starts = 0;
  return r;
}

// Likewise of the latent-variable model, which has one start unless the user wants more.
template <class Options>
GplvmOptions mapping_options(const Options& o) {
  GplvmOptions g;
  g.kernel = o.kernel;
  g.inducing = o.inducing;
  g.scale_outputs = ScaleMode::none;
  g.jitter = o.jitter;
  g.held_iterations = o.held_iterations;
  g.seed = o.seed;
  g.training = o.training;
  if (g.training.starts == 0) g.training.starts = 1;
  return g;
}

// The regression, from where the user wants it to start. Where all of its parameters were given it
// is the one that has them.
RegressionFit fit_plain(ConstRows X, ConstRows Y, SparseRegressionOptions options,
                        const UserSettings& user, Trainer& trainer);

// The mapping starts where the regression has got to; with `inducing`, its inducing inputs too.
void start_mapping(Parameters& mapping, const RegressionFit& plain, bool inducing);

// The mapping as a regression of data with this scaling.
RegressionFit as_regression(const GplvmFit& fit, const Scaling& inputs, const Scaling& outputs,
                            double log_jacobian, const std::vector<std::string>& warnings);

}  // namespace covary
