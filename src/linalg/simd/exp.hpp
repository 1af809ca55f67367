#pragma once

#include <cstdint>

// For sources that are compiled once for each instruction set: nothing of the standard library is
// called, whose inline functions all of them would share.
namespace covary::simd::COVARY_SIMD {

// exp(x) = 2^k·exp(r), |r| ≤ ½ log 2: k by adding 1.5·2⁵², and 1023 for the exponent's bias, exp(r)
// by 1 + r + r²g(r), where g interpolates at Chebyshev's points and is 2e-17 off. Of x ≤ 709; 0
// below −708, whatever comes out there. Written without branches, for a double or for a vector of
// them; Bits is the unsigned integers of its size.
template <class Value, class Bits>
inline Value exp_of(Value x) {
  constexpr double log2e = 1.4426950408889634074, magic = 0x1.8p52 + 1023.0;
  constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  const Value shifted = x * log2e + magic;
  const Value k = shifted - magic;
  const Value r = (x - k * ln2_high) - k * ln2_low;
  // Estrin's scheme: a tree of products, so that the units stay busy.
  const Value r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const Value p01 = 1.0 + r, p23 = 0x1.0000000000001p-1 + r * 0x1.5555555555556p-3;
  const Value p45 = 0x1.5555555553d68p-5 + r * 0x1.11111111109b5p-7;
  const Value p67 = 0x1.6c16c17889ef1p-10 + r * 0x1.a01a01a7c2efep-13;
  const Value p89 = 0x1.a019b9149a41cp-16 + r * 0x1.71de0db2f6b19p-19;
  const Value pab = 0x1.28917c89a43a7p-22 + r * 0x1.af389ecfc4b9cp-26;
  const Value p = ((p01 + r2 * p23) + r4 * (p45 + r2 * p67)) + r8 * (p89 + r2 * pab);
  const Value value = p * __builtin_bit_cast(Value, __builtin_bit_cast(Bits, shifted) << 52);
  return x < Value{} - 708.0 ? Value{} : value;
}

}  // namespace covary::simd::COVARY_SIMD
