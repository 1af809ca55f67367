#include "models/starts.hpp"

#include <algorithm>
#include <cmath>

#include "covary/random/random.hpp"

namespace covary {

Vector perturbed_start(const Parameters& parameters, Index restart, std::uint64_t seed) {
  Random random(seed, static_cast<std::uint64_t>(restart));
  Parameters moved = parameters;
  for (const auto& p : parameters.all()) {
    if (!p.trainable || !p.tied_to.empty()) continue;
    const double shrink = p.path.ends_with(".lengthscales") ? 0.2
                          : p.path == "likelihood.variance" ? 0.1
                                                            : 1.0;
    Vector value = p.value;
    for (double& v : value) {
      if (p.transform.kind() == Transform::Kind::positive)
        v = std::max(v * (restart == 1 ? shrink : std::exp(random.normal())),
                     2.0 * p.transform.low());
      if (p.transform.kind() == Transform::Kind::bounded)
        v = p.transform.low() + (p.transform.high() - p.transform.low()) * random.uniform();
    }
    moved.set(p.path, value);
  }
  return moved.flatten();
}

double typical_latent(const Likelihood& likelihood, ConstVector y, ConstVector aux,
                      ConstVector weights) {
  if (likelihood.functions() != 1) return 0.0;
  std::vector<Index> rows;
  for (Index n = 0; n < y.size(); ++n)
    if (!std::isnan(y(n))) rows.push_back(n);
  const Vector seen = y(rows), beside = aux.size() ? Vector(aux(rows)) : Vector();
  const Vector often = weights.size() ? Vector(weights(rows)) : Vector::Ones(seen.size());
  const Vector theta = likelihood.parameters().values();
  double f = 0.0;
  for (int step = 0; step < 50; ++step) {
    double first = 0.0, second = 0.0;
    const std::vector<Taylor> terms =
        log_densities(likelihood, theta, seen, Vector::Constant(seen.size(), f), beside);
    for (Index n = 0; n < seen.size(); ++n) {
      first += often(n) * terms[static_cast<std::size_t>(n)].first;
      second += often(n) * terms[static_cast<std::size_t>(n)].second;
    }
    // Newton, never further than a unit: a log link is steep.
    const double move =
        second < 0.0 ? std::clamp(-first / second, -1.0, 1.0) : std::copysign(1.0, first);
    if (!std::isfinite(move)) return 0.0;
    f = std::clamp(f + move, -20.0, 20.0);
    if (std::abs(move) < 1e-3) break;
  }
  return f;
}

}  // namespace covary
