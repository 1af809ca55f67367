#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// The newest version of the file format that this build reads, and the one it writes.
inline constexpr int kFormatVersion = 1;

// An array as it lies in the file: row-major, little-endian.
struct Tensor {
  std::string dtype;  // "F64", "I64" or "U8"
  std::vector<Index> shape;
  std::vector<std::byte> bytes;

  bool operator==(const Tensor&) const = default;
};

// What a model file holds: a JSON object and named arrays. The format is in docs/model-file.md.
struct Container {
  std::string metadata = "{}";  // the text of a JSON object, kept to the byte
  std::map<std::string, Tensor> tensors;
  std::string source = "the model";  // what errors call it; the path once read from a file

  // Doubles are kept bit by bit. A name may be put once.
  void put_matrix(const std::string& name, ConstMatrix A);
  void put_rows(const std::string& name, ConstRows X);
  void put_vector(const std::string& name, ConstVector v);
  void put_integers(const std::string& name, std::span<const std::int64_t> values);
  void put_bytes(const std::string& name, std::span<const std::byte> bytes);

  // A missing name, another dtype or another shape is a FileError. A size of −1 takes any.
  bool has(const std::string& name) const { return tensors.contains(name); }
  Matrix matrix(const std::string& name, Index rows = -1, Index cols = -1) const;
  RowMatrix rows(const std::string& name, Index rows = -1, Index cols = -1) const;
  Vector vector(const std::string& name, Index size = -1) const;
  std::vector<std::int64_t> integers(const std::string& name, Index size = -1) const;
  std::vector<std::byte> bytes(const std::string& name) const;
};

// The arrays of a container within another, their names behind a prefix; and back.
void put_nested(Container& c, const std::string& prefix, Container&& own);
Container get_nested(const Container& c, const std::string& prefix);

// To a file, which appears whole or not at all, and back. A container that breaks the rules of the
// format (metadata no JSON object, shape and bytes disagree) is an InputError on writing.
// On reading, whatever is wrong with the file is a FileError, and no more memory is asked for
// than a small multiple of the file's size.
void write_container(const std::string& path, const Container& container);
Container read_container(const std::string& path);

// The same bytes in memory. `source` is what errors call them.
std::vector<std::byte> serialise_container(const Container& container);
Container parse_container(std::span<const std::byte> bytes,
                          const std::string& source = "the model");

}  // namespace covary
