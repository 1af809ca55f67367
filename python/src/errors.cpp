// covary::Error and its kinds as Python exceptions, each also of the built-in kind it is closest
// to.
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "covary/error.hpp"

namespace covary::python {
namespace {

namespace nb = nanobind;

// They live as long as the process: the translator may run until the very end.
PyObject *base, *input, *expression, *numerical, *file, *unsupported, *interrupted;

PyObject* define(nb::module_& m, const char* name, const char* doc, PyObject* bases) {
  const std::string full = nb::cast<std::string>(m.attr("__name__")) + "." + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases, nullptr);
  if (!type) throw nb::python_error();
  m.attr(name) = nb::borrow(type);
  return type;
}

PyObject* define(nb::module_& m, const char* name, const char* doc, PyObject* parent,
                 PyObject* built_in) {
  return define(m, name, doc, nb::make_tuple(nb::borrow(parent), nb::borrow(built_in)).ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const InputError& e) {
    PyErr_SetString(input, e.what());
  } catch (const ExpressionError& e) {
    PyErr_SetString(expression, e.what());
  } catch (const NumericalError& e) {
    PyErr_SetString(numerical, e.what());
  } catch (const FileError& e) {
    PyErr_SetString(file, e.what());
  } catch (const Unsupported& e) {
    PyErr_SetString(unsupported, e.what());
  } catch (const Interrupted& e) {
    PyErr_SetString(interrupted, e.what());
  } catch (const Error& e) {
    PyErr_SetString(base, e.what());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  base = define(m, "CovaryError", "What Covary raises; its message names the way out.",
                PyExc_Exception);
  input = define(m, "InputError", "Data or arguments that cannot be worked with.", base,
                 PyExc_ValueError);
  expression = define(m, "ExpressionError", "A kernel or mean expression with a mistake.", base,
                      PyExc_ValueError);
  numerical =
      define(m, "NumericalError", "A computation that could not be completed in double precision.",
             base, PyExc_ArithmeticError);
  file = define(m, "FileError", "A file that is missing, damaged or cannot be written.", base,
                PyExc_OSError);
  unsupported = define(m, "Unsupported", "A combination of options that is not available.", base,
                       PyExc_NotImplementedError);
  interrupted = define(m, "Interrupted", "Work that was stopped before it was done.", base);
  nb::register_exception_translator(translate);
}

}  // namespace covary::python
