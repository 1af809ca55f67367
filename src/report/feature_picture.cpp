// The inducing variables of a sparse regression on one input, drawn as functions under its fit, as
// van der Wilk (2019, Figs 4.1 to 4.5) does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/fit_pictures.hpp"
#include "report/words.hpp"

namespace covary {

Figure features_figure(const RegressionFit& fit, ConstVector x) {
  constexpr Index most = 24;
  const InducingView at_u = fit.posterior.inducing();
  const Features& u = *at_u.features;
  const double *theta = at_u.theta.data(), *z = at_u.z.data();
  const Index M = u.size(), n = x.size();
  const RowMatrix at = fit.input_scaling.apply(RowMatrix(x));
  Matrix K(M, n);
  u.Kuf(theta, z, {at.data(), n, 1, 1}, K.data());
  const Vector spread = u.Kuu(theta, z).diagonal().cwiseMax(1e-300).cwiseSqrt();
  const Vector prior = diagonal(at_u.kernel, at_u.theta, at).cwiseMax(1e-300).cwiseSqrt();

  Chart chart("What the inducing variables see", input_name(fit, 0),
              "correlation with the function", true);
  const Index shown = std::min(M, most);
  double least = 0.0;
  for (Index i = 0; i < shown; ++i) {
    const Index m = shown < 2 ? 0 : i * (M - 1) / (shown - 1);
    const Vector r = K.row(m).transpose().array() / (spread(m) * prior.array());
    least = std::min(least, r.minCoeff());
    chart.line(x, r, series_ink(i));
  }
  chart.x_limits(x(0), x(n - 1)).y_limits(least - 0.05, 1.05);
  if (shown < M) chart.caption(fmt::format("{} of {} are shown.", shown, M));
  return chart
      .describe(fmt::format(
          "For {} of {} {} features the correlation of the variable with the function at each {}.",
          shown, M, u.name(), input_name(fit, 0)))
      .figure();
}

}  // namespace covary
