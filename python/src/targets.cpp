#include "targets.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <charconv>

#include "covary/data/labels.hpp"
#include "covary/error.hpp"
#include "covary/likelihoods/expression.hpp"
#include "tables.hpp"

namespace covary::python {
namespace {

// Text or objects, cell by cell; nothing where NumPy sees numbers.
std::optional<std::vector<std::string>> to_cells(nb::handle y) {
  nb::object array = nb::module_::import_("numpy").attr("asarray")(y);
  const auto kind = nb::cast<std::string>(nb::object(array.attr("dtype").attr("kind")));
  if (kind != "O" && kind != "U" && kind != "S" && kind != "T" && kind != "b") return std::nullopt;
  if (kind == "S") array = array.attr("astype")("U");
  std::vector<std::string> out;
  for (nb::handle cell : nb::object(array.attr("ravel")())) {
    out.push_back(cell.is_none() ? "" : nb::cast<std::string>(nb::str(cell)));
    if (out.back() == "<NA>") out.back().clear();  // pandas'
  }
  return out;
}

Vector to_column(nb::handle y) {
  const Rows column = to_outputs(y, "y");
  if (column.get().cols() != 1)
    throw InputError(fmt::format(
        "y has {} columns and this model takes one; svgp takes several columns of numbers",
        column.get().cols()));
  return column.get();
}

bool is_number(const std::string& name) {
  double value = 0.0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, value);
  return error == std::errc() && rest == end;
}

}  // namespace

Targets to_targets(nb::handle y, const std::string& likelihood, const Names& classes,
                   bool several) {
  const bool counted = with_classes(likelihood, 2).has_value();
  const Index known = counted ? 0 : Likelihood(likelihood).classes();
  if (!counted && known == 0) {
    if (classes) throw InputError(fmt::format("classes were given, but {} has none", likelihood));
    return {likelihood,
            several ? nb::cast(to_numpy(RowMatrix(to_outputs(y, "y").get())))
                    : nb::cast(to_numpy(to_column(y))),
            {}};
  }
  const auto cells = to_cells(y);
  Vector codes = cells ? Vector() : to_column(y);
  Labels labels;
  if (classes) {
    labels.names = *classes;
    if (cells) codes = labels.encode(*cells);
  } else {
    labels = cells ? Labels::from(*cells) : Labels::from(codes);
    // Of softmax(5) some class may be absent: then numbers are the classes' own, or refused by it.
    if (!cells && !counted && labels.classes() != known)
      labels.names.clear();
    else
      codes = cells ? labels.encode(*cells) : labels.encode(codes);
  }
  const Likelihood made = with_classes(likelihood, labels.classes()).value_or(likelihood);
  return {made, nb::cast(to_numpy(std::move(codes))), std::move(labels.names)};
}

Names name_of_target(const std::optional<std::string>& given, nb::handle y) {
  if (given) return std::vector{*given};
  return column_names(y);
}

RowMatrix to_known_targets(nb::handle y, const GeneralisedFit& fit) {
  if (fit.outputs() > 1) return to_outputs(y, "y").get();
  if (fit.likelihood.classes() == 0 || fit.classes.empty()) return to_column(y);
  const Labels labels{fit.classes};
  if (const auto cells = to_cells(y)) return labels.encode(*cells);
  Vector codes = to_column(y);
  const bool numbers = std::all_of(labels.names.begin(), labels.names.end(), is_number);
  return numbers ? labels.encode(codes) : codes;
}

}  // namespace covary::python
