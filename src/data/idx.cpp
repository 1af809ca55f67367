#include "covary/data/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "covary/error.hpp"

namespace covary {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& why) {
  throw FileError(fmt::format("'{}' is not a readable IDX file: {}", name, why));
}

template <class T>
T big_endian(const char* bytes) {
  char reversed[sizeof(T)];
  std::reverse_copy(bytes, bytes + sizeof(T), reversed);
  T value;
  std::memcpy(&value, reversed, sizeof value);
  return value;
}

template <class T>
void read_all(const char* bytes, RowMatrix& values) {
  double* value = values.data();
  for (Index i = 0; i < values.size(); ++i, bytes += sizeof(T))
    value[i] = static_cast<double>(big_endian<T>(bytes));
}

struct Type {
  unsigned char code;
  std::size_t size;
  void (*read)(const char*, RowMatrix&);
};

constexpr Type types[] = {
    {0x08, 1, read_all<std::uint8_t>}, {0x09, 1, read_all<std::int8_t>},
    {0x0B, 2, read_all<std::int16_t>}, {0x0C, 4, read_all<std::int32_t>},
    {0x0D, 4, read_all<float>},        {0x0E, 8, read_all<double>},
};

}  // namespace

Table parse_idx(std::string_view bytes, const std::string& name) {
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) fail(name, "its first bytes are wrong");
  const auto code = static_cast<unsigned char>(bytes[2]);
  const auto dimensions = static_cast<std::size_t>(static_cast<unsigned char>(bytes[3]));
  const auto type =
      std::find_if(std::begin(types), std::end(types), [&](auto& t) { return t.code == code; });
  if (type == std::end(types)) fail(name, fmt::format("its type code {:#04x} is unknown", code));
  if (dimensions == 0) fail(name, "it has no dimensions");
  if (bytes.size() < 4 + 4 * dimensions) fail(name, "it ends inside its header");
  std::vector<std::uint32_t> shape;
  for (std::size_t k = 0; k < dimensions; ++k)
    shape.push_back(big_endian<std::uint32_t>(bytes.data() + 4 + 4 * k));
  bytes.remove_prefix(4 + 4 * dimensions);

  // The declared shape is believed only when it makes exactly the bytes that are there.
  const std::size_t present = bytes.size() / type->size;
  std::size_t items = 1;
  for (std::size_t extent : shape) {
    if (extent == 0) fail(name, "it holds no values");
    items = extent > present / items ? 0 : items * extent;
    if (items == 0) break;
  }
  if (items * type->size != bytes.size() || items == 0)
    fail(name, fmt::format("its header declares {} items of {} bytes, but {} bytes follow",
                           fmt::join(shape, "×"), type->size, bytes.size()));

  const auto rows = static_cast<Index>(shape[0]);
  RowMatrix values(rows, static_cast<Index>(items) / rows);
  type->read(bytes.data(), values);
  return numeric_table(std::move(values));
}

}  // namespace covary
