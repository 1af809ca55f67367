#include "bindings.hpp"
#include "covary/linalg/parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of Covary. Use it as `covary`.";
  m.attr("__version__") = COVARY_VERSION;
  covary::python::bind_errors(m);
  covary::python::bind_parameters(m);
  covary::python::bind_kernels(m);
  covary::python::bind_summary(m);
  covary::python::bind_fit(m);
  covary::python::bind_regression_fit(m);
  covary::python::bind_latent_fit(m);
  covary::python::bind_ppca(m);
  covary::python::bind_map_gplvm(m);
  covary::python::bind_class_density(m);
  covary::python::bind_generalised_fit(m);
  covary::python::bind_regression(m);
  covary::python::bind_sparse_regression(m);
  covary::python::bind_missing_inputs(m);
  covary::python::bind_uncertain_inputs(m);
  covary::python::bind_generalised(m);
  covary::python::bind_svgp(m);
  covary::python::bind_fit_file(m);
  covary::python::bind_request(m);
  m.def("threads", &covary::threads, "Threads that Covary uses.");
  m.def("set_threads", &covary::set_threads, "n"_a, "Use n threads; 0 is all cores.");
}
