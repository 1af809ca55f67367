#include "models/logistic_design.hpp"

#include <fmt/format.h>

#include <cmath>

#include "models/column_rank.hpp"

namespace covary {

LogisticDesign standardised_design(ConstRows X, bool intercept) {
  const Index N = X.rows(), D = X.cols();
  LogisticDesign out{Matrix(N, D + intercept), Vector::Zero(D), Vector::Ones(D), intercept};
  for (Index d = 0; d < D; ++d) {
    if (intercept) out.shift[d] = X.col(d).mean();
    out.B.col(d) = X.col(d).array() - out.shift[d];
    const double size = std::sqrt(out.B.col(d).squaredNorm() / static_cast<double>(N));
    // What is left of a constant column is rounding: it stays as small as it is.
    if (size > 1e-10 * std::abs(out.shift[d])) out.scale[d] = size;
    out.B.col(d) /= out.scale[d];
  }
  if (intercept) out.B.col(D).setOnes();
  return out;
}

std::string InputNames::operator()(Index column) const {
  if (column == D) return "the intercept";
  return column < static_cast<Index>(given.size())
             ? fmt::format("'{}'", given[static_cast<std::size_t>(column)])
             : fmt::format("{}", column);
}

std::string InputNames::list(const std::vector<Index>& columns) const {
  constexpr std::size_t most = 5;
  std::vector<std::string> words;
  for (const Index c : columns)
    if (words.size() < most) words.push_back((*this)(c));
  std::string text = fmt::format("{}", fmt::join(words, ", "));
  if (columns.size() > most) text += fmt::format(" and {} more", columns.size() - most);
  return text;
}

// What is singular about the design, or nothing.
std::string singularity(const LogisticDesign& design, const InputNames& name) {
  const Index N = design.B.rows(), F = design.B.cols();
  const char* way_out = "leave such columns out, or give a ridge penalty";
  if (F > N)
    return fmt::format("{} weights for {} rows: the solution is not unique; {}", F, N, way_out);
  // The intercept goes first, so that a constant input is found to repeat it and not the reverse.
  Matrix A(N, F);
  const Index first = design.intercept;
  if (design.intercept) A.col(0) = design.B.col(F - 1);
  A.rightCols(design.inputs()) = design.B.leftCols(design.inputs());
  // Centring leaves only rounding of a constant column, which has a direction of its own.
  for (Index d = 0; d < design.inputs(); ++d)
    if (design.intercept && design.scale[d] == 1 &&
        design.B.col(d).cwiseAbs().maxCoeff() <= 1e-9 * std::abs(design.shift[d]))
      A.col(first + d).setZero();
  const auto found = dependent_columns(A);
  if (found.empty()) return "";
  std::vector<std::string> words;
  for (const DependentColumn& f : found) {
    if (words.size() == 5) {
      words.push_back(fmt::format("and {} more", found.size() - 5));
      break;
    }
    std::vector<Index> of;
    for (const Index c : f.of)
      if (c >= first) of.push_back(c - first);
    const std::string column = name(f.column - first);
    words.push_back(of.empty() ? fmt::format("column {} is constant", column)
                    : of.size() == 1
                        ? fmt::format("column {} repeats column {}", column, name(of[0]))
                        : fmt::format("column {} is a combination of {}", column, name.list(of)));
  }
  return fmt::format("{}: the weights are not unique; {}", fmt::join(words, "; "), way_out);
}

}  // namespace covary
