#pragma once

#include <map>
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
    double period = 0.0;              // of a circular column: its cosine and sine; 0 for others
    std::vector<std::string> names() const;  // of the encoded columns
  };
  std::vector<Column> columns;

  // From the given columns of a table. Text columns are coded one-hot, and `notes` says so.
  // `periods` are those of circular columns, by name.
  static InputColumns from(const Table& table, const std::vector<Index>& chosen,
                           std::vector<std::string>* notes = nullptr,
                           const std::map<std::string, double>& periods = {});
  // Columns of numbers with these names.
  static InputColumns named(const std::vector<std::string>& names);
  std::vector<std::string> names() const;  // of the encoded columns, "colour=red" for indicators
  // The columns of a table that hold the inputs: found by name or, if either the table or the
  // training table came without names and the number is the same, in order. InputError otherwise.
  std::vector<Index> find(const Table& table) const;
  // The encoded inputs of a table, NaN where they are missing.
  RowMatrix apply(const Table& table) const;
  // Rows of a table without a missing input.
  std::vector<Index> complete_rows(const Table& table) const;
};

}  // namespace covary
