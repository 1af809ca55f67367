#include "statistics/gaussian_row_terms.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Ls·Lsᵀ of every function. Those of outputs that miss the same rows are mostly the same.
std::vector<Matrix> covariances(const WhitenedGaussian& q) {
  std::vector<Matrix> out;
  for (std::size_t p = 0; p < q.Ls.size(); ++p) {
    if (p > 0 && q.Ls[p] == q.Ls[p - 1]) {
      out.push_back(out.back());
      continue;
    }
    const Matrix Ls = q.Ls[p].triangularView<Eigen::Lower>();
    Matrix S(Ls.rows(), Ls.rows());
    syrk(1.0, Ls, Op::none, 0.0, S);
    mirror_lower(S);
    out.push_back(std::move(S));
  }
  return out;
}

}  // namespace

RowTermSums gaussian_row_terms(const SweepContext& c, const WhitenedGaussian& q, const Sweep& sweep,
                               RowAdjoints adjoints, GaussianRowGradient* of_inputs) {
  const Index M = c.features->size(), P = sweep.rows().outputs(), D = sweep.rows().dims();
  if (!(c.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", c.noise));
  if (q.m.rows() != M || q.m.cols() != P || static_cast<Index>(q.Ls.size()) != P)
    throw InputError(
        fmt::format("q(v) has a mean of {}×{} and {} factors; {} features and {} "
                    "outputs need a mean of {}×{} and {} factors",
                    q.m.rows(), q.m.cols(), q.Ls.size(), M, P, M, P, P));
  RowTermSums out;
  out.S = covariances(q);
  out.A_m = Matrix::Zero(M, P);
  out.A_vA.assign(at(P), Matrix::Zero(M, M));
  const auto psi = psi_statistics(c, sweep, observed_columns(sweep.rows()));
  std::vector<WeightedAdjoint> bars;
  for (const PsiStatistics& sums : psi) {
    const WeightedStatistics s = whitened(sums, c.Luu, c.noise);
    const auto outputs = static_cast<Index>(s.columns.size());
    const double log_noise = std::log(2.0 * std::numbers::pi * c.noise);
    out.rows += s.rows * s.outputs();
    out.value += s.outputs() * (s.term - 0.5 * s.rows * log_noise) - 0.5 * s.rr;
    const Matrix m = q.m(Eigen::all, s.columns), Cm = product(s.C, m);
    out.value += frobenius(m, s.beta) - 0.5 * frobenius(m, Cm);
    // 2∂/∂C, with the trace's share
    Matrix Q = Matrix::Identity(M, M) * static_cast<double>(outputs);
    gemm(-1.0, m, Op::none, m, Op::transpose, 1.0, Q);
    for (Index i = 0; i < outputs; ++i) {
      const std::size_t p = at(s.columns[at(i)]);
      out.value -= 0.5 * frobenius(s.C, out.S[p]);
      out.A_m.col(s.columns[at(i)]) = s.beta.col(i) - Cm.col(i);
      out.A_vA[p] = -0.5 * s.C;
      Q -= out.S[p];
    }
    bars.push_back({s.columns, std::move(Q), m});
  }
  if (adjoints != RowAdjoints::all) return out;
  SweepGradient g;
  g.theta_bar = Vector::Zero(c.kernel->parameter_count(D));
  g.z_bar = Vector::Zero(c.features->parameter_count());
  GaussianRowGradient unasked;
  psi_adjoint(c, sweep, psi, bars, g, of_inputs ? *of_inputs : unasked);
  out.theta_bar = {std::move(g.theta_bar)};
  out.z_bar = {std::move(g.z_bar)};
  out.parameters_bar = Vector::Constant(1, g.noise_bar);
  out.mean_bar = g.mean_bar.size() ? std::move(g.mean_bar) : Matrix(0, P);
  return out;
}

}  // namespace covary
