#pragma once

#include <functional>
#include <string>
#include <vector>

#include "covary/kernels/node.hpp"

namespace covary {

// A covariance function: an immutable value, cheap to copy. It holds structure and starts;
// parameter values are passed in as `theta`, all of its parameters end to end in the order of
// parameters().
class Kernel {
 public:
  Kernel(KernelPtr node) : node_(std::move(node)) {}  // NOLINT: a node is a kernel
  // Reads an expression such as "se(ard) + white"; the grammar is in docs/kernels.md.
  Kernel(const std::string& expression);                               // NOLINT
  Kernel(const char* expression) : Kernel(std::string(expression)) {}  // NOLINT

  std::string print() const { return node_->print(); }
  Index parameter_count(Index dims) const { return node_->parameter_count(dims); }
  // The parameters for inputs of `dims` columns, under "kernel".
  Parameters parameters(Index dims) const;
  Parameters parameters(const DataScale& scale, const std::string& path = "kernel") const;
  const KernelNode& node() const { return *node_; }
  const KernelPtr& pointer() const { return node_; }

  // Each term of a sum with the place of its parameters; one term for anything that is not a sum.
  struct Term {
    KernelPtr node;
    Index offset;      // into theta
    std::string path;  // "kernel.0", …
  };
  std::vector<Term> terms(Index dims) const;

 private:
  KernelPtr node_;
};

// Blocks by threads; the same bits for any number of them. X, Z: N×D rows.
Matrix gram(const Kernel& k, ConstVector theta, ConstRows X);                // N×N
Matrix cross(const Kernel& k, ConstVector theta, ConstRows X, ConstRows Z);  // N×M, no white noise
Vector diagonal(const Kernel& k, ConstVector theta, ConstRows X);            // N

// Lower triangle (whole diagonal tiles) of the Gram matrix into K, for large N.
void gram_lower(const KernelNode& k, const double* theta, ConstRows X, MatrixOut K);

// ∂/∂θ (added to theta_bar) and, if not null, ∂/∂X (added) for a symmetric Kbar that `weights`
// writes tile by tile: rows i … i+ni, columns j … j+nj, column-major with leading dimension ni.
using TileWeights = std::function<void(Index i, Index ni, Index j, Index nj, double* Kbar)>;
void gram_pullback(const KernelNode& k, const double* theta, ConstRows X,
                   const TileWeights& weights, VectorOut theta_bar, RowMatrix* X_bar = nullptr);
// The same for a cross block with a dense N×M Kbar.
void cross_pullback(const KernelNode& k, const double* theta, ConstRows X, ConstRows Z,
                    ConstMatrix Kbar, VectorOut theta_bar, RowMatrix* X_bar, RowMatrix* Z_bar);
void diagonal_pullback(const KernelNode& k, const double* theta, ConstRows X, ConstVector kbar,
                       VectorOut theta_bar, RowMatrix* X_bar = nullptr);

}  // namespace covary
