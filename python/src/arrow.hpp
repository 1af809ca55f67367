#pragma once

#include "arrays.hpp"
#include "covary/data/table.hpp"

namespace covary::python {

// Whether an object gives its rows as an Arrow stream, as polars, pyarrow, DuckDB and others do;
// pandas, which can do so if pyarrow is there, is read by itself.
bool has_arrow_stream(nb::handle object);

// Its table: numbers and booleans, dates and times (as days since 1970-01-01), text and
// dictionaries of text; nulls are missing. Arrow's C data interface is all that it needs.
Table table_from_arrow(nb::handle object);

}  // namespace covary::python
