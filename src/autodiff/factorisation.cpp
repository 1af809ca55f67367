#include "covary/autodiff/factorisation.hpp"

#include <cmath>

#include "autodiff/operation.hpp"

namespace covary {
namespace {

// The factor of A into L, with zeros above the diagonal; kept for the pullback: the rung of
// the ladder where that, and not what was asked, made the jitter, which is then rung·tr(A)/n.
void factorise(Operation& op, const Matrix& A, Matrix& L, Jitter& jitter, const std::string& name) {
  TapeState::require_square(op.name, A);
  L.resize(A.rows(), A.cols());
  cholesky_in_place(
      L, [&] { L = A; }, jitter, name);
  L.triangularView<Eigen::StrictlyUpper>().setZero();
  op.number = jitter.added > jitter.asked ? jitter.rung : 0.0;
}

// A + (rung·tr(A)/n)·I:  Ā gains rung·tr(S̄)/n on its diagonal.
void add_through_jitter(Reverse& r, Matrix& S) {
  if (r.op.number > 0.0)
    S.diagonal().array() += r.op.number * S.trace() / static_cast<double>(S.rows());
  r.add(0, S);
}

// Ā = ½L⁻ᵀ(P + Pᵀ)L⁻¹ with P = Φ(LᵀL̄), Φ the lower triangle with its diagonal halved
// (Murray, "Differentiation of the Cholesky decomposition", 2016, equation 10).
void pull_cholesky(Reverse& r) {
  if (!r.wants(0)) return;
  const Matrix& L = r.value();
  Matrix& S = r.op.work[0];
  S = r.bar();
  S.triangularView<Eigen::StrictlyUpper>().setZero();
  multiply_lower(L, S, Op::transpose);
  S *= 0.5;
  mirror_lower(S);  // ½(P + Pᵀ): the halved diagonal meets itself
  solve_lower(L, S, Op::transpose);
  solve_lower_right(L, S);
  add_through_jitter(r, S);
}

// d log|A| = tr(A⁻¹ dA)
void pull_log_determinant(Reverse& r) {
  if (!r.wants(0)) return;
  Matrix& S = r.op.work[1];
  S = r.op.work[0];
  inverse_in_place(S);
  mirror_lower(S);
  S *= r.bar()(0, 0);
  add_through_jitter(r, S);
}

void pull_log_determinant_of_factor(Reverse& r) {
  if (!r.wants(0)) return;
  const double bar = r.bar()(0, 0);
  r.adjoint(0).diagonal().array() += 2.0 * bar / r.input(0).diagonal().array();
}

void subtract_lower(Reverse& r, const Matrix& S) {
  r.adjoint(0).triangularView<Eigen::Lower>() -= S;
}

// X = op(L)⁻¹B:  B̄ = op(L)⁻ᵀX̄,  L̄ = −tril(B̄Xᵀ), or −tril(XB̄ᵀ) for the transpose.
void pull_solve(Reverse& r) {
  const Matrix& L = r.input(0);
  const bool transposed = r.op.opA == Op::transpose;
  Matrix &S = r.op.work[0], &T = r.op.work[1];
  S = r.bar();
  solve_lower(L, S, transposed ? Op::none : Op::transpose);
  r.add(1, S);
  if (!r.wants(0)) return;
  T.resize(L.rows(), L.cols());
  const Matrix& X = r.value();
  gemm(1.0, transposed ? X : S, Op::none, transposed ? S : X, Op::transpose, 0.0, T);
  subtract_lower(r, T);
}

// X = B·op(L)⁻¹:  B̄ = X̄·op(L)⁻ᵀ,  L̄ = −tril(XᵀB̄), or −tril(B̄ᵀX) for the transpose.
void pull_solve_right(Reverse& r) {
  const Matrix& L = r.input(0);
  const bool transposed = r.op.opA == Op::transpose;
  Matrix &S = r.op.work[0], &T = r.op.work[1];
  S = r.bar();
  solve_lower_right(L, S, transposed ? Op::none : Op::transpose);
  r.add(1, S);
  if (!r.wants(0)) return;
  T.resize(L.rows(), L.cols());
  const Matrix& X = r.value();
  gemm(1.0, transposed ? S : X, Op::transpose, transposed ? X : S, Op::none, 0.0, T);
  subtract_lower(r, T);
}

}  // namespace

Var cholesky(Var A, Jitter& jitter, const std::string& name) {
  Operation& op = TapeState::begin("cholesky", {A});
  factorise(op, A.value(), op.value, jitter, name);
  return TapeState::commit(A, pull_cholesky);
}

Var cholesky(Var A, const std::string& name) {
  Jitter jitter;
  return cholesky(A, jitter, name);
}

Var log_determinant(Var A, Jitter& jitter, const std::string& name) {
  Operation& op = TapeState::begin("log_determinant", {A});
  factorise(op, A.value(), op.work[0], jitter, name);
  op.value.setConstant(1, 1, log_determinant_of_factor(op.work[0]));
  return TapeState::commit(A, pull_log_determinant);
}

Var log_determinant(Var A, const std::string& name) {
  Jitter jitter;
  return log_determinant(A, jitter, name);
}

Var log_determinant_of_factor(Var L) {
  Operation& op = TapeState::begin("log_determinant_of_factor", {L});
  TapeState::require_square(op.name, L.value());
  op.value.setConstant(1, 1, log_determinant_of_factor(L.value()));
  return TapeState::commit(L, pull_log_determinant_of_factor);
}

Var solve_lower(Var L, Var B, Op op_of_L) {
  Operation& op = TapeState::begin("solve_lower", {L, B});
  TapeState::require_square(op.name, L.value());
  if (L.rows() != B.rows())
    TapeState::throw_shapes(op.name, L.value(), B.value(), "L and B must have as many rows");
  op.opA = op_of_L;
  op.value = B.value();
  solve_lower(L.value(), MatrixOut(op.value), op_of_L);
  return TapeState::commit(L, pull_solve);
}

Var solve_lower_right(Var L, Var B, Op op_of_L) {
  Operation& op = TapeState::begin("solve_lower_right", {L, B});
  TapeState::require_square(op.name, L.value());
  if (L.rows() != B.cols())
    TapeState::throw_shapes(op.name, L.value(), B.value(), "B must have as many columns as L");
  op.opA = op_of_L;
  op.value = B.value();
  solve_lower_right(L.value(), op.value, op_of_L);
  return TapeState::commit(L, pull_solve_right);
}

}  // namespace covary
