#pragma once

#include <string>
#include <vector>

#include "covary/data/scaling.hpp"
#include "covary/kernels/node.hpp"
#include "covary/statistics/reducer.hpp"

namespace covary {

// Some rows of the data: inputs, outputs (NaN where missing) and, if given, what stands beside
// them.
struct DataBlock {
  RowBlock x;
  const double* y = nullptr;           // row i at y + i·P
  Index outputs = 0;                   // P
  const double* noise = nullptr;       // known variances; or what else a likelihood has beside y
  const double* x_variance = nullptr;  // of Gaussian rows, n × dims, whose means are x
  const double* weights = nullptr;     // of the rows in a sum over them; null: ones
};

// What a lane reads blocks into, when they are not in memory already.
struct ReadBuffer {
  std::vector<double> raw, x, y, noise, weights;
};

// A gradient by the inputs of rows: of the points, or of the means and variances of those that are
// distributed (else empty); rows × dims. Rows that another process has swept have zeros.
struct GaussianRowGradient {
  RowMatrix mean_bar, variance_bar;
};

// The rows of the data, read block by block, from any thread.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual Index rows() const = 0;
  virtual Index dims() const = 0;
  virtual Index outputs() const = 0;
  // Rows first … first+n−1. The block lives as long as the buffer is not used again.
  virtual DataBlock read(Index first, Index n, ReadBuffer& buffer) const = 0;
  // What adds up sums over these rows: the threads of this process, where they are all here.
  virtual Reducer& reducer() const = 0;
  // Whether blocks have noise variances of their rows, or what else stands beside y.
  virtual bool has_noise() const { return false; }
  // Whether inputs are Gaussian, so that blocks have variances.
  virtual bool has_gaussian_inputs() const { return false; }
  // Points that stand for Gaussian inputs where a sum has no closed form; null if there are none.
  virtual const RowSource* points() const { return nullptr; }
  // From the gradient by the points of the blocks to that by the inputs which these stand for.
  virtual void pull_inputs(RowMatrix x_bar, GaussianRowGradient& out) const {
    out = {std::move(x_bar), {}};
  }
};

// Rows in memory, not copied: they must outlive the source. point_noise (or another column beside
// Y) and weights: N or empty.
class MemoryRows : public RowSource {
 public:
  MemoryRows(ConstRows X, ConstRows Y, ConstVector point_noise, ConstVector weights = Vector());
  Index rows() const override { return x_.n; }
  Index dims() const override { return x_.dims; }
  Index outputs() const override { return outputs_; }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override;
  Reducer& reducer() const override { return thread_reducer(); }
  bool has_noise() const override { return noise_ != nullptr; }

 private:
  RowBlock x_;
  const double* y_;
  Index outputs_;
  const double* noise_;
  const double* weights_;
};

// Rows of a two-dimensional NPY file of doubles in C order, read as they are needed: a file larger
// than memory will do. Columns are chosen by number and scaled as they are read. An input
// that is not finite is an InputError that names its row.
class FileRows : public RowSource {
 public:
  FileRows(const std::string& path, std::vector<Index> input_columns,
           std::vector<Index> output_columns);
  // Of an open file, which it takes over and closes; the name is for messages.
  FileRows(int file, std::string name, std::vector<Index> input_columns,
           std::vector<Index> output_columns);
  ~FileRows() override;
  FileRows(const FileRows&) = delete;
  FileRows& operator=(const FileRows&) = delete;

  // From now on rows come as (value − shift)/scale.
  void set_scaling(Scaling inputs, Scaling outputs);
  const std::string& name() const { return name_; }
  Index columns() const { return cols_; }                                    // of the file
  double bytes() const { return 8.0 * static_cast<double>(rows_ * cols_); }  // likewise
  Index rows() const override { return rows_; }
  Index dims() const override { return static_cast<Index>(inputs_.size()); }
  Index outputs() const override { return static_cast<Index>(outputs_.size()); }
  DataBlock read(Index first, Index n, ReadBuffer& buffer) const override;
  Reducer& reducer() const override { return thread_reducer(); }

 private:
  std::string name_;
  std::vector<Index> inputs_, outputs_;
  Scaling input_scaling_, output_scaling_;
  int file_ = -1;
  Index begin_ = 0, rows_ = 0, cols_ = 0;
};

// Output columns grouped by their missing rows, in order of first appearance; those with nothing
// observed are left out. One pass over the rows, in memory that does not grow with them.
std::vector<std::vector<Index>> observed_columns(const RowSource& rows);
// The same of all columns; one with nothing observed is an InputError.
std::vector<std::vector<Index>> columns_by_pattern(const RowSource& rows);

}  // namespace covary
