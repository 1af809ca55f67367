#pragma once

#include "common.hpp"
#include "covary/models/fit.hpp"
#include "covary/models/model_choice.hpp"

namespace covary::cli {

// What the verbs that apply a model to a table take alike.
struct DataArguments {
  std::string model, data, out, header = "auto";
  std::vector<std::string> keep = {};  // columns of DATA to write beside the answers
  TableQuestion question;
  std::vector<std::string> given = {};  // options of the call
};
void add_data_options(CLI::App& sub, DataArguments& a, const std::string& verb, const char* what);

// The fit of a file, once it is known that its model reads the options of the call.
Fit load_for(const std::string& verb, const std::string& file,
             const std::vector<std::string>& given);
// How the table is read: columns are written here as they were in training.
TableOptions table_options(const std::string& header, const FitRecord& fit);
// Tells of columns that the model does not use.
void tell_of_extra_columns(const Table& table, const FitNode& fit, const DataArguments& a,
                           const Common& common);
// The rows to be answered, once the notes on the table have been told.
Table read_rows(const FitNode& fit, const DataArguments& a, const Common& common);
// Columns as a table, after those of `rows` that --keep names.
Table as_table(const NamedColumns& columns, const Table* rows,
               const std::vector<std::string>& keep);
// The columns to a CSV, or to standard output, or into the JSON object.
Outcome give_columns(const DataArguments& a, const NamedColumns& columns, const char* what,
                     const Common& common, const Table* rows = nullptr);
// Into the JSON object.
void add_columns(const Table& columns, json& object);
// What a fit says of itself, and where it went, if anywhere.
Outcome describe(const FitNode& fit);

}  // namespace covary::cli
