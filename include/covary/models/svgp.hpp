#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/features/choice.hpp"
#include "covary/features/selection.hpp"
#include "covary/inference/natural_gradient.hpp"
#include "covary/models/function_options.hpp"
#include "covary/models/generalised_fit.hpp"
#include "covary/training/trainer.hpp"

namespace covary {

struct SvgpOptions {
  Kernel kernel = "se(ard)";
  Likelihood likelihood = "bernoulli";
  Mean mean = {};  // zero
  // With several functions: a kernel, and inducing inputs, of its own for each.
  bool separate_kernels = false;
  // Inducing variables: of what kind, how many (0: 100, or all rows when they are fewer), and how
  // the inputs that they start from are chosen; or these themselves, in the units of the data.
  FeatureChoice features = {};
  Index inducing = 0;
  Selection selection = Selection::greedy_variance;
  RowMatrix Z = {};
  CovarianceForm covariance = {};  // of q
  double jitter = 0.0;             // absolute, in the units the model sees
  // Of several outputs: they are mixtures g = W·f + m(x) of so many functions, the linear model of
  // coregionalisation. W, outputs × functions, starts along the principal axes of the outputs, or
  // at `mixing`, and is trained as mixing.weights. 0, and no `mixing`: every output has its own
  // functions, and nothing is mixed.
  Index functions = 0;
  RowMatrix mixing = {};
  // Beside y: exposure, trials or noise variances, and the weights of the rows; N, or empty.
  Vector aux = {}, weights = {};
  std::vector<std::string> classes = {};  // names of labels 0, 1, …, for the fit to keep
  ScaleMode scale_inputs = ScaleMode::columns;
  ScaleMode scale_outputs = ScaleMode::columns;  // only where targets are any real number
  Index pca = 0, gplvm = 0;                      // as in FunctionOptions
  InputMap input_map = {};
  std::uint64_t seed = 0;

  // training.batch = 0: all rows up to 20 000, else 1024. With all rows training is by L-BFGS over
  // everything but q, which is at its optimum in every evaluation; with fewer by natural gradients
  // and Adam, for twenty passes at a rate of 0.02 unless told otherwise. training.starts: one
  // unless told otherwise.
  TrainingOptions training = {};
  QOptions q = {.max_iterations = 500, .tolerance = 1e-6};

  // Of rows in a file: how many are kept in memory, to choose Z from.
  Index sample = 20000;

  void check() const;
};

// Sparse variational inference for any likelihood: y_n ~ p(y | f(x_n)), f a GP seen through M
// inducing variables with an explicit Gaussian q(u) (Hensman et al. 2013, 2015). Several outputs
// share the kernel, the inducing variables and the likelihood.
//
//   GeneralisedFit fit = Svgp(X, y, {.likelihood = "bernoulli(probit)", .inducing = 200}).fit();
class Svgp {
 public:
  // X: N×D, finite. Y: N×P, NaN where missing: rows with nothing else are left out.
  Svgp(ConstRows X, ConstRows Y, SvgpOptions options = {});
  // Rows of a file, which may be more than memory holds; a minibatch is a
  // run of rows, so they should be in no order. The model sets the scaling of the rows.
  explicit Svgp(std::shared_ptr<FileRows> rows, SvgpOptions options = {});
  // It moves, and is not copied.
  Svgp(Svgp&&) noexcept;
  Svgp& operator=(Svgp&&) noexcept;
  ~Svgp();

  // kernel.…, likelihood.…, mean.weights, mixing.weights, features.Z; with separate kernels
  // function.0.kernel.…, function.0.features.Z. In the units the model sees.
  Parameters& parameters();
  const Parameters& parameters() const;
  // Those of another model of these data, with what was set by hand, which training does not choose
  // anew.
  void start_from(const Svgp& other);
  const SvgpOptions& options() const;
  const Scaling& input_scaling() const;
  const InputMap& input_map() const;  // a GP-LVM is trained by fit()
  const Scaling& output_scaling() const;
  const std::vector<std::string>& warnings() const;
  Index rows() const;
  Index batch() const;
  Index inducing() const;
  double log_jacobian() const;

  // The bound at the current parameters and the best q, in the units of the data.
  double elbo() const;
  // −(bound + log prior) at the best q, as a function of the free unconstrained vector, in model
  // units and over all rows; q carries from call to call. Nothing where q does not settle.
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter,
                                  NaturalGaussian& q) const;
  // An estimate of the same from some rows, at the q given. It does not move q; of_q.beside may.
  double batch_objective(const Vector& u, const RowSource& rows, const NaturalGaussian& q,
                         Jitter& jitter, Vector* gradient, UncollapsedGradient& of_q) const;
  NaturalGaussian prior() const;  // where q begins

  // With a GP-LVM of the inputs: that of another fit, if it is of these rows, so that it is not
  // trained again.
  void take_latent_space(const FitNode& from);
  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state);

  // A GP-LVM of the inputs comes first, in the same training.
  GeneralisedFit fit();
  // The model as training stands, for a look at it on the way. Its value is that of the last
  // evaluation; of minibatches, a moving average.
  GeneralisedFit at(const TrainingState& state) const;
  NaturalGaussian q_at(const TrainingState& state) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covary
