#include "training_data.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "covary/error.hpp"
#include "tables.hpp"

namespace covary::python {
namespace {

std::vector<std::string> numbered(const char* prefix, Index n) {
  std::vector<std::string> out;
  for (Index i = 0; i < n; ++i) out.push_back(fmt::format("{}{}", prefix, i));
  return out;
}

std::vector<std::string> names_for(const Names& given, nb::handle data, const char* prefix, Index n,
                                   const char* what) {
  Names names = given ? given : column_names(data);
  if (!names) return numbered(prefix, n);
  if (static_cast<Index>(names->size()) != n)
    throw InputError(fmt::format("{} has {} names for {} columns", what, names->size(), n));
  return *names;
}

}  // namespace

InputColumns TrainingData::inputs() const {
  InputColumns out;
  for (const auto& name : input_names) out.columns.push_back({name, {}});
  return out;
}

void TrainingData::name(FitRecord& fit) const {
  fit.input_columns = inputs();
  fit.output_names = output_names;
}

TrainingData to_training_data(nb::handle X, nb::handle Y, nb::handle noise,
                              const Names& input_names, const Names& output_names) {
  const Rows x = to_numbers(X), y = to_outputs(Y);
  const Index D = x.get().cols(), P = y.get().cols();
  const bool lone = !output_names && !column_names(Y) && P == 1;
  return {
      x.get(), y.get(), to_vector(noise, "noise"), names_for(input_names, X, "x", D, "input_names"),
      lone ? std::vector<std::string>{"y"} : names_for(output_names, Y, "y", P, "output_names")};
}

ScaleMode to_scale_mode(const std::string& scale, ConstRows data) {
  return scale == "auto" ? suggest_mode(data) : parse_scale_mode(scale);
}

nb::tuple scaling_to_python(const Scaling& s) {
  return nb::make_tuple(to_numpy(Vector(s.shift)), to_numpy(Vector(s.scale)));
}

nb::tuple get_state(const TrainingData& d) {
  return nb::make_tuple(to_numpy(RowMatrix(d.X)), to_numpy(RowMatrix(d.Y)),
                        to_numpy(Vector(d.noise)), d.input_names, d.output_names);
}

TrainingData training_data_from(const nb::tuple& t) {
  const Rows x = to_inputs(t[0]), y = to_outputs(t[1]);
  return {x.get(), y.get(), to_vector(t[2], "noise"), nb::cast<std::vector<std::string>>(t[3]),
          nb::cast<std::vector<std::string>>(t[4])};
}

}  // namespace covary::python
