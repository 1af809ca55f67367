#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/data/inputs.hpp"
#include "covary/data/labels.hpp"
#include "covary/data/scaling.hpp"
#include "covary/likelihoods/likelihood.hpp"
#include "covary/models/fit_options.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "covary/statistics/rows.hpp"

namespace covary {

// What is told while something is done.
using Tell = std::function<void(const std::string&)>;

// The data by the parts they play. A model of inputs and outputs has X and Y, one of outputs alone
// Y.
struct ModelData {
  RowMatrix X = {}, Y = {};
  Vector noise = {};              // known variances of the rows, or none
  RowMatrix input_variance = {};  // with which the inputs were observed, N×D, or none
  // Of a model of another likelihood than Gaussian regression: the likelihood itself, the classes
  // of the target, the column beside it and the weights of the rows.
  std::optional<Likelihood> likelihood = {};
  Labels labels = {};
  Vector aux = {}, weights = {};
  InputColumns inputs = {};
  std::vector<std::string> output_names = {};
  CellFormats formats = {};  // of the inputs and outputs, where they are not plain numbers
  std::vector<std::string> fold_labels = {};  // of the rows, where --folds names a column
  // Of a model of outputs alone: times and the first rows of sequences, views, labels of the rows.
  RowMatrix times = {};
  std::vector<Index> sequences = {};
  std::vector<LatentView> views = {};
  std::vector<std::string> time_names = {}, row_labels = {};
  // Rows that stay in a file, instead of X and Y, and how they are best scaled.
  std::shared_ptr<FileRows> file = nullptr;
  ScaleMode file_inputs = ScaleMode::columns, file_outputs = ScaleMode::columns;

  Index count() const { return file ? file->rows() : Y.rows(); }
  ModelData rows(const std::vector<Index>& numbers) const;
};

// Periods of circular inputs by name.
std::map<std::string, double> circular_inputs(const Table& table, const FitOptions& o,
                                              const std::vector<Index>& inputs);
// Those of the table that are among the inputs and outputs.
CellFormats formats_of(const Table& table, const InputColumns& inputs,
                       const std::vector<std::string>& outputs);
// Whether a kernel expression names columns, as se@area does; and the same with their numbers,
// those of all its indicators for a text column. InputError for a name that is no input's.
bool names_columns(const std::string& kernel);
std::string kernel_on_columns(const std::string& kernel, const InputColumns& inputs);
// How a table for training is read.
TableOptions table_options(const FitOptions& o);
// How a table for a fit is read: columns are written as they were in training.
TableOptions table_options(const FitRecord& fit);

// Throws unless --likelihood is an expression, auto, or one whose classes are counted in the data.
void check_likelihood(const std::string& expression);
// Whether --likelihood, if it is not auto, is one of classes; or that of Gaussian regression.
bool is_of_classes(const std::string& expression);
bool is_plain_gaussian(const std::string& expression);

// The data of a table for a model of inputs and outputs, with --lags the windows of series; and for
// one of outputs alone, which are the targets or, where none are named, all numeric columns.
ModelData read_data(const Table& table, const FitOptions& o, const Tell& tell);
ModelData read_outputs(const Table& table, const FitOptions& o, const Tell& tell);

}  // namespace covary
