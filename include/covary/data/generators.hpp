#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// Synthetic data y = f(x) + noise. The same (n, seed) gives the same data; the first rows of a
// larger set are those of a smaller one.
struct SyntheticData {
  std::vector<std::string> inputs;  // the names of the columns of X
  RowMatrix X;                      // n×D
  Vector y;                         // n
  Vector f;                         // n, without noise
};

struct InputRange {
  const char* name;
  double lower, upper;
};

// The three functions below are those of the virtual library of simulation experiments (Surjanovic
// & Bingham), with its ranges and in its order of inputs. In raw units they defeat fits that start
// from unit lengthscales. Inputs of the data sets are uniform over the ranges.

// Water flow through a borehole (m³/yr) from rw r Tu Hu Tl Hl L Kw:
//   2π Tu (Hu − Hl) / (ln(r/rw) (1 + 2 L Tu / (ln(r/rw) rw² Kw) + Tu/Tl))
double borehole(ConstVector x);
const std::vector<InputRange>& borehole_ranges();
SyntheticData borehole_data(Index n, std::uint64_t seed, double noise_sd = 0);

// Midpoint voltage of an output-transformerless push-pull circuit from Rb1 Rb2 Rf Rc1 Rc2 beta:
//   with Vb1 = 12 Rb2/(Rb1 + Rb2) and B = β (Rc2 + 9),
//   (Vb1 + 0.74) B/(B + Rf) + 11.35 Rf/(B + Rf) + 0.74 Rf B/((B + Rf) Rc1)
double otl_circuit(ConstVector x);
const std::vector<InputRange>& otl_circuit_ranges();
SyntheticData otl_circuit_data(Index n, std::uint64_t seed, double noise_sd = 0);

// Weight of a light aircraft's wing (lb) from Sw Wfw A Lambda q lambda tc Nz Wdg Wp, Λ in degrees:
//   0.036 Sw^0.758 Wfw^0.0035 (A/cos²Λ)^0.6 q^0.006 λ^0.04 (100 tc/cosΛ)^−0.3 (Nz Wdg)^0.49 + Sw Wp
double wing_weight(ConstVector x);
const std::vector<InputRange>& wing_weight_ranges();
SyntheticData wing_weight_data(Index n, std::uint64_t seed, double noise_sd = 0);

// One input in [0, 6] with none in (3.2, 4.2): a smooth function with noise, in the manner of
// Snelson's set, so that a fit shows its band opening over the gap. f = sin(2x) + 0.6 cos(0.9x).
SyntheticData snelson_like_data(Index n = 200, std::uint64_t seed = 0, double noise_sd = 0.28);

// One input uniform in [lower, upper] and a function of period 1, for extrapolation (spec E5.3):
//   f = sin(2πx) + 0.5 cos(4πx)
SyntheticData periodic_data(Index n, std::uint64_t seed, double lower = 0, double upper = 4,
                            double noise_sd = 0.1);

// Friedman's function (1991) of five inputs uniform in [0, 1], with D − 5 more that do not matter:
//   10 sin(π x0 x1) + 20 (x2 − ½)² + 10 x3 + 5 x4
SyntheticData friedman_data(Index n, std::uint64_t seed, Index D = 10, double noise_sd = 1);

// A few noisy points on a shallow parabola over [−1, 1] (spec E1.1: linear or quadratic?). Twelve
// points are interpolated by the polynomial of order 11. f = 0.3 + 0.8x + 0.7x².
SyntheticData parabola_data(Index n = 12, std::uint64_t seed = 0, double noise_sd = 0.2);

}  // namespace covary
