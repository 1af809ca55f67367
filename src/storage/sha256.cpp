#include "storage/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace covary {
namespace {

using State = std::array<std::uint32_t, 8>;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (§4.2.2).
alignas(16) constexpr std::uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const std::byte* p) {
  return std::to_integer<std::uint32_t>(p[0]) << 24 | std::to_integer<std::uint32_t>(p[1]) << 16 |
         std::to_integer<std::uint32_t>(p[2]) << 8 | std::to_integer<std::uint32_t>(p[3]);
}

// §6.2.2, with the names of the standard.
void compress_portable(State& H, const std::byte* blocks, std::size_t count) {
  using std::rotr;
  for (; count > 0; --count, blocks += 64) {
    std::uint32_t W[64];
    for (std::size_t t = 0; t < 16; ++t) W[t] = load_big_endian(blocks + 4 * t);
    for (int t = 16; t < 64; ++t) {
      const std::uint32_t s0 = rotr(W[t - 15], 7) ^ rotr(W[t - 15], 18) ^ (W[t - 15] >> 3);
      const std::uint32_t s1 = rotr(W[t - 2], 17) ^ rotr(W[t - 2], 19) ^ (W[t - 2] >> 10);
      W[t] = s1 + W[t - 7] + s0 + W[t - 16];
    }
    auto [a, b, c, d, e, f, g, h] = H;
    for (int t = 0; t < 64; ++t) {
      const std::uint32_t S1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
      const std::uint32_t S0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
      const std::uint32_t T1 = h + S1 + ((e & f) ^ (~e & g)) + K[t] + W[t];
      const std::uint32_t T2 = S0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + T1, d = c, c = b, b = a, a = T1 + T2;
    }
    const State step{a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) H[i] += step[i];
  }
}

#if defined(__x86_64__)
bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool sse41 = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3);
  return sse41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29));
}

// The same rounds, four words of the schedule at a time. The instructions want the state as the
// vectors (a,b,e,f) and (c,d,g,h), highest word first.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_sha_instructions(State& H,
                                                                           const std::byte* blocks,
                                                                           std::size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32(int(H[0]), int(H[1]), int(H[4]), int(H[5]));
  __m128i cdgh = _mm_set_epi32(int(H[2]), int(H[3]), int(H[6]), int(H[7]));
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i W[4];  // the last sixteen words of the schedule; group i lives in W[i mod 4]
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i& Wi = W[i % 4];
      if (i < 4) {
        Wi = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i), swap);
      } else {
        const __m128i seven_back = _mm_alignr_epi8(W[(i + 3) % 4], W[(i + 2) % 4], 4);
        Wi = _mm_add_epi32(_mm_sha256msg1_epu32(Wi, W[(i + 1) % 4]), seven_back);
        Wi = _mm_sha256msg2_epu32(Wi, W[(i + 3) % 4]);
      }
      const __m128i WK = _mm_add_epi32(Wi, _mm_load_si128(reinterpret_cast<const __m128i*>(K) + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, WK);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(WK, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  alignas(16) std::uint32_t first[4], second[4];
  _mm_store_si128(reinterpret_cast<__m128i*>(first), abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(second), cdgh);
  H = {first[3], first[2], second[3], second[2], first[1], first[0], second[1], second[0]};
}
#else
bool has_sha_instructions() { return false; }
constexpr auto compress_sha_instructions = compress_portable;
#endif

}  // namespace

Sha256::Sha256(bool hardware)
    : compress_(hardware && has_sha_instructions() ? compress_sha_instructions : compress_portable),
      state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  const std::size_t waiting = length_ % 64;
  length_ += bytes.size();
  if (waiting > 0) {
    const std::size_t taken = std::min(64 - waiting, bytes.size());
    std::copy_n(bytes.begin(), taken, pending_.begin() + waiting);
    if (waiting + taken < 64) return *this;
    compress_(state_, pending_.data(), 1);
    bytes = bytes.subspan(taken);
  }
  const std::size_t blocks = bytes.size() / 64;
  compress_(state_, bytes.data(), blocks);
  bytes = bytes.subspan(64 * blocks);
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
  return *this;
}

Sha256& Sha256::update(std::string_view text) { return update(std::as_bytes(std::span(text))); }

std::string Sha256::hex() const {
  // A one bit, zeros up to 56 mod 64, and the length in bits, big-endian (§5.1.1).
  std::array<std::byte, 128> tail{};
  const std::size_t waiting = length_ % 64;
  std::copy_n(pending_.begin(), waiting, tail.begin());
  tail[waiting] = std::byte{0x80};
  const std::size_t blocks = waiting < 56 ? 1 : 2;
  for (int i = 0; i < 8; ++i)
    tail[64 * blocks - 1 - i] = std::byte((8 * length_) >> (8 * i) & 0xff);
  State H = state_;
  compress_(H, tail.data(), blocks);

  std::string digits;
  for (const std::uint32_t word : H) {
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  }
  return digits;
}

std::string sha256(std::span<const std::byte> bytes) { return Sha256().update(bytes).hex(); }
std::string sha256(std::string_view text) { return Sha256().update(text).hex(); }

}  // namespace covary
