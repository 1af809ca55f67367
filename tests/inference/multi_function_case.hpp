#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "covary/inference/multi_function_model.hpp"
#include "support/gradient_check.hpp"
#include "support/random_data.hpp"

namespace covary::testing {

// A model of several latent functions with targets that suit it, one of them missing, and a mean
// function. `kernels`: 1, or one for each latent function.
struct MultiFunctionCase {
  MultiFunctionModel model;
  MultiFunctionParameters at;
};
inline MultiFunctionCase multi_latent_case(const char* likelihood, Index kernels,
                                           std::uint64_t seed, Index N = 9) {
  const auto data = small_data(N, 2, 1, seed);
  const Likelihood l(likelihood);
  Random random(seed, 1);
  Vector y = data.Y.col(0);
  for (Index n = 0; n < N; ++n)
    if (l.classes() > 0) y(n) = std::clamp(std::floor(1.2 * y(n) + 1.5), 0.0, l.classes() - 1.0);
  y(3) = std::nan("");
  MultiFunctionCase out{{{}, l, "constant", data.X, y}, {}};
  for (Index i = 0; i < kernels; ++i) {
    out.model.kernels.emplace_back(i % 2 == 0 ? "se(ard)" : "matern52");
    const Index count = out.model.kernels.back().parameter_count(2);
    Vector theta(count);
    for (Index t = 0; t < count; ++t) theta(t) = std::exp(0.3 * random.normal());
    out.at.kernels.push_back(theta);
  }
  out.at.likelihood = l.parameters().values();
  out.at.mean_weights = 0.3 * Matrix(random.normal_matrix(1, l.functions()));
  return out;
}

inline Vector flat(const MultiFunctionParameters& p) {
  std::vector<double> all;
  for (const Vector& k : p.kernels) all.insert(all.end(), k.begin(), k.end());
  all.insert(all.end(), p.likelihood.begin(), p.likelihood.end());
  all.insert(all.end(), p.mean_weights.data(), p.mean_weights.data() + p.mean_weights.size());
  return Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()));
}
inline MultiFunctionParameters like(MultiFunctionParameters shape, const Vector& v) {
  Index at = 0;
  for (Vector& k : shape.kernels) {
    k = v.segment(at, k.size());
    at += k.size();
  }
  shape.likelihood = v.segment(at, shape.likelihood.size());
  at += shape.likelihood.size();
  for (double& w : shape.mean_weights.reshaped()) w = v(at++);
  return shape;
}

// The value and, unless null, its gradient.
using MultiFunctionValue = std::function<double(
    const MultiFunctionModel&, const MultiFunctionParameters&, MultiFunctionParameters*)>;

inline void expect_multi_latent_gradient(const MultiFunctionCase& c,
                                         const MultiFunctionValue& value) {
  MultiFunctionParameters g;
  value(c.model, c.at, &g);
  expect_gradient([&](const Vector& v) { return value(c.model, like(c.at, v), nullptr); }, flat(g),
                  flat(c.at));
}

}  // namespace covary::testing
