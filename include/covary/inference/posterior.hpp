#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "covary/features/features.hpp"
#include "covary/kernels/kernel.hpp"
#include "covary/kernels/mean.hpp"

namespace covary {

struct Archive;
struct Container;
class CompressionTarget;
class Posterior;
class UncertainInputs;
struct WhitenedGaussian;

// Marginal predictions at n rows for P outputs with Gaussian noise.
struct Prediction {
  RowMatrix mean;        // n×P
  RowMatrix variance_f;  // of the function; never negative
  RowMatrix variance_y;  // with the noise
};

// What a posterior says of F functions at n rows, each row by itself.
struct FunctionMarginals {
  Matrix mean, variance;  // n×F; variances are never negative
  // Where the posterior correlates the functions of a row: n×F², row by row of an F×F matrix.
  Matrix between = {};
};

struct ComponentPrediction {
  std::string name;  // the term's expression
  RowMatrix mean, variance;
};

// Gradients of the predictions of one function by the inputs, row by row.
struct PredictionGradient {
  RowMatrix mean, variance;  // n×D
};

// Closed-form leave-one-out predictions (Rasmussen & Williams, 5.10–5.12); NaN where y is missing.
struct LeaveOneOut {
  RowMatrix mean, variance;  // of y: N×P
  double log_density = 0.0;  // Σ log p(y_n | y_−n)
};

// f = g + h: what data can change, and what they cannot because u does not reach it (zero at the
// inducing inputs). The latter is also FITC's heteroscedastic diagonal, less the noise.
struct SplitPrediction {
  RowMatrix g_mean, g_variance;  // n×P
  Vector h_variance;             // n, white noise included
};

// One draw of the function that can be evaluated anywhere: n×P values at n rows.
using FunctionDraw = std::function<RowMatrix(ConstRows)>;

// A kernel at its parameters with the inducing variables of one function. It refers to the
// posterior, which must outlive it.
struct InducingView {
  const Kernel& kernel;
  const Vector& theta;
  const FeaturesPtr& features;
  const Vector& z;
  const Matrix& Luu;  // factor of Kuu + jitter
};

// What some posteriors do and others refuse.
enum class Capability {
  outputs,           // predict(): the noise is Gaussian and known
  components,        // of a kernel that is a sum
  gradients,         // of marginals, in x
  gaussian_inputs,   // at_gaussians()
  function_draws,    // sample_functions()
  further_rows,      // with()
  compression,       // compression_target()
  leave_one_out,     // leave_one_out(), one_step_log_densities()
  training_inputs,   // training_inputs()
  training_outputs,  // training_outputs()
  inducing,          // inducing()
  split,             // split()
  exact_evidence     // log_evidence() is the evidence and no bound or approximation of it
};

// q(f) of F functions, given data: what any posterior is asked, each as a method of Posterior
// explains. Immutable and thread-safe. What is not pure is refused unless overridden, and can()
// says what is.
class PosteriorNode {
 public:
  virtual ~PosteriorNode() = default;
  virtual std::string name() const = 0;
  virtual bool can(Capability) const { return false; }
  virtual Index functions() const = 0;
  virtual Index dims() const = 0;
  virtual const Kernel& kernel(Index function = 0) const = 0;
  virtual const Vector& theta(Index function = 0) const = 0;
  virtual const Mean& mean() const = 0;
  virtual double jitter() const { return 0.0; }
  virtual Index rows() const;
  virtual double noise_variance() const;
  virtual double log_evidence() const;
  virtual double observations() const;

  virtual FunctionMarginals marginals(ConstRows X) const = 0;
  virtual Prediction predict(ConstRows X) const;
  virtual RowMatrix predict_mean(ConstRows X) const;
  virtual Matrix covariance(ConstRows X, Index function = 0) const = 0;
  virtual std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const = 0;
  virtual double sample_bytes(double n) const { return 24.0 * n * n; }
  virtual std::vector<FunctionDraw> sample_functions(Index draws, std::uint64_t seed,
                                                     Index features) const;
  virtual std::vector<ComponentPrediction> components(ConstRows X) const;
  virtual PredictionGradient gradient(ConstRows X, Index function = 0) const;
  virtual SplitPrediction split(ConstRows X) const;
  virtual UncertainInputs at_gaussians() const;
  virtual Posterior further(ConstRows X, ConstRows Y, ConstVector point_noise) const;
  virtual Posterior further(ConstRows mean, const std::vector<Matrix>& S, ConstRows Y) const;
  virtual CompressionTarget compression_target() const;
  virtual LeaveOneOut leave_one_out() const;
  virtual Vector one_step_log_densities(Index function = 0) const;
  virtual const RowMatrix& training_inputs() const;
  virtual const RowMatrix& training_outputs() const;
  virtual const Vector& point_noise() const;
  virtual std::shared_ptr<const PosteriorNode> stripped() const { return nullptr; }
  virtual InducingView inducing_variables(Index function = 0) const;
  virtual WhitenedGaussian q_of_v() const;
  virtual double stored_numbers() const = 0;
  virtual void store(Archive& to) const = 0;

 protected:
  [[noreturn]] void refuse(const std::string& what) const;
};

// A posterior of any kind, as a value.
class Posterior {
 public:
  template <std::derived_from<PosteriorNode> T>
  Posterior(T node) : node_(std::make_shared<const T>(std::move(node))) {}  // NOLINT: it is one

  std::string name() const { return node_->name(); }  // "exact", "vfe", "pep(0.5)", "sites", …
  bool can(Capability c) const { return node_->can(c); }
  Index functions() const { return node_->functions(); }
  Index dims() const { return node_->dims(); }  // of the inputs that the model sees
  const Kernel& kernel(Index function = 0) const { return node_->kernel(function); }
  const Vector& theta(Index function = 0) const { return node_->theta(function); }
  const Mean& mean() const { return node_->mean(); }
  double jitter() const { return node_->jitter(); }
  Index rows() const { return node_->rows(); }  // the most that any output was observed in
  double noise_variance() const { return node_->noise_variance(); }
  double log_evidence() const { return node_->log_evidence(); }  // or its bound
  double observations() const { return node_->observations(); }  // outputs that were observed

  // Of each row by itself; with Gaussian noise; the mean alone, which may be much quicker. In
  // blocks: memory does not grow with the rows beyond the result.
  FunctionMarginals marginals(ConstRows X) const { return node_->marginals(X); }
  Prediction predict(ConstRows X) const { return node_->predict(X); }
  RowMatrix predict_mean(ConstRows X) const { return node_->predict_mean(X); }
  // Of one function at n rows, white noise included: n×n.
  Matrix covariance(ConstRows X, Index function = 0) const {
    return node_->covariance(X, function);
  }
  // Joint draws over the rows X: one n×F matrix for each.
  std::vector<RowMatrix> sample(ConstRows X, Index draws, std::uint64_t seed) const {
    return node_->sample(X, draws, seed);
  }
  double sample_bytes(double n) const { return node_->sample_bytes(n); }  // memory of that
  // Draws that can be evaluated anywhere, of so many random features. White noise of the kernel
  // counts as noise here.
  std::vector<FunctionDraw> sample_functions(Index draws, std::uint64_t seed,
                                             Index features = 2000) const {
    return node_->sample_functions(draws, seed, features);
  }
  std::vector<ComponentPrediction> components(ConstRows X) const { return node_->components(X); }
  PredictionGradient gradient(ConstRows X, Index function = 0) const {
    return node_->gradient(X, function);
  }
  SplitPrediction split(ConstRows X) const { return node_->split(X); }
  // Marginals and joints where inputs are Gaussian: covary/inference/uncertain_inputs.hpp.
  UncertainInputs at_gaussians() const;
  // Conditioned on further rows with Gaussian noise, the parameters as they are; of a posterior
  // that knows no noise, point_noise is all there is. Or on rows with inputs N(mean, S).
  Posterior with(ConstRows X, ConstRows Y, ConstVector point_noise = Vector()) const {
    return node_->further(X, Y, point_noise);
  }
  Posterior with(ConstRows mean, const std::vector<Matrix>& S, ConstRows Y) const {
    return node_->further(mean, S, Y);
  }
  // What a smaller posterior is judged by: covary/inference/compression.hpp.
  CompressionTarget compression_target() const;
  LeaveOneOut leave_one_out() const { return node_->leave_one_out(); }
  Vector one_step_log_densities(Index function = 0) const {
    return node_->one_step_log_densities(function);
  }
  // The rows that it was made of, as the model saw them, and their own noise variances, or none.
  const RowMatrix& training_inputs() const { return node_->training_inputs(); }
  const RowMatrix& training_outputs() const { return node_->training_outputs(); }
  const Vector& point_noise() const { return node_->point_noise(); }
  // The same without the outputs it was trained on. Predictions keep their bits.
  Posterior without_outputs() const {
    auto node = node_->stripped();
    return node ? Posterior(std::move(node)) : *this;
  }
  InducingView inducing(Index function = 0) const { return node_->inducing_variables(function); }
  WhitenedGaussian q_of_v() const;  // q of the whitened inducing variables
  // Numbers that it has to store: M·F weights, M² and the features' own parameters; M + M² + M·C(D
  // + 1) for one output and C points each (van der Wilk 2019, section 4.5.3). One through rows has
  // as many variables as rows.
  double stored_numbers() const { return node_->stored_numbers(); }
  // As JSON and named arrays; restored it gives the same bits.
  Container stored() const;
  void store(Archive& to) const { node_->store(to); }

  // For those who made it: the posterior as this class, or Unsupported.
  template <std::derived_from<PosteriorNode> T>
  const T& as() const {
    if (const T* p = dynamic_cast<const T*>(node_.get())) return *p;
    wrong_kind();
  }

 private:
  explicit Posterior(std::shared_ptr<const PosteriorNode> node) : node_(std::move(node)) {}
  [[noreturn]] void wrong_kind() const;

  std::shared_ptr<const PosteriorNode> node_;
};

// FileError for anything that is no posterior.
Posterior restore_posterior(const Container& from);

}  // namespace covary
