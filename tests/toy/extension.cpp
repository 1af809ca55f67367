// The Python extension with a model of its own.
#include <Python.h>

#include "mean_only.hpp"

PyMODINIT_FUNC PyInit__core();

PyMODINIT_FUNC PyInit__toy() {
  covary::add_model(covary::testing::mean_only());
  return PyInit__core();
}
