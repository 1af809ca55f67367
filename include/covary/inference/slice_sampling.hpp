#pragma once

#include "covary/inference/multi_function_model.hpp"

namespace covary {

struct SliceSamplingOptions {
  Index samples = 1000;
  Index burn_in = 200;  // steps before the first sample
  Index thin = 1;       // steps from a sample to the next
  std::uint64_t seed = 0;
};

// Draws from p(f | y) at the observed rows, samples × N, by elliptical slice sampling (Murray,
// Adams & MacKay 2010): exact in the long run whatever the likelihood, the referee of the
// approximations. N² flops a step, after one factorisation of K, whose jitter is returned.
struct FunctionSamples {
  RowMatrix f;
  double jitter = 0.0;
};
FunctionSamples elliptical_slice_samples(const FunctionModel& model,
                                         const FunctionParameters& parameters,
                                         const SliceSamplingOptions& options = {});

// The same for several latent functions a datum, which move together.
struct MultiFunctionSamples {
  std::vector<RowMatrix> f;  // of each function, samples × N
  double jitter = 0.0;       // the largest
};
MultiFunctionSamples elliptical_slice_samples(const MultiFunctionModel& model,
                                              const MultiFunctionParameters& parameters,
                                              const SliceSamplingOptions& options = {});

}  // namespace covary
