#include "models/class_separation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "covary/error.hpp"
#include "covary/linalg/blas.hpp"
#include "covary/linalg/cholesky.hpp"

namespace covary {
namespace {

std::vector<std::vector<Index>> rows_of_classes(const std::vector<Index>& labels) {
  std::vector<std::vector<Index>> out;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    const auto c = static_cast<std::size_t>(labels[i]);
    if (c >= out.size()) out.resize(c + 1);
    out[c].push_back(static_cast<Index>(i));
  }
  std::erase_if(out, [](const auto& rows) { return rows.empty(); });
  return out;
}

}  // namespace

double class_overlap(ConstRows X, const std::vector<Index>& labels, double weight,
                     RowMatrix* X_bar) {
  const auto classes = rows_of_classes(labels);
  std::vector<Index> all;
  for (const auto& rows : classes) all.insert(all.end(), rows.begin(), rows.end());
  const Index n = static_cast<Index>(all.size()), Q = X.cols();
  const Matrix Xl = X(all, Eigen::all);
  // The mean of each row's class, less the mean of all; and the row, less that of its class.
  Matrix between(n, Q), within(n, Q);
  Index at = 0;
  for (const auto& rows : classes) {
    const auto size = static_cast<Index>(rows.size());
    const Eigen::RowVectorXd mean = Xl.middleRows(at, size).colwise().mean();
    between.middleRows(at, size) = mean.replicate(size, 1);
    within.middleRows(at, size) = Xl.middleRows(at, size).rowwise() - mean;
    at += size;
  }
  between.rowwise() -= Xl.colwise().mean();
  const double share = 1.0 / static_cast<double>(n);
  Matrix Sw(Q, Q), Sb(Q, Q);
  syrk(share, within, Op::transpose, 0.0, Sw);
  syrk(share, between, Op::transpose, 0.0, Sb);
  mirror_lower(Sb);
  const Cholesky factor = cholesky(std::move(Sw), "the scatter within the classes");
  const Matrix inverse = factor.inverse(), ratio = product(inverse, Sb);
  const double J = ratio.trace(), value = 1.0 / J;
  if (X_bar) {
    // ∂J/∂Sb = Sw⁻¹ and ∂J/∂Sw = −Sw⁻¹SbSw⁻¹; what goes by way of the means adds up to nothing.
    const double scale = -2.0 * share * weight * value * value;
    Matrix bar = product(between, inverse);
    gemm(-scale, within, Op::none, product(ratio, inverse), Op::none, scale, bar);
    for (Index r = 0; r < n; ++r) X_bar->row(all[static_cast<std::size_t>(r)]) += bar.row(r);
  }
  return value;
}

void check_class_overlap(const std::vector<Index>& labels, Index N, Index dims) {
  if (static_cast<Index>(labels.size()) != N)
    throw InputError(fmt::format("a discriminative prior needs a label for each of {} rows, got {}",
                                 N, labels.size()));
  const auto classes = rows_of_classes(labels);
  const auto C = static_cast<Index>(classes.size());
  Index n = 0;
  for (const auto& rows : classes) n += static_cast<Index>(rows.size());
  if (C < 2)
    throw InputError(
        fmt::format("a discriminative prior needs two classes or more, the labels have {}", C));
  if (n - C < dims)
    throw InputError(
        fmt::format("{} labelled rows of {} classes do not fill {} latent dimensions; a "
                    "discriminative prior needs more of them, or fewer dimensions",
                    n, C, dims));
}

}  // namespace covary
