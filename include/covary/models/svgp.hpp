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

class FeatureSettings;
struct GeneralisedData;
struct UntrainedMap;

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
  // The sweep's rows are views of its own data: it moves, and is not copied.
  Svgp(Svgp&&) = default;
  Svgp& operator=(Svgp&&) = default;
  Svgp(const Svgp&) = delete;
  Svgp& operator=(const Svgp&) = delete;

  // kernel.…, likelihood.…, mean.weights, mixing.weights, features.Z; with separate kernels
  // function.0.kernel.…, function.0.features.Z. In the units the model sees.
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  // Those of another model of these data, with what was set by hand, which training does not choose
  // anew.
  void start_from(const Svgp& other);
  const SvgpOptions& options() const { return options_; }
  const Scaling& input_scaling() const { return input_scaling_; }
  const InputMap& input_map() const { return input_map_; }  // a GP-LVM is trained by fit()
  const Scaling& output_scaling() const { return output_scaling_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  Index rows() const { return rows_->rows(); }
  Index batch() const { return batch_; }
  Index inducing() const { return features_.front()->size(); }
  double log_jacobian() const { return log_jacobian_; }

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
  void resume(TrainingState state) { resume_ = std::move(state); }

  // A GP-LVM of the inputs comes first, in the same training.
  GeneralisedFit fit();
  // The model as training stands, for a look at it on the way. Its value is that of the last
  // evaluation; of minibatches, a moving average.
  GeneralisedFit at(const TrainingState& state) const;
  NaturalGaussian q_at(const TrainingState& state) const;

 private:
  struct Unpacked {
    UncollapsedValues values;
    Vector likelihood;
    Matrix mixing;
  };
  void take(GeneralisedData data);
  void begin();
  void see(InputMap map);
  void choose_features(Index M);
  void set_inputs(ConstRows Z);
  static bool is_feature(const std::string& path);
  bool trains_features() const;
  void set_features(const FeaturesPtr& features);
  bool is_mixed() const { return options_.mixing.size() > 0; }
  // What the likelihood is told of all outputs, and the functions behind it.
  Index arguments() const { return options_.likelihood.functions() * rows_->outputs(); }
  Index functions() const { return is_mixed() ? options_.mixing.cols() : arguments(); }
  std::string path_of(Index part, const std::string& rest) const;
  Unpacked unpack(ConstVector values) const;
  Vector pack(const UncollapsedGradient& g) const;
  UncollapsedProblem problem(const Sweep& sweep, const Unpacked& at, bool guard) const;
  QOptimum maximise(ConstVector values, NaturalGaussian& q, Jitter& jitter, Vector* values_bar,
                    const QOptions& options) const;
  QOptions q_options() const;
  std::optional<double> settled_bound(ConstVector values, Vector* values_bar, Jitter& jitter,
                                      NaturalGaussian& q) const;
  Problem problem(NaturalGaussian& q, Jitter& jitter);
  Summary train_full(Trainer& trainer, NaturalGaussian& q, Jitter& jitter);
  Summary train_batches(Trainer& trainer, NaturalGaussian& q, Jitter& jitter);
  Minimum train_batches_once(Trainer& trainer, NaturalGaussian& q, Jitter& jitter);
  Index starts() const { return std::max<Index>(1, options_.training.starts); }
  bool is_large_step(const RowSource& rows, const UncollapsedGradient& of_q, double gamma,
                     const NaturalGaussian& q) const;
  Index try_step(const RowSource& rows, double value, const Vector& u,
                 const UncollapsedGradient& of_q, double gamma, NaturalGaussian& q,
                 Jitter& jitter) const;
  double batch_step(const RowSource& rows, const Vector& u, double gamma, NaturalGaussian& q,
                    Jitter& jitter, Vector* gradient, Index& halvings) const;
  GeneralisedFit described(const Parameters& parameters, const WhitenedGaussian& q,
                           std::vector<Matrix> Luu, Summary summary) const;
  void say(const std::string& text) const { options_.training.say(text); }

  SvgpOptions options_;
  RowMatrix X_, Y_;  // as the model sees them: the observed rows, or a sample of those in a file
  Vector aux_, weights_;
  Scaling input_scaling_, output_scaling_;
  InputMap input_map_;
  std::shared_ptr<const UntrainedMap> untrained_;  // or none
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  std::shared_ptr<const RowSource> rows_;
  bool in_memory_ = true;
  Index batch_ = 0;
  std::vector<FeaturesPtr> features_;  // one for all latent functions, or one for each
  std::shared_ptr<FeatureSettings> settings_;
  Parameters parameters_;
  TrainingState resume_;
};

}  // namespace covary
