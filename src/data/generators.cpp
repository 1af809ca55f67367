#include "covary/data/generators.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/random/random.hpp"

namespace covary {
namespace {

using Function = double (*)(ConstVector);
using std::numbers::pi;

void check_inputs(ConstVector x, Index D, const char* name) {
  if (x.size() != D)
    throw InputError(fmt::format("{} takes {} inputs, {} were given", name, D, x.size()));
}

// Inputs come from one stream of the seed and noise from another, so that the noise can change
// while the inputs stay.
SyntheticData generate(Index n, std::uint64_t seed, double noise_sd,
                       const std::vector<InputRange>& ranges, Function f) {
  if (n < 1) throw InputError(fmt::format("{} rows were asked for; at least 1 is needed", n));
  if (!(noise_sd >= 0) || std::isinf(noise_sd))
    throw InputError(
        fmt::format("the noise standard deviation is {}; it must be finite and ≥ 0", noise_sd));
  const auto D = static_cast<Index>(ranges.size());
  SyntheticData data{{}, RowMatrix(n, D), Vector(n), Vector(n)};
  for (const InputRange& range : ranges) data.inputs.emplace_back(range.name);
  Random inputs(seed, 0), noise(seed, 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < D; ++j) {
      const InputRange& range = ranges[static_cast<std::size_t>(j)];
      data.X(i, j) = range.lower + (range.upper - range.lower) * inputs.uniform();
    }
    data.f[i] = f(data.X.row(i).transpose());
    data.y[i] = data.f[i] + noise_sd * noise.normal();
  }
  return data;
}

double snelson_like(ConstVector x) { return std::sin(2 * x[0]) + 0.6 * std::cos(0.9 * x[0]); }

double periodic(ConstVector x) { return std::sin(2 * pi * x[0]) + 0.5 * std::cos(4 * pi * x[0]); }

double friedman(ConstVector x) {
  return 10 * std::sin(pi * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4];
}

double parabola(ConstVector x) { return 0.3 + 0.8 * x[0] + 0.7 * x[0] * x[0]; }

}  // namespace

double borehole(ConstVector x) {
  check_inputs(x, 8, "borehole");
  const double rw = x[0], r = x[1], Tu = x[2], Hu = x[3], Tl = x[4], Hl = x[5], L = x[6], Kw = x[7];
  const double log_ratio = std::log(r / rw);
  return 2 * pi * Tu * (Hu - Hl) /
         (log_ratio * (1 + 2 * L * Tu / (log_ratio * rw * rw * Kw) + Tu / Tl));
}

const std::vector<InputRange>& borehole_ranges() {
  static const std::vector<InputRange> ranges{
      {"rw", 0.05, 0.15}, {"r", 100, 50000}, {"Tu", 63070, 115600}, {"Hu", 990, 1110},
      {"Tl", 63.1, 116},  {"Hl", 700, 820},  {"L", 1120, 1680},     {"Kw", 9855, 12045}};
  return ranges;
}

SyntheticData borehole_data(Index n, std::uint64_t seed, double noise_sd) {
  return generate(n, seed, noise_sd, borehole_ranges(), borehole);
}

double otl_circuit(ConstVector x) {
  check_inputs(x, 6, "otl_circuit");
  const double Rb1 = x[0], Rb2 = x[1], Rf = x[2], Rc1 = x[3], Rc2 = x[4], beta = x[5];
  const double Vb1 = 12 * Rb2 / (Rb1 + Rb2);
  const double B = beta * (Rc2 + 9);
  return (Vb1 + 0.74) * B / (B + Rf) + 11.35 * Rf / (B + Rf) + 0.74 * Rf * B / ((B + Rf) * Rc1);
}

const std::vector<InputRange>& otl_circuit_ranges() {
  static const std::vector<InputRange> ranges{{"Rb1", 50, 150},   {"Rb2", 25, 70},
                                              {"Rf", 0.5, 3},     {"Rc1", 1.2, 2.5},
                                              {"Rc2", 0.25, 1.2}, {"beta", 50, 300}};
  return ranges;
}

SyntheticData otl_circuit_data(Index n, std::uint64_t seed, double noise_sd) {
  return generate(n, seed, noise_sd, otl_circuit_ranges(), otl_circuit);
}

double wing_weight(ConstVector x) {
  check_inputs(x, 10, "wing_weight");
  const double Sw = x[0], Wfw = x[1], A = x[2], q = x[4], lambda = x[5], tc = x[6], Nz = x[7],
               Wdg = x[8], Wp = x[9];
  const double cosine = std::cos(x[3] * pi / 180);
  return 0.036 * std::pow(Sw, 0.758) * std::pow(Wfw, 0.0035) *
             std::pow(A / (cosine * cosine), 0.6) * std::pow(q, 0.006) * std::pow(lambda, 0.04) *
             std::pow(100 * tc / cosine, -0.3) * std::pow(Nz * Wdg, 0.49) +
         Sw * Wp;
}

const std::vector<InputRange>& wing_weight_ranges() {
  static const std::vector<InputRange> ranges{
      {"Sw", 150, 200},    {"Wfw", 220, 300},  {"A", 6, 10},       {"Lambda", -10, 10},
      {"q", 16, 45},       {"lambda", 0.5, 1}, {"tc", 0.08, 0.18}, {"Nz", 2.5, 6},
      {"Wdg", 1700, 2500}, {"Wp", 0.025, 0.08}};
  return ranges;
}

SyntheticData wing_weight_data(Index n, std::uint64_t seed, double noise_sd) {
  return generate(n, seed, noise_sd, wing_weight_ranges(), wing_weight);
}

SyntheticData snelson_like_data(Index n, std::uint64_t seed, double noise_sd) {
  constexpr double gap_begin = 3.2, gap_end = 4.2;
  // Drawn on [0, 5] and then moved apart, which leaves the gap empty and the rest uniform.
  SyntheticData data =
      generate(n, seed, noise_sd, {{"x", 0, 6 - (gap_end - gap_begin)}}, snelson_like);
  for (Index i = 0; i < n; ++i) {
    const double noise = data.y[i] - data.f[i];
    if (data.X(i, 0) > gap_begin) data.X(i, 0) += gap_end - gap_begin;
    data.f[i] = snelson_like(data.X.row(i).transpose());
    data.y[i] = data.f[i] + noise;
  }
  return data;
}

SyntheticData periodic_data(Index n, std::uint64_t seed, double lower, double upper,
                            double noise_sd) {
  if (!(lower < upper) || std::isinf(lower) || std::isinf(upper))
    throw InputError(
        fmt::format("the range of inputs [{}, {}] is empty or infinite", lower, upper));
  return generate(n, seed, noise_sd, {{"x", lower, upper}}, periodic);
}

SyntheticData friedman_data(Index n, std::uint64_t seed, Index D, double noise_sd) {
  if (D < 5) throw InputError(fmt::format("friedman_data has {} inputs; at least 5 are needed", D));
  SyntheticData data =
      generate(n, seed, noise_sd, std::vector<InputRange>(static_cast<std::size_t>(D), {"x", 0, 1}),
               friedman);
  for (std::size_t j = 0; j < data.inputs.size(); ++j) data.inputs[j] = fmt::format("x{}", j);
  return data;
}

SyntheticData parabola_data(Index n, std::uint64_t seed, double noise_sd) {
  return generate(n, seed, noise_sd, {{"x", -1, 1}}, parabola);
}

}  // namespace covary
