#include "inference/row_density.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/kernels/expectations.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {

RowDensity::RowDensity(const SparsePosterior& posterior) : posterior_(posterior) {
  const SparsePosteriorParts& p = posterior.parts();
  gaussian_expectations(*p.features, p.values.theta.data(), p.values.z.data());
  if (!p.mean.is_zero())
    throw Unsupported(fmt::format("densities of rows need a zero mean function; the model has '{}'",
                                  p.mean.print()));
  for (const SparseFactors& g : p.groups) {
    Matrix beta = g.c;
    multiply_lower(g.LB, beta);
    beta_.push_back(std::move(beta));
  }
}

// B' = B + L⁻¹Φ*L⁻ᵀ/σ² and β' = β + L⁻¹ψ*yᵀ/σ²; each observed output then has
//   −½[log 2πσ² + log|B'|/|B| + ξ*/σ² − tr(B' − B) + y²/σ² − |LB'⁻¹β'|² + |c|²].
double RowDensity::operator()(const double* mean, const double* variance, const double* y) const {
  const SparsePosteriorParts& p = posterior_.parts();
  const Index M = p.features->size(), Q = posterior_.dims();
  const double noise = p.values.noise;
  const auto psi = gaussian_expectations(*p.features, p.values.theta.data(), p.values.z.data());
  const GaussianBlock x{{mean, 1, Q, Q}, variance};
  double psi0 = 0.0;
  Matrix psi1(M, 1), added = Matrix::Zero(M, M);
  psi->psi0(x, &psi0);
  psi->psi1(x, psi1.data());
  psi->psi2(x, added);
  mirror_lower(added);
  solve_lower(p.Luu, added);
  solve_lower_right(p.Luu, added, Op::transpose, 1.0 / noise);
  solve_lower(p.Luu, psi1);
  psi1 /= noise;

  double out = 0.0;
  for (std::size_t k = 0; k < p.groups.size(); ++k) {
    const SparseFactors& g = p.groups[k];
    std::vector<Index> seen;
    for (std::size_t c = 0; c < g.columns.size(); ++c)
      if (!std::isnan(y[g.columns[c]])) seen.push_back(static_cast<Index>(c));
    if (seen.empty()) continue;
    Matrix B = added;
    syrk(1.0, g.LB, Op::none, 1.0, B);
    const Cholesky factor = cholesky(std::move(B), "B with a further row");
    Matrix beta = beta_[k](Eigen::all, seen);
    double squares = 0.0, before = 0.0;
    for (std::size_t c = 0; c < seen.size(); ++c) {
      const double value = y[g.columns[static_cast<std::size_t>(seen[c])]];
      beta.col(static_cast<Index>(c)) += value * psi1.col(0);
      squares += value * value;
      before += g.c.col(seen[c]).squaredNorm();
    }
    solve_lower(factor.L, beta);
    const double each = std::log(2.0 * std::numbers::pi * noise) + factor.log_determinant() -
                        log_determinant_of_factor(g.LB) + psi0 / noise - added.trace();
    out -= 0.5 * (static_cast<double>(seen.size()) * each + squares / noise - beta.squaredNorm() +
                  before);
  }
  return out;
}

}  // namespace covary
