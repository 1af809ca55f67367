#include "tables.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

nb::object make(const char* kind, const nb::kwargs& arguments) {
  return nb::module_::import_("pandas").attr(kind)(**arguments);
}

nb::kwargs arguments_of(nb::object data, nb::handle index) {
  nb::kwargs out;
  out["data"] = std::move(data);
  out["index"] = index;
  return out;
}

nb::object index_of(nb::handle X) { return X.attr("index"); }

}  // namespace

bool is_table(nb::handle object) {
  if (nb::ndarray_check(object)) return false;  // by far the most often
  return nb::hasattr(object, "columns") && nb::hasattr(object, "iloc");
}

std::optional<std::vector<std::string>> column_names(nb::handle object) {
  std::vector<std::string> out;
  if (is_table(object)) {
    for (nb::handle name : nb::object(object.attr("columns")))
      out.push_back(nb::cast<std::string>(nb::str(name)));
    return out;
  }
  if (nb::hasattr(object, "iloc") && nb::hasattr(object, "name") && !object.attr("name").is_none())
    return std::vector{nb::cast<std::string>(nb::str(nb::object(object.attr("name"))))};
  return std::nullopt;
}

Rows to_inputs(nb::handle object, const InputColumns& columns) {
  if (!is_table(object)) return to_inputs(object);
  const auto names = *column_names(object);
  const auto missing = std::find_if(
      columns.columns.begin(), columns.columns.end(), [&](const InputColumns::Column& c) {
        return std::find(names.begin(), names.end(), c.name) == names.end();
      });
  if (missing != columns.columns.end()) {
    if (names.size() == columns.names().size()) return to_inputs(object);
    throw InputError(fmt::format("the table has no column '{}'; it has: {}", missing->name,
                                 fmt::join(names, ", ")));
  }
  nb::list parts;
  for (const auto& c : columns.columns) {
    const auto at = std::find(names.begin(), names.end(), c.name) - names.begin();
    const nb::object column =
        object.attr("iloc")[nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), at)];
    if (c.levels.empty()) parts.append(column);
    const nb::object text =
        c.levels.empty() ? nb::none() : nb::object(column.attr("astype")("str"));
    for (const auto& level : c.levels) parts.append(text.attr("eq")(level));
    if (!c.levels.empty() && !nb::bool_(text.attr("isin")(c.levels).attr("all")()))
      throw InputError(
          fmt::format("column '{}' holds values that were not there in training, which saw: {}",
                      c.name, fmt::join(c.levels, ", ")));
  }
  return to_inputs(nb::module_::import_("numpy").attr("column_stack")(parts));
}

Table to_table(nb::handle object) {
  if (!is_table(object)) return numeric_table(RowMatrix(to_inputs(object, "data").get()));
  Table out;
  out.names = *column_names(object);
  out.has_header = true;
  const auto n = static_cast<Index>(nb::len(object)), C = static_cast<Index>(out.names.size());
  out.values = RowMatrix::Constant(n, C, std::nan(""));
  out.text.resize(out.names.size());
  const nb::object is_numeric =
      nb::module_::import_("pandas").attr("api").attr("types").attr("is_numeric_dtype");
  for (Index j = 0; j < C; ++j) {
    const nb::object column =
        object.attr("iloc")[nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), j)];
    if (nb::cast<bool>(is_numeric(column)))
      out.values.col(j) = to_vector(column.attr("to_numpy")("dtype"_a = "float64"), "data");
    else
      out.text[static_cast<std::size_t>(j)] = nb::cast<std::vector<std::string>>(
          column.attr("astype")("str").attr("where")(column.attr("notna")(), "").attr("tolist")());
  }
  return out;
}

Table to_table(nb::handle object, const FitRecord& fit) {
  Table out = to_table(object);
  if (is_table(object)) return out;
  auto names = fit.input_names();
  if (names.empty() || static_cast<Index>(names.size()) != out.cols()) names = fit.output_names;
  if (static_cast<Index>(names.size()) == out.cols()) out.names = names;
  return out;
}

nb::object outputs_like(nb::handle X, RowMatrix values, const std::vector<std::string>& names) {
  if (!is_table(X)) return nb::cast(outputs_to_numpy(std::move(values)));
  if (values.cols() != 1) return columns_like(X, std::move(values), names);
  nb::kwargs arguments = arguments_of(nb::cast(outputs_to_numpy(std::move(values))), index_of(X));
  arguments["name"] = names.at(0);
  return make("Series", arguments);
}

nb::object columns_like(nb::handle X, RowMatrix values, const std::vector<std::string>& names) {
  nb::object array = nb::cast(to_numpy(std::move(values)));
  if (!is_table(X)) return array;
  nb::kwargs arguments = arguments_of(std::move(array), index_of(X));
  arguments["columns"] = names;
  return make("DataFrame", arguments);
}

nb::object square_like(nb::handle X, RowMatrix values) {
  nb::object array = nb::cast(to_numpy(std::move(values)));
  if (!is_table(X)) return array;
  nb::kwargs arguments = arguments_of(std::move(array), index_of(X));
  arguments["columns"] = index_of(X);
  return make("DataFrame", arguments);
}

nb::object draws_like(nb::handle X, const std::vector<RowMatrix>& draws) {
  nb::object array = nb::cast(draws_to_numpy(draws));
  if (!is_table(X) || (!draws.empty() && draws[0].cols() != 1)) return array;
  nb::kwargs arguments;
  arguments["data"] = std::move(array);
  arguments["columns"] = index_of(X);
  return make("DataFrame", arguments);
}

}  // namespace covary::python
