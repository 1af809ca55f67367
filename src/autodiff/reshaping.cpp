#include "covary/autodiff/reshaping.hpp"

#include <fmt/format.h>

#include "autodiff/operation.hpp"
#include "covary/error.hpp"

namespace covary {
namespace {

void pull_transpose(Reverse& r) { r.add(0, r.bar().transpose()); }

void pull_reshape(Reverse& r) {
  const Matrix& A = r.input(0);
  r.add(0, Eigen::Map<const Matrix>(r.bar().data(), A.rows(), A.cols()));
}

void pull_block(Reverse& r) {
  if (r.wants(0)) r.adjoint(0).block(r.op.i, r.op.j, r.bar().rows(), r.bar().cols()) += r.bar();
}

void pull_hstack(Reverse& r) {
  Index at = 0;
  for (int k = 0; k < r.inputs(); ++k) {
    r.add(k, r.bar().middleCols(at, r.input(k).cols()));
    at += r.input(k).cols();
  }
}

void pull_vstack(Reverse& r) {
  Index at = 0;
  for (int k = 0; k < r.inputs(); ++k) {
    r.add(k, r.bar().middleRows(at, r.input(k).rows()));
    at += r.input(k).rows();
  }
}

void pull_diagonal(Reverse& r) {
  if (r.wants(0)) r.adjoint(0).diagonal() += r.bar();
}

void pull_diagonal_matrix(Reverse& r) { r.add(0, r.bar().diagonal()); }

void pull_add_to_diagonal(Reverse& r) {
  r.add(0, r.bar());
  if (r.input(1).size() == 1)
    r.add(1, Matrix::Constant(1, 1, r.bar().trace()));
  else
    r.add(1, r.bar().diagonal());
}

}  // namespace

Var transpose(Var A) {
  Operation& op = TapeState::begin("transpose", {A});
  op.value = A.value().transpose();
  return TapeState::commit(A, pull_transpose);
}

Var reshape(Var A, Index rows, Index cols) {
  Operation& op = TapeState::begin("reshape", {A});
  if (rows < 0 || cols < 0 || rows * cols != A.value().size())
    throw InputError(
        fmt::format("reshape: {} cannot become {}×{}; the number of elements must stay",
                    TapeState::shape(A.value()), rows, cols));
  op.value = Eigen::Map<const Matrix>(A.value().data(), rows, cols);
  return TapeState::commit(A, pull_reshape);
}

Var block(Var A, Index row, Index col, Index rows, Index cols) {
  Operation& op = TapeState::begin("block", {A});
  if (row < 0 || col < 0 || rows < 0 || cols < 0 || row + rows > A.rows() || col + cols > A.cols())
    throw InputError(fmt::format("block: {}×{} at row {}, column {} does not lie within {}", rows,
                                 cols, row, col, TapeState::shape(A.value())));
  op.i = row;
  op.j = col;
  op.value = A.value().block(row, col, rows, cols);
  return TapeState::commit(A, pull_block);
}

Var hstack(std::span<const Var> parts) {
  Operation& op = TapeState::begin("hstack", parts);
  Index cols = 0;
  for (Var part : parts) {
    if (part.rows() != parts[0].rows())
      TapeState::throw_shapes(op.name, parts[0].value(), part.value(), "the parts need equal rows");
    cols += part.cols();
  }
  op.value.resize(parts[0].rows(), cols);
  Index at = 0;
  for (Var part : parts) {
    op.value.middleCols(at, part.cols()) = part.value();
    at += part.cols();
  }
  return TapeState::commit(parts[0], pull_hstack);
}

Var vstack(std::span<const Var> parts) {
  Operation& op = TapeState::begin("vstack", parts);
  Index rows = 0;
  for (Var part : parts) {
    if (part.cols() != parts[0].cols())
      TapeState::throw_shapes(op.name, parts[0].value(), part.value(),
                              "the parts need equal columns");
    rows += part.rows();
  }
  op.value.resize(rows, parts[0].cols());
  Index at = 0;
  for (Var part : parts) {
    op.value.middleRows(at, part.rows()) = part.value();
    at += part.rows();
  }
  return TapeState::commit(parts[0], pull_vstack);
}

Var hstack(std::initializer_list<Var> parts) {
  return hstack(std::span<const Var>(parts.begin(), parts.size()));
}
Var vstack(std::initializer_list<Var> parts) {
  return vstack(std::span<const Var>(parts.begin(), parts.size()));
}

Var diagonal(Var A) {
  Operation& op = TapeState::begin("diagonal", {A});
  TapeState::require_square(op.name, A.value());
  op.value = A.value().diagonal();
  return TapeState::commit(A, pull_diagonal);
}

Var diagonal_matrix(Var d) {
  Operation& op = TapeState::begin("diagonal_matrix", {d});
  if (d.cols() != 1)
    throw InputError(
        fmt::format("diagonal_matrix wants a column N×1, not {}", TapeState::shape(d.value())));
  op.value.setZero(d.rows(), d.rows());
  op.value.diagonal() = d.value();
  return TapeState::commit(d, pull_diagonal_matrix);
}

Var add_to_diagonal(Var A, Var d) {
  Operation& op = TapeState::begin("add_to_diagonal", {A, d});
  TapeState::require_square(op.name, A.value());
  const bool scalar = d.value().size() == 1;
  if (!scalar && (d.rows() != A.rows() || d.cols() != 1))
    TapeState::throw_shapes(op.name, A.value(), d.value(),
                            "d must be 1×1 or a column as long as A");
  op.value = A.value();
  if (scalar)
    op.value.diagonal().array() += d.value()(0, 0);
  else
    op.value.diagonal() += d.value();
  return TapeState::commit(A, pull_add_to_diagonal);
}

}  // namespace covary
