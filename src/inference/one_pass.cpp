#include "inference/one_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/collapsed.hpp"

namespace covary {
namespace {

// What the bound needs of the sums at given mean weights: the residual r = y − h(x)ᵀw.
struct Residuals {
  Matrix kr;        // Σ k rᵀ, M×P
  Matrix hr;        // Σ h rᵀ, B×P
  double rr = 0.0;  // Σ |r|²
};

Residuals residuals(const OnePassStatistics& s, const Matrix& weights) {
  const Index B = weights.rows(), P = s.TT.cols() - B;
  Residuals out{s.sums.kT.rightCols(P), Matrix(B, P), s.TT.diagonal().tail(P).sum()};
  if (B == 0) return out;
  gemm(-1.0, s.sums.kT.leftCols(B), Op::none, weights, Op::none, 1.0, out.kr);
  out.hr = s.TT.topRightCorner(B, P);
  // |y − hw|² = |y|² − wᵀ(hy + hr)
  out.rr -= frobenius(weights, out.hr);
  gemm(-1.0, s.TT.topLeftCorner(B, B), Op::none, weights, Op::none, 1.0, out.hr);
  out.rr = std::max(0.0, out.rr - frobenius(weights, out.hr));
  return out;
}

// Where the gradient begins: the sums at these values, and what F was made of.
struct AtValues {
  const SparseProblem& problem;
  const OnePassStatistics& sums;
  const SparseValues& values;
  const Residuals& r;
  const LowRankDiagonal& Kuu;
  const LowRankInverse& inverse;
  const Cholesky& A;
  const Matrix& c;  // LA⁻¹kr/σ²
  RowBlock x;       // somewhere: k(x, x) is the same everywhere
  double left;      // tr(Kff − Qff), of one output
  bool trace;       // is a term of F
};

void add_gradient(const AtValues& at, SweepGradient& gradient) {
  const OnePassStatistics& s = at.sums;
  const SparseValues& v = at.values;
  const double P = static_cast<double>(at.r.kr.cols()), N = s.rows, noise = v.noise;
  Matrix alpha = at.c;
  solve_lower(at.A.L, alpha, Op::transpose);
  const Matrix A_inverse = at.A.inverse();
  // ∂F/∂Kuu = ½P(Kuu⁻¹ − A⁻¹ − Kuu⁻¹ψ2Kuu⁻¹/σ²) − ½ααᵀ, of which the diagonal and 2× that by U
  // are all that is asked for.
  LowRankDiagonal bar{0.5 * P * (at.inverse.diagonal() - A_inverse.diagonal()) -
                          0.5 * alpha.rowwise().squaredNorm(),
                      P * (at.inverse.solve(at.Kuu.U) - product(A_inverse, at.Kuu.U))};
  gemm(-1.0, alpha, Op::none, product(alpha, at.Kuu.U, Op::transpose), Op::none, 1.0, bar.U);
  if (at.trace) {
    bar.d -= 0.5 * P / noise * at.inverse.diagonal_around(s.sums.psi2);
    bar.U -= P / noise * at.inverse.solve(product(s.sums.psi2, at.inverse.solve(at.Kuu.U)));
  }
  Vector held = Vector::Zero(v.z.size());
  at.problem.features->one_pass()->Kuu_parts_pullback(v.theta.data(), v.z.data(), bar,
                                                      gradient.theta_bar.data(), held.data());
  if (at.trace) {
    const double k_bar = -0.5 * P * N / noise;
    at.problem.kernel->node().diagonal_pullback(v.theta.data(), at.x, &k_bar,
                                                gradient.theta_bar.data(), nullptr);
  }
  const double quadratic = frobenius(alpha, product(s.sums.psi2, alpha));
  gradient.noise_bar = (0.5 * (P * frobenius(A_inverse, s.sums.psi2) + quadratic + at.r.rr +
                               (at.trace ? P * at.left : 0.0)) -
                        frobenius(alpha, at.r.kr)) /
                           (noise * noise) -
                       0.5 * P * N / noise;
  if (v.mean_weights.rows() > 0) {
    gradient.mean_bar = at.r.hr / noise;
    gemm(-1.0 / noise, s.sums.kT.leftCols(v.mean_weights.rows()), Op::transpose, alpha, Op::none,
         1.0, gradient.mean_bar);
  }
}

}  // namespace

bool takes_one_pass(const Approximation& approximation) {
  return approximation.kind != Approximation::Kind::pitc && approximation.rule().proportional();
}

// F of collapsed_bound() from sums over the rows. With A = Kuu + ψ2/σ² and α = A⁻¹kr/σ²:
//   |Qff + σ²I| = σ²ᴺ|A|/|Kuu|,   rᵀ(Qff + σ²I)⁻¹r = (rr − krᵀα)/σ²,
//   tr(Kff − Qff) = N·k − tr(Kuu⁻¹ψ2).
SparseEvaluation evaluate_one_pass(const SparseProblem& p, const OnePassStatistics& s,
                                   const SparseValues& v, const Jitter& jitter,
                                   SweepGradient* gradient) {
  const OnePassFeatures* features = p.features->one_pass();
  if (!features || !takes_one_pass(p.approximation))
    throw InputError(fmt::format("one pass over the rows does not do for '{}' with {} features",
                                 p.approximation.print(), p.features->name()));
  if (!(v.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", v.noise));
  if (v.z != s.z) throw InputError("the features have moved since their sums were gathered");
  const bool trace = p.approximation.rule().term == RowRule::Term::trace;
  const Residuals r = residuals(s, v.mean_weights);
  const Index outputs = r.kr.cols();
  const double P = static_cast<double>(outputs), N = s.rows, noise = v.noise;

  LowRankDiagonal Kuu = features->Kuu_parts(v.theta.data(), v.z.data());
  Kuu.d.array() += jitter.asked;
  const LowRankInverse inverse(Kuu);
  Matrix A = s.sums.psi2 / noise;
  syrk(1.0, Kuu.U, Op::none, 1.0, A);
  A.diagonal() += Kuu.d;
  const Cholesky factor = cholesky(std::move(A), "Kuu + ψ2/σ²");
  Matrix c = r.kr / noise;
  solve_lower(factor.L, c);

  const RowMatrix somewhere = p.features->where(v.z.data()).topRows(1);
  const RowBlock x{somewhere.data(), 1, somewhere.cols(), somewhere.cols()};
  double k = 0.0;
  p.kernel->node().diagonal(v.theta.data(), x, &k);
  const double left = std::max(0.0, N * k - inverse.trace_of(s.sums.psi2));

  SparseEvaluation out;
  out.jitter = jitter.asked;
  SparseTerms& t = out.terms;
  t.complexity = 0.5 * P *
                 (N * std::log(2.0 * std::numbers::pi * noise) + factor.log_determinant() -
                  inverse.log_determinant);
  t.fit = 0.5 * r.rr / noise - 0.5 * c.squaredNorm();
  t.trace = trace ? 0.5 * P * left / noise : 0.0;
  t.residual = P * left;
  t.mean_ratio = left / (N * noise);
  t.smallest_eigenvalue = Kuu.d.minCoeff();
  t.rho = unit_rounding * s.sums.psi2.trace() / (noise * t.smallest_eigenvalue);
  t.route = Route::one_pass;
  out.value = -t.complexity - t.fit - t.trace;

  if (!gradient) {  // A = Luu·B·Luuᵀ, so that the factor of B is Luu⁻¹ times that of A
    std::vector<Index> columns(static_cast<std::size_t>(outputs));
    std::iota(columns.begin(), columns.end(), Index{0});
    out.Luu = cholesky(Kuu.dense(), "Kuu").L;
    Matrix LB = factor.L;
    solve_lower(out.Luu, LB);
    LB.triangularView<Eigen::StrictlyUpper>().setZero();
    out.factors.push_back({std::move(columns), std::move(LB), std::move(c), N, r.rr / noise,
                           -N * std::log(noise), trace ? -0.5 * left / noise : 0.0});
    return out;
  }

  start_gradient(v, *gradient);
  add_gradient({p, s, v, r, Kuu, inverse, factor, c, x, left, trace}, *gradient);
  return out;
}

}  // namespace covary
