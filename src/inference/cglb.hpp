#pragma once

#include "covary/inference/sparse.hpp"

namespace covary {

// Bounds by conjugate gradients (Artemev, Burt, van der Wilk 2021), for near-exact answers. With
// noise S = diag(s), A = Kff + S, any N×P v and its residual r = y − Av,
//
//   −½(rᵀ(Qff + S)⁻¹r + 2yᵀv − vᵀAv) ≤ −½yᵀA⁻¹y ≤ −½(2yᵀv − vᵀAv)
//   log|Qff + S| ≤ log|A| ≤ log|Qff + S| + Σ_n log(1 + d_n/s_n),   d = diag(Kff − Qff).
//
// The last one is Hadamard's inequality for I + S^{-½}(Kff − Qff)S^{-½}; by concavity it is at most
// N log(1 + tr(Kff − Qff)/(Nσ²)). Each evaluation costs N²/2 values of the kernel, which are not
// stored, and O(N·P) memory. The approximation of the problem does not matter here.
struct CglbEvaluation {
  double lower = 0.0, upper = 0.0;  // they enclose the log evidence of the exact model
  double solve_gap = 0.0;   // ½rᵀ(Qff + S)⁻¹r: what a better v would take off upper − lower
  SparseEvaluation sparse;  // "vfe(tight)" with the residuals r for outputs
};

// At v = 0, or a v of no rows, lower is "vfe(tight)". Entries of v where the output is missing
// count as zero. The gradient is that of `lower` at fixed v, which is a bound for any v.
CglbEvaluation evaluate_cglb(const SparseProblem& problem, const SparseValues& values,
                             ConstMatrix v, Jitter& jitter, SweepGradient* gradient = nullptr);

struct ConjugateGradientOptions {
  Index max_iterations = 50;
  double tolerance = 1e-3;  // nats of solve_gap, over all outputs
};
struct ConjugateGradientResult {
  Index iterations = 0;
  double solve_gap = 0.0;  // by the recursion: an estimate; evaluate_cglb() has the bound
};
// Steps of conjugate gradients, preconditioned with Qff + S, from v (no rows: from zero) towards
// A⁻¹y; all outputs share the tiles of the kernel.
ConjugateGradientResult improve_cglb(const SparseProblem& problem, const SparseValues& values,
                                     Matrix& v, Jitter& jitter,
                                     const ConjugateGradientOptions& options = {});
// Operations of one step, with M inducing variables.
double cglb_step_flops(Index rows, Index dims, Index outputs, Index M);
double cglb_step_flops(const SparseProblem& problem);

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
