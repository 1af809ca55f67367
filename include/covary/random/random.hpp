#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// Philox4x32-10: ten rounds of a keyed bijection of 128-bit counters (Salmon, Moraes, Dror & Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// A generator whose i-th word is a function of (seed, stream, i) alone. Different streams of one
// seed are independent, so a task, a restart or a row takes its own stream and draws the same
// numbers whatever runs beside it. The transforms are ours, so draws are the same on every platform
// (up to the last digit of the C library's log, exp and pow).
//
// A Random is a small value: copy it freely. (seed, stream, position) is all of its state.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }
  // The number of words drawn so far; seek(p) makes the next word the p-th.
  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position);

  std::uint64_t bits();              // one word, uniform on 0 … 2⁶⁴−1
  double uniform();                  // in (0, 1), ends excluded: (k + ½)/2⁵², one word
  double normal();                   // N(0, 1) as Φ⁻¹(uniform()), one word
  double exponential();              // rate 1, one word
  double gamma(double shape);        // scale 1, shape > 0; by rejection. χ²(ν) is 2·gamma(ν/2)
  double student_t(double freedom);  // freedom > 0
  Index integer(Index n);            // uniform on 0 … n−1, n ≥ 1, unbiased
  std::vector<Index> permutation(Index n);  // of 0 … n−1, every order equally likely
  Vector normal_vector(Index n);
  RowMatrix normal_matrix(Index n, Index d);  // row after row

 private:
  std::uint64_t seed_, stream_;
  std::uint64_t position_ = 0;
  std::uint64_t other_half_ = 0;  // of the block at an odd position
  bool have_other_half_ = false;
};

}  // namespace covary
