#include "inference/collapsed.hpp"

#include <algorithm>

#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

// tr ψ2 = Σ_n |k_n|², from at most 256 rows spread evenly: a scale is all that is asked for.
double trace_psi2(const SweepContext& c, const Sweep& sweep) {
  const Index N = sweep.rows().rows(), count = std::min<Index>(N, 256);
  std::vector<Index> rows;
  for (Index i = 0; i < count; ++i) rows.push_back(i * N / count);
  const Vector squares =
      sweep.sum_of_rows(rows, count, [&](const DataBlock& row, Index place, double* each) {
        Vector k(c.features->size());
        c.features->Kuf(c.theta, c.z, row.x, k.data());
        each[place] = k.squaredNorm();
      });
  double sum = 0.0;  // in the order of the rows
  for (const double square : squares) sum += square;
  return sum * static_cast<double>(N) / static_cast<double>(count);
}

}  // namespace

double rounding_ratio(const SweepContext& c, const Sweep& sweep, double smallest_eigenvalue) {
  return unit_rounding * trace_psi2(c, sweep) / (c.noise * smallest_eigenvalue);
}

// F of P outputs y that are observed in the same N rows. With r = y − m(X), Qff = KfuKuu⁻¹Kuf,
// Kuu = LLᵀ, A = L⁻¹Kuf, and of row n the weight w and the term e of its rule (RowRule), W = diag
// w:
//
//   F = −½P·(log|Qff + W⁻¹| + N·log 2π) − ½ Σ_p r_pᵀ(Qff + W⁻¹)⁻¹r_p + P·Σ_n e_n
//        complexity                        fit                           term
//
// By statistics of M×M, C = AWAᵀ and β = AWr, and B = I + C = LB·LBᵀ, c = LB⁻¹β:
//
//   log|Qff + W⁻¹| = log|B| − Σ log w             (determinant lemma)
//   Σ_p r_pᵀ(Qff + W⁻¹)⁻¹r_p = Σ w|r|² − |c|²     (Woodbury)
//
// Of VFE w = 1/σ² and e = −d/2σ², so that the term is −½tr(Kff − Qff)/σ².
CollapsedBound collapsed_bound(const WeightedStatistics& s, RowRule::Term term, bool gradient,
                               SparseEvaluation& out) {
  const double P = s.outputs();
  Matrix B = s.C;
  B.diagonal().array() += 1.0;
  CollapsedBound g;
  g.factors = {s.columns, cholesky(std::move(B), "I + L⁻¹Kuf·W·KfuL⁻ᵀ").L,
               s.beta,    s.rows,
               s.rr,      s.log_w,
               s.term,    s.silent};
  const Matrix& LB = g.factors.LB;
  Matrix& c = g.factors.c;
  solve_lower(LB, c);
  out.terms.complexity += g.factors.complexity();
  out.terms.fit += g.factors.fit();
  out.terms.trace -= P * s.term;
  out.terms.residual += P * s.trace;
  out.terms.mean_ratio += P * s.ratio;
  out.value += g.factors.value();
  if (!gradient) return g;

  // ∂F/∂β = b = B⁻¹β and 2∂F/∂C = Q = −P·B⁻¹ − bbᵀ. What reaches A through the statistics is
  // Ā = (QA + brᵀ)W, of which S = ĀAᵀ = QC + bβᵀ = bbᵀ − P·B⁻¹C. Where the term is the trace,
  // it goes through C as ½P·tr C: then Q has P·I more and S has P·C more, so S = bbᵀ + P·CB⁻¹C.
  g.adjoint.columns = s.columns;
  g.adjoint.b = c;
  solve_lower(LB, g.adjoint.b, Op::transpose);
  const Matrix bb = product(g.adjoint.b, g.adjoint.b, Op::none, Op::transpose);
  Matrix C = s.C;
  mirror_lower(C);
  Matrix X = C;  // LB⁻¹C, so that CB⁻¹C = XᵀX and B⁻¹C = LB⁻ᵀX
  solve_lower(LB, X);
  Matrix BC = X;
  solve_lower(LB, BC, Op::transpose);
  const Matrix shrunk = 0.5 * (BC + BC.transpose());  // I − B⁻¹, without the cancellation
  if (term == RowRule::Term::trace) {
    g.adjoint.Q = P * shrunk - bb;
    g.S = bb;
    syrk(P, X, Op::transpose, 1.0, g.S);
    mirror_lower(g.S);
  } else {
    g.adjoint.Q = P * shrunk - bb;
    g.adjoint.Q.diagonal().array() -= P;
    g.S = bb - P * shrunk;
  }
  return g;
}

Matrix collapsed_bounds(const std::vector<WeightedStatistics>& statistics, RowRule::Term term,
                        SparseEvaluation& out, std::vector<WeightedAdjoint>* adjoints) {
  Matrix S;
  double observed = 0.0;
  for (const auto& s : statistics) {
    CollapsedBound g = collapsed_bound(s, term, adjoints != nullptr, out);
    observed += s.rows * s.outputs();
    out.factors.push_back(std::move(g.factors));
    if (!adjoints) continue;
    if (S.size() == 0) S = Matrix::Zero(g.S.rows(), g.S.cols());
    S += g.S;
    adjoints->push_back(std::move(g.adjoint));
  }
  out.terms.mean_ratio /= observed;
  return S;
}

void start_gradient(const SparseValues& v, SweepGradient& gradient) {
  gradient.theta_bar = Vector::Zero(v.theta.size());
  gradient.z_bar = Vector::Zero(v.z.size());
  gradient.noise_bar = 0.0;
  gradient.mean_bar = Matrix::Zero(v.mean_weights.rows(), v.mean_weights.cols());
}

void add_Kuu_gradient(const Features& features, const SparseValues& v, const Matrix& Luu,
                      const Matrix& S, SweepGradient& gradient) {
  if (features.is_white()) return;
  Matrix Kuu_bar = Matrix::Zero(S.rows(), S.cols());
  for (const KuuBlock& b : features.blocks()) {
    if (b.white) continue;
    const auto L = Luu.block(b.first, b.first, b.size, b.size);
    Matrix own = S.block(b.first, b.first, b.size, b.size);
    solve_lower(L, own, Op::transpose);
    solve_lower_right(L, own, Op::none, -0.5);
    Kuu_bar.block(b.first, b.first, b.size, b.size) = 0.5 * (own + own.transpose());
  }
  features.Kuu_pullback(v.theta.data(), v.z.data(), Kuu_bar, gradient.theta_bar.data(),
                        gradient.z_bar.data());
}

}  // namespace covary
