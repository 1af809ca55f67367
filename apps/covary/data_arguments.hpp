#pragma once

#include "common.hpp"
#include "covary/models/model_file.hpp"

namespace covary::cli {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)

// What the verbs that apply a model to a table take alike.
struct DataArguments {
  std::string model, data, out, header = "auto";
  // Of models of other likelihoods: the column beside y, and where two classes are divided.
  std::string exposure;
  double threshold = 0.5;
  std::string loss;                     // of decisions, or empty
  std::vector<std::string> given = {};  // options of the call
};
void add_data_options(CLI::App& sub, DataArguments& a, const std::string& verb, const char* what);

// How the table is read: columns that were text in training are text here.
TableOptions table_options(const DataArguments& a, const InputColumns& inputs);
// The column that --exposure names, or nothing.
Vector exposure_of(const DataArguments& a, const Table& table);
// "" for a single output, else "_" and its name.
std::string output_suffix(const SavedModel& m, Index output);
// The columns to a CSV, or to standard output, or into the JSON object.
Outcome give_table(const DataArguments& a, const std::vector<std::string>& names, ConstRows values,
                   const char* what, const Common& common);

}  // namespace covary::cli
