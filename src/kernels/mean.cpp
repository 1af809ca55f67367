#include "covary/kernels/mean.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "covary/error.hpp"

namespace covary {

namespace {

// k of "poly(k)", a digit from 1 with spaces around it as one likes; 0 for anything else.
int degree_of_poly(std::string text) {
  std::erase(text, ' ');
  const bool one_digit = text.size() == 7 && text.starts_with("poly(") && text.ends_with(")");
  return one_digit && text[5] >= '1' && text[5] <= '9' ? text[5] - '0' : 0;
}

}  // namespace

Mean::Mean(const std::string& expression) {
  if (expression == "zero")
    degree_ = -1;
  else if (expression == "constant")
    degree_ = 0;
  else if (expression == "linear")
    degree_ = 1;
  else if (const int degree = degree_of_poly(expression); degree > 0)
    degree_ = degree;
  else
    throw ExpressionError(fmt::format(
        "unknown mean function '{}'; write zero, constant, linear or poly(k) with k from 1 to 9",
        expression));
}

std::string Mean::print() const {
  if (degree_ < 0) return "zero";
  if (degree_ == 0) return "constant";
  return degree_ == 1 ? "linear" : fmt::format("poly({})", degree_);
}

Index Mean::basis_count(Index dims) const { return degree_ < 0 ? 0 : 1 + degree_ * dims; }

Matrix Mean::basis(ConstRows X) const {
  Matrix H(X.rows(), basis_count(X.cols()));
  if (is_zero()) return H;
  H.col(0).setOnes();
  for (Index d = 0; d < X.cols(); ++d)
    for (int k = 1; k <= degree_; ++k)
      H.col(1 + d * degree_ + k - 1) = X.col(d).array().pow(k).matrix();
  return H;
}

RowMatrix Mean::gradient(ConstRows X, ConstVector weights) const {
  RowMatrix out = RowMatrix::Zero(X.rows(), X.cols());
  for (Index d = 0; d < X.cols(); ++d)
    for (int k = 1; k <= degree_; ++k)
      out.col(d).array() += k * weights(1 + d * degree_ + k - 1) * X.col(d).array().pow(k - 1);
  return out;
}

void Mean::declare(Parameters& out, Index dims, ConstVector intercepts) const {
  if (is_zero()) return;
  const Index B = basis_count(dims), P = intercepts.size();
  Vector start = Vector::Zero(B * P);
  start.head(P) = intercepts;
  out.add({"mean.weights", start, Transform::real(), B, P});
}

}  // namespace covary
