#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/features/features.hpp"
#include "covary/linalg/cholesky.hpp"
#include "covary/statistics/weighted.hpp"

namespace covary {

// Which sparse approximation: one object with a dial. "sor", "dtc", "fitc", "pitc", "vfe" (=
// "sparse"), "vfe(tight)", "pep(α)" with 0 < α ≤ 1.
struct Approximation {
  enum class Kind { sor, dtc, fitc, pitc, vfe, vfe_tight, pep, cglb };
  Kind kind = Kind::vfe;
  double alpha = 0.0;  // of power-EP; 1 is FITC

  Approximation() = default;
  Approximation(Kind k, double a = 0.0);                           // NOLINT
  Approximation(const std::string& expression);                    // NOLINT
  Approximation(const char* e) : Approximation(std::string(e)) {}  // NOLINT
  std::string print() const;
  RowRule rule() const;
  // A lower bound on the evidence of the exact model.
  bool is_bound() const {
    return kind == Kind::vfe || kind == Kind::vfe_tight || kind == Kind::cglb;
  }
  bool operator==(const Approximation&) const = default;
};

// How the sweep is made: the flops are those of the evaluation with gradients.
enum class Route {
  automatic,  // by ρ = 1.1e-16·tr(ψ2)/(σ²·λmin(Kuu + jitter))
  fast,       // ψ2 first: 3NM²
  safe,       // a triangular solve for every block: 4NM²
  stable,     // and two more in the adjoint: 6NM²
  one_pass    // none: sums gathered once do (evaluate_one_pass)
};

// The objective's three parts, −log evidence = complexity + fit + trace (with N/2·log 2π in the
// complexity), and what else an evaluation knows.
struct SparseTerms {
  double complexity = 0.0;  // ½ log|Qff + G| + ½N log 2π
  double fit = 0.0;         // ½ yᵀ(Qff + G)⁻¹y
  double trace = 0.0;       // Tr(T)/(2σ²), or what takes its place
  double residual = 0.0;    // Σ d_n = tr(Kff − Qff), summed over the outputs
  double mean_ratio = 0.0;  // mean of d_n/σ²; below 0.02 is converged in practice
  double rho = 0.0;
  double smallest_eigenvalue = 0.0;  // of Kuu + jitter, estimated
  Route route = Route::safe;
};

// q(u) of a group of output columns, whitened: u = Luu·v, cov(v) = B⁻¹, mean(v) = LB⁻ᵀc. With the
// sums over the rows it makes the bound, and further rows can be added to it.
struct SparseFactors {
  std::vector<Index> columns;
  Matrix LB;                                                           // lower factor of B = I + C
  Matrix c;                                                            // LB⁻¹·beta, M×P
  double rows = 0.0, rr = 0.0, log_w = 0.0, term = 0.0, silent = 0.0;  // as in WeightedStatistics

  double outputs() const { return static_cast<double>(columns.size()) + silent; }  // P
  double complexity() const;  // ½P·log|Qff + G| + ½NP·log 2π
  double fit() const;         // ½ yᵀ(Qff + G)⁻¹y
  double value() const;       // the group's share of the log evidence or bound
};

struct SparseProblem {
  Approximation approximation;
  const Features* features = nullptr;
  const Kernel* kernel = nullptr;
  const Mean* mean = nullptr;
  const Sweep* sweep = nullptr;
  std::vector<std::vector<Index>> columns;  // groups of outputs with one missing pattern
  Route route = Route::automatic;
  // While Z is trained λmin(Kuu) ≥ 1e-8 of its mean diagonal is kept, by jitter.
  bool guard_eigenvalue = false;
  double silent = 0.0;  // columns of zeros beside those of the first group; Gaussian rows only
};

// At given values: theta of the kernel, z of the features, the noise variance, and the mean's
// weights (basis × P, or empty).
struct SparseValues {
  Vector theta, z;
  double noise = 0.0;
  Matrix mean_weights;
};

struct SparseEvaluation {
  double value = 0.0;  // log evidence or its bound, over all outputs
  SparseTerms terms;
  double jitter = 0.0;
  Matrix Luu;
  std::vector<SparseFactors> factors;
};

SparseEvaluation evaluate_sparse(const SparseProblem& problem, const SparseValues& values,
                                 Jitter& jitter, SweepGradient* gradient = nullptr);

// Kuu + jitter, factored; with the guard, jitter climbs until the smallest eigenvalue is safe.
Cholesky factor_Kuu(const Features& features, const Vector& theta, const Vector& z, Jitter& jitter,
                    bool guard, double* smallest_eigenvalue = nullptr);

}  // namespace covary
