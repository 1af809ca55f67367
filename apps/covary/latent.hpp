#pragma once

#include "covary/models/gplvm.hpp"
#include "covary/models/model_file.hpp"
#include "covary/models/table.hpp"
#include "data_arguments.hpp"
#include "sparse_arguments.hpp"
#include "training_session.hpp"

namespace covary::cli {

// What latent-variable models take besides.
struct LatentArguments {
  Index latent = 0;        // 0: ten, or as many as there are outputs
  Index fixed_point = -1;  // automatic
  std::string dynamics, dynamics_kernel = "se + white", sequences, label;
  std::string back_constraint, start_view;
  std::vector<std::string> views;
  double snr = 100.0, discriminative = 0.0;
};
void add_latent_options(CLI::App& sub, LatentArguments& a);

struct LatentRun {
  SavedLatent saved;
  bool interrupted = false, checkpointed = false;
};

// The columns of a table by the parts they play.
struct LatentTable {
  RowMatrix Y = {}, times = {};  // no times without --dynamics
  std::vector<Index> sequences = {};
  std::vector<LatentView> views = {};
  std::vector<std::string> output_names = {}, time_names = {}, labels = {};
};
// What the forecast of a latent-variable model is made from.
ProblemSize size_of(const LatentTable& table, Index latent);
LatentTable read_latent(const LatentArguments& a, const TrainingArguments& t, const Common& common);

// What is done once the size of the problem and the number of starts are known.
using Forecast = std::function<void(const ProblemSize& size, Index starts)>;

LatentRun fit_latent(const LatentArguments& a, const TrainingArguments& t, const SparseArguments& s,
                     const std::string& kernel, const CheckpointArguments& checkpoint,
                     const Forecast& forecast, const Common& common);

// What the options say of every GP-LVM, but for its dimensions; `common` must outlive it.
GplvmOptions gplvm_options(const LatentArguments& a, const TrainingArguments& t,
                           const SparseArguments& s, const std::string& kernel,
                           const Common& common);
// One scale for all outputs unless told otherwise.
ScaleMode latent_scale(const TrainingArguments& t);

// The cells of a column as text, and the names of columns.
std::vector<std::string> cells_of(const Table& table, Index column);
std::vector<std::string> names_of(const Table& table, const std::vector<Index>& columns);
// The columns of the outputs: as asked, or all with numbers that play no other part. Those with
// text that are left are told of.
std::vector<Index> output_columns(const Table& table, const std::vector<std::string>& asked,
                                  const std::vector<Index>& others, const Common& common);
// x<q>, variance_x<q>, mean_<output> and variance_<output> of rows.
struct LatentMoments {
  const RowMatrix &mean, &variance;
};
Outcome give_latent(const DataArguments& a, const LatentMoments& x, const Prediction& p,
                    const std::vector<std::string>& output_names, const Common& common);
// The root mean square over the observed cells of Y.
double reconstruction_error(ConstRows Y, ConstRows mean);

// Latent inputs and outputs of the rows of a table, whose cells may be missing; of a dynamical
// model also at times without outputs, and of any at points x0, x1, … of the latent space.
// The columns x0, x1, … of a table, if it has all of them: points of the latent space.
std::optional<RowMatrix> latent_points(const Table& table, Index latent);
Outcome predict_latent(const SavedLatent& m, const DataArguments& a, const Common& common);
Outcome predict_latent(const SavedMapGplvm& m, const DataArguments& a, const Common& common);
// Of a model of several views, some of which the table leaves empty: the nearest training rows of
// each row in the shared dimensions, and the outputs decoded with them.
Outcome predict_correspondences(const SavedLatent& m, const DataArguments& a, Index neighbours,
                                const Common& common);
Outcome evaluate_latent(const SavedLatent& m, const DataArguments& a);

}  // namespace covary::cli
