#pragma once

#include <string>
#include <vector>

#include "covary/data/table.hpp"
#include "covary/linalg/types.hpp"

namespace covary {

// Which columns of a table are a model's inputs, and how text columns among them become numbers: it
// is made from the training table and applied to every table after it.
struct InputColumns {
  struct Column {
    std::string name;
    std::vector<std::string> levels;  // of a text column: one indicator for each; empty for numbers
  };
  std::vector<Column> columns;

  // From the given columns of a table. Text columns are coded one-hot, and `notes` says so.
  static InputColumns from(const Table& table, const std::vector<Index>& chosen,
                           std::vector<std::string>* notes = nullptr);
  // Columns of numbers with these names.
  static InputColumns named(const std::vector<std::string>& names);
  std::vector<std::string> names() const;  // of the encoded columns, "colour=red" for indicators
  // The encoded inputs of a table. Columns are found by name; a table that lacks the names but has
  // exactly as many columns is taken in order.
  RowMatrix apply(const Table& table) const;
};

}  // namespace covary
