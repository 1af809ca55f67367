#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/features/choice.hpp"
#include "covary/features/planner.hpp"
#include "covary/features/selection.hpp"
#include "covary/inference/certificate.hpp"
#include "covary/models/regression.hpp"

namespace covary {

// What moves inducing variables in training: the bound, together with all other parameters; or the
// mean KL of the posterior over outputs of the model itself (covary/inference/expected_kl.hpp),
// which does not look at the outputs, in turns with the other parameters, which the bound trains.
enum class Placement { bound, expected_kl };
// From its name as written above; print() writes it back.
Placement parse_placement(const std::string& name);
std::string print(Placement placement);

struct SparseRegressionOptions {
  Kernel kernel = "se(ard)";
  Mean mean = {};  // zero
  Approximation approximation = {};
  // Inducing variables: of what kind, how many (0: as many as it takes, see docs/automatic-m.md),
  // and how the inputs that they start from are chosen; or these themselves, in the units of the
  // data.
  FeatureChoice features = {};
  Index inducing = 0;
  Selection selection = Selection::greedy_variance;
  RowMatrix Z = {};
  // By expected_kl: of VFE, with a given number of inducing variables; over so many of the rows,
  // chosen by the seed, each of which stands for as many.
  Placement placement = Placement::bound;
  Index placement_rows = 1000;
  ScaleMode scale_inputs = ScaleMode::columns;
  ScaleMode scale_outputs = ScaleMode::columns;
  double jitter = 0.0;  // absolute, in the units the model sees
  Route route = Route::automatic;
  // Where training starts: an exact fit of so many rows, the best of training.starts (three); 0
  // takes the parameters as they are, and with more training.starts than one also others around
  // them.
  Index subset = 2048;
  Index groups = 0;  // of PITC; 0: about N/M
  // Trained first by this approximation, from whose optimum the own one goes on.
  std::optional<Approximation> warm_start = {};
  // Of rows in a file: how many are kept in memory, to choose Z and to start from; 0: the larger of
  // 20 000 and 40 for each inducing input.
  Index sample = 0;
  std::uint64_t seed = 0;
  TrainingOptions training = {};

  // Of automatic M: the bracket that will do, in nats a row, and the limits.
  double bracket = 0.01;
  Index most_inducing = 2000;
  // Of eigenfunctions, whose number is planned: the mean KL that will do, in nats.
  double planned_kl = 0.01;
  // What the certificate may cost, here and at the end of a fit.
  double certificate_flops = 5e11;
  Index certificate_iterations = 20;

  void check() const;
};

// Sparse regression: RegressionFit with a SparsePosterior. N rows cost O(N·M²) an evaluation, in
// memory that does not grow with N beyond the data; with Fourier features of a fixed interval one
// pass over the rows does, and an evaluation is O(M³).
//
//   SparseRegression model(X, Y, {.approximation = "vfe", .inducing = 200});
//   RegressionFit fit = model.fit();
//
// Rows in a file may be more than memory holds: they are read anew for every evaluation, and of
// them only a sample is kept (SparseRegressionOptions::sample).
class SparseRegression {
 public:
  SparseRegression(ConstRows X, ConstRows Y, SparseRegressionOptions options = {},
                   ConstVector point_noise = Vector());
  // The model sets the scaling of the rows, which serve this model alone. PITC, which has to put
  // them in order, is Unsupported.
  explicit SparseRegression(std::shared_ptr<FileRows> rows, SparseRegressionOptions options = {});
  // It moves, and is not copied.
  SparseRegression(SparseRegression&&) noexcept;
  SparseRegression& operator=(SparseRegression&&) noexcept;
  ~SparseRegression();

  // kernel.…, likelihood.variance, mean.weights, features.Z (and others of other features); in the
  // units the model sees.
  Parameters& parameters();
  const Parameters& parameters() const;
  // Those of another model of these data, whose features may be more or fewer.
  void set_parameters(Parameters parameters, FeaturesPtr features);
  // The same with what was set of them by hand, which training does not choose anew.
  void start_from(const SparseRegression& other);
  const FeaturesPtr& features() const;
  const Scaling& input_scaling() const;
  const Scaling& output_scaling() const;
  const SparseRegressionOptions& options() const;
  Index rows() const;
  // Σ log scale over the observed outputs: what is taken from a log density in model units.
  double log_jacobian() const;
  const std::vector<std::string>& warnings() const;

  // At the current parameters, in the units of the data.
  SparseEvaluation evaluate() const;
  // The bracket of the exact model's evidence, within the budget of the options.
  Certificate certificate() const;
  // The mean KL over outputs of the model at the current parameters, in nats for one output, over
  // placement_rows of the rows. InputError unless the approximation is VFE.
  double mean_kl() const;
  // At the current parameters, of eigenfunctions; InputError of any other features.
  struct Planned {
    PlanRequest request;
    FeaturePlan here, needed;  // what so many features promise, and how many would do
    double trace = 0.0;        // tr(Kff − Qff) of one output as it is, white noise left out
    double tail = 0.0;         // Σ of the eigenvalues that are left out
  };
  Planned plan() const;
  // −(objective + log prior) of the free unconstrained vector, in model units.
  std::optional<double> objective(const Vector& u, Vector* gradient, Jitter& jitter) const;

  // The next fit() goes on from a state of the training of a model of the same data, parameters and
  // options, and ends with the same bits as that one.
  void resume(TrainingState state);
  RegressionFit fit();
  // As a part of the training of a larger model.
  RegressionFit fit(Trainer& trainer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covary
