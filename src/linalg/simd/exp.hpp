#pragma once

#include <cstdint>

// For sources that are compiled once for each instruction set: nothing of the standard library is
// called, whose inline functions all of them would share.
namespace covary::simd::COVARY_SIMD {

// exp(x) = 2^k·exp(r), |r| ≤ ½ log 2: k by adding 1.5·2⁵², exp(r) by its Taylor series to r¹³,
// whose remainder is 4e-18. Of x ≤ 709; 0 below −708, whatever comes out there. Written without
// branches, for a double or for a vector of them; Bits is the unsigned integers of its size.
template <class Value, class Bits>
inline Value exp_of(Value x) {
  constexpr double log2e = 1.4426950408889634074, magic = 0x1.8p52;
  constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  const Value shifted = x * log2e + magic;
  const Value k = shifted - magic;
  const Value r = (x - k * ln2_high) - k * ln2_low;
  // Estrin's scheme: a tree of products, so that the units stay busy.
  const Value r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const Value p01 = 1.0 + r, p23 = 0.5 + r * (1.0 / 6.0);
  const Value p45 = 1.0 / 24.0 + r * (1.0 / 120.0), p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
  const Value p89 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
  const Value pab = 1.0 / 3628800.0 + r * (1.0 / 39916800.0);
  const Value pcd = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
  const Value p = ((p01 + r2 * p23) + r4 * (p45 + r2 * p67)) + r8 * ((p89 + r2 * pab) + r4 * pcd);
  const Bits exponent = (__builtin_bit_cast(Bits, shifted) + 1023u) << 52;
  const Value value = p * __builtin_bit_cast(Value, exponent);
  return x < Value{} - 708.0 ? Value{} : value;
}

}  // namespace covary::simd::COVARY_SIMD
