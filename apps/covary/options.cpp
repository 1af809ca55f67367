#include "options.hpp"

#include "covary/error.hpp"

namespace covary::cli {

const std::vector<OptionText>& option_texts() {
  static const std::vector<OptionText> texts = {
      // fit and compare: data
      {"fit", "target", "Data", "Output column(s): name, number from 0, or range a:b"},
      {"fit", "inputs", "Data", "Input columns (default: all others)"},
      {"fit", "lags", "Data", "Autoregression: the inputs are the last L values of the targets"},
      {"fit", "noise", "Data", "Column of known noise variances, added to the trained one"},
      {"fit", "exposure", "Data",
       "Column of exposures (poisson, …), trials (binomial) or bin volumes (lgcp)"},
      {"fit", "weights", "Data", "Column of row weights: 2 counts a row twice, 0 leaves it out"},
      {"fit", "label", "Data", "Column of row labels, for scores and pictures"},
      {"fit", "missing", "Data",
       "Missing cells: model (outputs), learn (inputs too), drop (rows) or error"},
      {"fit", "scale", "Data", "Scale inputs and outputs: auto, columns, global or none"},
      {"fit", "no-scale", "Data", "Same as --scale none"},
      {"fit", "pca", "Data", "Use this many principal components of the scaled inputs"},
      {"fit", "gplvm", "Data",
       "Use the latent space, of at most this many dimensions, that a Bayesian GP-LVM finds for "
       "the "
       "inputs"},
      {"fit", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"fit", "stream", "Data", "Leave the rows in a file, for data larger than memory"},
      // fit and compare: model
      {"fit", "model", "Model", "Model by name, or auto (see covary models)"},
      {"fit", "likelihood", "Model",
       "gaussian, bernoulli, softmax, poisson, student_t, … (docs/likelihoods.md); auto: by the "
       "target"},
      {"fit", "kernel", "Model", "Kernel expression"},
      {"fit", "mean", "Model", "Mean function: zero, constant, linear or poly(k)"},
      {"fit", "inducing", "Model", "Number of inducing inputs, or auto"},
      {"fit", "inducing-file", "Model", "Table of inducing inputs, in the units of the data"},
      {"fit", "selection", "Model",
       "Choice of inducing inputs: greedy_variance, kmeans, hierarchical_kmeans, random, grid, "
       "informative_vectors"},
      {"fit", "features", "Model",
       "Inducing variables: points, multiscale, multiscale(C), frequency, timefrequency, basis(C), "
       "eigen, fourier, fourier(l2), orthogonal, empirical, stacked(KIND), rff, ssgp, hilbert, "
       "bumps"},
      {"fit", "groups", "Model", "Number of groups of rows (0: about rows/inducing)"},
      {"fit", "covariance", "Model",
       "Covariance of q(u): full, diagonal, or blocks(B) along the diagonal"},
      {"fit", "separate-kernels", "Model",
       "A kernel of its own for each latent function: auto, yes or no"},
      {"fit", "latent", "Model", "Dimensions of the latent space (0: ten at most)"},
      {"fit", "view", "Model",
       "NAME=COL,…: a view, outputs with a mapping of their own; repeat it"},
      {"fit", "dynamics", "Model", "Column of times that the latent inputs follow"},
      {"fit", "dynamics-kernel", "Model", "Kernel over the times"},
      {"fit", "sequences", "Model", "Column whose changes begin new, independent sequences"},
      {"fit", "back-constraint", "Model",
       "Latent inputs as a function of the rows: kernel or network"},
      {"fit", "discriminative", "Model", "Strength of the prior that separates the labels"},
      // fit and compare: training
      {"fit", "set", "Training",
       "PATH=VALUE[,VALUE…]: initial value, or the value with --fix or --max-iter 0"},
      {"fit", "fix", "Training", "PATH: do not train it or anything below it"},
      {"fit", "prior", "Training", "PATH=DIST, for example kernel.lengthscales=gamma(2,1)"},
      {"fit", "bounds", "Training", "PATH=a,b: train between a and b"},
      {"fit", "tie", "Training", "PATH=PATH or PATH=ratio*PATH"},
      {"fit", "from", "Training", "Model file: start at its parameters where paths match"},
      {"fit", "max-iter", "Training", "Iterations of each start; 0 only evaluates"},
      {"fit", "max-seconds", "Training", "Time limit of training (0: none)"},
      {"fit", "restarts", "Training", "Number of starts (0: chosen by the number of rows)"},
      {"fit", "batch", "Training", "Rows of a minibatch (0: automatic)"},
      {"fit", "epochs", "Training", "Passes over the data by minibatches (0: automatic)"},
      {"fit", "steps", "Training", "Number of minibatch steps, instead of --epochs"},
      {"fit", "learning-rate", "Training", "Learning rate of Adam in minibatches"},
      {"fit", "schedule", "Training",
       "Learning-rate schedule: constant, exponential, steps or cosine"},
      {"fit", "natural-step", "Training", "Step of natural gradients in minibatches"},
      {"fit", "warm-start", "Training",
       "Train with this approximation first (for example fitc), then continue"},
      {"fit", "start-view", "Training", "Start all latent dimensions from this view"},
      {"fit", "fixed-point", "Training",
       "Fixed-point steps of q(X) before each part of training (default: 10 with --dynamics)"},
      {"fit", "snr", "Training", "Signal-to-noise ratio at the start of training"},
      {"fit", "jitter", "Training", "Added to the diagonal of the covariance, absolute"},
      {"fit", "route", "Training", "Sums of a sparse model: auto, fast, safe or stable"},
      {"fit", "folds", "Training", "Cross-validation: K folds, or a column that labels them"},
      {"fit", "seed", "Training", "Seed of starts, folds and random choices"},
      {"fit", "checkpoint", "Training", "File that keeps the state of training"},
      {"fit", "resume", "Training", "Continue from the checkpoint"},
      // fit: output
      {"fit", "out", "Output", "Model file to write"},
      {"fit", "without-outputs", "Output", "Do not keep the training outputs in the model file"},
      {"fit", "standard-errors", "Output", "Standard errors of the parameters: auto, yes or no"},
      {"fit", "verbose", "Output", "Print a line on standard error for every iteration"},
      // predict
      {"predict", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"predict", "input-variance", "Data",
       "Columns of input variances, one for each input: predict at Gaussian inputs"},
      {"predict", "exposure", "Data", "Column of exposures or trials, as in fit"},
      {"predict", "steps", "Prediction",
       "Forecast of an autoregression: this many steps after the end of the series in DATA"},
      {"predict", "propagation", "Prediction",
       "How forecasts are fed back: moments, augmented, plug-in or draws"},
      {"predict", "draws", "Prediction", "Number of trajectories for --propagation draws"},
      {"predict", "seed", "Prediction", "Seed of the draws"},
      {"predict", "parameter-draws", "Prediction",
       "Average over this many draws of the parameters from their posterior"},
      {"predict", "correspond", "Prediction",
       "For rows without one of the views: the K nearest training rows, and that view decoded with "
       "each"},
      {"predict", "threshold", "Prediction", "Decision threshold for the second of two classes"},
      {"predict", "loss", "Prediction",
       "Decide by expected loss: squared, absolute or quantile(p); for classes a table of costs"},
      {"predict", "components", "Output", "Also mean_<i>, variance_<i> of each kernel term"},
      {"predict", "gradients", "Output", "Also dmean_<input>, dvariance_<input>, of f"},
      {"predict", "out", "Output", "CSV to write (default: standard output)"},
      // evaluate
      {"evaluate", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"evaluate", "exposure", "Data", "Column of exposures or trials, as in fit"},
      {"evaluate", "threshold", "Prediction", "Decision threshold for the second of two classes"},
      // sample
      {"sample", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"sample", "draws", "Sampling", "Number of draws"},
      {"sample", "seed", "Sampling", "Seed of the draws"},
      {"sample", "posterior", "Sampling",
       "Draw the latent inputs of the training rows instead, by MCMC: slice or retrospective"},
      {"sample", "burn-in", "Sampling", "Sweeps before the first draw of --posterior"},
      {"sample", "thin", "Sampling", "Sweeps between draws of --posterior"},
      {"sample", "out", "Output", "CSV to write (default: standard output)"},
      // update
      {"update", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"update", "noise", "Data", "Column of known noise variances, if training had one"},
      {"update", "out", "Output", "Model file to write"},
      {"update", "in-place", "Output", "Replace FILE"},
      // report, explore
      {"report", "data", "Data", "Held-out table with inputs and outputs, to score on"},
      {"report", "exposure", "Data", "Column of exposures or trials, as in fit"},
      {"report", "header", "Data", "Whether the first line has names: auto, yes or no"},
      {"report", "out", "Output", "HTML page to write"},
      {"report", "title", "Output", "Title of the page"},
      {"explore", "draw", "Output",
       "Draw the outputs as auto, curve, bars, image(ROWSxCOLUMNS), points(2) or points(3)"},
      {"explore", "out", "Output", "HTML page to write"},
      {"explore", "title", "Output", "Title of the page"},
  };
  return texts;
}

const OptionText& option_text(const std::string& verb, const std::string& name) {
  for (const OptionText& text : option_texts())
    if (text.verb == verb && text.name == name) return text;
  throw Error("internal", "option --" + name + " of " + verb + " is not declared");
}

std::vector<std::string> given_options(const CLI::App& sub) {
  std::vector<std::string> out;
  for (const CLI::Option* option : sub.get_options())
    if (option->count() > 0 && !option->get_lnames().empty())
      out.push_back(option->get_lnames().front());
  return out;
}

}  // namespace covary::cli
