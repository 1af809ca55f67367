// The error of the sweep's routes against long double, as a function of ρ:
// docs/decisions/sweep-routes.md. With --all every case is printed too.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "covary/error.hpp"
#include "inference/accuracy_case.hpp"

using namespace covary;

namespace {

const char* const names[] = {"fast", "safe", "stable"};
const Route routes[] = {Route::fast, Route::safe, Route::stable};
constexpr int nowhere = 99;

struct Worst {
  int cases = 0;
  double value = 0, nats = -1e300, theta = 0, noise = 0, z = 0, z_safe = 0;

  void take(const testing::AccuracyErrors& e, bool safe) {
    ++cases;
    value = std::max(value, e.value);
    nats = std::max(nats, e.nats);
    theta = std::max(theta, e.theta);
    noise = std::max(noise, e.noise);
    z = std::max(z, e.z);
    if (safe) z_safe = std::max(z_safe, e.z);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bool every = argc > 1 && std::string(argv[1]) == "--all";
  std::map<std::pair<int, int>, Worst> table;  // (route, decade of ρ)
  for (const Index M : {20, 100, 300})
    for (const Index D : {1, 2})
      for (const double l : {0.05, 0.3, 2.0}) {
        testing::SparseCase t = testing::accuracy_case(400, M, D, l);
        for (const double jitter : {0.0, 1e-12, 1e-10, 1e-8, 1e-6}) {
          double added = -1.0;
          std::optional<testing::WideReference> wide;
          for (const double noise : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
            if (M == 300 && (noise == 1e-2 || noise == 1e-4 || noise == 1e-5)) continue;
            t.values.noise = noise;
            std::optional<testing::WideReference::Result> reference;
            for (int r = 0; r < 3; ++r) {
              SweepGradient g;
              SparseEvaluation e;
              try {
                e = t.evaluate("vfe", &g, routes[r], jitter);
              } catch (const Error&) {
                ++table[{r, nowhere}].cases;
                continue;
              }
              if (e.jitter != added) {
                wide.emplace(testing::wide_reference(t, e.jitter));
                reference.reset();
              }
              added = e.jitter;
              if (!reference) reference = wide->evaluate(noise, true);
              const auto errors = testing::accuracy_errors(e, g, *reference);
              if (every)
                fmt::print(
                    "{:6} D={} M={} l={} jitter={:.0e} noise={:.0e} added={:.1e} lmin={:.1e} "
                    "rho={:.1e} value={:.1e} nats={:.1e} kernel={:.1e} theta={:.1e} s2={:.1e} "
                    "Z={:.1e}\n",
                    names[r], D, M, l, jitter, noise, e.jitter, e.terms.smallest_eigenvalue,
                    e.terms.rho, errors.value, errors.nats,
                    static_cast<double>(reference->rounding), errors.theta, errors.noise, errors.z);
              const int decade = static_cast<int>(std::floor(std::log10(e.terms.rho)));
              table[{r, std::clamp(decade, -12, 2)}].take(
                  errors, e.terms.smallest_eigenvalue >= 1e-6 * 1.3);
            }
          }
        }
      }
  fmt::print("{:6}  {:>8}  {:>5}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}  {:>15}\n", "route", "rho from",
             "cases", "value", "nats", "theta", "noise", "Z", "Z, lmin >= 1e-6");
  for (const auto& [key, w] : table) {
    if (key.second == nowhere)
      fmt::print("{:6}  failed    {:5}\n", names[key.first], w.cases);
    else
      fmt::print("{:6}  {:8.0e}  {:5}  {:7.1e}  {:7.1e}  {:7.1e}  {:7.1e}  {:7.1e}  {:15.1e}\n",
                 names[key.first], std::pow(10.0, key.second), w.cases, w.value, w.nats, w.theta,
                 w.noise, w.z, w.z_safe);
  }
}
