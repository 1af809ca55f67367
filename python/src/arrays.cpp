#include "arrays.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "covary/error.hpp"

namespace covary::python {
namespace {

std::string shape_of(const Doubles& a) {
  std::string out;
  for (std::size_t i = 0; i < a.ndim(); ++i) out += fmt::format("{}{}", i ? "×" : "", a.shape(i));
  return out.empty() ? "a single number" : out;
}

// The numbers move to the heap, and the array frees them when it goes.
template <class T>
NumpyArray adopt(T values, std::vector<std::size_t> shape) {
  auto kept = std::make_unique<T>(std::move(values));
  double* data = kept->data();
  nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<T*>(p); });
  kept.release();
  return NumpyArray(data, shape.size(), shape.data(), owner);
}

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

}  // namespace

Doubles to_array(nb::handle object, const char* name) {
  Doubles out;
  if (nb::try_cast(object, out, false)) return out;  // already float64 in C order: no copy
  try {
    const nb::object made = nb::module_::import_("numpy").attr("ascontiguousarray")(
        object, nb::arg("dtype") = "float64");
    // ascontiguousarray gives a single number one dimension; its own shape is what messages name.
    if (nb::try_cast(made, out, false)) return out;
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError)) throw;
    throw InputError(fmt::format("{} cannot be read as an array of numbers: {}", name,
                                 nb::cast<std::string>(nb::str(e.value()))));
  }
  throw InputError(fmt::format("{} cannot be read as an array of numbers", name));
}

Rows to_inputs(nb::handle object, const char* name) {
  Doubles a = to_array(object, name);
  if (a.ndim() != 2)
    throw InputError(fmt::format(
        "{} must have two dimensions, rows and columns, and is {}; for one column write "
        "{}.reshape(-1, 1)",
        name, shape_of(a), name));
  const auto rows = static_cast<Index>(a.shape(0)), cols = static_cast<Index>(a.shape(1));
  return {std::move(a), rows, cols};
}

Rows to_outputs(nb::handle object, const char* name) {
  Doubles a = to_array(object, name);
  if (a.ndim() != 1 && a.ndim() != 2)
    throw InputError(
        fmt::format("{} must have one or two dimensions and is {}", name, shape_of(a)));
  const auto rows = static_cast<Index>(a.shape(0));
  const auto cols = a.ndim() == 2 ? static_cast<Index>(a.shape(1)) : 1;
  return {std::move(a), rows, cols};
}

Vector to_vector(nb::handle object, const char* name) {
  if (object.is_none()) return {};
  const Doubles a = to_array(object, name);
  return Eigen::Map<const Vector>(a.data(), static_cast<Index>(a.size()));
}

NumpyArray to_numpy(RowMatrix values) {
  const std::vector shape{size(values.rows()), size(values.cols())};
  return adopt(std::move(values), shape);
}

NumpyArray to_numpy(Vector values) {
  const std::vector shape{size(values.size())};
  return adopt(std::move(values), shape);
}

NumpyArray outputs_to_numpy(RowMatrix values) {
  if (values.cols() != 1) return to_numpy(std::move(values));
  const std::vector shape{size(values.rows())};
  return adopt(std::move(values), shape);
}

NumpyArray draws_to_numpy(const std::vector<RowMatrix>& draws) {
  const Index n = draws.empty() ? 0 : draws[0].rows(), P = draws.empty() ? 1 : draws[0].cols();
  RowMatrix all(static_cast<Index>(draws.size()), n * P);
  for (std::size_t s = 0; s < draws.size(); ++s)
    all.row(static_cast<Index>(s)) = Eigen::Map<const Vector>(draws[s].data(), n * P).transpose();
  std::vector shape{draws.size(), size(n)};
  if (P != 1) shape.push_back(size(P));
  return adopt(std::move(all), shape);
}

}  // namespace covary::python
