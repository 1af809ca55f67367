#pragma once

#include <functional>
#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// The jitter policy. Jitter starts at what was asked (absolute) and climbs a ladder relative to the
// mean diagonal: 1e-12, ×10, … 1e-4. A Jitter carried through one optimisation only rises.
struct Jitter {
  double asked = 0.0;   // absolute, added to the diagonal whatever happens
  double rung = 0.0;    // relative to the mean diagonal: 0 or 1e-12 … 1e-4
  double added = 0.0;   // what the last successful factorisation added in all, absolute
  bool raised = false;  // set when a factorisation climbed; the caller clears it
};

// A lower-triangular factor L with L·Lᵀ = A + jitter·I. The strict upper triangle is zero.
struct Cholesky {
  Matrix L;
  double jitter = 0.0;

  Index size() const { return L.rows(); }
  double log_determinant() const;                // log|A + jitter·I|
  Matrix solve(ConstMatrix B) const;             // A⁻¹B
  Matrix inverse() const;                        // full symmetric A⁻¹
  double condition_estimate() const;             // 1-norm, from LAPACK, of A + jitter·I
  double condition_estimate(double norm) const;  // the same, where that norm of it is known
};

// Factors a copy of the symmetric A (lower triangle read). `name` is what errors call the matrix.
// Throws NumericalError with the likely cause when the top of the ladder fails.
Cholesky cholesky(Matrix A, const std::string& name = "matrix");
Cholesky cholesky(Matrix A, Jitter& jitter, const std::string& name = "matrix");

// The same in place for large matrices: `fill` writes the lower triangle of A (again, when the
// ladder is climbed), so that one N×N array is all that is needed. On return the lower triangle
// holds L; what is above the diagonal is neither read nor kept.
void cholesky_in_place(MatrixOut A, const std::function<void()>& fill, Jitter& jitter,
                       const std::string& name);
// Lower triangle L → lower triangle of (LLᵀ)⁻¹, in place.
void inverse_in_place(MatrixOut L);
// Lower triangle L → L⁻¹, in place.
void invert_lower_in_place(MatrixOut L);
double log_determinant_of_factor(ConstMatrix L);
// F ← the lower-triangular factor with F·Fᵀ = P⁻¹, of a symmetric P with both triangles, without
// forming P⁻¹. No jitter: false when P is not positive definite, and F is then not of use.
bool factor_of_inverse(ConstMatrix P, Matrix& F);

// A lower-triangular F with F·Fᵀ = Aᵀ·A for an A of at least as many rows as columns, by QR:
// without squaring A's condition. Its diagonal may have either sign.
Matrix gram_factor(Matrix A);

// L·Lᵀ + sign·v·vᵀ in O(n²), sign = +1 or −1. Throws NumericalError if the result of a downdate is
// not positive definite.
void rank_one_update(MatrixOut L, Vector v, double sign = 1.0);
// The factor of [[A, Bᵀ],[B, C]] from that of A in O(n²·m): appends m rows, with the jitter that A
// has and, where that does not do, more on the new rows alone.
Cholesky append_rows(const Cholesky& A, ConstMatrix B, ConstMatrix C, Jitter& jitter,
                     const std::string& name = "matrix");

}  // namespace covary
