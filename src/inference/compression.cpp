#include "covary/inference/compression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "inference/collapsed.hpp"

namespace covary {
namespace {

double observed_rows(const Vector& precision) {
  return static_cast<double>((precision.array() > 0.0).count());
}

RowBlock block_of(const RowMatrix& X) { return {X.data(), X.rows(), X.cols(), X.cols()}; }

}  // namespace

CompressionTarget::CompressionTarget(const Posterior& posterior)
    : CompressionTarget(posterior.compression_target()) {}

CompressionTarget ExactPosterior::compression_target() const { return CompressionTarget(*this); }

CompressionTarget SparsePosterior::compression_target() const { return CompressionTarget(*this); }

CompressionTarget::CompressionTarget(const PosteriorNode& of)
    : kernel_(of.kernel()),
      theta_(of.theta()),
      mean_(of.mean()),
      noise_(of.can(Capability::outputs) ? of.noise_variance() : std::nan("")),
      rows_(static_cast<double>(of.rows())) {}

CompressionTarget::CompressionTarget(const SparsePosterior& posterior)
    : CompressionTarget(static_cast<const PosteriorNode&>(posterior)) {
  const SparsePosteriorParts& parts = posterior.parts();
  const auto kind = parts.approximation.kind;
  if (kind == Approximation::Kind::sor || kind == Approximation::Kind::cglb)
    throw Unsupported(
        fmt::format("a posterior by {} is not one of inducing variables alone and is not "
                    "compressed; fit it by vfe or exactly",
                    parts.approximation.print()));
  points_ = inducing_inputs(*parts.features, parts.values.z.data(),
                            "compression needs an exact posterior, or");
  L_ = parts.Luu;
  mean_weights_ = parts.values.mean_weights;
  for (const SparseFactors& f : parts.groups) {
    Group g{f.columns,
            product(f.LB, f.LB, Op::none, Op::transpose),
            {},
            f.c,
            0.5 * f.c.squaredNorm() - 0.5 * f.outputs() * log_determinant_of_factor(f.LB),
            f.rows,
            f.rr,
            f.log_w,
            f.term};
    g.C.diagonal().array() -= 1.0;
    multiply_lower(f.LB, g.b);
    groups_.push_back(std::move(g));
  }
}

CompressionTarget::CompressionTarget(const ExactPosterior& exact)
    : CompressionTarget(static_cast<const PosteriorNode&>(exact)) {
  const ExactPosteriorParts& parts = exact.parts();
  const RowMatrix& Y = exact.training_outputs();
  points_ = parts.X;
  mean_weights_ = parts.mean_weights;
  Vector noise = Vector::Constant(points_.rows(), noise_);
  if (parts.point_noise.size()) noise += parts.point_noise;
  for (Index i = 0; i < points_.rows(); ++i) {
    const RowMatrix one = points_.row(i);
    noise(i) += diagonal(kernel_, theta_, one)(0) - cross(kernel_, theta_, one, one)(0, 0);
  }
  RowMatrix r = Y;
  if (!mean_.is_zero()) r -= RowMatrix(product(mean_.basis(points_), mean_weights_));
  const Matrix K = cross(kernel_, theta_, points_, points_);
  for (Index column = 0; column < Y.cols(); ++column) {
    Group g;
    g.columns = {column};
    g.diagonal = Vector::Zero(points_.rows());
    g.b = Matrix::Zero(points_.rows(), 1);
    for (Index i = 0; i < points_.rows(); ++i) {
      if (std::isnan(Y(i, column))) continue;
      g.diagonal(i) = 1.0 / noise(i);
      g.b(i, 0) = r(i, column) / noise(i);
      g.rr += r(i, column) * r(i, column) / noise(i);
      g.log_w -= std::log(noise(i));
    }
    g.rows = observed_rows(g.diagonal);
    // log ∫ t(f)p(f)df with B = I + C^{½}KC^{½}: ½bᵀC^{−½}(I − B⁻¹)C^{−½}b − ½ log|B|, where b is
    // C times the residuals.
    const Vector root = g.diagonal.cwiseSqrt();
    Matrix B = root.asDiagonal() * K * root.asDiagonal();
    B.diagonal().array() += 1.0;
    const Cholesky factor = cholesky(std::move(B), "the covariance of the outputs");
    Matrix scaled = root.asDiagonal() *
                    r.col(column).unaryExpr([](double x) { return std::isnan(x) ? 0.0 : x; });
    const double all = scaled.squaredNorm();
    solve_lower(factor.L, scaled);
    g.evidence = 0.5 * (all - scaled.squaredNorm()) - 0.5 * factor.log_determinant();
    groups_.push_back(std::move(g));
  }
}

Matrix CompressionTarget::by_C(const Group& g, const Matrix& a) const {
  return g.C.size() ? product(a, g.C) : Matrix(a * g.diagonal.asDiagonal());
}

// a = Luu⁻¹·cov(u, f(p))·L⁻ᵀ, M×n.
Matrix CompressionTarget::whitened(const Features& features, const Vector& z, const Matrix& Luu,
                                   Matrix* K) const {
  Matrix a(features.size(), points_.rows());
  features.Kuf(theta_.data(), z.data(), block_of(points_), a.data());
  if (K) *K = a;
  if (L_.size()) solve_lower_right(L_, a, Op::transpose);
  solve_lower(Luu, a);
  return a;
}

// With B = I + aCaᵀ: ½|LB⁻¹ab|² − ½P·log|B| − ½P·tr(C(Kvv − aᵀa)), the bound on `evidence`.
CompressionTarget::Share CompressionTarget::share(const Group& g, const Matrix& a) const {
  Share s;
  s.C_a = by_C(g, a);
  Matrix B = product(s.C_a, a, Op::none, Op::transpose);
  const double trace_B = B.trace();
  B = 0.5 * Matrix(B + B.transpose());
  B.diagonal().array() += 1.0;
  s.LB = cholesky(std::move(B), "I + aCaᵀ").L;
  s.c = product(a, g.b);
  solve_lower(s.LB, s.c);
  double prior = 0.0;  // tr(C·Kvv), where Kvv = I of whitened points
  if (g.C.size()) {
    prior = g.C.trace();
  } else {
    for (Index i = 0; i < points_.rows(); ++i) {
      if (g.diagonal(i) == 0.0) continue;
      const RowMatrix one = points_.row(i);
      prior += g.diagonal(i) * cross(kernel_, theta_, one, one)(0, 0);
    }
  }
  s.residual = std::max(0.0, prior - trace_B);
  const double P = static_cast<double>(g.columns.size());
  s.value =
      0.5 * s.c.squaredNorm() - 0.5 * P * log_determinant_of_factor(s.LB) - 0.5 * P * s.residual;
  return s;
}

// ∂/∂a = mbᵀ + (P(I − B⁻¹) − mmᵀ)aC with m = B⁻¹ab; through Kuu −½L⁻ᵀSL⁻¹, S = ∂/∂a·aᵀ.
double CompressionTarget::divergence(const Features& features, const Vector& z, Jitter& jitter,
                                     Vector* z_bar) const {
  const Matrix Luu = factor_Kuu(features, theta_, z, jitter, z_bar != nullptr).L;
  Matrix K;
  const Matrix a = whitened(features, z, Luu, z_bar ? &K : nullptr);
  double sum = 0.0;
  Matrix a_bar = Matrix::Zero(a.rows(), a.cols());
  for (const Group& g : groups_) {
    const Share s = share(g, a);
    sum += g.evidence - s.value;
    if (!z_bar) continue;
    const double P = static_cast<double>(g.columns.size());
    Matrix m = s.c;
    solve_lower(s.LB, m, Op::transpose);
    Matrix inverse = Matrix::Identity(a.rows(), a.rows());
    solve_lower(s.LB, inverse);
    solve_lower(s.LB, inverse, Op::transpose);
    Matrix weights = -P * inverse - product(m, m, Op::none, Op::transpose);
    weights.diagonal().array() += P;
    a_bar += product(m, g.b, Op::none, Op::transpose) + product(weights, s.C_a);
  }
  if (!z_bar) return sum;
  SweepGradient gradient;
  const SparseValues v{theta_, z, noise_, {}};
  start_gradient(v, gradient);
  if (!features.is_white()) {
    const Matrix S = product(a_bar, a, Op::none, Op::transpose);
    add_Kuu_gradient(features, v, Luu, 0.5 * (S + S.transpose()), gradient);
  }
  solve_lower(Luu, a_bar, Op::transpose);
  if (L_.size()) solve_lower_right(L_, a_bar);
  features.Kuf_pullback(theta_.data(), z.data(), block_of(points_), K.data(), a_bar.data(),
                        gradient.theta_bar.data(), gradient.z_bar.data(), nullptr);
  *z_bar = -gradient.z_bar;
  return sum;
}

SparsePosterior CompressionTarget::posterior(const FeaturesPtr& features, const Vector& z,
                                             Jitter jitter) const {
  Cholesky factor = factor_Kuu(*features, theta_, z, jitter, false);
  const Matrix a = whitened(*features, z, factor.L, nullptr);
  std::vector<SparseFactors> factors;
  for (const Group& g : groups_) {
    Share s = share(g, a);
    factors.push_back({g.columns, std::move(s.LB), std::move(s.c), g.rows, g.rr, g.log_w,
                       g.term - 0.5 * s.residual});
  }
  return SparsePosterior({Approximation::Kind::vfe,
                          kernel_,
                          mean_,
                          features,
                          {theta_, z, noise_, mean_weights_},
                          std::move(factor.L),
                          factor.jitter,
                          std::move(factors)});
}

double stored_numbers(const Features& features, Index outputs) {
  const double M = static_cast<double>(features.size());
  return M * static_cast<double>(outputs) + M * M + static_cast<double>(features.parameter_count());
}

}  // namespace covary
