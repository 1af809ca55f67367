#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "covary/likelihoods/node.hpp"

// Integrals against a Gaussian by nothing but a very fine and very wide trapezoid.
namespace covary::testing {

struct FineGrid {
  std::vector<double> f, log_weight;  // log N(f; m, v)·h
};
inline FineGrid fine_grid(double m, double v, double reach = 22.0, int n = 20000) {
  FineGrid out;
  const double sd = std::sqrt(v), h = 2.0 * reach / n;
  for (int i = 0; i <= n; ++i) {
    const double t = -reach + h * i;
    out.f.push_back(m + sd * t);
    out.log_weight.push_back(-0.5 * t * t - 0.91893853320467274178 + std::log(h));
  }
  return out;
}

inline std::vector<double> log_density_on(const FineGrid& g, const OneFunction& l, const Datum& d) {
  std::vector<Taylor> t(g.f.size());
  l.taylor(d, static_cast<Index>(g.f.size()), g.f.data(), t.data());
  std::vector<double> out;
  for (const Taylor& at : t) out.push_back(at.value);
  return out;
}

inline double brute_expectation(const OneFunction& l, const Datum& d, double m, double v) {
  const FineGrid g = fine_grid(m, v);
  const auto log_p = log_density_on(g, l, d);
  double sum = 0.0;
  for (std::size_t i = 0; i < log_p.size(); ++i) sum += std::exp(g.log_weight[i]) * log_p[i];
  return sum;
}

inline Tilted brute_tilted(const OneFunction& l, const Datum& d, double alpha, double m, double v) {
  const FineGrid g = fine_grid(m, v);
  auto log_p = log_density_on(g, l, d);
  double top = -1e300;
  for (std::size_t i = 0; i < log_p.size(); ++i) {
    log_p[i] = alpha * log_p[i] + g.log_weight[i];
    top = std::max(top, log_p[i]);
  }
  double z = 0.0, first = 0.0, second = 0.0;
  for (std::size_t i = 0; i < log_p.size(); ++i) z += std::exp(log_p[i] - top);
  for (std::size_t i = 0; i < log_p.size(); ++i)
    first += std::exp(log_p[i] - top) / z * (g.f[i] - m);
  for (std::size_t i = 0; i < log_p.size(); ++i)
    second += std::exp(log_p[i] - top) / z * (g.f[i] - m - first) * (g.f[i] - m - first);
  return {top + std::log(z), first / v, (second - v) / (v * v)};
}

inline Moments brute_moments(const OneFunction& l, const Datum& d, double m, double v) {
  const FineGrid g = fine_grid(m, v);
  double mean = 0.0, within = 0.0, between = 0.0;
  for (std::size_t i = 0; i < g.f.size(); ++i) {
    const Moments c = l.conditional(d, g.f[i]);
    mean += std::exp(g.log_weight[i]) * c.mean;
    within += std::exp(g.log_weight[i]) * c.variance;
  }
  for (std::size_t i = 0; i < g.f.size(); ++i) {
    const double z = l.conditional(d, g.f[i]).mean - mean;
    between += std::exp(g.log_weight[i]) * z * z;
  }
  return {mean, within + between};
}

}  // namespace covary::testing
