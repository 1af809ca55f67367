#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// The options of a fit by the names that the command line and Python have for them. What each means
// is in fit_options(), which models read it in the table of models. Zero, or an empty text, leaves
// it to the model.
struct FitOptions {
  std::string model = "auto", likelihood = "auto", kernel = "se(ard)", mean = "zero";
  // Columns.
  std::vector<std::string> target, inputs, views;
  std::vector<std::string> input_variance;
  std::string noise, exposure, weights, label, folds, dynamics, sequences;
  Index lags = 0;
  // What becomes of the data.
  std::string missing = "model", scale = "auto", header = "auto", dates = "auto", decimal = "auto";
  std::vector<std::string> circular;
  bool no_scale = false, stream = false;
  Index pca = 0, gplvm = 0;
  // Inducing variables.
  std::string inducing = "auto", inducing_file, selection = "greedy_variance", features = "points",
              covariance = "full", separate_kernels = "auto", route = "auto", warm_start,
              placement = "bound";
  Index groups = 0, placement_rows = 1000, functions = 0;
  // Of automatic M, and of the certificate.
  double bracket = 0.0, planned_kl = 0.0, certificate_flops = 0.0;
  Index most_inducing = 0, certificate_iterations = 0;
  // Of inputs that were observed with noise.
  std::string input_noise;
  bool train_input_noise = false, hold_inputs = false;
  // Latent spaces.
  Index latent = 0, fixed_point = -1;
  std::string dynamics_kernel, back_constraint, start_view;
  double discriminative = 0.0, snr = 100.0;
  // Parameters.
  std::vector<std::string> set, fix, prior, bounds, tie;
  std::string from;
  // Training.
  Index max_iter = 1000, restarts = 0, batch = 0, epochs = 0, steps = 0;
  double max_seconds = 0.0, jitter = 0.0, learning_rate = 0.0, natural_step = 0.0;
  std::string schedule, checkpoint, standard_errors = "auto";
  double decay = 0.0;
  Index every = 0, warm_up = 0;
  std::uint64_t seed = 0;
  bool resume = false, verbose = false;
  // What is kept.
  std::string out;
  bool without_outputs = false;

  std::vector<std::string> given = {};  // the options that a call gave, by name

  bool is_given(const std::string& name) const;
  bool is_scaled() const { return !no_scale && scale != "none"; }
};

// What an option is called, what it says of itself, and the values that it takes.
struct FitOption {
  using Member = std::variant<bool FitOptions::*, Index FitOptions::*, double FitOptions::*,
                              std::uint64_t FitOptions::*, std::string FitOptions::*,
                              std::vector<std::string> FitOptions::*>;
  enum class Takes { anything, at_least_zero, at_least_one, positive };

  std::string name, group, help;
  Member member;
  std::vector<std::string> choices = {};  // or none
  Takes takes = Takes::anything;
  bool on_the_way = true;  // the course of training depends on it
};
const std::vector<FitOption>& fit_options();
const FitOption& fit_option(const std::string& name);  // InputError with the nearest name

// As the command line would; InputError for a value that the option does not take. Lists are added
// to. '_' in the name is '-'.
void set_option(FitOptions& options, std::string name, const std::string& value);
// All options on the way, by name and value: part of what a checkpoint belongs to.
std::string print_course(const FitOptions& options, bool with_limit);

}  // namespace covary
