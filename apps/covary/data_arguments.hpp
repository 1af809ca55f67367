#pragma once

#include "common.hpp"
#include "covary/models/fit.hpp"
#include "covary/models/model_choice.hpp"

namespace covary::cli {

// What the verbs that apply a model to a table take alike.
struct DataArguments {
  std::string model, data, out, header = "auto";
  TableQuestion question;
  std::vector<std::string> given = {};  // options of the call
};
void add_data_options(CLI::App& sub, DataArguments& a, const std::string& verb, const char* what);

// The fit of a file, once it is known that its model reads the options of the call.
Fit load_for(const std::string& verb, const std::string& file,
             const std::vector<std::string>& given);
// How the table is read: columns that were text in training are text here.
TableOptions table_options(const std::string& header, const FitRecord& fit);
// The columns to a CSV, or to standard output, or into the JSON object.
Outcome give_columns(const DataArguments& a, const NamedColumns& columns, const char* what,
                     const Common& common);
// Into the JSON object.
void add_columns(const NamedColumns& columns, json& object);
// What a fit says of itself, and where it went, if anywhere.
Outcome describe(const FitNode& fit);

}  // namespace covary::cli
