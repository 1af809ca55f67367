#pragma once

#include <memory>
#include <string>
#include <vector>

#include "covary/kernels/gaussian_form.hpp"
#include "covary/linalg/types.hpp"
#include "covary/parameters/parameters.hpp"
#include "covary/random/random.hpp"

namespace covary {

// Some rows of a row-major table. `first` is the table's row number of the first one.
struct RowBlock {
  const double* data;
  Index n, dims, stride;
  Index first = 0;

  const double* row(Index i) const { return data + i * stride; }
};

// A rectangle of pairs (x_i, z_j). `same`: both are rows of one table, so that equal row numbers
// are one observation; white noise acts there and nowhere else.
struct PairBlock {
  RowBlock x, z;
  bool same = false;
};

// What the data look like, for starts that need no tuning. Unit scales stand for scaled data.
struct DataScale {
  Vector x_sd;     // standard deviation of each input column
  Vector x_range;  // max − min of each input column
  double y_variance = 1.0;

  static DataScale unit(Index dims);
  Index dims() const { return x_sd.size(); }
};

// A function φ drawn so that E[φ(x)φ(x')] = k(x, x'): the mean of many times normal weights is a
// draw from the prior. multiply() does out[i] *= φ(x_i).
class RandomFeature {
 public:
  virtual ~RandomFeature() = default;
  virtual void multiply(const RowBlock& x, double* out) const = 0;
};

// The formula behind a Kernel: immutable, shared, without parameter values. `theta` points at the
// constrained values of this node's parameters in the order declared, then its children's.
class KernelNode {
 public:
  virtual ~KernelNode() = default;

  // The expression that parse_kernel() reads back.
  virtual std::string print() const = 0;
  // Adds this node's parameters under `path`, with starts that suit the data.
  virtual void declare(Parameters& out, const std::string& path, const DataScale& scale) const = 0;
  virtual Index parameter_count(Index dims) const = 0;
  // Throws InputError when the node cannot work on inputs of so many columns.
  virtual void check(Index /*dims*/) const {}

  // K(i, j) at K[i + j·x.n], overwritten.
  virtual void evaluate(const double* theta, const PairBlock& p, double* K) const = 0;
  // Given Kbar = ∂/∂K: adds ∂/∂θ to theta_bar and, where not null, ∂/∂x to xbar (x.n × dims,
  // row-major, dense) and ∂/∂z to zbar.
  virtual void pullback(const double* theta, const PairBlock& p, const double* Kbar,
                        double* theta_bar, double* xbar, double* zbar) const = 0;
  // The same for a caller who still has K, from which some kernels have their slope at once.
  virtual void pullback_of_values(const double* theta, const PairBlock& p, const double* /*K*/,
                                  const double* Kbar, double* theta_bar, double* xbar,
                                  double* zbar) const {
    pullback(theta, p, Kbar, theta_bar, xbar, zbar);
  }
  // k(x_i, x_i), white noise included.
  virtual void diagonal(const double* theta, const RowBlock& x, double* k) const = 0;
  virtual void diagonal_pullback(const double* theta, const RowBlock& x, const double* kbar,
                                 double* theta_bar, double* xbar) const = 0;

  // Null when the kernel has no such feature (then draws are joint only).
  virtual std::unique_ptr<RandomFeature> random_feature(const double* theta, Index dims,
                                                        Random& random) const;
  // The form that has expectations under Gaussian inputs, if the kernel has one.
  virtual std::optional<GaussianForm> gaussian_form(Index /*dims*/) const { return {}; }
  // True if the node is noise by row identity, with no smooth part.
  virtual bool is_white() const { return false; }
  // Terms of a sum and factors of a product; empty for anything else.
  virtual std::vector<std::shared_ptr<const KernelNode>> terms() const { return {}; }
  virtual std::vector<std::shared_ptr<const KernelNode>> factors() const { return {}; }
  // Of a kernel that is one of chosen columns, or the sum of one kernel over columns: that kernel
  // and the columns of each, all with the same parameters. Empty for anything else.
  struct OverColumns {
    std::shared_ptr<const KernelNode> inner;
    std::vector<std::vector<Index>> columns;
  };
  virtual OverColumns over_columns(Index /*dims*/) const { return {}; }
  // ν of a Matérn kernel with parameters variance, lengthscales; 0 for anything else.
  virtual double matern_order() const { return 0.0; }
  // How tightly the printed form binds: 0 a sum, 1 a product, 2 a call.
  virtual int precedence() const { return 2; }
};

using KernelPtr = std::shared_ptr<const KernelNode>;

}  // namespace covary
