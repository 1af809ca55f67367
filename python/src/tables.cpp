#include "tables.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "arrow.hpp"
#include "covary/data/csv.hpp"
#include "covary/error.hpp"
#include "covary/models/model_data.hpp"

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

// Numbers, dates (as days since 1970-01-01) and lengths of time (as days); all else is text.
Table from_pandas(nb::handle object) {
  Table out;
  out.names = *column_names(object);
  out.has_header = true;
  const auto n = static_cast<Index>(nb::len(object)), C = static_cast<Index>(out.names.size());
  out.values = RowMatrix::Constant(n, C, std::nan(""));
  out.text.resize(out.names.size());
  const nb::module_ pandas = nb::module_::import_("pandas");
  const nb::object types = pandas.attr("api").attr("types");
  const nb::object day = pandas.attr("Timedelta")("days"_a = 1);
  for (Index j = 0; j < C; ++j) {
    nb::object column =
        object.attr("iloc")[nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), j)];
    const std::string& name = out.names[static_cast<std::size_t>(j)];
    const auto is = [&](const char* type) { return nb::cast<bool>(types.attr(type)(column)); };
    if (is("is_datetime64_any_dtype")) {
      const nb::object epoch = pandas.attr("Timestamp")(0, "tz"_a = column.attr("dt").attr("tz"));
      column = column.attr("sub")(epoch).attr("div")(day);
      out.formats[name] = CellFormat::date;
    } else if (is("is_timedelta64_dtype")) {
      column = column.attr("div")(day);
    }
    if (is("is_numeric_dtype")) {
      out.values.col(j) = to_vector(
          column.attr("to_numpy")("dtype"_a = "float64", "na_value"_a = std::nan("")), "data");
      continue;
    }
    if (nb::cast<std::string>(nb::str(nb::object(column.attr("dtype")))) == "category")
      out.formats[name] = CellFormat::text;
    out.text[static_cast<std::size_t>(j)] = nb::cast<std::vector<std::string>>(
        column.attr("astype")("str").attr("where")(column.attr("notna")(), "").attr("tolist")());
  }
  return out;
}

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
  for (const char* names : {"columns", "column_names"})  // of polars, of pyarrow
    if (has_arrow_stream(object) && nb::hasattr(object, names))
      if (nb::object list = object.attr(names); nb::isinstance<nb::list>(list))
        return nb::try_cast(list, out) ? std::optional(out) : std::nullopt;
  if (nb::hasattr(object, "iloc") && nb::hasattr(object, "name") && !object.attr("name").is_none())
    return std::vector{nb::cast<std::string>(nb::str(nb::object(object.attr("name"))))};
  return std::nullopt;
}

Rows to_numbers(nb::handle object) {
  if (!is_table(object) && !(has_arrow_stream(object) && column_names(object)))
    return to_inputs(object);
  Table table = to_table(object);
  for (Index j = 0; j < table.cols(); ++j)
    if (table.is_text(j))
      throw InputError(fmt::format(
          "X cannot be read as an array of numbers: column '{}' holds text; covary.fit takes text",
          table.names[static_cast<std::size_t>(j)]));
  return to_inputs(nb::cast(to_numpy(std::move(table.values))));
}

Rows to_inputs(nb::handle object, const InputColumns& columns) {
  if (!is_table(object) && !has_arrow_stream(object)) return to_inputs(object);
  TableOptions options;
  for (const auto& c : columns.columns)
    if (!c.levels.empty()) options.formats[c.name] = CellFormat::text;
  return to_inputs(nb::cast(to_numpy(columns.apply(to_table(object, options)))));
}

Table to_table(nb::handle object, const TableOptions& options) {
  if (!is_table(object) && !has_arrow_stream(object))
    return numeric_table(RowMatrix(to_inputs(object, "data").get()));
  Table out = is_table(object) ? from_pandas(object) : table_from_arrow(object);
  for (Index j = 0; j < out.cols(); ++j)
    if (!out.formats.count(out.names[static_cast<std::size_t>(j)])) settle_text(out, j, options);
  return out;
}

Table to_table(nb::handle object, const FitRecord& fit) {
  Table out = to_table(object, table_options(fit));
  if (out.has_header) return out;
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
