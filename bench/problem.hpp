#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// The problem that ours and the limit are measured on: regression with an SE-ARD kernel, D = 8, the
// parameters and the distribution of the data those of bench/peers/exact.py. No Covary in here.
namespace bench {

inline constexpr std::size_t D = 8;
inline constexpr double variance = 1.3, noise = 0.1;

struct Problem {
  std::size_t n;
  std::vector<double> X;  // n×D, row-major
  std::vector<double> y;
  std::vector<double> lengthscales;
};

// SplitMix64, 53 bits: the same numbers everywhere.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : state_(seed) {}
  double operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

inline Problem make_problem(std::size_t n) {
  Problem p{n, std::vector<double>(n * D), std::vector<double>(n), std::vector<double>(D)};
  Uniform uniform(n);
  for (double& x : p.X) x = uniform();
  for (std::size_t i = 0; i < n; ++i) {
    const double* x = p.X.data() + i * D;
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // Box–Muller
    p.y[i] = std::sin(6.0 * x[0]) + x[1] * x[2] + 0.3 * radius * std::cos(2.0 * M_PI * uniform());
  }
  for (std::size_t d = 0; d < D; ++d) p.lengthscales[d] = 0.5 + 0.2 * static_cast<double>(d);
  return p;
}

}  // namespace bench
