#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/inference/exact_posterior.hpp"
#include "covary/inference/recognition.hpp"
#include "covary/models/gplvm_fit.hpp"
#include "covary/models/regression.hpp"

namespace covary {

struct MapGplvmOptions {
  Index latent = 2;                    // Q
  Kernel kernel = "se";                // of every mapping
  std::vector<LatentView> views = {};  // empty: one, of all columns; several share X
  ScaleMode scale_outputs = ScaleMode::global;
  double jitter = 0.0;

  // The prior of X: independent standard normal, or none; or with times (N×d) Gaussian processes
  // over them with this kernel, independent between sequences (their first rows).
  bool prior = true;
  RowMatrix times = {};
  Kernel dynamics = "se + white";
  std::vector<Index> sequences = {};
  // X as a smooth function of the rows, which must be whole.
  std::optional<RecognitionOptions> back_constraint = {};
  // Classes of the rows from 0 on, −1 where unknown, and how strongly the prior keeps them apart
  // (Urtasun & Darrell 2007): exp(−discriminative/J), J = tr(Sw⁻¹Sb).
  std::vector<Index> labels = {};
  double discriminative = 0.0;

  // Where training starts: at these inputs (N×Q), or at principal components of unit variance, with
  // noise of 1/snr of the outputs' variance. Further starts shake the inputs; the best is kept.
  RowMatrix start = {};
  double snr = 100.0;
  std::uint64_t seed = 0;
  TrainingOptions training = {};  // one start, unless it says more

  void check() const;
};

// A trained GP-LVM whose latent inputs are points: the value is log p(Y | X), the log prior that of
// X and of the parameters. Immutable.
struct MapGplvmFit : FitNode {
  struct Mapping {
    LatentView view;
    ExactPosterior posterior;  // from the latent space, in the units the model saw
    Scaling scaling;           // of the view's columns
  };
  std::vector<Mapping> mappings;
  RowMatrix X;  // of the rows, N×Q
  // Of a back constraint, which sees the columns of the views side by side, scaled; and of
  // dynamics.
  std::shared_ptr<const Recognition> recognition = nullptr;
  Vector recognition_values = {};
  std::shared_ptr<const DynamicalInputs> dynamics = nullptr;
  Vector dynamics_theta = {};                // of its kernel
  std::vector<std::string> row_labels = {};  // of the rows, for pictures and scores; or none
  std::vector<std::string> time_names = {};

  MapGplvmFit() { model = "map_gplvm"; }
  std::string kind() const override { return "map_gplvm"; }
  Answer details() const override;
  void store(Archive& to) const override;
  NamedColumns predict(const Table& rows, TableQuestion& question) const override;
  Answer evaluate(const Table& rows, const TableQuestion& question) const override;
  NamedColumns sample(const Table& rows, const TableQuestion& question) const override;

  Index latent() const { return X.cols(); }
  Index outputs() const;
  Vector spread() const;  // the standard deviation of each dimension over the rows

  // The outputs at points of the latent space, in the units of the data.
  Prediction decode(ConstRows points) const;
  Prediction decode(ConstRows mean, ConstRows variance) const;  // at Gaussians, such as forecasts
  // Joint draws of the outputs, without noise; n×P each.
  std::vector<RowMatrix> sample(ConstRows points, Index draws, std::uint64_t seed) const;

  // Further rows of outputs, NaN where they are not observed: whole rows by the back constraint if
  // there is one; any other at the maximum of log p(y | x) − ½|x|², from the nearest training rows.
  // A row with nothing observed is at zero.
  struct Placed {
    RowMatrix X;            // n×Q
    Vector log_likelihood;  // log p(y | x, the data), n, in the units of the data
  };
  Placed place(ConstRows Y, Index iterations = 200, Index starts = 2) const;

  // Latent inputs at further times, of a model with dynamics. sequence −1 is a new one.
  LatentMarginals forecast(ConstRows times, Index sequence = 0) const;
};

// The GP-LVM of Lawrence (2005): Y = f(X) + noise with f integrated out and X a point estimate, the
// maximum of log p(Y | X) + log p(X); with a back constraint, dynamics, several views or a
// discriminative prior. N³ flops an evaluation for each view and pattern of missing rows.
//
// A latent dimension has no scale of its own: x/ℓ is all that a kernel sees. So the first
// lengthscales (or variances of a linear kernel) of the first view are held at one, and the spread
// of X says what a dimension is worth.
//
//   MapGplvm model(Y, {.latent = 2});
//   MapGplvmFit fit = model.fit();
class MapGplvm {
 public:
  // Y: N×P, NaN where missing.
  explicit MapGplvm(ConstRows Y, MapGplvmOptions options = {});
  // It moves, and is not copied.
  MapGplvm(MapGplvm&&) noexcept;
  MapGplvm& operator=(MapGplvm&&) noexcept;
  ~MapGplvm();

  // latent.X, or latent.whitened of dynamics, or latent.weights and latent.hidden of a back
  // constraint; dynamics.…; kernel.…, likelihood.variance, with several views views.NAME.kernel.…
  Parameters& parameters();
  const Parameters& parameters() const;
  const MapGplvmOptions& options() const;
  const std::vector<std::string>& warnings() const;
  Index rows() const;
  RowMatrix inputs() const;  // X at the current parameters

  double log_likelihood() const;  // log p(Y | X) at the current parameters, in the data's units
  // −(log p(Y | X) + log priors) of the free unconstrained vector, in model units.
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) const;

  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state);
  MapGplvmFit fit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covary
