// What eigenfunctions leave of the prior variances, and of the evidence, against M, with the bounds
// that are known beforehand (Burt 2018, sections 4.2 and 4.3, Figs 4.1 to 4.5; E8 to E10): N = 200,
// inputs normal or uniform with standard deviation five, the measure N(0, 25), SE kernel of
// variance and lengthscale one. Of normal inputs t has heavy tails (one input far out is most of
// it), so that medians over 8 sets are shown; the rate of KL is that of measures with the moments
// of each set.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/features/eigen.hpp"
#include "covary/linalg/spectrum.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "spectral_support.hpp"

namespace covary::experiments {
namespace {

constexpr Index N = 200, sets = 8, count = 7;
constexpr Index sizes[count] = {8, 16, 24, 32, 40, 50, 60};
constexpr double sd = 5.0;
// Expected t/N of uniform inputs (spec, section 3.3).
constexpr double uniform_trace[count] = {.184469,    .0236676,   .00390211, .000680664,
                                         .000122834, 1.50297e-5, 1.86903e-6};

// q ≤ κp for the density q of the inputs and p = N(0, 25).
double kappa(ToyInputs inputs) {
  const double R = std::sqrt(75.0);
  return inputs == ToyInputs::normal ? 1.0
                                     : std::sqrt(2.0 * std::numbers::pi) * sd / (2.0 * R) *
                                           std::exp(R * R / (2.0 * sd * sd));
}

// KL ≤ t/2σ² + t·|y|²/(2σ⁴ + 2tσ²) for every set (Lemma 4.1.2).
double kl_limit(double t, double yy, double noise) {
  return 0.5 * t / noise + 0.5 * t * yy / (noise * noise + t * noise);
}

void measure(Result& result, ToyInputs inputs, std::uint64_t seed) {
  const double B = eigenvalue_ratio(1.0, sd);
  Matrix t(count, sets), kl(count, sets), limit(count, sets), rates(count, sets);
  double jitter = 0.0;
  for (Index set = 0; set < sets; ++set) {
    const Data data = draw_toy(inputs, N, seed, static_cast<std::uint64_t>(set));
    const double exact = exact_nlml(data, toy_truth()), yy = data.Y.squaredNorm();
    const Measure own = moments_of(data.X);
    for (Index i = 0; i < count; ++i) {
      const EigenBound e = eigen_bound(data, sizes[i], {0.0, sd}, toy_truth());
      const EigenBound at_moments = eigen_bound(data, sizes[i], own, toy_truth());
      const double tail = std::pow(eigenvalue_ratio(1.0, own.sd), static_cast<double>(sizes[i]));
      t(i, set) = e.trace;
      kl(i, set) = -exact - e.elbo;
      limit(i, set) = kl_limit(e.trace, yy, toy_noise);
      rates(i, set) = (-exact - at_moments.elbo) / (N * tail / (2.0 * toy_noise));
      jitter = std::max({jitter, e.jitter, at_moments.jitter});
    }
  }
  Matrix shown(count, 6);
  bool bounded = true, ordered = true, rate = true;
  for (Index i = 0; i < count; ++i) {
    const double tail = std::pow(B, static_cast<double>(sizes[i]));
    const auto middle = [&](const Matrix& of) {
      return median(std::vector<double>(of.row(i).begin(), of.row(i).end()));
    };
    const double before = kappa(inputs) * N * tail;  // of t, asymptotically
    const double expected = inputs == ToyInputs::normal ? tail : uniform_trace[i];
    result.add(
        fmt::format("{}, M = {}: t/N; KL; KL limit of Lemma 4.1.2", name_of(inputs), sizes[i]),
        fmt::format("{:.3g} expected", expected),
        fmt::format("{:.3g}; {:.3g}; {:.3g}", middle(t) / N, middle(kl), middle(limit)),
        fmt::format("KL/(N·Bᴹ/2σ²), measure at the moments: {:.2f}", rates.row(i).mean()));
    for (Index set = 0; set < sets; ++set)
      bounded = bounded && kl(i, set) <= limit(i, set) * (1.0 + 1e-9) + 1e-9;
    ordered = ordered && middle(t) <= 1.5 * before;
    rate = rate && rates.row(i).mean() >= 0.1 && rates.row(i).mean() <= 4.0;
    shown.row(i) << static_cast<double>(sizes[i]), std::log10(middle(t)), std::log10(before),
        std::log10(middle(kl)), std::log10(middle(limit)), std::log10(0.5 * before / toy_noise);
  }
  result.series.push_back({fmt::format("log₁₀ of trace and KL, inputs {}", name_of(inputs)),
                           {"M", "t", "t: its bound", "KL", "KL: its limit", "t bound / 2σ²"},
                           shown});
  result.claim(fmt::format("{}: KL below its limit in every set", name_of(inputs)), bounded,
               fmt::format("{} sets, {} sizes", sets, count));
  result.claim(fmt::format("{}: the median of t is at most 1.5·κ·N·Bᴹ", name_of(inputs)), ordered,
               fmt::format("κ = {:.3f}", kappa(inputs)));
  result.claim(fmt::format("{}: no jitter", name_of(inputs)), jitter == 0.0,
               fmt::format("{:.1e}", jitter));
  if (inputs == ToyInputs::normal)
    result.claim("KL/(N·Bᴹ/2σ²) within [0.1, 4] with the measure at the moments, mean of the sets",
                 rate, rate ? "yes" : "no");
}

// E8: eigenvalues of K/N for inputs of standard deviation one, beside those of the operator.
void spectra(Result& result, std::uint64_t seed) {
  constexpr Index rows = 500, shown = 11;
  const double B = eigenvalue_ratio(1.0, 1.0);
  Random random(seed, 0x5bec);
  Matrix table(shown, 5);
  for (Index m = 0; m < shown; ++m)
    table.row(m) << static_cast<double>(m), std::log10((1.0 - B) * std::pow(B, m)), 0.0, 0.0, 0.0;
  bool below = true;
  for (Index which = 0; which < 3; ++which) {
    RowMatrix X(rows, 1);
    for (Index i = 0; i < rows; ++i)
      X(i) = which == 0   ? random.normal()
             : which == 1 ? std::sqrt(3.0) * (2.0 * random.uniform() - 1.0)
                          : (random.uniform() < 0.5 ? -0.98 : 0.98) + 0.2 * random.normal();
    const Vector values =
        symmetric_eigen(gram("se", Vector::Ones(2), X) / static_cast<double>(rows))
            .values.reverse();
    double tail = 0.0;
    for (Index m = shown; m < rows; ++m) tail += std::max(values(m), 0.0);
    below = below && tail <= std::pow(B, shown);
    for (Index m = 0; m < shown; ++m) table(m, 2 + which) = std::log10(std::max(values(m), 1e-16));
  }
  result.series.push_back({"log₁₀ eigenvalues: the operator's of N(0, 1), and of K/N at N = 500",
                           {"m", "operator", "normal", "uniform", "mixture"},
                           table});
  result.claim("what is left after eleven is below the operator's", below, below ? "yes" : "no");
}

}  // namespace

Result spectral_trace(std::uint64_t seed) {
  Result result;
  result.name = "spectral-trace";
  result.source =
      "D. Burt, Spectral Methods in Gaussian Process Approximations (2018), sections 4.2 and 4.3, "
      "Figs 4.1 to 4.5";
  measure(result, ToyInputs::normal, seed);
  measure(result, ToyInputs::uniform, seed);
  spectra(result, seed);
  return result;
}

}  // namespace covary::experiments
