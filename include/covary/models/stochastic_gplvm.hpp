#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "covary/inference/natural_gradient.hpp"
#include "covary/models/gplvm.hpp"
#include "covary/statistics/expectations.hpp"

namespace covary {

struct StochasticGplvmOptions {
  // Dimensions, kernel, inducing inputs, scaling, where training starts, the seed, and how it is
  // trained: by minibatches of 256 rows or all when they are fewer, for fifty passes at a rate of
  // 0.01 and from one start unless told otherwise. One view with the standard normal prior.
  GplvmOptions gplvm = {};
  Likelihood likelihood = "gaussian";  // of every column; a function each

  // A step moves q(x) of the rows of its batch so often, by Adam, before and with q(u), by its
  // natural gradient, and the kernel, the likelihood and Z, by Adam.
  Index local_steps = 2;
  double local_rate = 0.05;  // falls as the learning rate does
  Index draws = 16;          // points that stand for q(x) of a row, unless the noise is Gaussian

  void check() const;
};

// The Bayesian GP-LVM with q(u) explicit, over minibatches of rows and for any likelihood of one
// function a column (Hensman et al. 2013; Damianou 2015, 3.3.3):
//   F = Σ_n {Σ_p ⟨log p(y_np | f_p(x_n))⟩ − KL(q(x_n) ‖ N(0, I))} − Σ_p KL(q(u_p) ‖ p(u_p)).
// With Gaussian noise the expectations are exact and at the best q(u) this is the bound of Gplvm.
//
//   StochasticGplvmOptions options;
//   options.likelihood = "bernoulli";
//   GplvmFit fit = StochasticGplvm(Y, options).fit();
class StochasticGplvm {
 public:
  // Y: N×P, NaN where missing.
  explicit StochasticGplvm(ConstRows Y, StochasticGplvmOptions options = {});

  // As of Gplvm, with the likelihood's own.
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  const StochasticGplvmOptions& options() const { return options_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  Index rows() const { return Y_.rows(); }
  Index batch() const { return options_.gplvm.training.batch; }
  NaturalGaussian prior() const;  // where q(u) begins

  // The gradient by the values of everything below "latent", as rows, and of everything else.
  struct Gradient {
    RowMatrix mean_bar, variance_bar;  // of the rows, not scaled
    Vector values_bar;
    UncollapsedGradient of_q;
  };
  // The bound as some rows tell it, in model units, at the present parameters.
  double evaluate(std::span<const Index> rows, const WhitenedGaussian& q, Jitter& jitter,
                  Gradient* gradient = nullptr) const;
  // Over all rows at the best q(u), in the units of the data.
  double elbo() const;

  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state) { resume_ = std::move(state); }
  GplvmFit fit();

 private:
  struct Batch;
  struct State;
  bool is_gaussian() const { return options_.likelihood.node().conjugate(); }
  RowMatrix working_outputs(ConstRows Y) const;
  Batch batch_of(std::span<const Index> rows, const RowMatrix& mean,
                 const RowMatrix& variance) const;
  UncollapsedProblem problem(const Batch& batch, ConstVector values) const;
  UncollapsedValues unpack(ConstVector values, WhitenedGaussian q) const;
  double evaluate(const Batch& batch, ConstVector values, const WhitenedGaussian& q, Jitter& jitter,
                  Gradient* gradient) const;
  QOptimum best_q(NaturalGaussian& q, Jitter& jitter, Index sweeps) const;
  Parameters of_all() const;  // what all rows share
  void start_at(Index start);
  Summary train_from_starts(NaturalGaussian& q, Jitter& jitter, Trainer& trainer);
  Minimum train(NaturalGaussian& q, Jitter& jitter, Trainer& trainer);
  std::optional<double> step(State& state, std::span<const Index> rows, ConstVector values,
                             Vector* values_bar) const;
  GplvmFit finished(NaturalGaussian q, Jitter jitter, Summary summary);
  void say(const std::string& text) const { options_.gplvm.training.say(text); }

  StochasticGplvmOptions options_;
  RowMatrix Y_;  // as the model sees them
  Gplvm gplvm_;  // where training starts, and with Gaussian noise the model at its end
  FeaturesPtr features_;
  double log_jacobian_ = 0.0;
  std::vector<std::string> warnings_;
  Parameters parameters_;
  TrainingState resume_;
};

}  // namespace covary
