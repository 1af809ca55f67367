#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/features/choice.hpp"
#include "covary/inference/recognition.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "covary/models/regression.hpp"

namespace covary {

struct GplvmOptions {
  Index latent = 10;          // Q, more than is needed: what is not used switches itself off
  Kernel kernel = "se(ard)";  // of every mapping
  Index inducing = 0;         // of every mapping, at most a row each; 0: 50
  // The inducing variables of every mapping: points, or basis(C), sums of C points.
  FeatureChoice features = {};
  std::vector<LatentView> views = {};  // empty: one, of all columns
  ScaleMode scale_outputs = ScaleMode::global;
  double jitter = 0.0;

  // The prior over the latent inputs: independent standard normal; or with times (N×d) Gaussian
  // processes over them with this kernel, independent between sequences (their first rows).
  RowMatrix times = {};
  Kernel dynamics = "se + white";
  std::vector<Index> sequences = {};
  bool times_are_inputs = false;  // of a regression: in any order, and repeated as they may be
  Vector dynamics_start =
      {};  // values of that kernel to start from; empty: likeliest for the means
  // Inputs that are known, N×Q with NaN where they are not: no variance, nothing to train.
  RowMatrix given = {};
  // Prior means of the inputs, N×Q, with prior variances (Q): inputs seen through noise. The
  // variances are multiplied by shares (N×Q), and may be trained, as inputs.variance.
  RowMatrix prior_mean = {};
  Vector prior_variance = {};
  RowMatrix prior_shares = {};
  bool train_prior_variance = false;
  // Whether any of these is set.
  bool knows_inputs() const {
    return given.size() || prior_mean.size() || prior_variance.size() || prior_shares.size() ||
           train_prior_variance;
  }
  // The means of q(X) as a smooth function of the rows, which must be whole; with the standard
  // normal prior alone.
  std::optional<RecognitionOptions> back_constraint = {};

  // Where training starts: at these means (N×Q), or at principal components (of each view, side by
  // side, if there are several), with noise of 1/snr of the outputs'
  // variance, held with the kernel's variance for the first iterations. Further starts turn and
  // shake the means; of several views the second is what they share (SharedDirections) and
  // components of the rest of each, and the third components of all together. The best bound is
  // kept. With times, rows that do not follow each other are trained first, for twice the
  // iterations held, and the dynamics begin at the smooth part of their means.
  RowMatrix start_mean = {};
  // Of several views: all dimensions, and the dynamics, start from components of this one, which
  // the others explain as far as they can. For a view that others shall predict.
  std::string start_view = {};
  double snr = 100.0;
  Index held_iterations = 100;
  double start_variance = 0.0;  // of q(X); 0: 0.5, and 0.2 with times
  // Before each part of training, at most so many steps of q(X) to its fixed point, as long as the
  // bound rises; −1: ten with times, else none.
  Index fixed_point = -1;
  Index first_start = 0;  // starts first_start, first_start + 1, … are made
  std::uint64_t seed = 0;
  TrainingOptions training = {};  // starts: four up to 500 rows, two up to 2000, else one

  void check() const;
};

// Bayesian Gaussian-process latent-variable models: Y = f(X) + noise with X unknown and q(X)
// Gaussian (Titsias & Lawrence 2010), with dynamics (Damianou et al. 2011) and many views
// (Damianou et al. 2012).
//
//   Gplvm model(Y, {.latent = 5});
//   GplvmFit fit = model.fit();
class Gplvm {
 public:
  // Y: N×P, NaN where missing.
  explicit Gplvm(ConstRows Y, GplvmOptions options = {});
  // It moves, and is not copied.
  Gplvm(Gplvm&&) noexcept;
  Gplvm& operator=(Gplvm&&) noexcept;
  ~Gplvm();

  // latent.mean (latent.weights, latent.hidden of a back constraint), latent.variance or
  // latent.whitened, latent.precisions, dynamics.…; inputs.variance; kernel.…,
  // likelihood.variance, features.…, with several views views.NAME.kernel.…
  Parameters& parameters();
  const Parameters& parameters() const;
  const GplvmOptions& options() const;
  const std::vector<std::string>& warnings() const;
  Index rows() const;
  const FeaturesPtr& features() const;  // of the first view

  double elbo() const;  // at the current parameters, in the units of the data
  // −(bound + log prior) of the free unconstrained vector, in model units.
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) const;

  // The same for training; it refers to the model and to `jitter`.
  Problem problem(Jitter& jitter);

  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state);
  GplvmFit fit();
  // As a part of the training of a larger model, which completes the summary.
  GplvmFit fit(Trainer& trainer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covary
