#include <cmath>

#include "features/blocks.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

// A group of columns in the basis of the sweep: A = L⁻¹Kuf, or Kuf itself.
struct Side {
  const std::vector<Index>* columns;
  Matrix Q, h;  // of the adjoint, in that basis
};

Side side(const WeightedAdjoint& adjoint, bool whitened, const SweepContext& c) {
  Side out{&adjoint.columns, adjoint.Q, adjoint.b};
  if (!whitened) {
    solve_Luu(*c.features, c.Luu, out.Q, Op::transpose);
    solve_Luu_right(*c.features, c.Luu, out.Q);
    const Matrix half = 0.5 * (out.Q + out.Q.transpose());
    out.Q = half;
    solve_Luu(*c.features, c.Luu, out.h, Op::transpose);
  }
  return out;
}

// Of the rows of a block: by their noise s, residual variance d and residuals r.
struct RowBars {
  Vector s, d;
  RowMatrix r;
};

// What one group of columns gives: Ā of the block, w_n(Qa_n + b·r_n), into QA; and adds to the bars
// of the rows.
void add_group(const Side& side, const RowRule& rule, const BlockValues& v, ConstMatrix A,
               const Vector& d, Eigen::Ref<Matrix> QA, RowBars& bars) {
  const bool proportional = rule.proportional(), trace = rule.term == RowRule::Term::trace;
  const Index n = v.n;
  const auto& cols = *side.columns;
  const auto Pg = static_cast<Index>(cols.size());
  const double p = static_cast<double>(Pg);
  const bool few = Pg <= 4;
  gemm(1.0, side.Q, Op::none, A, Op::none, 0.0, QA);
  Matrix fit(n, Pg);  // a_nᵀb: what the features predict
  gemm(1.0, A, Op::transpose, side.h, Op::none, 0.0, fit);
  Vector weight(n);
  Matrix wr(n, Pg);
  for (Index i = 0; i < n; ++i) {
    const bool seen = !std::isnan(v.r(i, cols.front()));
    const RowRule::Row row = rule(d(i), v.s(i));
    weight(i) = seen ? row.w : 0.0;
    double rr = 0.0, rf = 0.0;
    for (Index j = 0; j < Pg; ++j) {
      const Index col = cols[static_cast<std::size_t>(j)];
      const double r = seen ? v.r(i, col) : 0.0;
      rr += r * r;
      rf += r * fit(i, j);
      wr(i, j) = weight(i) * r;
      bars.r(i, col) = weight(i) * (fit(i, j) - r);
    }
    const double quadratic = QA.col(i).dot(A.col(i));
    QA.col(i) *= weight(i);  // and while it is in the cache the term of the fit
    for (Index j = 0; few && j < Pg; ++j) QA.col(i) += wr(i, j) * side.h.col(j);
    if (!seen) continue;
    const double w_bar = 0.5 * quadratic + rf + 0.5 * p / row.w - 0.5 * rr;
    if (proportional) {  // q_n has cancelled between w_bar and the trace term
      bars.s(i) += row.w_s * (w_bar - (trace ? 0.5 * p * v.k(i) : 0.0));
      bars.d(i) += trace ? -0.5 * p * row.w : 0.0;
    } else {
      bars.s(i) += w_bar * row.w_s + p * row.e_s;
      bars.d(i) += w_bar * row.w_d + p * row.e_d;
    }
  }
  if (!few) gemm(1.0, side.h, Op::none, wr, Op::transpose, 1.0, QA);
}

}  // namespace

void weighted_adjoint(const SweepContext& c, const RowRule& rule, const Sweep& sweep,
                      const std::vector<WeightedAdjoint>& adjoints, bool stable,
                      SweepGradient& out) {
  const Index M = c.features->size(), T = out.theta_bar.size(), Z = out.z_bar.size();
  const bool proportional = rule.proportional();
  const bool whitened = stable || !proportional;
  std::vector<Side> sides;
  sides.reserve(adjoints.size());
  for (const auto& adjoint : adjoints) sides.push_back(side(adjoint, whitened, c));
  const Index B = c.mean_weights.rows(), P = sweep.rows().outputs();
  const Index size = T + Z + 1 + B * P + (proportional ? 0 : M * M);
  if (out.want_point_noise) out.point_noise_bar.setZero(sweep.rows().rows());

  const Vector sums = sweep.sum(size, [&]() -> Sweep::Body {
    auto v = std::make_shared<BlockValues>(c, sweep);
    auto K_bar = std::make_shared<Matrix>(M, sweep.widest());
    auto kept =
        std::make_shared<Matrix>(whitened ? M : 0, sweep.widest());  // Kuf, for its pullback
    auto scratch = std::make_shared<Matrix>();
    return [&, v, K_bar, kept, scratch](const DataBlock& block, double* sum) {
      v->load(c, block);
      const Index n = v->n;
      auto A = v->Kuf();
      auto bar = K_bar->leftCols(n);
      if (whitened) {
        kept->leftCols(n) = A;
        solve_Luu(*c.features, c.Luu, A);
      }
      const Vector d = proportional
                           ? Vector::Zero(n)
                           : Vector((v->k - A.colwise().squaredNorm().transpose()).cwiseMax(0.0));
      RowBars bars{Vector::Zero(n), Vector::Zero(n), RowMatrix::Zero(n, P)};
      for (std::size_t g = 0; g < sides.size(); ++g) {
        if (g > 0) scratch->resize(M, n);
        add_group(sides[g], rule, *v, A, d,
                  g > 0 ? Eigen::Ref<Matrix>(*scratch) : Eigen::Ref<Matrix>(bar), bars);
        if (g > 0) bar += *scratch;
      }
      double* at = sum + T + Z;
      at[0] += bars.s.sum();
      if (out.want_point_noise)
        std::copy_n(bars.s.data(), n, out.point_noise_bar.data() + block.x.first);
      if (B > 0) {
        Eigen::Map<Matrix> W_bar(at + 1, B, P);
        gemm(-1.0, v->basis, Op::transpose, Matrix(bars.r), Op::none, 1.0, W_bar);
      }
      if (!proportional) {
        add_weighted(v->K, n, bars.d, *scratch, at + 1 + B * P);
        for (Index j = 0; j < n; ++j) bar.col(j) -= 2.0 * bars.d(j) * A.col(j);
      }
      if (whitened) solve_Luu(*c.features, c.Luu, bar, Op::transpose);
      const double* Kuf = whitened ? kept->data() : A.data();
      c.features->Kuf_pullback(c.theta, c.z, block.x, Kuf, bar.data(), sum, sum + T, nullptr);
      c.kernel->diagonal_pullback(c.theta, block.x, bars.d.data(), sum, nullptr);
    };
  });

  out.theta_bar += sums.head(T);
  out.z_bar += sums.segment(T, Z);
  out.noise_bar += sums(T + Z);
  if (B > 0) {
    const Eigen::Map<const Matrix> W_bar(sums.data() + T + Z + 1, B, P);
    if (out.mean_bar.size() == 0) out.mean_bar = Matrix::Zero(B, P);
    out.mean_bar += W_bar;
  }
  if (!proportional) {
    out.residual = Eigen::Map<const Matrix>(sums.data() + T + Z + 1 + B * P, M, M);
    mirror_lower(out.residual);
  }
}

}  // namespace covary
