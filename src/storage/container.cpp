#include "covary/storage/container.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "covary/error.hpp"
#include "storage/safetensors.hpp"

namespace covary {
namespace {

void put(Container& c, const std::string& name, std::string dtype, std::vector<Index> shape,
         std::span<const std::byte> bytes) {
  const bool fresh =
      c.tensors
          .try_emplace(name,
                       Tensor{std::move(dtype), std::move(shape), {bytes.begin(), bytes.end()}})
          .second;
  if (!fresh) throw InputError(fmt::format("the array '{}' was put into {} twice", name, c.source));
}

std::string shape_text(const std::vector<Index>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "×"));
}

// The tensor, when it has this dtype and shape; −1 in `wanted` stands for any size.
const Tensor& find(const Container& c, const std::string& name, const std::string& dtype,
                   const std::vector<Index>& wanted) {
  const auto at = c.tensors.find(name);
  if (at == c.tensors.end()) {
    throw FileError(
        fmt::format("{} has no array '{}'; it was not written by this version of "
                    "Covary or holds another kind of model",
                    c.source, name));
  }
  const Tensor& tensor = at->second;
  if (tensor.dtype != dtype) {
    throw FileError(fmt::format("the array '{}' of {} has the type {} where {} belongs", name,
                                c.source, tensor.dtype, dtype));
  }
  bool fits = tensor.shape.size() == wanted.size();
  for (std::size_t i = 0; fits && i < wanted.size(); ++i) {
    fits = wanted[i] == -1 || wanted[i] == tensor.shape[i];
  }
  if (!fits) {
    std::vector<std::string> sizes;
    sizes.reserve(wanted.size());
    for (const Index n : wanted) sizes.push_back(n == -1 ? "any" : fmt::format("{}", n));
    throw FileError(fmt::format("the array '{}' of {} has the shape {} where {} belongs", name,
                                c.source, shape_text(tensor.shape), fmt::join(sizes, "×")));
  }
  if (byte_count(tensor.dtype, tensor.shape) != tensor.bytes.size()) {
    throw InputError(fmt::format("the array '{}' of {} has the shape {} but {} bytes", name,
                                 c.source, shape_text(tensor.shape), tensor.bytes.size()));
  }
  return tensor;
}

template <class Out>
void copy_bytes(const Tensor& tensor, Out* out) {
  // memcpy may not be given the null pointer of an empty matrix.
  if (!tensor.bytes.empty()) std::memcpy(out, tensor.bytes.data(), tensor.bytes.size());
}

}  // namespace

void Container::put_matrix(const std::string& name, ConstMatrix A) { put_rows(name, RowMatrix(A)); }

void Container::put_rows(const std::string& name, ConstRows X) {
  // A Ref may have gaps between its rows.
  if (X.rows() > 1 && X.outerStride() != X.cols()) return put_rows(name, RowMatrix(X));
  put(*this, name, "F64", {X.rows(), X.cols()},
      std::as_bytes(std::span(X.data(), static_cast<std::size_t>(X.size()))));
}

void Container::put_vector(const std::string& name, ConstVector v) {
  put(*this, name, "F64", {v.size()},
      std::as_bytes(std::span(v.data(), static_cast<std::size_t>(v.size()))));
}

void Container::put_integers(const std::string& name, std::span<const std::int64_t> values) {
  put(*this, name, "I64", {static_cast<Index>(values.size())}, std::as_bytes(values));
}

void Container::put_bytes(const std::string& name, std::span<const std::byte> values) {
  put(*this, name, "U8", {static_cast<Index>(values.size())}, values);
}

RowMatrix Container::rows(const std::string& name, Index n, Index d) const {
  const Tensor& tensor = find(*this, name, "F64", {n, d});
  RowMatrix X(tensor.shape[0], tensor.shape[1]);
  copy_bytes(tensor, X.data());
  return X;
}

Matrix Container::matrix(const std::string& name, Index n, Index m) const {
  const Tensor& tensor = find(*this, name, "F64", {n, m});
  // operator new aligns the bytes for doubles, so they can be read where they lie.
  return Eigen::Map<const RowMatrix>(reinterpret_cast<const double*>(tensor.bytes.data()),
                                     tensor.shape[0], tensor.shape[1]);
}

Vector Container::vector(const std::string& name, Index size) const {
  const Tensor& tensor = find(*this, name, "F64", {size});
  Vector v(tensor.shape[0]);
  copy_bytes(tensor, v.data());
  return v;
}

std::vector<std::int64_t> Container::integers(const std::string& name, Index size) const {
  const Tensor& tensor = find(*this, name, "I64", {size});
  std::vector<std::int64_t> values(static_cast<std::size_t>(tensor.shape[0]));
  copy_bytes(tensor, values.data());
  return values;
}

std::vector<std::byte> Container::bytes(const std::string& name) const {
  return find(*this, name, "U8", {-1}).bytes;
}

void put_nested(Container& c, const std::string& prefix, Container&& own) {
  for (auto& [name, tensor] : own.tensors) c.tensors[prefix + name] = std::move(tensor);
}

Container get_nested(const Container& c, const std::string& prefix) {
  Container own;
  own.source = c.source;
  for (const auto& [name, tensor] : c.tensors)
    if (name.starts_with(prefix)) own.tensors[name.substr(prefix.size())] = tensor;
  return own;
}

}  // namespace covary
