#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>

#include "covary/error.hpp"
#include "covary/models/model_file.hpp"
#include "unlocked.hpp"

namespace covary::python {

// save, pickling and copies of a fit that model files hold; errors call it `what`.
template <class Saved>
void bind_storage(nanobind::class_<Saved>& fit, const char* what) {
  namespace nb = nanobind;
  using namespace nb::literals;
  fit.def(
         "save",
         [](const Saved& m, const std::filesystem::path& path) {
           unlocked([&] { save_model(path.string(), m); });
         },
         "path"_a, "Writes the model file, which the command line reads too.")
      .def("__getstate__",
           [](const Saved& m) {
             const auto bytes = unlocked([&] { return save_model_bytes(m); });
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__",
           [what](Saved& m, const nb::bytes& state) {
             const std::span bytes(static_cast<const std::byte*>(state.data()), state.size());
             AnyModel model = unlocked([&] { return load_any_model_bytes(bytes); });
             auto* own = std::get_if<Saved>(&model);
             if (!own)
               throw Unsupported(
                   fmt::format("the pickle holds no {}: covary.load reads model files", what));
             new (&m) Saved(std::move(*own));
           })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a);
}

}  // namespace covary::python
