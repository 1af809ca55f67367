#include "covary/data/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "covary/error.hpp"

namespace covary {
namespace {

static_assert(std::endian::native == std::endian::little, "npy.cpp reads little-endian arrays");

struct Layout {
  std::string type;  // e.g. <f8
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

[[noreturn]] void fail(const std::string& name, const std::string& why) {
  throw FileError(fmt::format("'{}' is not a readable .npy file: {}", name, why));
}

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\n");
  if (first == s.npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\n") - first + 1);
}

// What follows 'key': in the header, the text of a Python dictionary.
std::string_view value_of(std::string_view header, const char* key, const std::string& name) {
  const std::string quoted = fmt::format("'{}':", key);
  const auto at = header.find(quoted);
  if (at == header.npos) fail(name, fmt::format("its header has no '{}'", key));
  return trimmed(header.substr(at + quoted.size()));
}

Layout parse_header(std::string_view header, const std::string& name) {
  Layout layout;
  const std::string_view type = value_of(header, "descr", name);
  if (!type.starts_with('\'') || type.find('\'', 1) == type.npos)
    fail(name, "arrays of records are not supported; save plain columns");
  layout.type = type.substr(1, type.find('\'', 1) - 1);
  layout.fortran_order = value_of(header, "fortran_order", name).starts_with("True");

  std::string_view shape = value_of(header, "shape", name);
  const auto close = shape.find(')');
  if (!shape.starts_with('(') || close == shape.npos) fail(name, "its shape is malformed");
  shape = shape.substr(1, close - 1);
  while (!trimmed(shape).empty()) {
    const auto comma = std::min(shape.find(','), shape.size());
    const std::string_view number = trimmed(shape.substr(0, comma));
    std::size_t extent = 0;
    const auto [stop, error] =
        std::from_chars(number.data(), number.data() + number.size(), extent);
    if (error != std::errc{} || stop != number.data() + number.size())
      fail(name, fmt::format("its shape has the entry '{}'", number));
    layout.shape.push_back(extent);
    shape.remove_prefix(std::min(comma + 1, shape.size()));
  }
  return layout;
}

using Reader = double (*)(const char*);

template <class T>
double read_as(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

struct Type {
  const char* code;
  std::size_t size;
  Reader read;
};

constexpr Type types[] = {
    {"<f8", 8, read_as<double>},       {"<f4", 4, read_as<float>},
    {"<i8", 8, read_as<std::int64_t>}, {"<u8", 8, read_as<std::uint64_t>},
    {"<i4", 4, read_as<std::int32_t>}, {"<u4", 4, read_as<std::uint32_t>},
    {"<i2", 2, read_as<std::int16_t>}, {"<u2", 2, read_as<std::uint16_t>},
    {"|i1", 1, read_as<std::int8_t>},  {"|u1", 1, read_as<std::uint8_t>},
    {"|b1", 1, read_as<std::uint8_t>},
};

const Type& find_type(const std::string& code, const std::string& name) {
  std::string known;
  for (const Type& type : types) {
    if (code == type.code) return type;
    known += fmt::format(" {}", type.code);
  }
  fail(name, fmt::format("its type is '{}'; supported are{}", code, known));
}

// Where the cells of a row lie relative to its first one, in units of items: the C-order walk over
// all dimensions but the first.
std::vector<std::size_t> cell_offsets(const std::vector<std::size_t>& shape,
                                      const std::vector<std::size_t>& stride) {
  std::vector<std::size_t> offsets{0};
  for (std::size_t k = 1; k < shape.size(); ++k) {
    std::vector<std::size_t> finer;
    for (std::size_t offset : offsets)
      for (std::size_t i = 0; i < shape[k]; ++i) finer.push_back(offset + i * stride[k]);
    offsets = std::move(finer);
  }
  return offsets;
}

std::vector<std::size_t> strides(const Layout& layout) {
  const std::size_t dimensions = layout.shape.size();
  std::vector<std::size_t> stride(dimensions);
  std::size_t step = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t k = layout.fortran_order ? i : dimensions - 1 - i;
    stride[k] = step;
    step *= layout.shape[k];
  }
  return stride;
}

// Takes the header off the front of `bytes`.
Layout take_header(std::string_view& bytes, const std::string& name) {
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 12) fail(name, "its first bytes are wrong");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) fail(name, fmt::format("its format version is {}", version));
  std::uint32_t length = 0;
  const std::size_t width = version == 1 ? 2 : 4;
  std::memcpy(&length, bytes.data() + 8, width);
  bytes.remove_prefix(8 + width);
  if (length > bytes.size()) fail(name, "it ends inside its header");
  Layout layout = parse_header(bytes.substr(0, length), name);
  bytes.remove_prefix(length);
  if (layout.shape.empty()) layout.shape = {1};
  return layout;
}

}  // namespace

NpyDoubles npy_doubles(std::string_view head, std::size_t file_size, const std::string& name) {
  std::string_view rest = head;
  const Layout layout = take_header(rest, name);
  if (layout.type != "<f8" || layout.fortran_order || layout.shape.size() != 2)
    fail(name,
         "rows are read from the file only if it is a two-dimensional array of doubles (<f8) "
         "in C order; save it with numpy.ascontiguousarray(x, dtype=float)");
  const std::size_t offset = head.size() - rest.size(), bytes = file_size - offset;
  const std::size_t rows = layout.shape[0], cols = layout.shape[1];
  if (rows == 0 || cols == 0) fail(name, "it holds no values");
  if (cols > bytes / 8 || rows != bytes / 8 / cols || rows * cols * 8 != bytes)
    fail(name, fmt::format("its header declares {} rows of {} doubles, but {} bytes follow", rows,
                           cols, bytes));
  return {static_cast<Index>(offset), static_cast<Index>(rows), static_cast<Index>(cols)};
}

std::string npy_header(Index rows, Index cols) {
  constexpr std::size_t size = 128;
  std::string out("\x93NUMPY\x01\x00\x76\x00", 10);  // version 1; 118 bytes follow
  out += fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  out.resize(size - 1, ' ');
  return out + '\n';
}

Table parse_npy(std::string_view bytes, const std::string& name) {
  const Layout layout = take_header(bytes, name);

  // The declared shape is believed only when it makes exactly the bytes that are there.
  const Type& type = find_type(layout.type, name);
  const std::size_t present = bytes.size() / type.size;
  std::size_t items = 1;
  for (std::size_t extent : layout.shape) {
    if (extent == 0) fail(name, "it holds no values");
    if (extent > present / items)
      fail(name, fmt::format("its header declares the shape ({}) of '{}', but only {} bytes follow",
                             fmt::join(layout.shape, ", "), layout.type, bytes.size()));
    items *= extent;
  }
  if (items * type.size != bytes.size())
    fail(name, fmt::format("its header declares {} bytes of data, but {} follow", items * type.size,
                           bytes.size()));

  const std::vector<std::size_t> stride = strides(layout);
  const std::vector<std::size_t> offsets = cell_offsets(layout.shape, stride);
  RowMatrix values(static_cast<Index>(layout.shape[0]), static_cast<Index>(offsets.size()));
  double* value = values.data();
  for (std::size_t i = 0; i < layout.shape[0]; ++i)
    for (std::size_t offset : offsets)
      *value++ = type.read(bytes.data() + (i * stride[0] + offset) * type.size);
  return numeric_table(std::move(values));
}

}  // namespace covary
