#pragma once

#include "covary/linalg/types.hpp"

namespace covary {

// Products and triangular solves, threaded by tiles over single-threaded BLAS: the same bits for
// any number of threads. Shapes are checked by assertion; callers validate user input earlier.
enum class Op { none, transpose };

// C ← alpha·op(A)·op(B) + beta·C
void gemm(double alpha, ConstMatrix A, Op opA, ConstMatrix B, Op opB, double beta, MatrixOut C);
// op(A)·op(B)
Matrix product(ConstMatrix A, ConstMatrix B, Op opA = Op::none, Op opB = Op::none);
// op(A)·x
Vector multiply(ConstMatrix A, ConstVector x, Op opA = Op::none);
// Lower triangle of C ← alpha·A·Aᵀ + beta·C (op = none) or alpha·Aᵀ·A + beta·C; upper not touched.
void syrk(double alpha, ConstMatrix A, Op opA, double beta, MatrixOut C);
// B ← op(L)⁻¹·B for a lower-triangular L (the upper part is not read). A vector is an N×1 matrix.
void solve_lower(ConstMatrix L, MatrixOut B, Op op = Op::none);
// B ← alpha·B·op(L)⁻¹
void solve_lower_right(ConstMatrix L, MatrixOut B, Op op = Op::none, double alpha = 1.0);
// B ← op(L)·B
void multiply_lower(ConstMatrix L, MatrixOut B, Op op = Op::none);
// Copies the lower triangle to the upper.
void mirror_lower(MatrixOut A);
double dot(ConstVector a, ConstVector b);
// Aᵢⱼ·Bᵢⱼ summed.
double frobenius(ConstMatrix A, ConstMatrix B);

}  // namespace covary
