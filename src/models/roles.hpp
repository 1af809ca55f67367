#pragma once

#include <functional>
#include <string>
#include <vector>

#include "covary/models/model_data.hpp"

namespace covary {

// Which columns of a table play which part.
struct Roles {
  std::vector<Index> targets, noise, exposure, weights, folds, input_variance, inputs;
};
// Text columns with a value of their own in most rows are no inputs unless --inputs names them, and
// `tell` says so. InputError for a column that can be read in two ways.
Roles find_roles(const Table& table, const FitOptions& o, const Tell& tell = nullptr);
// Which cell of a row is missing: "line 5 has no value in column 'a'".
using CellName = std::function<std::string(Index row)>;
std::string missing_cell(const Table& table, const std::vector<Index>& columns, Index row);
CellName cell_name(const Table& table, const Roles& roles);  // of a table that outlives it
// The rows of a block that --missing keeps.
std::vector<Index> kept_rows(ConstRows X, ConstRows Y, const std::string& policy,
                             const CellName& cell);
// NaN is a missing cell; infinities, and what has no square, are an InputError.
void refuse_infinities(const RowMatrix& values, const std::vector<std::string>& names,
                       const Table& table);
// The same of outputs, where a column without any value is an InputError too.
void check_outputs(const RowMatrix& Y, const std::vector<std::string>& names, const Table& table);
void tell_left_out(Index kept, Index all, const std::string& policy, const Tell& tell);

// The likelihood of a target with these classes: by their number where the expression, or auto,
// leaves it open. InputError where it has another number.
Likelihood likelihood_of(const std::string& expression, const Labels& labels,
                         const std::string& target, const Tell& tell);

}  // namespace covary
