#include "covary/autodiff/reductions.hpp"

#include <cmath>

#include "autodiff/operation.hpp"

namespace covary {
namespace {

void pull_sum(Reverse& r) {
  const Matrix& A = r.input(0);
  r.add(0, Matrix::Constant(A.rows(), A.cols(), r.op.number * r.bar()(0, 0)));
}

void pull_row_sums(Reverse& r) { r.add(0, r.bar().replicate(1, r.input(0).cols())); }
void pull_column_sums(Reverse& r) { r.add(0, r.bar().replicate(r.input(0).rows(), 1)); }

// ∂/∂Aᵢⱼ = exp(Aᵢⱼ − log Σⱼ exp Aᵢⱼ): the softmax of the row. A row of −∞ has no direction to go.
void pull_row_logsumexp(Reverse& r) {
  if (!r.wants(0)) return;
  const Matrix &A = r.input(0), &value = r.value(), &bar = r.bar();
  Matrix& to = r.adjoint(0);
  for (Index j = 0; j < A.cols(); ++j)
    for (Index i = 0; i < A.rows(); ++i)
      if (std::isfinite(value(i, 0))) to(i, j) += bar(i, 0) * std::exp(A(i, j) - value(i, 0));
}

void pull_trace(Reverse& r) {
  if (r.wants(0)) r.adjoint(0).diagonal().array() += r.bar()(0, 0);
}

}  // namespace

Var sum(Var A) {
  Operation& op = TapeState::begin("sum", {A});
  op.number = 1.0;
  op.value.setConstant(1, 1, A.value().sum());
  return TapeState::commit(A, pull_sum);
}

Var mean(Var A) {
  Operation& op = TapeState::begin("mean", {A});
  op.number = 1.0 / static_cast<double>(A.value().size());
  op.value.setConstant(1, 1, op.number * A.value().sum());
  return TapeState::commit(A, pull_sum);
}

Var row_sums(Var A) {
  Operation& op = TapeState::begin("row_sums", {A});
  op.value = A.value().rowwise().sum();
  return TapeState::commit(A, pull_row_sums);
}

Var column_sums(Var A) {
  Operation& op = TapeState::begin("column_sums", {A});
  op.value = A.value().colwise().sum();
  return TapeState::commit(A, pull_column_sums);
}

Var row_logsumexp(Var a) {
  Operation& op = TapeState::begin("row_logsumexp", {a});
  const Matrix& A = a.value();
  if (A.cols() == 0) TapeState::throw_shapes(op.name, A, A, "there must be at least one column");
  op.value.resize(A.rows(), 1);
  for (Index i = 0; i < A.rows(); ++i) {
    const double highest = A.row(i).maxCoeff();
    double total = 0.0;
    for (Index j = 0; j < A.cols(); ++j) total += std::exp(A(i, j) - highest);
    op.value(i, 0) = std::isfinite(highest) ? highest + std::log(total) : highest;
  }
  return TapeState::commit(a, pull_row_logsumexp);
}

Var trace(Var A) {
  Operation& op = TapeState::begin("trace", {A});
  TapeState::require_square(op.name, A.value());
  op.value.setConstant(1, 1, A.value().trace());
  return TapeState::commit(A, pull_trace);
}

}  // namespace covary
