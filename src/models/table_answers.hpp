#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covary/data/columns.hpp"
#include "covary/models/fit.hpp"
#include "covary/models/gplvm_fit.hpp"

namespace covary {

// What the answers of several models about the rows of a table have alike.

inline RowMatrix columns_of(const Table& table, const std::vector<std::string>& names) {
  return numeric_columns(table, select_columns(table, names));
}
// The inputs of a table, or the outputs that a model is asked to place: InputError, with the row
// and the column, for what is infinite and, unless it may be missing, for NaN.
RowMatrix inputs_of(const FitRecord& fit, const Table& table, bool may_be_missing = false);
RowMatrix outputs_of(const FitRecord& fit, const Table& table);
// The inputs of a table as points, or as Gaussians where --input-variance says so or, by --missing
// learn, where they are missing.
struct AskedInputs {
  RowMatrix mean, variance;  // no variance of points

  // What is missing gets its prior, N(0, 1) in the units that the model sees.
  void average_over_missing(const Scaling& scaling);
};
AskedInputs input_rows_of(const FitRecord& fit, const Table& table, const TableQuestion& question,
                          const Scaling& scaling);
// The column that --exposure names, or none.
Vector exposure_of(const Table& table, const TableQuestion& question);
// The columns that --input-variance names, one for each input; or none.
RowMatrix input_variance_of(const FitRecord& fit, const Table& table,
                            const TableQuestion& question);
// "" of a single output, else "_" and its name.
std::string suffix_of(const FitRecord& fit, Index output);
std::vector<std::string> suffixes_of(const FitRecord& fit);

// The class of each row, by the costs of --loss or else by --threshold, with p_<class>.
void add_classes(const Matrix& probabilities, const std::vector<std::string>& classes,
                 const TableQuestion& question, NamedColumns& out);
// accuracy nlpd auc brier ece and the confusion matrix.
Answer class_scores(const RowMatrix& probabilities, ConstVector y,
                    const std::vector<std::string>& classes, double threshold);
// "rmse  0.25", and the same as JSON; what is not finite is not defined.
void add_score(nlohmann::json& object, std::string& text, const char* name, double value);
// Of numbers with Gaussian noise, for each output: mean, variance, variance_f, lower and upper of
// y; decisions by --loss; rmse mae smse nlpd crps coverage95; and held-out scores.
void add_moments(const FitRecord& fit, const Prediction& p, NamedColumns& out);
void add_decisions(const FitRecord& fit, const Prediction& p, const std::string& loss,
                   NamedColumns& out);
Answer number_scores(const RowMatrix& Y, const Prediction& p,
                     const std::vector<std::string>& output_names);
HeldOut gaussian_held_out(const RowMatrix& Y, const Prediction& p);
// Diagnostics of a regression whose inputs were observed with noise.
std::string input_variance_name(Index column);
std::string input_factor_name(Index column);  // of the variances that each row has
// The squared error over the variance of the targets; NaN where they do not vary.
double smse_or_nan(ConstVector y, ConstVector mean);
// draw_<number><suffix> of joint draws.
NamedColumns named_draws(const std::vector<RowMatrix>& draws,
                         const std::vector<std::string>& suffixes);

// Of the terms of a kernel: mean_<i> and variance_<i>; and what the terms are.
void add_components(const std::vector<ComponentPrediction>& parts,
                    const std::vector<std::string>& suffixes, NamedColumns& out);
void tell_components(const Posterior& posterior, const TableQuestion& question, NamedColumns& out);
// dmean_<input> and dvariance_<input>.
void add_gradients(const PredictionGradient& gradient, const std::vector<std::string>& inputs,
                   const std::string& suffix, NamedColumns& out);
// Answers about n rows, so many at a time, one below the other.
template <class Some>
NamedColumns in_blocks(Index n, Index most, const Some& some) {
  NamedColumns out = some(0, std::min(n, most));
  for (Index first = most; first < n; first += most) {
    const NamedColumns next = some(first, std::min(most, n - first));
    for (std::size_t j = 0; j < out.values.size(); ++j) {
      Vector& column = out.values[j];
      column.conservativeResize(first + next.values[j].size());
      column.tail(next.values[j].size()) = next.values[j];
    }
    out.classes.insert(out.classes.end(), next.classes.begin(), next.classes.end());
  }
  return out;
}

// Of latent-variable models.

// The columns x0, x1, … of a table, if it has all of them: points of the latent space.
std::optional<RowMatrix> latent_points(const Table& table, Index latent);
bool has_columns(const Table& table, const std::vector<std::string>& names);
// x<q>, variance_x<q>, mean_<output> and variance_<output>.
NamedColumns latent_columns(const RowMatrix& mean, const RowMatrix& variance, const Prediction& p,
                            const std::vector<std::string>& output_names);
// The root mean square over the observed cells of Y.
double reconstruction_error(ConstRows Y, ConstRows mean);
// Rows whose nearest neighbour has another label, and the same in words.
void add_label_errors(const std::vector<std::string>& row_labels, ConstRows X,
                      nlohmann::json& object, std::string& text);
// dimension 0 1 2 …, and below it a line of numbers.
std::string dimension_line(Index latent);
std::string numbers_line(const std::string& name, ConstVector values);

}  // namespace covary
