#include "models/generalised_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "models/row_summaries.hpp"
#include "models/starts.hpp"

namespace covary {

void check_classes(const Likelihood& likelihood, ConstVector y) {
  if (likelihood.classes() == 0) return;
  double low = INFINITY, high = -INFINITY;
  for (const double label : y)
    if (!std::isnan(label)) low = std::min(low, label), high = std::max(high, label);
  if (low == high)
    throw InputError(
        fmt::format("every observed target is of class {}; a classifier needs rows of at least two "
                    "classes",
                    low));
}

GeneralisedData generalised_data(ConstRows X, ConstVector y, ConstVector aux,
                                 const Likelihood& likelihood, ScaleMode input_mode,
                                 ScaleMode output_mode) {
  likelihood.check(y, aux);
  check_classes(likelihood, y);
  const bool real = likelihood.node().real_targets();
  const bool noise = likelihood.aux() == Aux::noise;
  GeneralisedData out;
  out.scaled = scaled_data(X, RowMatrix(y), noise ? Vector(aux) : Vector(), input_mode,
                           real ? output_mode : ScaleMode::none);
  out.aux = noise ? out.scaled.point_noise : Vector(aux);
  return out;
}

LatentStart latent_start(const GeneralisedData& data, const Likelihood& likelihood,
                         const Mean& mean) {
  const MemoryRows rows(data.scaled.X, data.scaled.Y, Vector());
  LatentStart out{data_scale(rows), 0.0};
  if (likelihood.node().real_targets()) {
    out.intercept = column_means(rows)(0);
    return out;
  }
  out.intercept = typical_latent(likelihood, data.scaled.Y.col(0), data.aux);
  // A mean of zero leaves it to the function to get there.
  out.scale.y_variance = 1.0 + (mean.is_zero() ? out.intercept * out.intercept : 0.0);
  return out;
}

}  // namespace covary
