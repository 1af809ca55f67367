#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covary/features/features.hpp"
#include "covary/kernels/mean.hpp"
#include "covary/statistics/sweep.hpp"

namespace covary {

// How a row n with residual variance d = k_nn − q_n ≥ 0 and noise variance s enters an
// approximation: with the weight w = 1/(s + α·d) in Qff + diag(1/w), and with a term e of its own.
struct RowRule {
  enum class Term {
    none,       // e = 0: SoR, DTC
    trace,      // e = −d/(2s): VFE, the limit α → 0 of power-EP
    log_trace,  // e = −½ log(1 + d/s): the tighter collapsed bound (Titsias 2025)
    power       // e = −(1−α)/(2α)·log(1 + αd/s): power-EP; zero at α = 1, FITC
  };
  Term term = Term::trace;
  double alpha = 0.0;

  struct Row {
    double w, w_d, w_s;  // the weight and its derivatives by d and s
    double e, e_d, e_s;
  };
  Row operator()(double d, double s) const;
  // The residual enters as a multiple of the weight, e_d = −½w or 0: then one product does the
  // adjoint sweep.
  bool proportional() const { return term == Term::none || term == Term::trace; }
};

// The values a sweep is made with.
struct SweepContext {
  const Features* features = nullptr;
  const KernelNode* kernel = nullptr;
  const double* theta = nullptr;  // of the kernel
  const double* z = nullptr;      // of the features
  double noise = 0.0;             // variance, of every row
  const Mean* mean = nullptr;
  Matrix mean_weights;  // basis × P, when the mean is not zero
  Matrix Luu;           // lower factor of Kuu + jitter
};

// Sums over the rows where a group of output columns is observed, with a_n = Luu⁻¹k_n:
struct WeightedStatistics {
  std::vector<Index> columns;
  Matrix C;            // Σ w a aᵀ, lower triangle: L⁻¹ψ2L⁻ᵀ
  Matrix beta;         // Σ w a rᵀ, M×P, with the residual r = y − m(x)
  double rows = 0.0;   // number of them
  double rr = 0.0;     // Σ w |r|²
  double log_w = 0.0;  // Σ log w
  double term = 0.0;   // Σ e
  double trace = 0.0;  // Σ d
  double ratio = 0.0;  // Σ d/s
  // Further columns that are all zero: of many more columns than rows, a factor of YYᵀ is what
  // rows see, and the rest only counts.
  double silent = 0.0;

  double outputs() const { return static_cast<double>(columns.size()) + silent; }  // P
};

// How C is formed: a_n by a triangular solve for every block, or from ψ2 = Σ w k kᵀ at the end, a
// third cheaper and only for well-conditioned Kuu (docs/decisions/sweep-routes.md).
enum class Forward { solve, psi2 };
std::vector<WeightedStatistics> weighted_statistics(const SweepContext& c, const RowRule& rule,
                                                    const Sweep& sweep,
                                                    const std::vector<std::vector<Index>>& columns,
                                                    Forward forward = Forward::solve);

// What the adjoint sweep needs to know of the bound F, for each group of columns. F depends on the
// other statistics in one way for every rule: as ½P·log_w − ½rr + P·term.
struct WeightedAdjoint {
  std::vector<Index> columns;
  Matrix Q;  // 2∂F/∂C, symmetric; plus P·I where the rule's term is the trace, which goes through C
  Matrix b;  // ∂F/∂beta, M×P
};

struct SweepGradient {
  Vector theta_bar, z_bar;
  double noise_bar = 0.0;
  Matrix mean_bar;         // like mean_weights
  Vector point_noise_bar;  // of the rows swept here, if want_point_noise; of others zero
  bool want_point_noise = false;
  Matrix residual;  // Σ d̄ a aᵀ over all groups; empty where the rule is proportional
};

// The adjoint sweep: the gradient through Kuf, k_nn and the noise. What goes through Kuu is
// −½L⁻ᵀSL⁻¹ with S = Σ_n ā_n a_nᵀ, which bounds form from the statistics and `residual`.
// `stable` solves with Luu twice more instead of multiplying by L⁻ᵀC̄L⁻¹.
void weighted_adjoint(const SweepContext& c, const RowRule& rule, const Sweep& sweep,
                      const std::vector<WeightedAdjoint>& adjoints, bool stable,
                      SweepGradient& out);

}  // namespace covary
