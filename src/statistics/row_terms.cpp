#include "covary/statistics/row_terms.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "statistics/block.hpp"

namespace covary {
namespace {

// The observed rows of one output, side by side.
struct Packed {
  std::vector<Index> rows;
  Vector y, mean, variance, noise, value, mean_bar, variance_bar;

  Packed(const DataBlock& block, Index p, ConstVector f_mean, ConstVector f_variance,
         ConstVector s) {
    for (Index i = 0; i < block.x.n; ++i)
      if (!std::isnan(block.y[i * block.outputs + p])) rows.push_back(i);
    const auto n = static_cast<Index>(rows.size());
    y.resize(n);
    mean.resize(n);
    variance.resize(n);
    noise.resize(n);
    for (Index i = 0; i < n; ++i) {
      const Index at = rows[static_cast<std::size_t>(i)];
      y(i) = block.y[at * block.outputs + p];
      mean(i) = f_mean(at);
      variance(i) = f_variance(at);
      noise(i) = s(at);
    }
    value = mean_bar = variance_bar = Vector::Zero(n);
  }
  RowTerms terms(double* parameters_bar) {
    return {y.size(),     y.data(),        mean.data(),         variance.data(), noise.data(),
            value.data(), mean_bar.data(), variance_bar.data(), parameters_bar};
  }
  // Over all rows of the block, zero where the output is missing.
  Vector spread(const Vector& x, Index n) const {
    Vector out = Vector::Zero(n);
    for (Index i = 0; i < x.size(); ++i) out(rows[static_cast<std::size_t>(i)]) = x(i);
    return out;
  }
};

void check(const WhitenedGaussian& q, Index M, Index P) {
  bool square = static_cast<Index>(q.Ls.size()) == P;
  for (const Matrix& L : q.Ls) square = square && L.rows() == M && L.cols() == M;
  if (q.m.rows() != M || q.m.cols() != P || !square)
    throw InputError(fmt::format(
        "q(v) has a mean of {}×{} and {} factors; {} features and {} outputs need a mean of {}×{} "
        "and {} factors of {}×{}",
        q.m.rows(), q.m.cols(), q.Ls.size(), M, P, M, P, P, M, M));
}

}  // namespace

RowExpectation gaussian_expectation(double noise_variance) {
  if (!(noise_variance > 0.0))
    throw InputError(fmt::format("the noise variance must be positive, got {}", noise_variance));
  return [noise_variance](const RowTerms& t) {
    for (Index i = 0; i < t.n; ++i) {
      const double s = noise_variance + t.noise[i], e = t.y[i] - t.mean[i];
      const double spread = e * e + t.variance[i];
      t.value[i] = -0.5 * (std::log(2.0 * std::numbers::pi * s) + spread / s);
      t.mean_bar[i] = e / s;
      t.variance_bar[i] = -0.5 / s;
      t.parameters_bar[0] += 0.5 * (spread / s - 1.0) / s;
    }
  };
}

RowTermSums row_terms(const SweepContext& c, const RowExpectation& expectation,
                      Index likelihood_parameters, const WhitenedGaussian& q, const Sweep& sweep,
                      bool gradient) {
  const Index M = c.features->size(), P = sweep.rows().outputs();
  const Index T = c.kernel->parameter_count(sweep.rows().dims());
  const Index Z = c.features->parameter_count(), B = c.mean_weights.rows();
  check(q, M, P);
  // A lane's sum: value, rows, the likelihood's parameters, then θ, z, mean weights, A_m and A_vA.
  const Index at_theta = 2 + likelihood_parameters, at_z = at_theta + T, at_mean = at_z + Z;
  const Index at_m = at_mean + B * P, at_v = at_m + M * P;
  const Index size = gradient ? at_v + M * M * P : at_theta;

  const Vector sums = sweep.sum(size, [&]() -> Sweep::Body {
    auto v = std::make_shared<BlockValues>(c, sweep);
    auto K_bar = std::make_shared<Matrix>(gradient ? M : 0, gradient ? sweep.widest() : 0);
    auto scratch = std::make_shared<Matrix>();
    return [&, v, K_bar, scratch](const DataBlock& block, double* sum) {
      v->load(c, block);
      const Index n = v->n;
      auto A = v->Kuf();
      solve_lower(c.Luu, A);
      const Vector d = (v->k - A.colwise().squaredNorm().transpose()).cwiseMax(0.0);
      Matrix f_mean = product(A, q.m, Op::transpose);
      if (B > 0) gemm(1.0, v->basis, Op::none, c.mean_weights, Op::none, 1.0, f_mean);
      auto bar = K_bar->leftCols(gradient ? n : 0);
      bar.setZero();
      Vector k_bar = Vector::Zero(n);
      Matrix m_bar(n, P);
      for (Index p = 0; p < P; ++p) {
        const Matrix& Ls = q.Ls[static_cast<std::size_t>(p)];
        Matrix LA = A;
        multiply_lower(Ls, LA, Op::transpose);
        const Vector f_variance = d + LA.colwise().squaredNorm().transpose();
        Packed rows(block, p, f_mean.col(p), f_variance, v->s);
        expectation(rows.terms(sum + 2));
        sum[0] += rows.value.sum();
        sum[1] += static_cast<double>(rows.value.size());
        if (!gradient) continue;
        m_bar.col(p) = rows.spread(rows.mean_bar, n);
        const Vector v_bar = rows.spread(rows.variance_bar, n);
        add_weighted(v->K, n, v_bar, *scratch, sum + at_v + M * M * p);
        multiply_lower(Ls, LA);  // Ls·Lsᵀ·A
        LA -= A;
        scale_columns(LA, 2.0 * v_bar);
        bar += LA;
        k_bar += v_bar;
      }
      if (!gradient) return;
      gemm(1.0, A, Op::none, m_bar, Op::none, 1.0, Eigen::Map<Matrix>(sum + at_m, M, P));
      gemm(1.0, q.m, Op::none, m_bar, Op::transpose, 1.0, bar);
      if (B > 0)
        gemm(1.0, v->basis, Op::transpose, m_bar, Op::none, 1.0,
             Eigen::Map<Matrix>(sum + at_mean, B, P));
      solve_lower(c.Luu, bar, Op::transpose);
      c.features->Kuf_pullback(c.theta, c.z, block.x, nullptr, bar.data(), sum + at_theta,
                               sum + at_z, nullptr);
      c.kernel->diagonal_pullback(c.theta, block.x, k_bar.data(), sum + at_theta, nullptr);
    };
  });

  RowTermSums out;
  out.value = sums(0);
  out.rows = sums(1);
  if (!gradient) return out;
  out.parameters_bar = sums.segment(2, likelihood_parameters);
  out.theta_bar = sums.segment(at_theta, T);
  out.z_bar = sums.segment(at_z, Z);
  out.mean_bar = Eigen::Map<const Matrix>(sums.data() + at_mean, B, P);
  out.A_m = Eigen::Map<const Matrix>(sums.data() + at_m, M, P);
  for (Index p = 0; p < P; ++p) {
    out.A_vA.emplace_back(Eigen::Map<const Matrix>(sums.data() + at_v + M * M * p, M, M));
    mirror_lower(out.A_vA.back());
  }
  return out;
}

}  // namespace covary
