#pragma once

#include "covary/storage/model_file.hpp"
#include "data_arguments.hpp"
#include "sparse_arguments.hpp"

namespace covary::cli {

// What latent-variable models take besides.
struct LatentArguments {
  Index latent = 0;  // 0: ten, or as many as there are outputs
  std::string dynamics, dynamics_kernel = "se + white", sequences, label;
  std::vector<std::string> views;
  double snr = 100.0;
};
void add_latent_options(CLI::App& sub, LatentArguments& a);
bool is_latent_model(const std::string& model);

struct LatentRun {
  SavedLatent saved;
  bool interrupted = false;
};
LatentRun fit_latent(const LatentArguments& a, const TrainingArguments& t, const SparseArguments& s,
                     const std::string& kernel, const Common& common);

// Latent inputs and outputs of the rows of a table, whose cells may be missing; of a dynamical
// model also at times without outputs, and of any at points x0, x1, … of the latent space.
// The columns x0, x1, … of a table, if it has all of them: points of the latent space.
std::optional<RowMatrix> latent_points(const Table& table, Index latent);
Outcome predict_latent(const SavedLatent& m, const DataArguments& a, const Common& common);
Outcome evaluate_latent(const SavedLatent& m, const DataArguments& a);

}  // namespace covary::cli
