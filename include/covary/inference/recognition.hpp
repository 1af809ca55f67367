#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "covary/kernels/kernel.hpp"

namespace covary {

struct RecognitionOptions {
  // "kernel": x = Σ_n k(y, y_n)·a_n; "network": x = W·tanh(V·y + v) + w.
  std::string form = "kernel";
  Kernel kernel = "se";
  // Times the median distance between rows: the smaller, the less rows that are alike share.
  double lengthscale = 1.0;
  Index hidden = 20;  // units of the network
  std::uint64_t seed = 0;

  void check() const;
};

// Inputs as a smooth function of the rows' outputs, a back constraint (Lawrence & Quiñonero-Candela
// 2006): rows that are alike lie near each other, and a new row has its input at once. Immutable:
// the values of its parameters are passed in, end to end in the order declared.
class Recognition {
 public:
  virtual ~Recognition() = default;
  virtual Index rows() const = 0;
  virtual Index outputs() const = 0;
  virtual Index dims() const = 0;
  virtual Index parameter_count() const = 0;
  // Adds the parameters, latent.weights and of a network latent.hidden, at starts that come near
  // these inputs.
  virtual void declare(Parameters& out, ConstRows X) const = 0;
  virtual RowMatrix inputs(const double* values) const = 0;  // of the rows it was made of, N×dims
  // Adds to values_bar.
  virtual void pullback(const double* values, const RowMatrix& X_bar, double* values_bar) const = 0;
  virtual RowMatrix at(const double* values, ConstRows Y) const = 0;  // of other rows

  virtual const RecognitionOptions& options() const = 0;
  virtual const RowMatrix& training_outputs() const = 0;
};

// Y: N×P, whole rows, in the units the model sees; InputError where a cell is missing.
std::shared_ptr<const Recognition> make_recognition(RecognitionOptions options, RowMatrix Y,
                                                    Index dims);

}  // namespace covary
