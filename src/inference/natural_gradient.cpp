#include "covary/inference/natural_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {

CovarianceForm::CovarianceForm(Kind k, Index rows) : kind(k), block(rows) {
  if ((kind == Kind::blocks) != (block > 0))
    throw InputError(
        fmt::format("blocks of a covariance need a size of at least 1, and other forms none; "
                    "got {}",
                    rows));
}

CovarianceForm::CovarianceForm(const std::string& e) {
  if (e == "full") return;
  if (e == "diagonal") {
    kind = Kind::diagonal;
    return;
  }
  kind = Kind::blocks;
  if (e.starts_with("blocks(") && e.ends_with(")") && e.size() > 8 && e.size() < 18) {
    const std::string digits = e.substr(7, e.size() - 8);
    if (digits.find_first_not_of("0123456789") == std::string::npos) block = std::stol(digits);
  }
  if (block < 1)
    throw InputError(fmt::format(
        "unknown covariance form '{}'; choose full, diagonal or blocks(B), for example blocks(20)",
        e));
}

std::string CovarianceForm::print() const {
  if (kind == Kind::blocks) return fmt::format("blocks({})", block);
  return kind == Kind::full ? "full" : "diagonal";
}

void CovarianceForm::mask(MatrixOut A) const {
  if (kind == Kind::full) return;
  const Index width = kind == Kind::diagonal ? 1 : block;
  for (Index j = 0; j < A.cols(); ++j) {
    const Index first = j / width * width, end = std::min(A.rows(), first + width);
    A.col(j).head(first).setZero();
    A.col(j).tail(A.rows() - end).setZero();
  }
}

NaturalGaussian::NaturalGaussian(Index M, Index functions, CovarianceForm form) : form_(form) {
  const auto F = static_cast<std::size_t>(functions);
  q_.m = Matrix::Zero(M, functions);
  q_.Ls.assign(F, Matrix::Identity(M, M));
  precision_ = q_.Ls;
}

NaturalGaussian::NaturalGaussian(const WhitenedGaussian& q, CovarianceForm form)
    : form_(form), q_(q) {
  for (Matrix& Ls : q_.Ls) {
    Ls.triangularView<Eigen::StrictlyUpper>().setZero();
    if (form_.kind != CovarianceForm::Kind::full) {
      Matrix S = product(Ls, Ls, Op::none, Op::transpose);
      form_.mask(S);
      Ls = cholesky(std::move(S), "the covariance of q").L;
    }
    precision_.push_back(Cholesky{Ls}.inverse());
  }
}

WhitenedGaussian whole(WhitenedGaussian q) {
  if (q.is_thin())
    for (Matrix& Ls : q.Ls) Ls = Matrix(Vector(Ls.col(0)).asDiagonal());
  return q;
}

void NaturalGaussian::keep_diagonals() {
  if (form_.kind != CovarianceForm::Kind::diagonal)
    throw InputError(fmt::format("a {} covariance is not its diagonal", form_.print()));
  if (q_.is_thin()) return;
  for (std::size_t f = 0; f < q_.Ls.size(); ++f) {
    precision_[f] = Matrix(precision_[f].diagonal());
    q_.Ls[f] = precision_[f].cwiseSqrt().cwiseInverse();
  }
}

void NaturalGaussian::keep_whole() {
  if (q_.is_thin())
    for (Matrix& P : precision_) P = Matrix(Vector(P.col(0)).asDiagonal());
  q_ = whole(std::move(q_));
}

bool NaturalGaussian::set(const Matrix& m, std::vector<Matrix> precision) {
  WhitenedGaussian next{m, std::vector<Matrix>(q_.Ls.size())};
  for (std::size_t f = 0; f < q_.Ls.size(); ++f) {
    if (precision[f].cols() == 1 && m.rows() > 1) {  // diagonals
      if (!(precision[f].minCoeff() > 0.0)) return false;
      next.Ls[f] = precision[f].cwiseSqrt().cwiseInverse();
      continue;
    }
    if (!factor_of_inverse(precision[f], next.Ls[f])) return false;
    if (form_.kind == CovarianceForm::Kind::full) continue;
    Matrix masked = precision[f];
    form_.mask(masked);
    if (!factor_of_inverse(masked, next.Ls[f])) return false;
  }
  q_ = std::move(next);
  precision_ = std::move(precision);
  return true;
}

Index NaturalGaussian::step(const Matrix& g, const std::vector<Matrix>& H, double gamma,
                            const Matrix* move) {
  if (!(gamma > 0.0) || gamma > 1.0)
    throw InputError(
        fmt::format("the natural-gradient step must be above 0 and at most 1, got {}", gamma));
  for (Index halvings = 0; halvings < 40; ++halvings, gamma *= 0.5) {
    WhitenedGaussian next{q_.m, std::vector<Matrix>(q_.Ls.size())};
    std::vector<Matrix> precision(q_.Ls.size());
    bool good = true;
    for (std::size_t f = 0; good && f < q_.Ls.size(); ++f) {
      const auto column = static_cast<Index>(f);
      Matrix& P = precision[f];
      P = (1.0 - gamma) * precision_[f] - 2.0 * gamma * H[f];
      if (q_.is_thin()) {
        P.array() += gamma;
        good = P.minCoeff() > 0.0;
        next.Ls[f] = P.cwiseSqrt().cwiseInverse();
        next.m.col(column) +=
            gamma * (move ? Vector(move->col(column))
                          : Vector((g.col(column) - q_.m.col(column)).cwiseQuotient(P.col(0))));
        good = good && next.m.col(column).allFinite();
        continue;
      }
      P.diagonal().array() += gamma;
      good = factor_of_inverse(P, next.Ls[f]);
      if (!good) break;
      if (move) {
        next.m.col(column) += gamma * move->col(column);
      } else {
        Matrix own = gamma * (g.col(column) - q_.m.col(column));
        multiply_lower(next.Ls[f], own, Op::transpose);
        multiply_lower(next.Ls[f], own);
        next.m.col(column) += own;
      }
      if (form_.kind != CovarianceForm::Kind::full) {
        Matrix masked = P;
        form_.mask(masked);
        good = factor_of_inverse(masked, next.Ls[f]);
      }
      good = good && next.m.col(column).allFinite();
    }
    if (!good) continue;
    q_ = std::move(next);
    precision_ = std::move(precision);
    return halvings;
  }
  return -1;
}

double NaturalGaussian::distance(const Matrix& g, const std::vector<Matrix>& H) const {
  double sum = 0.0;
  for (std::size_t f = 0; f < q_.Ls.size(); ++f) {
    const auto column = static_cast<Index>(f);
    const Matrix& Ls = q_.Ls[f];
    // LsᵀΔLs with Δ = I − 2H − S⁻¹ is Lsᵀ(I − 2H)Ls − I.
    Matrix T = -2.0 * H[f];
    T.diagonal().array() += 1.0;
    form_.mask(T);
    multiply_lower(Ls, T, Op::transpose);
    T = T.transpose().eval();
    multiply_lower(Ls, T, Op::transpose);
    T.diagonal().array() -= 1.0;
    Matrix e = g.col(column) - q_.m.col(column);
    multiply_lower(Ls, e, Op::transpose);
    sum += 0.5 * T.squaredNorm() + e.squaredNorm();
  }
  return std::sqrt(sum);
}

}  // namespace covary
