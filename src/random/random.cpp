#include "covary/random/random.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "covary/error.hpp"
#include "covary/linalg/special.hpp"

namespace covary {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
std::uint64_t join(std::uint32_t lo, std::uint32_t hi) {
  return (static_cast<std::uint64_t>(hi) << 32) | lo;
}

void require_positive(double value, const char* what) {
  if (!(value > 0.0) || !std::isfinite(value))
    throw InputError(fmt::format("{} is {}; it must be positive and finite", what, value));
}

void require_count(Index n, Index least, const char* what) {
  if (n < least) throw InputError(fmt::format("{} is {}; it must be at least {}", what, n, least));
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(p1) ^ counter[1] ^ key[0], low(p1), high(p0) ^ counter[3] ^ key[1], low(p0)};
    key[0] += 0x9E3779B9;  // the golden ratio, and below √3 − 1: Weyl sequences
    key[1] += 0xBB67AE85;
  }
  return counter;
}

void Random::seek(std::uint64_t position) {
  position_ = position;
  have_other_half_ = false;
}

std::uint64_t Random::bits() {
  const bool odd = position_ % 2 == 1;
  const std::uint64_t index = position_ / 2;  // a block of Philox is two words
  ++position_;
  if (odd && have_other_half_) {
    have_other_half_ = false;
    return other_half_;
  }
  const auto block =
      philox4x32({low(index), high(index), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
  const std::uint64_t second = join(block[2], block[3]);
  if (odd) return second;
  other_half_ = second;
  have_other_half_ = true;
  return join(block[0], block[1]);
}

double Random::uniform() {
  // 52 bits and a half are 53: exact, symmetric about ½, and neither 0 nor 1.
  return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52;
}

double Random::normal() { return inverse_normal_cdf(uniform()); }

double Random::exponential() { return -std::log(uniform()); }

double Random::gamma(double shape) {
  require_positive(shape, "the shape of a gamma variable");
  // Γ(a) = Γ(a+1)·U^{1/a} for a < 1.
  if (shape < 1.0) {
    const double larger = gamma(shape + 1.0);
    return larger * std::pow(uniform(), 1.0 / shape);
  }
  // Marsaglia & Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000.
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double u = uniform();
    const double t = 1.0 + c * x;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

double Random::student_t(double freedom) {
  require_positive(freedom, "the degrees of freedom of a Student-t variable");
  const double x = normal();
  return x * std::sqrt(0.5 * freedom / gamma(0.5 * freedom));
}

Index Random::integer(Index n) {
  require_count(n, 1, "the number of integers to choose from");
  const auto range = static_cast<std::uint64_t>(n);
  // The lowest 2⁶⁴ mod n words are refused; the rest hold each remainder equally often.
  const std::uint64_t refused = (0 - range) % range;
  std::uint64_t word = bits();
  while (word < refused) word = bits();
  return static_cast<Index>(word % range);
}

std::vector<Index> Random::permutation(Index n) {
  require_count(n, 0, "the length of a permutation");
  std::vector<Index> p(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) p[static_cast<std::size_t>(i)] = i;
  for (Index i = n - 1; i > 0; --i)  // Fisher & Yates
    std::swap(p[static_cast<std::size_t>(i)], p[static_cast<std::size_t>(integer(i + 1))]);
  return p;
}

Vector Random::normal_vector(Index n) {
  require_count(n, 0, "the length of a normal vector");
  Vector x(n);
  for (Index i = 0; i < n; ++i) x[i] = normal();
  return x;
}

RowMatrix Random::normal_matrix(Index n, Index d) {
  require_count(n, 0, "the number of rows of a normal matrix");
  require_count(d, 0, "the number of columns of a normal matrix");
  RowMatrix X(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j) X(i, j) = normal();
  return X;
}

}  // namespace covary
