#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace covary {

// SHA-256 (FIPS 180-4) of a stream of bytes. Uses the processor's own instructions where it has
// them; `hardware = false` keeps to the portable rounds, so that a test can compare the two.
class Sha256 {
 public:
  explicit Sha256(bool hardware = true);

  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text);
  // The digest of what was fed so far, as 64 lower-case hexadecimal digits. More may follow.
  std::string hex() const;

 private:
  using State = std::array<std::uint32_t, 8>;
  using Compress = void (*)(State&, const std::byte* blocks, std::size_t count);

  Compress compress_;
  State state_;
  std::array<std::byte, 64> pending_{};
  std::uint64_t length_ = 0;  // bytes fed; length_ mod 64 of them wait in pending_
};

std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

}  // namespace covary
