#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covary/linalg/types.hpp"

// The JSON header of a safetensors file: names, types, shapes and places of the arrays, and the one
// string under __metadata__ that is ours.
namespace covary {

struct TensorEntry {
  std::string dtype;
  std::vector<Index> shape;          // not negative
  std::uint64_t begin = 0, end = 0;  // in the data section
  std::uint64_t size() const { return end - begin; }
};
using TensorEntries = std::map<std::string, TensorEntry>;

struct SafetensorsHeader {
  std::optional<std::string> covary;  // __metadata__.covary
  TensorEntries tensors;
};

// What the public package also refuses to exceed.
inline constexpr std::uint64_t kLongestHeader = 100'000'000;
inline constexpr std::size_t kMostDimensions = 16;

// The bytes that an array takes; nothing when the dtype is unknown, a size is negative or the
// product is beyond 2⁶³.
std::optional<std::uint64_t> byte_count(std::string_view dtype, const std::vector<Index>& shape);

// {"name":{"data_offsets":[b,e],"dtype":"F64","shape":[…]},…}: keys sorted, no spaces. This is both
// what the header holds and what the digest of the table is taken of.
std::string tensor_table(const TensorEntries& tensors);
std::string header_text(const std::string& covary, const std::string& table);

// Whatever is not such a header is a FileError about `source`. Places and dtypes are not looked at
// here, so that a foreign or newer file can be told for what it is.
SafetensorsHeader parse_header(std::string_view text, const std::string& source);

// The entries in the order of their bytes, once they are known to tile `data_size` bytes without
// holes or overlaps and to agree with their dtypes and shapes.
std::vector<TensorEntries::const_pointer> tiling(const TensorEntries& tensors,
                                                 std::uint64_t data_size,
                                                 const std::string& source);

[[noreturn]] void refuse(const std::string& source, const std::string& reason);
// Text from a file, made harmless for a message: escaped and cut short.
std::string shown(std::string_view text);

}  // namespace covary
