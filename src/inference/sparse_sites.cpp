#include "inference/sparse_sites.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

// A block with a_n in the place of Kuf.
struct Whitened {
  BlockValues values;
  Matrix scratch;

  explicit Whitened(const SparseSiteProblem& p) : values(p.context, *p.sweep) {}
  Eigen::Map<Matrix> load(const SparseSiteProblem& p, const DataBlock& block) {
    values.load(p.context, block);
    auto A = values.Kuf();
    solve_lower(p.context.Luu, A);
    return {values.K.data(), values.K.rows(), values.n};
  }
  Vector residual(const Eigen::Map<Matrix>& A) const {
    return (values.k - A.colwise().squaredNorm().transpose()).cwiseMax(0.0);
  }
};

// One row: its site, s_n under q, and what p(y_n | f_n)^α makes of s_n without the site.
struct Row {
  double left = 0.0;                  // 1 − α·τ·variance: cavity precision over precision
  double mean = 0.0, variance = 0.0;  // of s_n in the cavity
  Tilted tilted;
  bool proper = false;
};
Row tilt(const SparseSiteProblem& p, Index n, const GaussianSites& sites, double mu, double V,
         double d, double* theta_bar = nullptr) {
  const double nu = p.power * sites.nu(n), tau = p.power * sites.tau(n);
  Row r;
  r.left = 1.0 - tau * V;
  if (!(r.left > 0.0)) return r;
  r.variance = V / r.left;
  r.mean = (mu - nu * V) / r.left;
  r.tilted = tilted_moments(p.model.likelihood, p.datum(n), p.power, p.m(n) + r.mean,
                            r.variance + d, theta_bar);
  r.proper = std::isfinite(r.tilted.log_z) && 1.0 + r.variance * r.tilted.second > 0.0;
  return r;
}

Vector marginal_variance(const WhitenedState& q, const Eigen::Map<Matrix>& A) {
  Matrix t = A;
  solve_lower(q.LB, t);
  return t.colwise().squaredNorm().transpose();
}

}  // namespace

bool gather_sites(const SparseSiteProblem& p, const GaussianSites& sites, WhitenedState& out) {
  if (!sites.nu.allFinite() || !sites.tau.allFinite()) return false;
  const Index M = p.context.features->size();
  const Vector sums = p.sweep->sum(M * M + M, [&]() -> Sweep::Body {
    auto w = std::make_shared<Whitened>(p);
    return [&, w](const DataBlock& block, double* sum) {
      const auto A = w->load(p, block);
      const Index first = block.x.first, n = block.x.n;
      add_weighted(w->values.K, n, sites.tau.segment(first, n), w->scratch, sum);
      Eigen::Map<Vector>(sum + M * M, M) += multiply(A, sites.nu.segment(first, n));
    };
  });
  Matrix B = Eigen::Map<const Matrix>(sums.data(), M, M);
  B.diagonal().array() += 1.0;
  Jitter jitter;
  try {
    out.LB = cholesky(std::move(B), jitter, "I + Σ τ_n a_n a_nᵀ").L;
  } catch (const NumericalError&) {
    return false;
  }
  if (jitter.added > 0.0) return false;  // it would hide that B is not positive definite
  Matrix c = sums.tail(M);
  solve_lower(out.LB, c);
  out.phi = 0.5 * (c.squaredNorm() - log_determinant_of_factor(out.LB));
  solve_lower(out.LB, c, Op::transpose);
  out.b = c.col(0);
  return true;
}

SiteMatch match_sites(const SparseSiteProblem& p, const GaussianSites& sites,
                      const WhitenedState& q) {
  SiteMatch out{sites};
  Vector change = Vector::Zero(sites.nu.size());
  const Vector sums = p.sweep->sum(2, [&]() -> Sweep::Body {
    auto w = std::make_shared<Whitened>(p);
    return [&, w](const DataBlock& block, double* sum) {
      const auto A = w->load(p, block);
      const Vector d = w->residual(A), mu = multiply(A, q.b, Op::transpose);
      const Vector V = marginal_variance(q, A);
      for (Index i = 0; i < block.x.n; ++i) {
        const Index n = block.x.first + i;
        const Row r = tilt(p, n, sites, mu(i), V(i), d(i));
        if (!r.proper) {
          sum[0] += 1.0;
          continue;
        }
        const double nu = p.power * sites.nu(n), tau = p.power * sites.tau(n);
        // Φ(cavity) − Φ(q_n) without a division by the variance, which may be zero
        const double quadratic = (mu(i) * (tau * mu(i) - 2.0 * nu) + nu * nu * V(i)) / r.left;
        sum[1] += (r.tilted.log_z + 0.5 * (quadratic - std::log(r.left))) / p.power;
        const double shrink = p.power * (1.0 + r.variance * r.tilted.second);
        out.sites.tau(n) = -r.tilted.second / shrink;
        out.sites.nu(n) = (r.tilted.first - r.mean * r.tilted.second) / shrink;
        change(n) = std::max(std::abs(out.sites.tau(n) - sites.tau(n)) * V(i),
                             std::abs(out.sites.nu(n) - sites.nu(n)) * std::sqrt(V(i)));
      }
    };
  });
  out.improper = static_cast<Index>(sums(0));
  out.value = sums(1);
  out.change = change.maxCoeff();
  return out;
}

// With the sites held, the evidence depends on a_n through ½cᵀB⁻¹c − ½log|B|, on d_n and m_n
// through log Z_n alone: by what s_n is under q it is stationary where moments match. So
// ā_n = (ν_n − τ_nμ_n)b − τ_nB⁻¹a_n − 2d̄_n a_n, d̄_n = ∂log Z_n/∂variance/α.
SiteAdjoint sites_adjoint(const SparseSiteProblem& p, const GaussianSites& sites,
                          const WhitenedState& q) {
  const SweepContext& c = p.context;
  const Index M = c.features->size(), T = p.parameters.kernel.size();
  const Index Z = c.features->parameter_count(), H = p.parameters.likelihood.size();
  const Index at_z = T, at_likelihood = at_z + Z, at_residual = at_likelihood + H;
  SiteAdjoint out;
  out.m_bar.resize(p.y.size());
  const Vector sums = p.sweep->sum(at_residual + M * M, [&]() -> Sweep::Body {
    auto w = std::make_shared<Whitened>(p);
    return [&, w](const DataBlock& block, double* sum) {
      const auto A = w->load(p, block);
      const Index n = block.x.n, first = block.x.first;
      const Vector d = w->residual(A), mu = multiply(A, q.b, Op::transpose);
      Matrix bar = A;
      solve_lower(q.LB, bar);
      const Vector V = bar.colwise().squaredNorm().transpose();
      solve_lower(q.LB, bar, Op::transpose);
      Vector d_bar(n), g(n);
      for (Index i = 0; i < n; ++i) {
        const Row r =
            tilt(p, first + i, sites, mu(i), V(i), d(i), H > 0 ? sum + at_likelihood : nullptr);
        const double slope = r.tilted.first;
        out.m_bar(first + i) = slope / p.power;
        d_bar(i) = 0.5 * (r.tilted.second + slope * slope) / p.power;
        g(i) = sites.nu(first + i) - sites.tau(first + i) * mu(i);
      }
      scale_columns(bar, -sites.tau.segment(first, n));
      gemm(1.0, q.b, Op::none, g, Op::transpose, 1.0, bar);
      for (Index i = 0; i < n; ++i) bar.col(i) -= 2.0 * d_bar(i) * A.col(i);
      add_weighted(w->values.K, n, d_bar, w->scratch, sum + at_residual);
      solve_lower(c.Luu, bar, Op::transpose);
      c.features->Kuf_pullback(c.theta, c.z, block.x, nullptr, bar.data(), sum, sum + at_z,
                               nullptr);
      c.kernel->diagonal_pullback(c.theta, block.x, d_bar.data(), sum, nullptr);
    };
  });
  out.theta_bar = sums.head(T);
  out.z_bar = sums.segment(at_z, Z);
  out.likelihood_bar = sums.segment(at_likelihood, H) / p.power;
  out.residual = Eigen::Map<const Matrix>(sums.data() + at_residual, M, M);
  return out;
}

}  // namespace covary
