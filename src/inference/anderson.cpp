#include "inference/anderson.hpp"

#include <cmath>

#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {

void Anderson::restart() {
  s_steps_.clear();
  r_steps_.clear();
  s_.resize(0);
}

Vector Anderson::next(const Vector& s, const Vector& r, const Vector& weights) {
  if (s_.size() == s.size()) {
    s_steps_.push_back(s - s_);
    r_steps_.push_back(r - r_);
    if (s_steps_.size() > depth_) {
      s_steps_.pop_front();
      r_steps_.pop_front();
    }
  }
  s_ = s;
  r_ = r;
  const Index m = static_cast<Index>(s_steps_.size());
  if (m == 0) return s + r;
  Matrix R(s.size(), m);
  for (Index j = 0; j < m; ++j)
    R.col(j) = weights.cwiseProduct(r_steps_[static_cast<std::size_t>(j)]);
  Matrix x = multiply(R, weights.cwiseProduct(r), Op::transpose);
  const Matrix F = gram_factor(std::move(R));
  const Vector pivots = F.diagonal().cwiseAbs();
  if (!(pivots.minCoeff() > 1e-8 * pivots.maxCoeff())) {  // steps that repeat say nothing new
    restart();
    return s + r;
  }
  solve_lower(F, x);
  solve_lower(F, x, Op::transpose);
  Vector out = s + r;
  for (Index j = 0; j < m; ++j) {
    const auto i = static_cast<std::size_t>(j);
    out -= x(j, 0) * (s_steps_[i] + r_steps_[i]);
  }
  return out;
}

}  // namespace covary
