#include "inference/anderson.hpp"

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

void Anderson::add(Vector x, Vector f) {
  x_.push_back(std::move(x));
  f_.push_back(std::move(f));
  if (x_.size() > depth_ + 1) {
    x_.pop_front();
    f_.pop_front();
  }
}

void Anderson::forget() {
  x_.clear();
  f_.clear();
}

Vector Anderson::extrapolate(const Vector& weight) const {
  const auto steps = static_cast<Index>(x_.size()) - 1;
  Matrix dF(weight.size(), steps), dX(weight.size(), steps);
  for (Index j = 0; j < steps; ++j) {
    const auto i = static_cast<std::size_t>(j);
    dX.col(j) = x_[i + 1] - x_[i];
    dF.col(j) = f_[i + 1] - f_[i];
  }
  dX += dF;
  for (Index j = 0; j < steps; ++j) dF.col(j).array() *= weight.array();
  // min ‖f − dF·γ‖, by normal equations in columns of length one: γ need not be exact
  const Vector length = dF.colwise().norm().cwiseMax(1e-300).transpose();
  for (Index j = 0; j < steps; ++j) dF.col(j) /= length(j);
  Matrix G = product(dF, dF, Op::transpose);
  G.diagonal().array() += 1e-12;
  const Matrix right = product(dF, f_.back().cwiseProduct(weight), Op::transpose);
  const Vector gamma = cholesky(std::move(G), "Anderson's equations").solve(right).col(0);
  return x_.back() + f_.back() - multiply(dX, gamma.cwiseQuotient(length));
}

}  // namespace covary
