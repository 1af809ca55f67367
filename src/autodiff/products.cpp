#include "covary/autodiff/products.hpp"

#include "autodiff/operation.hpp"
#include "covary/autodiff/arithmetic.hpp"

namespace covary {
namespace {

Op flipped(Op op) { return op == Op::none ? Op::transpose : Op::none; }

// C = op(A)·op(B):  op(A)̄ = C̄·op(B)ᵀ,  op(B)̄ = op(A)ᵀ·C̄; transposed as a whole where op transposes.
void pull_matmul(Reverse& r) {
  const Matrix &A = r.input(0), &B = r.input(1), &bar = r.bar();
  const Op opA = r.op.opA, opB = r.op.opB;
  if (r.wants(0)) {
    const double beta = r.beta(0);
    if (opA == Op::none)
      gemm(1.0, bar, Op::none, B, flipped(opB), beta, r.bar_of(0));
    else
      gemm(1.0, B, opB, bar, Op::transpose, beta, r.bar_of(0));
  }
  if (r.wants(1)) {
    const double beta = r.beta(1);
    if (opB == Op::none)
      gemm(1.0, A, flipped(opA), bar, Op::none, beta, r.bar_of(1));
    else
      gemm(1.0, bar, Op::transpose, A, opA, beta, r.bar_of(1));
  }
}

void pull_frobenius(Reverse& r) {
  const double bar = r.bar()(0, 0);
  r.add(0, bar * r.input(1));
  r.add(1, bar * r.input(0));
}

Var inner(const char* name, Var a, Var b) {
  Operation& op = TapeState::begin(name, {a, b});
  const Matrix &A = a.value(), &B = b.value();
  if (A.rows() != B.rows() || A.cols() != B.cols())
    TapeState::throw_shapes(name, A, B, "they must be the same");
  op.value.setConstant(1, 1, A.cwiseProduct(B).sum());
  return TapeState::commit(a, pull_frobenius);
}

}  // namespace

Var matmul(Var a, Var b, Op opA, Op opB) {
  Operation& op = TapeState::begin("matmul", {a, b});
  const Matrix &A = a.value(), &B = b.value();
  const bool ta = opA == Op::transpose, tb = opB == Op::transpose;
  if ((ta ? A.rows() : A.cols()) != (tb ? B.cols() : B.rows()))
    TapeState::throw_shapes(
        ta ? (tb ? "matmul AᵀBᵀ" : "matmul AᵀB") : (tb ? "matmul ABᵀ" : "matmul AB"), A, B,
        "the inner dimensions must be equal");
  op.opA = opA;
  op.opB = opB;
  op.value.resize(ta ? A.cols() : A.rows(), tb ? B.rows() : B.cols());
  gemm(1.0, A, opA, B, opB, 0.0, op.value);
  return TapeState::commit(a, pull_matmul);
}

Var matmul_tn(Var A, Var B) { return matmul(A, B, Op::transpose, Op::none); }
Var matmul_nt(Var A, Var B) { return matmul(A, B, Op::none, Op::transpose); }

Var operator*(Var A, Var B) {
  const bool scalar = A.value().size() == 1 || B.value().size() == 1;
  return scalar ? hadamard(A, B) : matmul(A, B);
}

Var frobenius(Var A, Var B) { return inner("frobenius", A, B); }
Var dot(Var a, Var b) { return inner("dot", a, b); }

}  // namespace covary
