#include "covary/inference/uncertain_inputs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"

namespace covary {

namespace {

constexpr double largest_condition = 1e7;

void check_mean(const Mean& mean) {
  if (!mean.is_zero())
    throw Unsupported(fmt::format("uncertain inputs need a zero mean function; the model has '{}'",
                                  mean.print()));
}

}  // namespace

UncertainInputs::UncertainInputs(const RegressionPosterior& posterior)
    : UncertainInputs(posterior.is_exact() ? UncertainInputs(posterior.exact())
                                           : UncertainInputs(posterior.sparse())) {}

UncertainInputs::UncertainInputs(const ExactPosterior& posterior)
    : kernel_(posterior.parts().kernel),
      theta_(posterior.parts().theta),
      Z_(posterior.parts().X),
      noise_(posterior.parts().noise_variance),
      dims_(posterior.dims()),
      outputs_(posterior.outputs()) {
  check_mean(posterior.parts().mean);
  const Index N = Z_.rows();
  for (const ExactPosterior::Group& own : posterior.groups_) {
    const auto& [columns, rows] = own.pattern;
    Group g{columns, Matrix::Zero(N, own.alpha.cols()), Matrix::Zero(N, N), Matrix()};
    g.weights(rows, Eigen::all) = own.alpha;
    g.reduced(rows, rows) = own.factor.inverse();
    groups_.push_back(std::move(g));
  }
}

UncertainInputs::UncertainInputs(const SparsePosterior& posterior)
    : kernel_(posterior.parts().kernel),
      theta_(posterior.parts().values.theta),
      noise_(posterior.parts().values.noise),
      dims_(posterior.dims()),
      outputs_(posterior.outputs()) {
  const SparsePosteriorParts& p = posterior.parts();
  check_mean(p.mean);
  if (p.features->name() != "points")
    throw Unsupported(fmt::format("uncertain inputs need inducing points; the model has '{}'",
                                  p.features->name()));
  if (p.approximation.kind == Approximation::Kind::sor ||
      p.approximation.kind == Approximation::Kind::cglb)
    throw Unsupported(
        fmt::format("uncertain inputs are not offered for '{}'; fit the model with vfe",
                    p.approximation.print()));
  Z_ = Eigen::Map<const RowMatrix>(p.values.z.data(), p.features->size(), dims_);
  // Forming R loses u·κ(Kuu) of a variance.
  if (Cholesky{p.Luu, 0.0}.condition_estimate() > largest_condition) Luu_ = p.Luu;
  for (const SparseFactors& f : p.groups) {
    Group g{f.columns, f.c, Matrix(), Matrix()};
    solve_lower(f.LB, g.weights, Op::transpose);
    solve_lower(p.Luu, g.weights, Op::transpose);
    Matrix inverse = Matrix::Identity(f.LB.rows(), f.LB.cols());
    solve_lower(f.LB, inverse);
    Matrix shrunk = Matrix::Identity(f.LB.rows(), f.LB.cols());
    syrk(-1.0, inverse, Op::transpose, 1.0, shrunk);
    mirror_lower(shrunk);
    if (Luu_.size()) g.shrunk = shrunk;
    solve_lower(p.Luu, shrunk, Op::transpose);
    solve_lower_right(p.Luu, shrunk);
    g.reduced = 0.5 * (shrunk + shrunk.transpose());
    groups_.push_back(std::move(g));
  }
}

void UncertainInputs::check(ConstRows mean, ConstRows variance) const {
  if (mean.cols() != dims_ || variance.cols() != dims_ || variance.rows() != mean.rows())
    throw InputError(
        fmt::format("inputs are {}×{} with variances {}×{}; the model has {} dimensions",
                    mean.rows(), mean.cols(), variance.rows(), variance.cols(), dims_));
  for (Index i = 0; i < mean.rows(); ++i)
    for (Index d = 0; d < dims_; ++d)
      if (!std::isfinite(mean(i, d)) || !std::isfinite(variance(i, d)) || variance(i, d) < 0.0)
        throw InputError(fmt::format(
            "input row {}, column {} has mean {} and variance {}; predictions need finite means "
            "and variances that are not negative",
            i, d, mean(i, d), variance(i, d)));
}

Prediction UncertainInputs::predict(ConstRows mean, ConstRows variance) const {
  check(mean, variance);
  const Index n = mean.rows(), M = Z_.rows();
  Prediction out{RowMatrix(n, outputs_), RowMatrix(n, outputs_), RowMatrix()};
  constexpr Index width = 16;
  parallel_for((n + width - 1) / width, [&](Index strip) {
    const auto psi = GaussianExpectations::make(kernel_, dims_);
    psi->prepare(theta_.data(), inducing());
    Vector psi1(M);
    Matrix psi2(M, M);
    for (Index i = strip * width; i < std::min(n, (strip + 1) * width); ++i) {
      const RowMatrix m = mean.row(i), S = variance.row(i);
      const GaussianBlock x{{m.data(), 1, dims_, dims_}, S.data()};
      double psi0 = 0.0;
      psi2.setZero();
      psi->psi0(x, &psi0);
      psi->psi1(x, psi1.data());
      psi->psi2(x, psi2);
      mirror_lower(psi2);
      const bool certain = (S.array() == 0.0).all();
      Matrix whitened;
      if (Luu_.size()) {
        whitened = psi2;
        solve_lower(Luu_, whitened);
        solve_lower_right(Luu_, whitened, Op::transpose);
      }
      for (const Group& g : groups_) {
        const double own =
            psi0 - (Luu_.size() ? frobenius(g.shrunk, whitened) : frobenius(g.reduced, psi2));
        const Matrix spread = product(psi2, g.weights);
        const Vector along = multiply(g.weights, psi1, Op::transpose);
        for (std::size_t p = 0; p < g.columns.size(); ++p) {
          const auto c = static_cast<Index>(p);
          // A certain input adds nothing, and rounding should not invent it.
          const double square =
              certain ? along(c) * along(c) : dot(g.weights.col(c), spread.col(c));
          out.mean(i, g.columns[p]) = along(c);
          out.variance_f(i, g.columns[p]) =
              std::max(0.0, own) + std::max(0.0, square - along(c) * along(c));
        }
      }
    }
  });
  out.variance_y = out.variance_f.array() + noise_;
  return out;
}

Matrix UncertainInputs::weights() const {
  Matrix out(Z_.rows(), outputs_);
  for (const Group& g : groups_)
    for (std::size_t p = 0; p < g.columns.size(); ++p)
      out.col(g.columns[p]) = g.weights.col(static_cast<Index>(p));
  return out;
}

Matrix UncertainInputs::covariance(ConstRows mean, ConstRows variance) const {
  if (mean.rows() != 1) throw InputError("the covariance of the outputs is that of one row");
  const Prediction marginal = predict(mean, variance);
  const Index M = Z_.rows();
  const RowMatrix m = mean, S = variance;
  const GaussianBlock x{{m.data(), 1, dims_, dims_}, S.data()};
  const auto psi = GaussianExpectations::make(kernel_, dims_);
  psi->prepare(theta_.data(), inducing());
  Vector psi1(M);
  Matrix psi2 = Matrix::Zero(M, M);
  psi->psi1(x, psi1.data());
  psi->psi2(x, psi2);
  mirror_lower(psi2);
  gemm(-1.0, psi1, Op::none, psi1, Op::transpose, 1.0, psi2);
  const Matrix b = weights();
  Matrix out = product(b, product(psi2, b), Op::transpose);
  mirror_lower(out);
  out.diagonal() = marginal.variance_f.row(0).transpose();
  return out;
}

// −(1/2σ²)[|y|² − 2ψ1ᵀBy + tr(Ψ2(BBᵀ − P·R)) + Pψ0] − ½P·log 2πσ², over what is observed.
UncertainInputs::RowTerm::RowTerm(const UncertainInputs& of, const double* y)
    : of_(of),
      psi1_bar_(Vector::Zero(of.Z_.rows())),
      psi2_bar_(Matrix::Zero(of.Z_.rows(), of.Z_.rows())) {
  const double half = 0.5 / of.noise_;
  for (const Group& g : of.groups_) {
    std::vector<Index> seen;
    for (std::size_t p = 0; p < g.columns.size(); ++p)
      if (!std::isnan(y[g.columns[p]])) seen.push_back(static_cast<Index>(p));
    if (seen.empty()) continue;
    const auto n = static_cast<Index>(seen.size());
    Matrix B(g.weights.rows(), n);
    Vector values(n);
    for (Index p = 0; p < n; ++p) {
      const Index column = seen[static_cast<std::size_t>(p)];
      B.col(p) = g.weights.col(column);
      values(p) = y[g.columns[static_cast<std::size_t>(column)]];
    }
    psi1_bar_ += 2.0 * half * multiply(B, values);
    syrk(-half, B, Op::none, 1.0, psi2_bar_);
    psi2_bar_ += half * static_cast<double>(n) * g.reduced;
    constant_ -= half * values.squaredNorm();
    count_ += static_cast<double>(n);
  }
  mirror_lower(psi2_bar_);
  constant_ -= 0.5 * count_ * std::log(2.0 * std::numbers::pi * of.noise_);
}

double UncertainInputs::RowTerm::operator()(const double* mean, const double* variance,
                                            double* mean_bar, double* variance_bar) const {
  const Index M = of_.Z_.rows();
  const GaussianBlock x{{mean, 1, of_.dims_, of_.dims_}, variance};
  const auto psi = GaussianExpectations::make(of_.kernel_, of_.dims_);
  psi->prepare(of_.theta_.data(), of_.inducing());
  Vector psi1(M);
  Matrix psi2 = Matrix::Zero(M, M);
  double psi0 = 0.0;
  psi->psi0(x, &psi0);
  psi->psi1(x, psi1.data());
  psi->psi2(x, psi2);
  mirror_lower(psi2);
  const double psi0_bar = -0.5 * count_ / of_.noise_;
  if (mean_bar) {
    Vector theta_bar = Vector::Zero(of_.theta_.size()), z_bar = Vector::Zero(of_.Z_.size());
    const GaussianBars to{theta_bar.data(), z_bar.data(), mean_bar, variance_bar};
    psi->psi0_pullback(x, &psi0_bar, to);
    psi->psi1_pullback(x, psi1_bar_.data(), to);
    psi->psi2_pullback(x, psi2_bar_, to);
  }
  return constant_ + dot(psi1_bar_, psi1) + frobenius(psi2_bar_, psi2) + psi0_bar * psi0;
}

}  // namespace covary
