#include "covary/inference/uncertain_inputs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/parallel.hpp"
#include "inference/site_posterior.hpp"

namespace covary {

namespace {

constexpr double largest_condition = 1e7;

void check_mean(const Mean& mean) {
  if (!mean.is_zero())
    throw Unsupported(fmt::format("uncertain inputs need a zero mean function; the model has '{}'",
                                  mean.print()));
}

Vector flat(const RowMatrix& X) { return Eigen::Map<const Vector>(X.data(), X.size()); }

}  // namespace

UncertainInputs::UncertainInputs(const Posterior& posterior)
    : UncertainInputs(posterior.at_gaussians()) {}

UncertainInputs ExactPosterior::at_gaussians() const { return UncertainInputs(*this); }

UncertainInputs SparsePosterior::at_gaussians() const { return UncertainInputs(*this); }

UncertainInputs::UncertainInputs(const ExactPosterior& posterior)
    : features_(inducing_points(posterior.parts().kernel, posterior.parts().X)),
      theta_(posterior.parts().theta),
      z_(flat(posterior.parts().X)),
      moments_(posterior.parts().kernel, theta_, posterior.parts().X),
      noise_(posterior.parts().noise_variance),
      dims_(posterior.dims()),
      outputs_(posterior.functions()) {
  check_mean(posterior.parts().mean);
  const Index N = M();
  for (const ExactPosterior::Group& own : posterior.groups_) {
    const auto& [columns, rows] = own.pattern;
    Group g{columns, Matrix::Zero(N, own.alpha.cols()), Matrix::Zero(N, N), own.factor.L, {}, rows,
            {}};
    g.weights(rows, Eigen::all) = own.alpha;
    g.reduced(rows, rows) = own.factor.inverse();
    groups_.push_back(std::move(g));
  }
}

UncertainInputs::UncertainInputs(const SitePosterior& posterior)
    : features_(inducing_points(posterior.kernel(), posterior.training_inputs())),
      theta_(posterior.theta()),
      z_(flat(posterior.training_inputs())),
      moments_(posterior.kernel(), theta_, posterior.training_inputs()),
      noise_(0.0),
      dims_(posterior.dims()),
      outputs_(posterior.functions()) {
  check_mean(posterior.mean());
  for (Index l = 0; l < outputs_; ++l) {
    const FunctionPosterior& own = posterior.parts()[static_cast<std::size_t>(l)];
    if (own.kernel.pointer() != posterior.kernel().pointer() || own.parameters.kernel != theta_)
      throw Unsupported("uncertain inputs need one kernel for all functions");
    groups_.push_back({{l}, own.alpha, own.factor.dense(), {}, {}, {}, {}});
  }
}

UncertainInputs::UncertainInputs(const SparsePosterior& posterior)
    : features_(posterior.parts().features),
      theta_(posterior.parts().values.theta),
      z_(posterior.parts().values.z),
      moments_(*input_moments(*features_, theta_.data(), z_.data())),
      noise_(posterior.can(Capability::outputs) ? posterior.noise_variance() : 0.0),
      dims_(posterior.dims()),
      outputs_(posterior.functions()) {
  const SparsePosteriorParts& p = posterior.parts();
  check_mean(p.mean);
  if (p.approximation.kind == Approximation::Kind::sor ||
      p.approximation.kind == Approximation::Kind::cglb)
    throw Unsupported(
        fmt::format("uncertain inputs are not available for '{}'; fit the model with vfe",
                    p.approximation.print()));
  // Forming R loses u·κ(Kuu) of a variance.
  const bool ill = Cholesky{p.Luu, 0.0}.condition_estimate() > largest_condition;
  for (const SparseFactors& f : p.groups) {
    Group g{f.columns, f.c, Matrix(), p.Luu, f.LB, {}, {}};
    solve_lower(f.LB, g.weights, Op::transpose);
    solve_lower(p.Luu, g.weights, Op::transpose);
    Matrix inverse = Matrix::Identity(f.LB.rows(), f.LB.cols());
    solve_lower(f.LB, inverse);
    Matrix shrunk = Matrix::Identity(f.LB.rows(), f.LB.cols());
    syrk(-1.0, inverse, Op::transpose, 1.0, shrunk);
    mirror_lower(shrunk);
    if (ill) g.shrunk = shrunk;
    solve_lower(p.Luu, shrunk, Op::transpose);
    solve_lower_right(p.Luu, shrunk);
    g.reduced = 0.5 * (shrunk + shrunk.transpose());
    groups_.push_back(std::move(g));
  }
}

void UncertainInputs::check(Index row, ConstVector mean, ConstMatrix S) const {
  if (mean.size() != dims_ || S.rows() != dims_ || (S.cols() != 1 && S.cols() != dims_))
    throw InputError(fmt::format(
        "input row {} has {} columns and a covariance of {}×{}; the model has {} dimensions", row,
        mean.size(), S.rows(), S.cols(), dims_));
  for (Index d = 0; d < dims_; ++d) {
    const double variance = S.cols() == 1 ? S(d, 0) : S(d, d);
    if (!std::isfinite(mean(d)) || !std::isfinite(variance) || variance < 0.0)
      throw InputError(fmt::format(
          "input row {}, column {} has mean {} and variance {}; predictions need finite means "
          "and variances that are not negative",
          row, d, mean(d), variance));
    for (Index e = 0; S.cols() > 1 && e < d; ++e)
      if (!(std::abs(S(d, e) - S(e, d)) <= 1e-8 * std::sqrt(S(d, d) * S(e, e))) ||
          !(S(d, e) * S(d, e) <= (1.0 + 1e-8) * S(d, d) * S(e, e)))
        throw InputError(fmt::format(
            "the covariance of input row {} has {} and {} at columns {} and {}, with variances {} "
            "and {}: it must be symmetric and positive semidefinite",
            row, S(d, e), S(e, d), d, e, S(d, d), S(e, e)));
  }
}

// The part of the variance that the input's has no share in is found as at a certain input, by
// solves; C is small where S is, and so is then what forming R loses.
double UncertainInputs::Group::own_variance(const KernelMoments& m) const {
  Matrix a = rows.empty() ? m.psi1 : Vector(m.psi1(rows));
  if (!L.size())
    return std::max(
        0.0, m.psi0 - dot(m.psi1, multiply(reduced, m.psi1)) - frobenius(reduced, m.covariance));
  solve_lower(L, a);
  double out = m.psi0 - a.squaredNorm();
  if (LB.size()) {
    solve_lower(LB, a);
    out += a.squaredNorm();
  }
  if (m.covariance.isZero(0.0)) return std::max(0.0, out);
  if (!shrunk.size()) return std::max(0.0, out - frobenius(reduced, m.covariance));
  Matrix whitened = m.covariance;
  solve_lower(L, whitened);
  solve_lower_right(L, whitened, Op::transpose);
  return std::max(0.0, out - frobenius(shrunk, whitened));
}

Prediction UncertainInputs::predict(ConstRows mean, const std::function<Matrix(Index)>& S) const {
  const Index n = mean.rows();
  Prediction out{RowMatrix(n, outputs_), RowMatrix(n, outputs_), RowMatrix()};
  parallel_for(n, [&](Index i) {
    const Vector at = mean.row(i);
    const Matrix covariance = S(i);
    check(i, at, covariance);
    const KernelMoments m = moments_(at, covariance);
    for (const Group& g : groups_) {
      const double own = g.own_variance(m);
      const Matrix spread = product(m.covariance, g.weights);
      const Vector along = multiply(g.weights, m.psi1, Op::transpose);
      for (std::size_t p = 0; p < g.columns.size(); ++p) {
        const auto c = static_cast<Index>(p);
        out.mean(i, g.columns[p]) = along(c);
        out.variance_f(i, g.columns[p]) = own + std::max(0.0, dot(g.weights.col(c), spread.col(c)));
      }
    }
  });
  out.variance_y = out.variance_f.array() + noise_;
  return out;
}

Prediction UncertainInputs::predict(ConstRows mean, ConstRows variance) const {
  if (variance.rows() != mean.rows() || variance.cols() != dims_)
    throw InputError(
        fmt::format("inputs are {}×{} with variances {}×{}; the model has {} dimensions",
                    mean.rows(), mean.cols(), variance.rows(), variance.cols(), dims_));
  return predict(mean, [&](Index i) -> Matrix { return variance.row(i).transpose(); });
}

Prediction UncertainInputs::predict(ConstRows mean, const std::vector<Matrix>& S) const {
  if (static_cast<Index>(S.size()) != mean.rows())
    throw InputError(
        fmt::format("there are {} rows of inputs and {} covariances", mean.rows(), S.size()));
  return predict(mean, [&](Index i) { return S[static_cast<std::size_t>(i)]; });
}

Matrix UncertainInputs::weights() const {
  Matrix out(M(), outputs_);
  for (const Group& g : groups_)
    for (std::size_t p = 0; p < g.columns.size(); ++p)
      out.col(g.columns[p]) = g.weights.col(static_cast<Index>(p));
  return out;
}

UncertainInputs::Joint UncertainInputs::joint(ConstVector mean, ConstMatrix S) const {
  check(0, mean, S);
  const KernelMoments m = moments_(mean, S);
  const Matrix b = weights();
  Joint out{multiply(b, m.psi1, Op::transpose), product(b, product(m.covariance, b), Op::transpose),
            product(m.with_input, b)};
  out.covariance = 0.5 * (out.covariance + out.covariance.transpose()).eval();
  for (const Group& g : groups_) {
    const double own = g.own_variance(m);
    for (const Index p : g.columns)
      out.covariance(p, p) = std::max(0.0, out.covariance(p, p)) + own;
  }
  return out;
}

Matrix UncertainInputs::covariance(ConstRows mean, ConstRows variance) const {
  if (mean.rows() != 1 || variance.rows() != 1)
    throw InputError("the covariance of the outputs is for one row at a time");
  return joint(mean.row(0).transpose(), variance.row(0).transpose()).covariance;
}

// −(1/2σ²)[|y|² − 2ψ1ᵀBy + tr(Ψ2(BBᵀ − P·R)) + Pψ0] − ½P·log 2πσ², over what is observed.
UncertainInputs::RowTerm::RowTerm(const UncertainInputs& of, const double* y)
    : of_(of), psi1_bar_(Vector::Zero(of.M())), psi2_bar_(Matrix::Zero(of.M(), of.M())) {
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
  const Index M = of_.M();
  const GaussianBlock x{{mean, 1, of_.dims_, of_.dims_}, variance};
  const auto psi = gaussian_expectations(*of_.features_, of_.theta_.data(), of_.z_.data());
  Vector psi1(M);
  Matrix psi2 = Matrix::Zero(M, M);
  double psi0 = 0.0;
  psi->psi0(x, &psi0);
  psi->psi1(x, psi1.data());
  psi->psi2(x, psi2);
  mirror_lower(psi2);
  const double psi0_bar = -0.5 * count_ / of_.noise_;
  if (mean_bar) {
    Vector theta_bar = Vector::Zero(of_.theta_.size()), z_bar = Vector::Zero(of_.z_.size());
    const GaussianBars to{theta_bar.data(), z_bar.data(), mean_bar, variance_bar};
    psi->psi0_pullback(x, &psi0_bar, to);
    psi->psi1_pullback(x, psi1_bar_.data(), to);
    psi->psi2_pullback(x, psi2_bar_, to);
  }
  return constant_ + dot(psi1_bar_, psi1) + frobenius(psi2_bar_, psi2) + psi0_bar * psi0;
}

}  // namespace covary
