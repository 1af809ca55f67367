// What a sparse posterior gives beside its predictions: covariances, components, gradients, draws,
// and itself with further rows.
#include <fmt/format.h>

#include <cmath>

#include "covary/error.hpp"
#include "covary/inference/sparse_posterior.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "inference/collapsed.hpp"
#include "inference/sparse_blocks.hpp"
#include "statistics/expectations.hpp"

namespace covary {
namespace {

// The groups of outputs, which new rows must observe together.
std::vector<std::vector<Index>> columns_of(const SparsePosterior& posterior, Index rows,
                                           ConstRows Y) {
  if (Y.rows() != rows || Y.cols() != posterior.functions())
    throw InputError(fmt::format("the new outputs are {}×{}, expected {}×{}", Y.rows(), Y.cols(),
                                 rows, posterior.functions()));
  std::vector<std::vector<Index>> columns;
  for (const auto& g : posterior.parts().groups) {
    columns.push_back(g.columns);
    for (const Index p : g.columns)
      for (Index i = 0; i < Y.rows(); ++i)
        if (std::isnan(Y(i, p)) != std::isnan(Y(i, g.columns.front())))
          throw InputError(fmt::format(
              "new row {} misses some of the outputs {} and not others, which the model took "
              "together; fit it again with these rows",
              i, fmt::join(g.columns, ", ")));
  }
  return columns;
}

SweepContext context_of(const SparsePosteriorParts& p) {
  const SparseValues& v = p.values;
  return {p.features.get(),
          &p.kernel.node(),
          v.theta.data(),
          v.z.data(),
          std::isnan(v.noise) ? 0.0 : v.noise,
          &p.mean,
          v.mean_weights,
          p.Luu};
}

// There is only the route by Ψ2, whose rounding must not reach B = I + L⁻¹Ψ2L⁻ᵀ/σ².
void check_rounding(const SparsePosteriorParts& p, double trace_psi2) {
  constexpr double largest_rho = 0.1;
  const Matrix Kuu = product(p.Luu, p.Luu, Op::none, Op::transpose);
  const double norm = Kuu.cwiseAbs().colwise().sum().maxCoeff();
  const double smallest = norm / Cholesky{p.Luu, 0.0}.condition_estimate(norm);
  const double rho = unit_rounding * trace_psi2 / (p.values.noise * smallest);
  if (!(rho <= largest_rho))
    throw NumericalError(fmt::format(
        "Kuu is too ill-conditioned for rows with Gaussian inputs (rounding {:.1e} of the noise); "
        "fit the model with more jitter, such as 1e-5, or fewer inducing inputs",
        rho));
}

// One row, with outputs y in all columns of the model.
void add_row(const KernelMoments& m, ConstVector y, PsiStatistics& s) {
  s.psi2 += m.covariance;
  gemm(1.0, m.psi1, Op::none, m.psi1, Op::transpose, 1.0, s.psi2);
  s.psi0 += m.psi0;
  s.rows += 1.0;
  for (std::size_t p = 0; p < s.columns.size(); ++p) {
    const double value = y(s.columns[p]);
    s.psi1y.col(static_cast<Index>(p)) += value * m.psi1;
    s.yy += value * value;
  }
}

SparsePosterior with_statistics(const SparsePosterior& posterior,
                                const std::vector<WeightedStatistics>& fresh) {
  SparsePosteriorParts parts = posterior.parts();
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    SparseFactors& g = parts.groups[i];
    Matrix B = product(g.LB, g.LB, Op::none, Op::transpose) + fresh[i].C;
    Matrix beta = g.c;
    multiply_lower(g.LB, beta);
    g.c = beta + fresh[i].beta;
    g.LB = cholesky(std::move(B), "I + L⁻¹Kuf·W·KfuL⁻ᵀ").L;
    solve_lower(g.LB, g.c);
    g.rows += fresh[i].rows;
    g.rr += fresh[i].rr;
    g.log_w += fresh[i].log_w;
    g.term += fresh[i].term;
  }
  return SparsePosterior(std::move(parts));
}

}  // namespace

Matrix SparsePosterior::covariance(ConstRows X, Index output) const {
  check_inputs(X);
  const SparseFactors& g = group_of(output);
  const SparseValues& v = parts_.values;
  const bool degenerate = parts_.approximation.kind == Approximation::Kind::sor;
  Matrix C = degenerate ? Matrix::Zero(X.rows(), X.rows()) : gram(parts_.kernel, v.theta, X);
  Matrix t =
      whitened(*parts_.features, v.theta.data(), v.z.data(), parts_.Luu, rows_of(X, 0, X.rows()));
  if (!degenerate) syrk(-1.0, t, Op::transpose, 1.0, C);
  solve_lower(g.LB, t);
  syrk(1.0, t, Op::transpose, 1.0, C);
  mirror_lower(C);
  C.diagonal() = C.diagonal().cwiseMax(0.0);
  return C;
}

std::vector<ComponentPrediction> SparsePosterior::components(ConstRows X) const {
  check_inputs(X);
  const SparseValues& v = parts_.values;
  std::vector<ComponentPrediction> out;
  for (const auto& term : parts_.kernel.terms(dims_)) {
    const Kernel k(term.node);
    // White noise belongs to the rows: no inducing variable sees it.
    const FeaturesPtr features = term.node->is_white() ? nullptr : parts_.features->for_term(k);
    const double* theta = v.theta.data() + term.offset;
    ComponentPrediction part{k.print(), RowMatrix::Zero(X.rows(), outputs_),
                             RowMatrix(X.rows(), outputs_)};
    if (parts_.v.rows() > 0)
      add_rows_share(k, v.theta.segment(term.offset, k.parameter_count(dims_)), X, part.mean);
    for_blocks(X.rows(), [&](Index first, Index size) {
      const RowBlock x = rows_of(X, first, size);
      const Matrix t = features ? whitened(*features, theta, v.z.data(), parts_.Luu, x)
                                : Matrix::Zero(parts_.features->size(), size);
      Vector h(size);
      k.node().diagonal(theta, x, h.data());
      h -= t.colwise().squaredNorm().transpose();
      for (const auto& g : parts_.groups) {
        Matrix t2 = t;
        solve_lower(g.LB, t2);
        const Matrix mean = product(t2, g.c, Op::transpose);
        const Vector variance = (h + t2.colwise().squaredNorm().transpose()).cwiseMax(0.0);
        for (std::size_t c = 0; c < g.columns.size(); ++c) {
          part.mean.col(g.columns[c]).segment(first, size) += mean.col(static_cast<Index>(c));
          part.variance.col(g.columns[c]).segment(first, size) = variance;
        }
      }
    });
    out.push_back(std::move(part));
  }
  return out;
}

// mean = k_xu·w, variance = k_xx − k_xu·Γ·k_ux with Γ = L⁻ᵀ(I − B⁻¹)L⁻¹ (for SoR +L⁻ᵀB⁻¹L⁻¹ alone).
PredictionGradient SparsePosterior::gradient(ConstRows X, Index output) const {
  check_inputs(X);
  Index column = 0;
  const SparseFactors& g = group_of(output, &column);
  const SparseValues& v = parts_.values;
  const Index n = X.rows();
  const bool degenerate = parts_.approximation.kind == Approximation::Kind::sor;
  PredictionGradient out{RowMatrix::Zero(n, dims_), RowMatrix::Zero(n, dims_)};
  if (!parts_.mean.is_zero()) out.mean = parts_.mean.gradient(X, v.mean_weights.col(output));
  Matrix w = g.c.col(column);
  solve_lower(g.LB, w, Op::transpose);
  solve_lower(parts_.Luu, w, Op::transpose);
  for_blocks(n, [&](Index first, Index size) {
    const RowBlock x = rows_of(X, first, size);
    Vector theta_bar = Vector::Zero(v.theta.size()), z_bar = Vector::Zero(v.z.size());
    const Matrix by_mean = w.replicate(1, size);
    parts_.features->Kuf_pullback(v.theta.data(), v.z.data(), x, nullptr, by_mean.data(),
                                  theta_bar.data(), z_bar.data(), out.mean.row(first).data());
    if (parts_.v.rows() > 0) {
      const Matrix of_rows = parts_.v.col(output).transpose().replicate(size, 1);
      parts_.kernel.node().pullback(v.theta.data(), {x, rows_of(parts_.X, 0, parts_.X.rows())},
                                    of_rows.data(), theta_bar.data(), out.mean.row(first).data(),
                                    nullptr);
    }
    const Matrix t = whitened(*parts_.features, v.theta.data(), v.z.data(), parts_.Luu, x);
    Matrix s = t;
    solve_lower(g.LB, s);
    solve_lower(g.LB, s, Op::transpose);
    if (!degenerate) s -= t;
    s *= 2.0;
    solve_lower(parts_.Luu, s, Op::transpose);
    parts_.features->Kuf_pullback(v.theta.data(), v.z.data(), x, nullptr, s.data(),
                                  theta_bar.data(), z_bar.data(), out.variance.row(first).data());
    if (degenerate) return;
    const Vector ones = Vector::Ones(size);
    parts_.kernel.node().diagonal_pullback(v.theta.data(), x, ones.data(), theta_bar.data(),
                                           out.variance.row(first).data());
  });
  return out;
}

std::vector<RowMatrix> SparsePosterior::sample(ConstRows X, Index draws, std::uint64_t seed) const {
  if (draws < 1)
    throw InputError(fmt::format("the number of draws must be at least 1, got {}", draws));
  const RowMatrix mean = predict_mean(X);
  std::vector<RowMatrix> out(static_cast<std::size_t>(draws), mean);
  for (const auto& g : parts_.groups) {
    const Matrix C = covariance(X, g.columns.front());
    for (const Index p : g.columns) {
      const Matrix noise =
          covary::sample(Gaussian{Vector::Zero(X.rows()), C}, draws,
                         seed + static_cast<std::uint64_t>(p) * 0x9e3779b97f4a7c15u);
      for (Index s = 0; s < draws; ++s) out[static_cast<std::size_t>(s)].col(p) += noise.col(s);
    }
  }
  return out;
}

SparsePosterior SparsePosterior::with(ConstRows X, ConstRows Y, ConstVector point_noise) const {
  check_inputs(X);
  if (parts_.v.rows() > 0)
    throw Unsupported("a model by cglb cannot take further rows; fit it again with all of them");
  if (!can(Capability::outputs) && point_noise.size() == 0)
    throw InputError("further rows need their noise variances, as the training rows had them");
  const auto columns = columns_of(*this, X.rows(), Y);
  const RowMatrix dense = Y;
  const MemoryRows rows(X, dense, point_noise);
  const Sweep sweep = Sweep::for_features(rows, parts_.features->size());
  return with_statistics(
      *this, weighted_statistics(context_of(parts_), parts_.approximation.rule(), sweep, columns));
}

SparsePosterior with_gaussian_rows(const SparsePosterior& posterior, ConstRows mean,
                                   const std::vector<Matrix>& S, ConstRows Y) {
  const SparsePosteriorParts& p = posterior.parts();
  if (p.approximation.kind != Approximation::Kind::vfe)
    throw Unsupported(
        fmt::format("rows with Gaussian inputs join a sparse model by vfe; this one is '{}'",
                    p.approximation.print()));
  const auto moments = input_moments(*p.features, p.values.theta.data(), p.values.z.data());
  if (!p.mean.is_zero())
    throw Unsupported(fmt::format("rows with Gaussian inputs need a zero mean; the model has '{}'",
                                  p.mean.print()));
  const auto columns = columns_of(posterior, mean.rows(), Y);
  if (static_cast<Index>(S.size()) != mean.rows())
    throw InputError(
        fmt::format("there are {} rows of inputs and {} covariances", mean.rows(), S.size()));
  const Index M = p.features->size();
  std::vector<PsiStatistics> psi;
  psi.reserve(columns.size());
  for (const auto& own : columns)
    psi.push_back({own, Matrix::Zero(M, M), Matrix::Zero(M, static_cast<Index>(own.size()))});
  for (Index i = 0; i < mean.rows(); ++i) {
    const KernelMoments m = (*moments)(mean.row(i).transpose(), S[static_cast<std::size_t>(i)]);
    for (PsiStatistics& s : psi)
      if (!std::isnan(Y(i, s.columns.front()))) add_row(m, Y.row(i).transpose(), s);
  }
  for (const PsiStatistics& s : psi) check_rounding(p, s.psi2.trace());
  std::vector<WeightedStatistics> fresh;
  fresh.reserve(psi.size());
  for (const PsiStatistics& s : psi) fresh.push_back(whitened(s, p.Luu, p.values.noise));
  return with_statistics(posterior, fresh);
}

Posterior SparsePosterior::further(ConstRows mean, const std::vector<Matrix>& S,
                                   ConstRows Y) const {
  return with_gaussian_rows(*this, mean, S, Y);
}

Gaussian SparsePosterior::q_of_u(Index output) const {
  Index column = 0;
  const SparseFactors& g = group_of(output, &column);
  Matrix mean = g.c.col(column);
  solve_lower(g.LB, mean, Op::transpose);
  multiply_lower(parts_.Luu, mean);
  Matrix half = parts_.Luu.transpose();  // LB⁻¹Luuᵀ
  solve_lower(g.LB, half);
  return {mean.col(0), product(half, half, Op::transpose)};
}

}  // namespace covary
