#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "covary/data/inputs.hpp"
#include "covary/models/fit.hpp"

// pandas in, pandas out. Covary itself does not import it: what looks like a table is one.
namespace covary::python {

bool is_table(nb::handle object);  // a DataFrame; not a Series

// Column names of a pandas table or series; nothing for other objects.
std::optional<std::vector<std::string>> column_names(nb::handle object);

// The inputs of a model to be trained: the numbers and dates of a table, or an array.
Rows to_numbers(nb::handle object);

// The inputs of a trained model: the columns of a table are found by name, text columns are coded
// as in training. Tables of other libraries come as Arrow streams.
Rows to_inputs(nb::handle object, const InputColumns& columns);

// Rows as a table with the names that the model knows: those of a pandas table, else of its inputs
// or, where it has none or there are as many columns, of its outputs.
Table to_table(nb::handle object, const FitRecord& fit);
// A pandas table, an Arrow stream, or an array whose columns are c0, c1, ….
Table to_table(nb::handle object, const TableOptions& options = {});

// Results at the rows of X, with the index of X when it is a table.
nb::object outputs_like(nb::handle X, RowMatrix values, const std::vector<std::string>& names);
nb::object columns_like(nb::handle X, RowMatrix values, const std::vector<std::string>& names);
nb::object square_like(nb::handle X, RowMatrix values);                    // n×n
nb::object draws_like(nb::handle X, const std::vector<RowMatrix>& draws);  // of P outputs: no table

}  // namespace covary::python
