#include "inference/softmax_factor.hpp"

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

void SoftmaxFactor::compute(const std::vector<const Matrix*>& K, const Matrix& pi) {
  E_.resize(K.size());
  Matrix sum = Matrix::Zero(pi.rows(), pi.rows());
  log_determinant_ = 0.0;
  for (std::size_t c = 0; c < K.size(); ++c) {
    E_[c].compute(*K[c], pi.col(static_cast<Index>(c)));
    log_determinant_ += E_[c].log_determinant();
    sum += E_[c].dense();
  }
  middle_ = cholesky(std::move(sum), "Σ (K_c + D_c⁻¹)⁻¹").L;
  log_determinant_ += log_determinant_of_factor(middle_) - pi.rowwise().sum().array().log().sum();
}

Matrix SoftmaxFactor::apply(const Matrix& b) const {
  Matrix out(b.rows(), b.cols()), total = Matrix::Zero(b.rows(), 1);
  for (std::size_t c = 0; c < E_.size(); ++c) {
    const auto column = static_cast<Index>(c);
    out.col(column) = E_[c].apply(b.col(column));
    total += out.col(column);
  }
  solve_lower(middle_, total);
  solve_lower(middle_, total, Op::transpose);
  for (std::size_t c = 0; c < E_.size(); ++c)
    out.col(static_cast<Index>(c)) -= E_[c].apply(total.col(0));
  return out;
}

Matrix SoftmaxFactor::dense(Index c) const {
  Matrix E = E_[static_cast<std::size_t>(c)].dense();
  Matrix half = E;
  solve_lower(middle_, half);
  syrk(-1.0, half, Op::transpose, 1.0, E);
  mirror_lower(E);
  return E;
}

SoftmaxFactor::Blocks SoftmaxFactor::blocks(const std::vector<const Matrix*>& k) const {
  Blocks out;
  for (std::size_t c = 0; c < k.size(); ++c) {
    Matrix Ek = E_[c].apply_block(*k[c]);
    out.own.push_back(product(*k[c], Ek, Op::transpose));
    solve_lower(middle_, Ek);
    out.shared.push_back(std::move(Ek));
  }
  return out;
}

Matrix SoftmaxFactor::reduction(const std::vector<const Matrix*>& k) const {
  const auto C = static_cast<Index>(k.size());
  Matrix out(k.front()->cols(), C * C);
  std::vector<Matrix> half;  // middle⁻¹E_c k_c
  for (Index c = 0; c < C; ++c) {
    const auto at = static_cast<std::size_t>(c);
    half.push_back(E_[at].apply_block(*k[at]));
    const Vector own = half.back().cwiseProduct(*k[at]).colwise().sum().transpose();
    solve_lower(middle_, half.back());
    for (Index j = 0; j <= c; ++j) {
      out.col(c * C + j) =
          -half.back().cwiseProduct(half[static_cast<std::size_t>(j)]).colwise().sum().transpose();
      out.col(j * C + c) = out.col(c * C + j);
    }
    out.col(c * C + c) += own;
  }
  return out;
}

}  // namespace covary
