#include "covary/models/nearest_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/linalg/parallel.hpp"
#include "models/checks.hpp"
#include "models/class_rows.hpp"

namespace covary {
namespace {

std::vector<Index> observed_rows(ConstVector y) {
  std::vector<Index> rows;
  for (Index i = 0; i < y.size(); ++i)
    if (!std::isnan(y[i])) rows.push_back(i);
  return rows;
}

// Checked before anything is taken from them.
std::vector<Index> regression_rows(ConstRows X, ConstVector y) {
  check_regression_data(X, RowMatrix(y), Vector());
  return observed_rows(y);
}

}  // namespace

void NeighbourOptions::check() const {
  if (k < 1) throw InputError(fmt::format("{} neighbours were asked for; at least 1 is needed", k));
}

NearestRows::NearestRows(ConstRows X, const NeighbourOptions& options)
    : scaling_(fit_scaling(X, options.scale).scaling), X_(scaling_.apply(X)), k_(options.k) {
  options.check();
  if (k_ > X.rows())
    throw InputError(
        fmt::format("{} neighbours were asked for among {} rows; take fewer", k_, X.rows()));
}

Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> NearestRows::find(
    ConstRows Xnew) const {
  check_new_inputs(Xnew, X_.cols());
  const RowMatrix scaled = scaling_.apply(Xnew);
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> out(Xnew.rows(), k_);
  constexpr Index block = 32;
  parallel_for((Xnew.rows() + block - 1) / block, [&](Index b) {
    std::vector<std::pair<double, Index>> distance(static_cast<std::size_t>(X_.rows()));
    for (Index i = b * block; i < std::min(Xnew.rows(), (b + 1) * block); ++i) {
      for (Index j = 0; j < X_.rows(); ++j)
        distance[static_cast<std::size_t>(j)] = {(X_.row(j) - scaled.row(i)).squaredNorm(), j};
      std::partial_sort(distance.begin(), distance.begin() + k_, distance.end());
      for (Index n = 0; n < k_; ++n) out(i, n) = distance[static_cast<std::size_t>(n)].second;
    }
  });
  return out;
}

NeighbourClassifier::NeighbourClassifier(ConstRows X, ConstVector labels, Index classes,
                                         const NeighbourOptions& options)
    : label_(class_rows(X, labels, classes).label),
      classes_(classes),
      nearest_(take_rows(X, observed_rows(labels)), options) {}

RowMatrix NeighbourClassifier::predict(ConstRows Xnew) const {
  const auto rows = nearest_.find(Xnew);
  const auto k = static_cast<double>(nearest_.k());
  RowMatrix out = RowMatrix::Constant(Xnew.rows(), classes_, 1 / static_cast<double>(classes_));
  for (Index i = 0; i < rows.rows(); ++i)
    for (const Index row : rows.row(i)) out(i, label_[static_cast<std::size_t>(row)]) += 1;
  return out / (k + 1);
}

NeighbourRegressor::NeighbourRegressor(ConstRows X, ConstVector y, const NeighbourOptions& options)
    : y_(y(regression_rows(X, y))),
      variance_((y_.array() - y_.mean()).square().mean()),
      nearest_(take_rows(X, observed_rows(y)), options) {}

MeanVariance NeighbourRegressor::predict(ConstRows Xnew) const {
  const auto rows = nearest_.find(Xnew);
  const auto k = static_cast<double>(nearest_.k());
  MeanVariance out{Vector(Xnew.rows()), Vector(Xnew.rows())};
  for (Index i = 0; i < rows.rows(); ++i) {
    double sum = 0, squares = 0;
    for (const Index row : rows.row(i)) sum += y_[row];
    out.mean[i] = sum / k;
    for (const Index row : rows.row(i)) squares += std::pow(y_[row] - out.mean[i], 2);
    out.variance[i] = (1 + 1 / k) * (squares + variance_) / k;
  }
  return out;
}

}  // namespace covary
