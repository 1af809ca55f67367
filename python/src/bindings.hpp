#pragma once

#include <nanobind/nanobind.h>

namespace covary::python {

// One function a file; module.cpp calls them in this order.
void bind_errors(nanobind::module_& m);
void bind_parameters(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);
void bind_summary(nanobind::module_& m);
void bind_fit(nanobind::module_& m);  // of any model, and load()
void bind_regression_fit(nanobind::module_& m);
void bind_latent_fit(nanobind::module_& m);  // and the model
void bind_ppca(nanobind::module_& m);
void bind_map_gplvm(nanobind::module_& m);
void bind_class_density(nanobind::module_& m);
void bind_generalised_fit(nanobind::module_& m);
void bind_regression(nanobind::module_& m);
void bind_sparse_regression(nanobind::module_& m);
void bind_missing_inputs(nanobind::module_& m);
void bind_uncertain_inputs(nanobind::module_& m);
void bind_generalised(nanobind::module_& m);
void bind_svgp(nanobind::module_& m);
void bind_fit_file(nanobind::module_& m);
void bind_request(nanobind::module_& m);  // fit() of any model, and models()

}  // namespace covary::python
