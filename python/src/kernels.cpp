#include <fmt/format.h>
#include <nanobind/operators.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "covary/kernels/kernels.hpp"
#include "expressions.hpp"

namespace covary::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

// An expression prints as itself, and is what an object is pickled as.
template <class T>
void add_expression_methods(nb::class_<T>& c, const char* name) {
  c.def("__str__", &T::print)
      .def("__repr__", [name](const T& k) { return fmt::format("{}('{}')", name, k.print()); })
      .def(
          "__eq__", [](const T& a, const T& b) { return a.print() == b.print(); },
          nb::is_operator())
      .def("__hash__", [](const T& k) { return std::hash<std::string>()(k.print()); })
      .def("__getstate__", [](const T& k) { return k.print(); })
      .def("__setstate__", [](T& k, const std::string& text) { new (&k) T(text); })
      .def("__copy__", [](const T& k) { return k; })
      .def(
          "__deepcopy__", [](const T& k, nb::handle) { return k; }, "memo"_a);
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::class_<Kernel> kernel(m, "Kernel", R"doc(A covariance function, from an expression.

Kernels are immutable values. They add, multiply, take a positive number as a fixed factor, and act
on chosen columns with ``@``. An expression may stand wherever a kernel may.

>>> import covary as cv
>>> k = 0.5 * cv.Kernel("se(ard)") + "white"
>>> print(k)
0.5 * se(ard) + white
>>> cv.Kernel("matern32") @ 0 * "periodic"
Kernel('matern32@0 * periodic')
)doc");
  kernel.def(nb::init<const std::string&>(), "expression"_a)
      .def(
          "__add__", [](const Kernel& a, const KernelLike& b) { return a + to_kernel(b); },
          nb::is_operator())
      .def(
          "__radd__", [](const Kernel& a, const KernelLike& b) { return to_kernel(b) + a; },
          nb::is_operator())
      .def(
          "__mul__", [](const Kernel& a, double c) { return c * a; }, nb::is_operator())
      .def(
          "__rmul__", [](const Kernel& a, double c) { return c * a; }, nb::is_operator())
      .def(
          "__mul__", [](const Kernel& a, const KernelLike& b) { return a * to_kernel(b); },
          nb::is_operator())
      .def(
          "__rmul__", [](const Kernel& a, const KernelLike& b) { return to_kernel(b) * a; },
          nb::is_operator())
      .def(
          "__matmul__", [](const Kernel& k, Index column) { return on_dims(k, {column}); },
          nb::is_operator())
      .def(
          "__matmul__",
          [](const Kernel& k, const std::vector<Index>& columns) { return on_dims(k, columns); },
          nb::is_operator())
      .def(
          "parameters", [](const Kernel& k, Index dims) { return k.parameters(dims); },
          "dims"_a = 1,
          R"doc(The parameters for inputs of so many columns, at their starts for scaled data.

>>> import covary as cv
>>> list(cv.Kernel("se + white").parameters())
['kernel.0.variance', 'kernel.0.lengthscales', 'kernel.1.variance']
)doc");
  add_expression_methods(kernel, "Kernel");

  nb::class_<Mean> mean(m, "Mean", R"doc(A mean function: 'zero', 'constant', 'linear' or 'poly(k)'.

>>> import covary as cv
>>> cv.Mean("poly(2)")
Mean('poly(2)')
)doc");
  mean.def(nb::init<const std::string&>(), "expression"_a);
  add_expression_methods(mean, "Mean");
}

}  // namespace covary::python
