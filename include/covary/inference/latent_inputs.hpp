#pragma once

#include <memory>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

// What a bound sees of q(X), the distribution of the inputs of N rows: their marginals. And what q
// pays for leaving the prior.
struct LatentMarginals {
  RowMatrix mean, variance;  // N×Q
  double kl = 0.0;           // KL(q‖p)
  Vector kl_of_dims;         // its shares, Q
};

// A family of q(X) with its prior p(X). Immutable: the values of its parameters are passed in, end
// to end in the order declared.
class LatentInputs {
 public:
  virtual ~LatentInputs() = default;
  virtual Index rows() const = 0;
  virtual Index dims() const = 0;
  // Adds the parameters, at starts with these means, where they are free, and typical variance.
  virtual void declare(Parameters& out, ConstRows means, double variance) const = 0;
  virtual Index parameter_count() const = 0;
  // Of the parameters those of the means come first, then those of the spread, which are positive,
  // then those of the prior.
  virtual Index means() const = 0;
  virtual Index spreads() const = 0;
  virtual LatentMarginals marginals(const double* values) const = 0;
  // From ∂F/∂mean and ∂F/∂variance to the gradient of F − KL by the values: adds to values_bar.
  virtual void pullback(const double* values, const RowMatrix& mean_bar,
                        const RowMatrix& variance_bar, double* values_bar) const = 0;
  // A natural-gradient step of unit length: where the gradient by means and spreads would vanish if
  // ∂F/∂variance stayed as it is and ∂F/∂mean changed as that says; means that this does not tell
  // are as they were. means() + spreads() values.
  virtual Vector fixed_point(const double* values, const RowMatrix& mean_bar,
                             const RowMatrix& variance_bar) const = 0;
  // From gradients by means and spreads (columns of r) to natural ones: by the inverse of q's
  // Fisher information, of the spreads its diagonal. Parameters of which it is not known stay as
  // they are.
  virtual Matrix natural(const double* values, const Matrix& r) const = 0;

 protected:
  static constexpr double least_precision = 1e-6;  // of a fixed point
};

// Rows independent of each other, q = Π N(mean, variance), with the prior Π N(prior_mean,
// prior_variance) (an empty prior_mean is zero). Entries of `given` that are not NaN are known: no
// parameters, no variance and no share in the divergence. Parameters: latent.mean, latent.variance,
// and inputs.variance (Q) if it is trained: that of a column of the prior, of which prior_shares
// are shares.
struct FactorisedOptions {
  Index rows = 0, dims = 0;
  RowMatrix given = {};         // N×Q with NaN where free, or empty: all free
  RowMatrix prior_mean = {};    // N×Q, or empty
  Vector prior_variance = {};   // Q, or empty: ones
  RowMatrix prior_shares = {};  // N×Q, what prior_variance is multiplied by; or empty: ones
  bool train_prior_variance = false;
};
std::unique_ptr<LatentInputs> factorised_inputs(FactorisedOptions options);

// Columns that are functions of what is known of the rows, x_q(t) ~ GP(0, k), such as time
// (Damianou, Titsias & Lawrence 2011): q_q = N(Lv, (K⁻¹ + diag λ)⁻¹), K = LLᵀ, of which any v and
// λ > 0 is a bound. (Their μ̄ is L⁻ᵀv; v has the prior N(0, I), which optimisers like better.)
// Sequences, which begin at the rows given, are independent. Parameters: latent.whitened (v) and
// latent.precisions (λ), N×Q, and those of the kernel under "dynamics", of which the first variance
// is fixed at one and that of white noise at 0.001.
struct DynamicalOptions {
  Kernel kernel = "se + white";
  RowMatrix times = {};               // N×d
  std::vector<Index> sequences = {};  // first rows, the first 0; empty: one sequence
  Index dims = 0;
  // Values of the kernel's parameters to start from; empty: lengthscales at which the means to
  // start from are likeliest.
  Vector start = {};
};
class DynamicalInputs final : public LatentInputs {
 public:
  explicit DynamicalInputs(DynamicalOptions options);
  Index rows() const override { return options_.times.rows(); }
  Index dims() const override { return options_.dims; }
  Index means() const override { return rows() * dims(); }
  Index spreads() const override { return rows() * dims(); }
  void declare(Parameters& out, ConstRows means, double variance) const override;
  Index parameter_count() const override;
  LatentMarginals marginals(const double* values) const override;
  void pullback(const double* values, const RowMatrix& mean_bar, const RowMatrix& variance_bar,
                double* values_bar) const override;
  // λ = −2·∂F/∂variance, v = L⁻¹(K⁻¹ + diag λ)⁻¹(λ∘m + ∂F/∂mean)
  Vector fixed_point(const double* values, const RowMatrix& mean_bar,
                     const RowMatrix& variance_bar) const override;
  Matrix natural(const double* values, const Matrix& r) const override;

  // At other times, in closed form: those that go on with sequence s, or with −1 a new one.
  LatentMarginals forecast(const double* values, ConstRows times, Index sequence) const;
  const DynamicalOptions& options() const { return options_; }

 private:
  struct Block {
    Index first, n;
  };
  struct Gram {
    Matrix K, L;
  };
  Parameters prior_parameters(double speed) const;
  double likelihood_of(ConstRows means, const Vector& theta, double noise) const;
  Matrix gram_of(const double* theta, const Block& b) const;
  Gram factored(const double* theta, const Block& b) const;

  DynamicalOptions options_;
  std::vector<Block> blocks_;
};

}  // namespace covary
