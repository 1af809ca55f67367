#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covary/kernels/kernel.hpp"

namespace covary {

class GaussianExpectations;
class InputMoments;
class OnePassFeatures;
class Spectrum;

// Inducing variables first … first + size − 1, independent of all others.
struct KuuBlock {
  Index first = 0, size = 0;
  bool white = false;  // and of each other, with unit variances: the block is I
};

// The inducing variables u of a GP with a kernel: all that statistics, bounds and posteriors see of
// them is Kuu = cov(u, u) and Kuf = cov(u, f(x)), with pullbacks. Immutable; the kernel's parameter
// values `theta` and the feature's own ones `z` are passed in. White noise in the kernel belongs to
// the rows of data and is in neither: u observes the smooth part.
class Features {
 public:
  virtual ~Features() = default;

  virtual std::string name() const = 0;
  virtual Index size() const = 0;             // M
  virtual Index dims() const = 0;             // D, of the inputs x
  virtual Index parameter_count() const = 0;  // entries of z
  // Adds the feature's own parameters under "features", at their starts.
  virtual void declare(Parameters& out) const = 0;

  // M×M, symmetric, both triangles.
  virtual Matrix Kuu(const double* theta, const double* z) const = 0;
  // For a symmetric Kuu_bar: adds ∂/∂θ and ∂/∂z.
  virtual void Kuu_pullback(const double* theta, const double* z, ConstMatrix Kuu_bar,
                            double* theta_bar, double* z_bar) const = 0;
  // M×x.n, column-major, overwritten. Serial: sweeps call it from their lanes.
  virtual void Kuf(const double* theta, const double* z, const RowBlock& x, double* K) const = 0;
  // Adds ∂/∂θ, ∂/∂z and, where not null, ∂/∂x (x.n × dims, row-major). Kuf is for callers who still
  // have it, or null.
  virtual void Kuf_pullback(const double* theta, const double* z, const RowBlock& x,
                            const double* Kuf, const double* Kuf_bar, double* theta_bar,
                            double* z_bar, double* x_bar) const = 0;
  // Inputs at which the features are; of those that cover a range at once, five over two standard
  // deviations to either side.
  virtual RowMatrix where(const double* z) const = 0;
  // What is likely wrong at these values for rows X, in words, and what to do: an interval that
  // does not cover the rows, frequencies beyond what rows so far apart can show, ….
  virtual std::vector<std::string> warnings(const double* /*theta*/, const double* /*z*/,
                                            ConstRows /*X*/) const {
    return {};
  }
  // Kuu is I whatever the parameters: nothing is to be factored, solved or differentiated.
  virtual bool is_white() const { return false; }
  // The blocks along the diagonal of Kuu, beside which it is zero, in their order.
  virtual std::vector<KuuBlock> blocks() const { return {{0, size(), is_white()}}; }
  // What some pairs of feature and kernel offer besides; empty where they do not.
  // One pass over the rows can do for all values of the kernel's parameters.
  virtual const OnePassFeatures* one_pass() const { return nullptr; }
  // The inputs Z of variables that are values of the function, u = f(Z).
  virtual std::optional<RowMatrix> inputs(const double* /*z*/) const { return {}; }
  // Expectations of Kuf under Gaussian inputs; theta and z must stay where they are.
  virtual std::unique_ptr<GaussianExpectations> expectations(const double* theta,
                                                             const double* z) const;
  // How Kuf is spread under one Gaussian input of any covariance (kernels/input_moments.hpp).
  virtual std::unique_ptr<InputMoments> input_moments(const double* theta, const double* z) const;
  // The eigenvalues of the kernel of which the features are the largest.
  virtual std::optional<Spectrum> spectrum(const double* theta, const double* z) const;
  // The same u seen by one term of a kernel that is a sum: its Kuf is cov(u, f_term(x)).
  virtual std::shared_ptr<const Features> for_term(const Kernel& term) const = 0;
};

using FeaturesPtr = std::shared_ptr<const Features>;

// The same, or Unsupported, which says what needs it and which features have it.
RowMatrix inducing_inputs(const Features& features, const double* z, const std::string& need);
std::unique_ptr<GaussianExpectations> gaussian_expectations(const Features& features,
                                                            const double* theta, const double* z);
std::unique_ptr<InputMoments> input_moments(const Features& features, const double* theta,
                                            const double* z);

// mean + k·sd for k = −2 … 2.
RowMatrix over_two_deviations(ConstVector mean, ConstVector sd);

// u_m = f(z_m): the rows of Z, "features.Z", are the feature's parameters.
FeaturesPtr inducing_points(const Kernel& kernel, ConstRows Z);

}  // namespace covary
