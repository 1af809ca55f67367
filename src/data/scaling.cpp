#include "covary/data/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "covary/error.hpp"

namespace covary {
namespace {

// Visits the observed entries row by row, as they lie in memory.
template <class Visit>
void for_each_observed(ConstRows X, Visit visit) {
  for (Index i = 0; i < X.rows(); ++i)
    for (Index j = 0; j < X.cols(); ++j)
      if (!std::isnan(X(i, j))) visit(j, X(i, j));
}

bool is_constant(const ColumnMoments& m, Index j) { return m.sd[j] <= 1e-10 * std::abs(m.mean[j]); }

void check_no_infinities(ConstRows X, const std::vector<std::string>& names) {
  Index count = 0, row = -1, column = -1;
  for (Index i = 0; i < X.rows(); ++i)
    for (Index j = 0; j < X.cols(); ++j)
      if (std::isinf(X(i, j)) && count++ == 0) row = i, column = j;
  if (count > 0)
    throw InputError(fmt::format(
        "the data have {} infinite values, the first at row {} of column {}; remove those rows or "
        "mark the cells as missing",
        count, row,
        names.empty() ? fmt::format("{}", column)
                      : fmt::format("'{}'", names[static_cast<std::size_t>(column)])));
}

void check_columns(const Scaling& scaling, ConstRows X) {
  if (X.cols() != scaling.cols())
    throw InputError(fmt::format("the data have {} columns, but the scaling was made for {}",
                                 X.cols(), scaling.cols()));
}

void warn_left_alone(ScalingFit& fit, const char* what, const std::vector<Index>& columns,
                     const std::vector<std::string>& names) {
  if (columns.empty()) return;
  constexpr std::size_t most = 5;
  std::vector<std::string> shown;
  for (std::size_t k = 0; k < std::min(columns.size(), most); ++k) {
    const auto j = static_cast<std::size_t>(columns[k]);
    shown.push_back(names.empty() ? fmt::format("{}", j) : fmt::format("'{}'", names[j]));
  }
  fit.warnings.push_back(fmt::format("{} column{} {} left unscaled: {}{}", columns.size(),
                                     columns.size() == 1 ? "" : "s", what, fmt::join(shown, ", "),
                                     columns.size() > most ? ", …" : ""));
}

void fit_columns(ScalingFit& fit, const ColumnMoments& m, const std::vector<std::string>& names) {
  std::vector<Index> constant, unobserved;
  for (Index j = 0; j < m.count.size(); ++j) {
    if (m.count[j] == 0) {
      unobserved.push_back(j);
    } else if (is_constant(m, j)) {
      constant.push_back(j);
    } else {
      fit.scaling.shift[j] = m.mean[j];
      fit.scaling.scale[j] = m.sd[j];
    }
  }
  warn_left_alone(fit, "with one constant value", constant, names);
  warn_left_alone(fit, "without any value", unobserved, names);
}

void fit_global(ScalingFit& fit, const ColumnMoments& m) {
  Index varying = 0;
  for (Index j = 0; j < m.count.size(); ++j) varying += !is_constant(m, j);
  if (varying == 0) {
    fit.warnings.push_back("every column is constant; none is scaled");
    return;
  }
  // The pooled variance, Σ_j n_j sd_j² / Σ_j n_j, over the largest sd for the sake of the units.
  const double largest = m.sd.maxCoeff();
  const double pooled = (m.count.array() * (m.sd / largest).array().square()).sum() / m.count.sum();
  fit.scaling.shift = m.mean;
  fit.scaling.scale.setConstant(largest * std::sqrt(pooled));
}

}  // namespace

ScaleMode parse_scale_mode(const std::string& name) {
  if (name == "columns") return ScaleMode::columns;
  if (name == "global") return ScaleMode::global;
  if (name == "none") return ScaleMode::none;
  throw InputError(fmt::format("scaling '{}' is unknown; choose columns, global or none", name));
}

Scaling Scaling::identity(Index D) { return {Vector::Zero(D), Vector::Ones(D)}; }

RowMatrix Scaling::apply(ConstRows X) const {
  check_columns(*this, X);
  return (X.rowwise() - shift.transpose()).array().rowwise() / scale.transpose().array();
}

RowMatrix Scaling::undo(ConstRows X) const {
  check_columns(*this, X);
  return (X.array().rowwise() * scale.transpose().array()).rowwise() + shift.transpose().array();
}

RowMatrix Scaling::undo_variance(ConstRows V) const {
  check_columns(*this, V);
  return V.array().rowwise() * scale.transpose().array().square();
}

double Scaling::log_jacobian(ConstRows Y) const {
  check_columns(*this, Y);
  Vector count = Vector::Zero(Y.cols());
  for_each_observed(Y, [&](Index j, double) { count[j] += 1; });
  return (count.array() * scale.array().log()).sum();
}

ColumnMoments column_moments(Index cols, const RowPass& pass) {
  const auto visit = [&](auto&& body) {
    pass([&](ConstRows block) { for_each_observed(block, body); });
  };
  const Vector zero = Vector::Zero(cols);
  ColumnMoments m{zero, zero, zero};
  visit([&](Index j, double) { m.count[j] += 1; });
  visit([&](Index j, double x) { m.mean[j] += x / m.count[j]; });
  Vector correction = zero, largest = zero;
  visit([&](Index j, double x) {
    correction[j] += (x - m.mean[j]) / m.count[j];
    largest[j] = std::max(largest[j], std::abs(x - m.mean[j]));
  });
  m.mean += correction;   // takes off the rounding of the first sum
  Vector squares = zero;  // of deviations over the largest, so that units of 1e±200 do no harm
  visit([&](Index j, double x) {
    const double d = largest[j] > 0 ? (x - m.mean[j]) / largest[j] : 0;
    squares[j] += d * d;
  });
  for (Index j = 0; j < cols; ++j)
    if (m.count[j] > 0) m.sd[j] = largest[j] * std::sqrt(squares[j] / m.count[j]);
  return m;
}

ScalingFit fit_scaling(const ColumnMoments& moments, ScaleMode mode,
                       const std::vector<std::string>& names) {
  ScalingFit fit{Scaling::identity(moments.count.size()), {}};
  if (mode == ScaleMode::columns) fit_columns(fit, moments, names);
  if (mode == ScaleMode::global) fit_global(fit, moments);
  return fit;
}

ScalingFit fit_scaling(ConstRows X, ScaleMode mode, const std::vector<std::string>& names) {
  if (X.rows() == 0 || X.cols() == 0)
    throw InputError(fmt::format("the data are empty ({}×{})", X.rows(), X.cols()));
  if (!names.empty() && static_cast<Index>(names.size()) != X.cols())
    throw InputError(fmt::format("{} names were given for {} columns", names.size(), X.cols()));
  check_no_infinities(X, names);
  if (mode == ScaleMode::none) return {Scaling::identity(X.cols()), {}};
  return fit_scaling(column_moments(X.cols(), [&](const auto& visit) { visit(X); }), mode, names);
}

ScaleMode suggest_mode(ConstRows X) {
  if (X.cols() <= 50) return ScaleMode::columns;
  constexpr double inf = std::numeric_limits<double>::infinity();
  Vector low = Vector::Constant(X.cols(), inf), high = Vector::Constant(X.cols(), -inf);
  for_each_observed(X, [&](Index j, double x) {
    low[j] = std::min(low[j], x);
    high[j] = std::max(high[j], x);
  });
  return suggest_mode(low, high);
}

ScaleMode suggest_mode(const Vector& low, const Vector& high) {
  if (low.size() <= 50) return ScaleMode::columns;
  const double range = high.maxCoeff() - low.minCoeff();
  Index varying = 0, wide = 0;
  for (Index j = 0; j < low.size(); ++j) {
    varying += high[j] > low[j];
    wide += high[j] > low[j] && high[j] - low[j] >= range / 2;
  }
  const bool one_unit = wide > 0 && 2 * wide >= varying;
  return one_unit ? ScaleMode::global : ScaleMode::columns;
}

}  // namespace covary
