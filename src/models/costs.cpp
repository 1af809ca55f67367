#include "models/costs.hpp"

#include <algorithm>

#include "covary/linalg/parallel.hpp"
#include "inference/cglb.hpp"

namespace covary::costs {
namespace {

double inducing(const ProblemSize& s, double usual) {
  return std::min(s.inducing > 0.0 ? s.inducing : usual, s.rows);
}

double patterns(const ProblemSize& s) {
  return std::max<double>(1.0, static_cast<double>(s.patterns.size()));
}

// Each lane under way has its sums and its blocks; some M×M besides.
double sweep_bytes(double sums, double m) {
  return 8.0 * ((sums + 1.0) * m * m * (threads() + 2.0) + 12.0 * m * m + 3e6 * threads());
}

Cost sparse(const ProblemSize& s, double products) {
  const double m = inducing(s, 500.0), p = patterns(s);
  Cost cost{sweep_bytes(p, m), s.rows * m * m * (products + 3.0 * (p - 1.0))};
  if (s.inducing == 0.0) cost.inducing = m;
  if (s.stream) {
    // The rows and the columns of Kuf that the greedy choice keeps; or the exact fit of a subset.
    const double sample = std::min(s.rows, std::max(20000.0, 40.0 * m)),
                 subset = std::min(s.rows, 2048.0);
    cost.bytes +=
        8.0 * sample * (s.inputs + s.outputs) + 8.0 * std::max(sample * m, 2.0 * subset * subset);
  }
  return cost;
}

// Some N×N arrays for each latent function, and so many N³.
Cost dense(const ProblemSize& s, double cubes) {
  const double n = s.rows;
  return {40.0 * n * n * s.functions, cubes * n * n * n * s.functions, n <= 300.0 ? 3.0 : 1.0};
}

double latent(const ProblemSize& s) {
  return s.latent > 0.0 ? s.latent : std::min(10.0, s.outputs);
}

}  // namespace

Cost exact(const ProblemSize& s) {
  Cost cost;
  double largest = 0.0;
  const auto all = s.patterns.empty() ? std::vector<double>{s.rows} : s.patterns;
  for (const double n : all) {
    cost.bytes += 8.0 * n * n;
    cost.flops += n * n * n;
    largest = std::max(largest, 8.0 * n * n);
  }
  cost.starts = s.rows <= 1000.0 ? 3.0 : 1.0;
  if (s.standard_errors) cost.bytes += largest;  // evaluated beside the finished posterior
  return cost;
}

Cost vfe(const ProblemSize& s) { return sparse(s, 4.0); }
Cost power(const ProblemSize& s) { return sparse(s, 7.0); }

// Groups of about M rows.
Cost pitc(const ProblemSize& s) {
  Cost cost = sparse(s, 8.0);
  const double m = inducing(s, 500.0);
  cost.bytes += 24.0 * m * m * threads();
  return cost;
}

// Conjugate gradients of twenty steps.
Cost cglb(const ProblemSize& s) {
  Cost cost = sparse(s, 4.0);
  cost.flops +=
      20.0 * cglb_step_flops(static_cast<Index>(s.rows), static_cast<Index>(s.inputs),
                             static_cast<Index>(s.outputs), static_cast<Index>(inducing(s, 500.0)));
  return cost;
}

Cost laplace(const ProblemSize& s) { return dense(s, 5.0); }
Cost ep(const ProblemSize& s) { return dense(s, 20.0); }

Cost svgp(const ProblemSize& s) {
  const double m = inducing(s, 100.0), L = s.functions;
  const double batch = s.batch > 0.0 ? s.batch : s.rows <= 20000.0 ? s.rows : 1024.0;
  Cost cost{L * sweep_bytes(1.0, m), L * 20.0 * s.rows * m * m};
  if (batch < s.rows) cost.flops = L * (5.0 * batch * m * m + 13.0 / 3.0 * m * m * m);
  if (s.stream) cost.bytes += 8.0 * std::min(s.rows, 20000.0) * (s.inputs + s.outputs + m);
  return cost;
}

Cost sparse_ep(const ProblemSize& s) {
  const double m = inducing(s, 100.0);
  return {sweep_bytes(1.0, m) + 80.0 * s.rows, 40.0 * s.rows * m * m};
}

Cost gplvm(const ProblemSize& s) {
  const double m = inducing(s, 50.0), Q = latent(s), p = patterns(s);
  Cost cost{s.views * sweep_bytes(p, m) + 8.0 * s.rows * (12.0 * Q + s.outputs),
            4.0 * s.rows * m * m * Q * s.views * p,
            s.rows <= 500.0    ? 4.0
            : s.rows <= 2000.0 ? 2.0
                               : 1.0};
  if (s.dynamics) {
    cost.bytes += 24.0 * s.rows * s.rows * Q;
    cost.flops += 4.0 * Q * s.rows * s.rows * s.rows;
  }
  return cost;
}

Cost stochastic_gplvm(const ProblemSize& s) {
  ProblemSize batch = s;
  batch.rows = std::min(s.rows, s.batch > 0.0 ? s.batch : 256.0);
  Cost cost = gplvm(batch);
  cost.starts = 1.0;
  const double m = inducing(batch, 50.0);
  cost.bytes += 16.0 * s.rows * latent(s) + 8.0 * s.outputs * m * m;
  return cost;
}

Cost map_gplvm(const ProblemSize& s) {
  Cost cost = exact(s);
  cost.bytes = 3.0 * s.views * cost.bytes;
  cost.flops *= s.views;
  cost.starts = 1.0;
  if (s.dynamics) {  // one Gram matrix, over the times, for all dimensions
    cost.bytes += 24.0 * s.rows * s.rows;
    cost.flops += s.rows * s.rows * s.rows;
  }
  return cost;
}

// The densities of K classes come one after the other, and one class may have nearly all rows.
Cost class_density(const ProblemSize& s) {
  ProblemSize density = s;
  density.latent = std::min(s.latent > 0.0 ? s.latent : 10.0, s.inputs);
  density.outputs = s.inputs;
  density.patterns.clear();
  const double bytes = gplvm(density).bytes;
  density.rows = s.rows / std::max(2.0, s.functions);
  Cost cost = gplvm(density);
  cost.bytes = bytes;
  return cost;
}

// A mapping from as many latent dimensions as there are inputs.
Cost missing_inputs(const ProblemSize& s) {
  ProblemSize mapping = s;
  mapping.latent = s.inputs;
  Cost cost = gplvm(mapping);
  cost.starts = 1.0;
  return cost;
}

Cost noisy_inputs(const ProblemSize& s) {
  Cost cost = missing_inputs(s);
  cost.starts = 2.0;
  return cost;
}

Cost warped(const ProblemSize& s) {
  ProblemSize layers = s;
  layers.latent = s.latent > 0.0 ? s.latent : 1.0;
  layers.dynamics = true;
  Cost cost = gplvm(layers);
  cost.starts = 1.0;
  return cost;
}

Cost ppca(const ProblemSize& s) {
  const double least = std::min(s.rows, s.outputs);
  return {8.0 * (2.0 * s.rows * s.outputs + 2.0 * least * least), 4.0 * s.rows * s.outputs * least};
}

}  // namespace covary::costs
