#include "inference/greedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "covary/error.hpp"
#include "covary/features/selection.hpp"
#include "covary/linalg/blas.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

constexpr double rounding = 1e-12;  // of k(z, z): a smaller κ is nothing but that

// What is known before a candidate is added. A selection begins with no features at all.
struct Present {
  Index M = 0;
  Matrix Luu;
  double jitter = 0.0;
  std::vector<SparseFactors> factors;
};

Present present(const SparseProblem& p, const SparseValues& v, Jitter& jitter) {
  if (p.features) {
    SparseEvaluation e = evaluate_sparse(p, v, jitter);
    return {p.features->size(), std::move(e.Luu), e.jitter, std::move(e.factors)};
  }
  Present out;
  if (!(v.noise > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", v.noise));
  for (const auto& columns : p.columns)
    out.factors.push_back({columns, Matrix(0, 0), Matrix(0, static_cast<Index>(columns.size()))});
  return out;
}

// A candidate in one group of outputs. With e_n = −b_n its coordinate of row n, whitened, and
// g = Σ w a e, h = Σ w e², t = Σ w e r over the rows:
struct Score {
  double outputs;  // P
  double shared;   // gᵀB⁻¹g
  double fresh;    // bᵀSb = h − gᵀB⁻¹g
  double fit;      // Σ_p (y_pᵀSb)², yᵀSb = t − gᵀB⁻¹β up to its sign
};

double bound_gain(const Score& s) {
  return 0.5 * (s.outputs * (s.shared + s.fresh - std::log1p(s.fresh)) + s.fit / (1.0 + s.fresh));
}

// Of N(m⁺, B⁺⁻¹), B⁺ = [[B, g], [gᵀ, 1 + h]], from N((m, 0), diag(B, I)⁻¹).
double information_gain(const Score& s) {
  const double grown = 1.0 + s.fresh;
  const double widths = std::log1p(s.fresh) - s.fresh / grown;  // ≥ 0 but for rounding
  return 0.5 * (s.outputs * (s.shared / grown + std::max(0.0, widths)) +
                s.fit * (1.0 + s.shared) / (grown * grown));
}

using Rule = double (*)(const Score&);

// The layout of a lane's sum, a group of P outputs: g (M×J), h (J), t (J×P).
Index group_size(Index M, Index J, Index P) { return J * (M + 1 + P); }

// Candidates few enough for their sums to be small.
Vector score_some(const SparseProblem& p, const SparseValues& v, const Present& now,
                  const RowMatrix& Zc, Rule rule) {
  const Index M = now.M, J = Zc.rows();
  const FeaturesPtr added = inducing_points(*p.kernel, Zc);
  const RowBlock zc{Zc.data(), J, Zc.cols(), Zc.cols()};
  const SweepContext c{
      added.get(), &p.kernel->node(), v.theta.data(), Zc.data(), v.noise, p.mean, v.mean_weights,
      {}};
  // L⁻¹k(Z, x) of some rows.
  const auto solved = [&](const RowBlock& x, MatrixOut A) {
    if (M == 0) return;
    p.features->Kuf(v.theta.data(), v.z.data(), x, A.data());
    solve_lower(now.Luu, A);
  };
  Matrix V(M, J);
  solved(zc, V);
  const Vector k = smooth_diagonal(*p.kernel, v.theta, Zc);
  Vector scale(J);  // 1/√κ, or 0
  for (Index j = 0; j < J; ++j) {
    const double kappa = k(j) - V.col(j).squaredNorm();
    const bool coincides = !(kappa > now.jitter + rounding * k(j));
    scale(j) = coincides ? 0.0 : 1.0 / std::sqrt(kappa + now.jitter);
  }

  Index size = 0;
  for (const auto& cols : p.columns) size += group_size(M, J, static_cast<Index>(cols.size()));
  const Vector sums = p.sweep->sum(size, [&]() -> Sweep::Body {
    auto values = std::make_shared<BlockValues>(c, *p.sweep);
    auto room = std::make_shared<Matrix>(M, p.sweep->widest());
    return [&, values, room](const DataBlock& block, double* sum) {
      values->load(c, block);
      const Index n = values->n;
      auto A = room->leftCols(n);
      solved(block.x, A);
      auto E = values->Kuf();  // k(z, x), and with the next line all but the scale of e
      gemm(-1.0, V, Op::transpose, A, Op::none, 1.0, E);
      double* at = sum;
      for (const auto& cols : p.columns) {
        const auto P = static_cast<Index>(cols.size());
        Matrix weighted(J, n), r = Matrix::Zero(n, P);
        Eigen::Map<Vector> h(at + J * M, J);
        for (Index i = 0; i < n; ++i) {
          const bool seen = !std::isnan(values->r(i, cols.front()));
          weighted.col(i) = E.col(i).cwiseProduct(scale) * (seen ? 1.0 / values->s(i) : 0.0);
          h += weighted.col(i).cwiseProduct(E.col(i)).cwiseProduct(scale);
          for (Index o = 0; seen && o < P; ++o)
            r(i, o) = values->r(i, cols[static_cast<std::size_t>(o)]);
        }
        gemm(1.0, A, Op::none, weighted, Op::transpose, 1.0, Eigen::Map<Matrix>(at, M, J));
        gemm(1.0, weighted, Op::none, r, Op::none, 1.0, Eigen::Map<Matrix>(at + J * (M + 1), J, P));
        at += group_size(M, J, P);
      }
    };
  });

  Vector scores = Vector::Zero(J);
  const double* at = sums.data();
  for (const SparseFactors& f : now.factors) {
    const auto P = static_cast<Index>(f.columns.size());
    Matrix g = Eigen::Map<const Matrix>(at, M, J);
    const Eigen::Map<const Vector> h(at + J * M, J);
    Matrix t = Eigen::Map<const Matrix>(at + J * (M + 1), J, P);
    if (M > 0) solve_lower(f.LB, g);
    gemm(-1.0, g, Op::transpose, f.c, Op::none, 1.0, t);
    for (Index j = 0; j < J; ++j) {
      const double shared = g.col(j).squaredNorm();
      scores(j) += rule(
          {static_cast<double>(P), shared, std::max(0.0, h(j) - shared), t.row(j).squaredNorm()});
    }
    at += group_size(M, J, P);
  }
  return scores;
}

Vector scores(const SparseProblem& p, const SparseValues& v, Jitter& jitter, ConstRows candidates,
              Rule rule) {
  const Index D = p.sweep->rows().dims(), J = candidates.rows();
  if (candidates.cols() != D)
    throw InputError(fmt::format("the candidates have {} columns and the data {} input columns",
                                 candidates.cols(), D));
  if (!candidates.allFinite()) throw InputError("candidates for inducing inputs must be finite");
  const Present now = present(p, v, jitter);
  // The solve of O(N·M²) is made once for each part, so parts are at least M wide.
  const Index part = std::max<Index>(512, now.M);
  Vector out(J);
  for (Index first = 0; first < J; first += part) {
    const Index n = std::min(part, J - first);
    out.segment(first, n) = score_some(p, v, now, candidates.middleRows(first, n), rule);
  }
  return out;
}

// Z and up to n more rows, one at a time; p.features and v.z are those of Z and follow it.
RowMatrix grow(SparseProblem p, SparseValues v, Jitter& jitter, RowMatrix Z, Index n,
               std::uint64_t seed, Index sample, Rule rule) {
  const RowSource& rows = p.sweep->rows();
  if (sample < 1)
    throw InputError(
        fmt::format("the sample of candidates is {} rows; it must be positive", sample));
  FeaturesPtr features;
  for (Index step = 0; step < n; ++step) {
    const auto stream = static_cast<std::uint64_t>(step);
    const RowMatrix candidates =
        p.sweep
            ->gather(sample_rows(rows.rows(), std::min(sample, rows.rows()), Random(seed, stream)))
            .X;
    const Vector score = scores(p, v, jitter, candidates, rule);
    Index best = 0;
    for (Index j = 1; j < score.size(); ++j)
      if (score(j) > score(best)) best = j;
    if (!(score(best) > 0.0)) break;
    Z.conservativeResize(Z.rows() + 1, rows.dims());
    Z.bottomRows(1) = candidates.row(best);
    features = inducing_points(*p.kernel, Z);
    p.features = features.get();
    v.z = Eigen::Map<const Vector>(Z.data(), Z.size());
  }
  return Z;
}

}  // namespace

Vector bound_gains(const SparseProblem& p, const SparseValues& v, Jitter& jitter,
                   ConstRows candidates) {
  if (p.approximation.kind != Approximation::Kind::vfe)
    throw Unsupported("the gain of a candidate has a closed form for vfe only, and this is " +
                      p.approximation.print());
  return scores(p, v, jitter, candidates, bound_gain);
}

Vector information_gains(const SparseProblem& problem, const SparseValues& v, Jitter& jitter,
                         ConstRows candidates) {
  SparseProblem p = problem;
  p.approximation = Approximation::Kind::dtc;
  return scores(p, v, jitter, candidates, information_gain);
}

RowMatrix grow_by_gain(const SparseProblem& p, const SparseValues& v, Jitter& jitter, Index n,
                       std::uint64_t seed, Index sample) {
  if (p.approximation.kind != Approximation::Kind::vfe)
    throw Unsupported(
        "inducing inputs are added by the gain of the bound for vfe only, and this is " +
        p.approximation.print());
  const RowMatrix Z = p.features ? inducing_inputs(*p.features, v.z.data(), "growing a model needs")
                                 : RowMatrix(0, p.sweep->rows().dims());
  if (n < 0)
    throw InputError(
        fmt::format("the number of inducing inputs to add is {}; it must not be "
                    "negative",
                    n));
  return grow(p, v, jitter, Z, n, seed, sample, bound_gain);
}

RowMatrix select_information_gain(const SparseProblem& problem, const SparseValues& v,
                                  Jitter& jitter, Index M, std::uint64_t seed, Index sample) {
  if (M < 1)
    throw InputError(fmt::format("the number of inducing inputs is {}; it must be positive", M));
  SparseProblem p = problem;
  p.approximation = Approximation::Kind::dtc;
  p.features = nullptr;
  SparseValues from_none = v;
  from_none.z.resize(0);
  return grow(p, from_none, jitter, RowMatrix(0, p.sweep->rows().dims()), M, seed, sample,
              information_gain);
}

SelectionResult select_by_gain(Selection how, Index M, const SparseProblem& problem,
                               const SparseValues& values, Jitter& jitter, std::uint64_t seed) {
  if (!is_by_gain(how)) throw InputError(fmt::format("'{}' is not a choice by a gain", print(how)));
  SelectionResult out;
  out.Z = how == Selection::bound_gain ? grow_by_gain(problem, values, jitter, M, seed)
                                       : select_information_gain(problem, values, jitter, M, seed);
  if (out.Z.rows() < M)
    out.note = fmt::format("chose {} inducing inputs: no further row has a gain", out.Z.rows());
  return out;
}

}  // namespace covary
