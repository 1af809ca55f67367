#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "covary/inference/natural_gradient.hpp"
#include "covary/models/gplvm.hpp"

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
  // It moves, and is not copied.
  StochasticGplvm(StochasticGplvm&&) noexcept;
  StochasticGplvm& operator=(StochasticGplvm&&) noexcept;
  ~StochasticGplvm();

  // As of Gplvm, with the likelihood's own.
  Parameters& parameters();
  const Parameters& parameters() const;
  const StochasticGplvmOptions& options() const;
  const std::vector<std::string>& warnings() const;
  Index rows() const;
  Index batch() const;
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
  void resume(TrainingState state);
  GplvmFit fit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covary
