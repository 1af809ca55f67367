#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "covary/linalg/types.hpp"

// NumPy arrays in, without a copy where they are float64 in C order; results out, without a copy.
namespace covary::python {

namespace nb = nanobind;

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using NumpyArray = nb::ndarray<nb::numpy, double>;

// Any object, which signatures call what it should be.
inline bool anything(nb::handle) { return true; }
struct ArrayLike : nb::object {
  NB_OBJECT(ArrayLike, nb::object, "numpy.typing.ArrayLike", anything)
};

// A view of the caller's rows. It keeps the array alive.
class Rows {
 public:
  Rows(Doubles array, Index rows, Index cols)
      : array_(std::move(array)), rows_(rows), cols_(cols) {}
  Eigen::Map<const RowMatrix> get() const { return {array_.data(), rows_, cols_}; }

 private:
  Doubles array_;
  Index rows_, cols_;
};

// Anything NumPy can make an array of numbers of. InputError, which calls it `name`, otherwise.
Doubles to_array(nb::handle object, const char* name);
Rows to_inputs(nb::handle object, const char* name = "X");   // two dimensions
Rows to_outputs(nb::handle object, const char* name = "Y");  // one dimension is one column
Vector to_vector(nb::handle object, const char* name);       // None is empty; a number is one entry

NumpyArray to_numpy(RowMatrix values);                           // n×P
NumpyArray to_numpy(Vector values);                              // n
NumpyArray outputs_to_numpy(RowMatrix values);                   // n×P, or n for a single output
NumpyArray draws_to_numpy(const std::vector<RowMatrix>& draws);  // draws×n×P, or draws×n

}  // namespace covary::python
