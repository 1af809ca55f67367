#pragma once

#include "covary/inference/cglb.hpp"

namespace covary {

// The system (Kff + S)v = y of an exact model, by columns: where an output is missing its row and
// column are left out, as zeros.
struct CglbSystem {
  const SparseProblem& problem;
  const SparseValues& values;
  Matrix y;     // N×P, y − m(x); NaN where missing
  Matrix seen;  // 1 or 0
  Vector s;     // noise variances of the rows

  CglbSystem(const SparseProblem& p, const SparseValues& v);
  // (Kff + S)V
  Matrix multiply(ConstMatrix V) const;
  // y with zeros where missing
  Matrix outputs() const;
};

// (Qff + S)⁻¹R by the factors of an evaluation, in two passes over Kuf.
Matrix solve_sparse(const CglbSystem& system, const SparseEvaluation& factors, ConstMatrix R);

// Conjugate gradients with that preconditioner.
ConjugateGradientResult conjugate_gradients(const CglbSystem& system,
                                            const SparseEvaluation& factors, Matrix& v,
                                            const ConjugateGradientOptions& options);

// The bounds at v.
CglbEvaluation evaluate_cglb(const CglbSystem& system, ConstMatrix v, Jitter& jitter,
                             SweepGradient* gradient);

}  // namespace covary
