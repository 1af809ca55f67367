// The options of a fit, each with what --help says of it.
#include "covary/models/fit_options.hpp"

namespace covary {
namespace {

using Takes = FitOption::Takes;

FitOption option(const char* name, const char* group, const char* help, FitOption::Member member,
                 std::vector<std::string> choices = {}, Takes takes = Takes::anything) {
  return {name, group, help, member, std::move(choices), takes, true};
}

// One that says nothing of the course of training: a limit, a file, or what the data and the
// parameters show by themselves.
FitOption aside(const char* name, const char* group, const char* help, FitOption::Member member,
                std::vector<std::string> choices = {}, Takes takes = Takes::anything) {
  return {name, group, help, member, std::move(choices), takes, false};
}

}  // namespace

const std::vector<FitOption>& fit_options() {
  static const std::vector<FitOption> all = {
      aside("target", "Data", "Output column(s): name, number from 0, or range a:b",
            &FitOptions::target),
      aside("inputs", "Data", "Input columns (default: all others)", &FitOptions::inputs),
      option("lags", "Data", "Autoregression: the inputs are the last L values of the targets",
             &FitOptions::lags, {}, Takes::at_least_one),
      aside("noise", "Data", "Column of known noise variances, added to the trained one",
            &FitOptions::noise),
      aside("input-variance", "Data",
            "Columns of error variances of the inputs, one for each input",
            &FitOptions::input_variance),
      aside("exposure", "Data",
            "Column of exposures (poisson, …), trials (binomial) or bin volumes (lgcp)",
            &FitOptions::exposure),
      aside("weights", "Data", "Column of row weights: 2 counts a row twice, 0 leaves it out",
            &FitOptions::weights),
      aside("label", "Data", "Column of row labels, for scores and pictures", &FitOptions::label),
      option("missing", "Data",
             "Missing cells: model (outputs), learn (inputs too), drop (rows) or error",
             &FitOptions::missing, {"model", "learn", "drop", "error"}),
      option("scale", "Data", "Scale inputs and outputs: auto, columns, global or none",
             &FitOptions::scale, {"auto", "columns", "global", "none"}),
      option("no-scale", "Data", "Same as --scale none", &FitOptions::no_scale),
      option("pca", "Data", "Use this many principal components of the scaled inputs",
             &FitOptions::pca, {}, Takes::at_least_one),
      option("gplvm", "Data",
             "Use the latent space, of at most this many dimensions, that a Bayesian GP-LVM finds "
             "for the inputs",
             &FitOptions::gplvm, {}, Takes::at_least_one),
      aside("header", "Data", "Whether the first line has names: auto, yes or no",
            &FitOptions::header, {"auto", "yes", "no"}),
      aside("stream", "Data", "Leave the rows in a file, for data larger than memory",
            &FitOptions::stream),
      option("model", "Model", "Model by name, or auto (see covary models)", &FitOptions::model),
      option("likelihood", "Model",
             "gaussian, bernoulli, softmax, poisson, student_t, … (docs/likelihoods.md); auto: by "
             "the target",
             &FitOptions::likelihood),
      option("kernel", "Model", "Kernel expression", &FitOptions::kernel),
      option("mean", "Model", "Mean function: zero, constant, linear or poly(k)",
             &FitOptions::mean),
      option("inducing", "Model", "Number of inducing inputs, or auto", &FitOptions::inducing),
      option("inducing-file", "Model", "Table of inducing inputs, in the units of the data",
             &FitOptions::inducing_file),
      option(
          "selection", "Model",
          "How to choose inducing inputs: greedy_variance, kmeans, hierarchical_kmeans, random, "
          "grid, leverage; of sparse regression bound_gain, information_gain; of other likelihoods "
          "informative_vectors",
          &FitOptions::selection,
          {"greedy_variance", "kmeans", "hierarchical_kmeans", "random", "grid", "leverage",
           "informative_vectors", "bound_gain", "information_gain"}),
      option("placement", "Model",
             "Objective that places inducing variables: bound, or expected_kl, the mean KL over "
             "outputs of the model",
             &FitOptions::placement, {"bound", "expected_kl"}),
      option("placement-rows", "Model", "Number of rows for --placement expected_kl",
             &FitOptions::placement_rows, {}, Takes::at_least_one),
      option("input-noise", "Model", "Error variances of the inputs: one for each input, or train",
             &FitOptions::input_noise),
      option("train-input-noise", "Model",
             "Train a factor of the given error variances, one for each input",
             &FitOptions::train_input_noise),
      option("hold-inputs", "Model", "Keep the inputs where they were observed",
             &FitOptions::hold_inputs),
      option("features", "Model",
             "Inducing variables: points, multiscale, multiscale(C), frequency, timefrequency, "
             "basis(C), eigen, fourier, fourier(l2), orthogonal, empirical, stacked(KIND), rff, "
             "ssgp, hilbert, bumps",
             &FitOptions::features),
      option("groups", "Model", "Number of groups of rows (0: about rows/inducing)",
             &FitOptions::groups, {}, Takes::at_least_zero),
      option("covariance", "Model",
             "Covariance of q(u): full, diagonal, or blocks(B) along the diagonal",
             &FitOptions::covariance),
      option("separate-kernels", "Model",
             "A separate kernel for each latent function: auto, yes or no",
             &FitOptions::separate_kernels, {"auto", "yes", "no"}),
      option("latent", "Model", "Dimensions of the latent space (0: ten at most)",
             &FitOptions::latent, {}, Takes::at_least_zero),
      option("view", "Model",
             "NAME=COL,…: a view, a group of outputs with its own mapping; repeatable",
             &FitOptions::views),
      aside("dynamics", "Model",
            "Columns of times, or of any inputs, that the latent inputs follow",
            &FitOptions::dynamics),
      option("dynamics-kernel", "Model", "Kernel over the times, or of the inner layer of warped",
             &FitOptions::dynamics_kernel),
      aside("sequences", "Model", "Column whose changes begin new, independent sequences",
            &FitOptions::sequences),
      option("back-constraint", "Model",
             "Latent inputs as a function of the rows: kernel or network",
             &FitOptions::back_constraint, {"kernel", "network"}),
      option("discriminative", "Model", "Strength of the prior that separates the labels",
             &FitOptions::discriminative, {}, Takes::at_least_zero),
      aside("set", "Training",
            "PATH=VALUE[,VALUE…]: initial value, or the value with --fix or --max-iter 0",
            &FitOptions::set),
      aside("fix", "Training", "PATH: do not train it or anything below it", &FitOptions::fix),
      aside("prior", "Training", "PATH=DIST, for example kernel.lengthscales=gamma(2,1)",
            &FitOptions::prior),
      aside("bounds", "Training", "PATH=a,b: train between a and b", &FitOptions::bounds),
      aside("tie", "Training", "PATH=PATH or PATH=ratio*PATH", &FitOptions::tie),
      aside("from", "Training", "Model file: start at its parameters where paths match",
            &FitOptions::from),
      aside("max-iter", "Training", "Iterations of each start; 0 only evaluates",
            &FitOptions::max_iter, {}, Takes::at_least_zero),
      aside("max-seconds", "Training", "Time limit of training (0: none)", &FitOptions::max_seconds,
            {}, Takes::at_least_zero),
      option("restarts", "Training", "Number of starts (0: chosen by the number of rows)",
             &FitOptions::restarts, {}, Takes::at_least_zero),
      option("batch", "Training", "Rows of a minibatch (0: automatic)", &FitOptions::batch, {},
             Takes::at_least_zero),
      option("epochs", "Training", "Passes over the data by minibatches (0: automatic)",
             &FitOptions::epochs, {}, Takes::at_least_zero),
      option("steps", "Training", "Number of minibatch steps, instead of --epochs",
             &FitOptions::steps, {}, Takes::at_least_one),
      option("learning-rate", "Training", "Learning rate of Adam in minibatches",
             &FitOptions::learning_rate, {}, Takes::positive),
      option("schedule", "Training",
             "Learning-rate schedule: constant, exponential, steps or cosine",
             &FitOptions::schedule, {"constant", "exponential", "steps", "cosine"}),
      option("natural-step", "Training", "Step of natural gradients in minibatches",
             &FitOptions::natural_step, {}, Takes::positive),
      option("warm-start", "Training",
             "Train with this approximation first (for example fitc), then continue",
             &FitOptions::warm_start),
      option("start-view", "Training", "Start all latent dimensions from this view",
             &FitOptions::start_view),
      option("fixed-point", "Training",
             "Fixed-point steps of q(X) before each part of training (default: 10 with --dynamics)",
             &FitOptions::fixed_point, {}, Takes::at_least_zero),
      option("snr", "Training", "Signal-to-noise ratio at the start of training", &FitOptions::snr),
      option("jitter", "Training", "Added to the diagonal of the covariance, absolute",
             &FitOptions::jitter),
      option("route", "Training", "Numerical route of a sparse model: auto, fast, safe or stable",
             &FitOptions::route, {"auto", "fast", "safe", "stable"}),
      aside("folds", "Training", "Cross-validation: K folds, or a column that labels them",
            &FitOptions::folds),
      option("seed", "Training", "Seed of starts, folds and random choices", &FitOptions::seed),
      aside("checkpoint", "Training", "File that keeps the state of training",
            &FitOptions::checkpoint),
      aside("resume", "Training", "Continue from the checkpoint", &FitOptions::resume),
      aside("out", "Output", "Model file to write", &FitOptions::out),
      aside("without-outputs", "Output", "Do not keep the training outputs in the model file",
            &FitOptions::without_outputs),
      aside("standard-errors", "Output", "Standard errors of the parameters: auto, yes or no",
            &FitOptions::standard_errors, {"auto", "yes", "no"}),
      aside("verbose", "Output", "Print a line on standard error for every iteration",
            &FitOptions::verbose)};
  return all;
}

}  // namespace covary
