#include "statistics/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "statistics/sampled_rows.hpp"

namespace covary {
namespace {

std::unique_ptr<GaussianExpectations> expectations(const SweepContext& c) {
  return gaussian_expectations(*c.features, c.theta, c.z);
}

// The constant mean of each output, or none where the mean function is zero.
Vector constants(const SweepContext& c, const RowSource& rows) {
  if (!c.mean || c.mean->is_zero()) return {};
  if (c.mean->basis_count(rows.dims()) > 1)
    throw Unsupported(fmt::format("Gaussian inputs need a zero or constant mean function, not '{}'",
                                  c.mean->print()));
  if (c.mean_weights.rows() != 1 || c.mean_weights.cols() != rows.outputs())
    throw InputError(fmt::format("a constant mean of {} outputs needs weights of 1×{}, got {}×{}",
                                 rows.outputs(), rows.outputs(), c.mean_weights.rows(),
                                 c.mean_weights.cols()));
  return c.mean_weights.row(0);
}

GaussianBlock gaussian(const DataBlock& block) {
  if (!block.x_variance)
    throw InputError("the rows have no input variances; expectations need GaussianRows");
  return {block.x, block.x_variance};
}

// The rows that the columns observe, side by side, and the residuals of their outputs.
struct Seen {
  std::vector<Index> rows;
  std::vector<double> mean, variance;  // gathered, unless all rows are seen
  GaussianBlock x;
  Matrix y;

  Seen(const DataBlock& block, const std::vector<Index>& columns, const Vector& constants)
      : x(gaussian(block)) {
    for (Index i = 0; i < block.x.n; ++i)
      if (!std::isnan(block.y[i * block.outputs + columns.front()])) rows.push_back(i);
    y.resize(count(), static_cast<Index>(columns.size()));
    for (Index i = 0; i < y.rows(); ++i)
      for (Index p = 0; p < y.cols(); ++p)
        y(i, p) = block.y[at(i) * block.outputs + columns[static_cast<std::size_t>(p)]];
    if (constants.size()) y.rowwise() -= constants(columns).transpose();
    if (count() == block.x.n) return;
    const Index D = block.x.dims;
    for (const Index i : rows) {
      mean.insert(mean.end(), block.x.row(i), block.x.row(i) + D);
      variance.insert(variance.end(), block.x_variance + i * D, block.x_variance + (i + 1) * D);
    }
    x = {{mean.data(), count(), D, D, block.x.first}, variance.data()};
  }
  Index count() const { return static_cast<Index>(rows.size()); }
  Index at(Index i) const { return rows[static_cast<std::size_t>(i)]; }
};

}  // namespace

GaussianRows::GaussianRows(ConstRows means, ConstRows variances, ConstRows Y,
                           const RowMatrix& deviates)
    : means_(means, Y, Vector()), variances_(variances.data()) {
  if (variances.rows() != means.rows() || variances.cols() != means.cols())
    throw InputError(fmt::format("the means are {}×{} and the variances {}×{}", means.rows(),
                                 means.cols(), variances.rows(), variances.cols()));
  if (variances.outerStride() != variances.cols())
    throw InputError("the variances must be one dense row-major array; copy them first");
  for (Index i = 0; i < variances.rows(); ++i)
    for (Index d = 0; d < variances.cols(); ++d)
      if (!(variances(i, d) >= 0.0 && std::isfinite(variances(i, d))))
        throw InputError(
            fmt::format("the input variance of row {}, column {} is {}; it must be "
                        "finite and not negative",
                        i, d, variances(i, d)));
  if (deviates.size())
    points_ = std::make_unique<SampledRows>(RowMatrix(means), RowMatrix(variances), RowMatrix(Y),
                                            deviates);
}

DataBlock GaussianRows::read(Index first, Index n, ReadBuffer& buffer) const {
  DataBlock block = means_.read(first, n, buffer);
  block.x_variance = variances_ + first * dims();
  return block;
}

void KeptPsi2::reserve(Index rows, Index row_values, Index groups) {
  rows_ = rows;
  row_values_ = row_values;
  const double needed =
      static_cast<double>(rows) * static_cast<double>(row_values) * static_cast<double>(groups);
  kept_ = needed > 0.0 && needed * sizeof(double) <= static_cast<double>(most_bytes);
  if (kept_) memory_.reserve(rows * row_values * groups);
}

std::vector<PsiStatistics> psi_statistics(const SweepContext& c, const Sweep& sweep,
                                          const std::vector<std::vector<Index>>& columns,
                                          KeptPsi2* keep) {
  const Index M = c.features->size();
  const auto row_values = expectations(c)->row_values();
  const Vector mean = constants(c, sweep.rows());
  const auto size_of = [&](const std::vector<Index>& cols) {
    const auto P = static_cast<Index>(cols.size());
    return M * M + M * P + 3 + (mean.size() ? M + P : 0);
  };
  Index size = 0;
  for (const auto& cols : columns) size += size_of(cols);
  if (keep) keep->reserve(sweep.rows().rows(), row_values, static_cast<Index>(columns.size()));

  const Vector sums = sweep.sum(size, [&]() -> Sweep::Body {
    const std::shared_ptr<GaussianExpectations> psi = expectations(c);
    return [&, psi, psi1 = Matrix(), psi0 = Vector()](const DataBlock& block, double* sum) mutable {
      double* at = sum;
      Index group = 0;
      for (const auto& cols : columns) {
        const auto P = static_cast<Index>(cols.size());
        const Seen seen(block, cols, mean);
        psi1.resize(M, seen.count());
        psi0.resize(seen.count());
        psi->psi0(seen.x, psi0.data());
        psi->psi1(seen.x, psi1.data());
        psi->psi2(seen.x, Eigen::Map<Matrix>(at, M, M),
                  keep ? keep->of(group++, block.x.first) : nullptr);
        gemm(1.0, psi1, Op::none, seen.y, Op::none, 1.0, Eigen::Map<Matrix>(at + M * M, M, P));
        double* scalars = at + M * M + M * P;
        scalars[0] += static_cast<double>(seen.count());
        scalars[1] += seen.y.squaredNorm();
        scalars[2] += psi0.sum();
        if (mean.size()) {
          Eigen::Map<Vector>(scalars + 3, M) += psi1.rowwise().sum();
          Eigen::Map<Vector>(scalars + 3 + M, P) += seen.y.colwise().sum().transpose();
        }
        at += size_of(cols);
      }
    };
  });

  std::vector<PsiStatistics> out;
  const double* at = sums.data();
  for (const auto& cols : columns) {
    const auto P = static_cast<Index>(cols.size());
    const double* scalars = at + M * M + M * P;
    out.push_back({cols, Eigen::Map<const Matrix>(at, M, M),
                   Eigen::Map<const Matrix>(at + M * M, M, P), scalars[2], scalars[0], scalars[1]});
    if (mean.size()) {
      out.back().psi1 = Eigen::Map<const Vector>(scalars + 3, M);
      out.back().y = Eigen::Map<const Vector>(scalars + 3 + M, P);
    }
    at += size_of(cols);
  }
  return out;
}

WeightedStatistics whitened(const PsiStatistics& s, const Matrix& Luu, double noise) {
  WeightedStatistics out;
  out.columns = s.columns;
  out.silent = s.silent;
  out.C = s.psi2 / noise;
  mirror_lower(out.C);
  solve_lower(Luu, out.C);
  solve_lower_right(Luu, out.C, Op::transpose);
  out.beta = s.psi1y / noise;
  solve_lower(Luu, out.beta);
  out.rows = s.rows;
  out.rr = s.yy / noise;
  out.log_w = -s.rows * std::log(noise);
  out.ratio = std::max(0.0, s.psi0 / noise - out.C.trace());
  out.trace = out.ratio * noise;
  out.term = -0.5 * out.ratio;
  return out;
}

void psi_adjoint(const SweepContext& c, const Sweep& sweep,
                 const std::vector<PsiStatistics>& statistics,
                 const std::vector<WeightedAdjoint>& adjoints, SweepGradient& out,
                 GaussianRowGradient& rows, KeptPsi2* kept) {
  const Index D = sweep.rows().dims(), T = out.theta_bar.size(), Z = out.z_bar.size();
  const double w = 1.0 / c.noise;
  const Vector mean = constants(c, sweep.rows());
  if (mean.size() && out.mean_bar.size() == 0) out.mean_bar = Matrix::Zero(1, mean.size());
  struct Side {
    Matrix psi2_bar, h;  // ½wL⁻ᵀQL⁻¹ and wL⁻ᵀb
  };
  std::vector<Side> sides;
  for (std::size_t g = 0; g < adjoints.size(); ++g) {
    const PsiStatistics& s = statistics[g];
    Side side{0.5 * w * adjoints[g].Q, w * adjoints[g].b};
    solve_lower(c.Luu, side.psi2_bar, Op::transpose);
    solve_lower_right(c.Luu, side.psi2_bar);
    side.psi2_bar = Matrix(0.5 * (side.psi2_bar + side.psi2_bar.transpose()));
    solve_lower(c.Luu, side.h, Op::transpose);
    // The statistics are w times sums that do not know it.
    const double P = static_cast<double>(s.columns.size()) + s.silent;
    Matrix psi2 = s.psi2;
    mirror_lower(psi2);
    const double w_times_bar = frobenius(side.psi2_bar, psi2) + frobenius(side.h, s.psi1y) +
                               0.5 * P * s.rows - 0.5 * w * s.yy - 0.5 * P * w * s.psi0;
    out.noise_bar -= w * w_times_bar;
    if (mean.size())
      out.mean_bar(0, s.columns) +=
          w * s.y.transpose() - product(side.h, s.psi1, Op::transpose).transpose();
    sides.push_back(std::move(side));
  }

  rows.mean_bar = RowMatrix::Zero(sweep.rows().rows(), D);
  rows.variance_bar = rows.mean_bar;
  const Vector sums = sweep.sum(T + Z, [&]() -> Sweep::Body {
    const std::shared_ptr<GaussianExpectations> psi = expectations(c);
    return [&, psi](const DataBlock& block, double* sum) {
      for (std::size_t g = 0; g < sides.size(); ++g) {
        const Seen seen(block, adjoints[g].columns, mean);
        const Index n = seen.count();
        RowMatrix mean_bar = RowMatrix::Zero(n, D), variance_bar = RowMatrix::Zero(n, D);
        const GaussianBars to{sum, sum + T, mean_bar.data(), variance_bar.data()};
        const Matrix psi1_bar = product(sides[g].h, seen.y, Op::none, Op::transpose);
        const double P = static_cast<double>(adjoints[g].columns.size()) + statistics[g].silent;
        const Vector psi0_bar = Vector::Constant(n, -0.5 * P * w);
        psi->psi2_pullback(seen.x, sides[g].psi2_bar, to,
                           kept ? kept->of(static_cast<Index>(g), block.x.first) : nullptr);
        psi->psi1_pullback(seen.x, psi1_bar.data(), to);
        psi->psi0_pullback(seen.x, psi0_bar.data(), to);
        for (Index i = 0; i < n; ++i) {
          rows.mean_bar.row(block.x.first + seen.at(i)) += mean_bar.row(i);
          rows.variance_bar.row(block.x.first + seen.at(i)) += variance_bar.row(i);
        }
      }
    };
  });
  out.theta_bar += sums.head(T);
  out.z_bar += sums.tail(Z);
}

}  // namespace covary
