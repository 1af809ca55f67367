#pragma once

#include <cmath>
#include <vector>

#include "covary/statistics/row_terms.hpp"

namespace covary {

// The observed rows of one output, side by side: the likelihood's question and its answer.
struct PackedRows {
  std::vector<Index> rows;
  Vector y, aux, weights, value;
  Matrix mean, variance, mean_bar, variance_bar;  // rows × per datum
  Matrix coupling;                                // rows × pairs, if wanted

  // Of output p, whose arguments are the columns first … of these means and variances.
  void load(const DataBlock& block, Index p, const Matrix& all_mean, const Matrix& all_variance,
            Index first, Index per_datum, Index pairs) {
    rows.clear();
    for (Index i = 0; i < block.x.n; ++i)
      if (!std::isnan(block.y[i * block.outputs + p])) rows.push_back(i);
    const auto n = static_cast<Index>(rows.size());
    for (Vector* v : {&y, &value}) v->resize(n);
    for (Matrix* m : {&mean, &variance, &mean_bar, &variance_bar}) m->resize(n, per_datum);
    coupling.setZero(n, pairs);  // what a likelihood does not say
    aux.resize(block.noise ? n : 0);
    weights.resize(block.weights ? n : 0);
    for (Index i = 0; i < n; ++i) {
      const Index row = at(i);
      y(i) = block.y[row * block.outputs + p];
      mean.row(i) = all_mean.row(row).segment(first, per_datum);
      variance.row(i) = all_variance.row(row).segment(first, per_datum);
      if (block.noise) aux(i) = block.noise[row];
      if (block.weights) weights(i) = block.weights[row];
    }
  }
  Index at(Index i) const { return rows[static_cast<std::size_t>(i)]; }
  RowTerms terms(double* parameters_bar) {
    RowTerms t;
    t.n = y.size();
    t.y = y.data();
    t.aux = aux.size() ? aux.data() : nullptr;
    t.weights = weights.size() ? weights.data() : nullptr;
    t.mean = mean.data();
    t.variance = variance.data();
    t.stride = t.n;
    t.value = value.data();
    t.mean_bar = mean_bar.data();
    t.variance_bar = variance_bar.data();
    t.coupling = coupling.cols() ? coupling.data() : nullptr;
    t.parameters_bar = parameters_bar;
    return t;
  }
  // Over all rows of the block; those that are missing keep their zeros.
  void spread(Matrix& m_bar, Matrix& v_bar, Matrix& c, Index first, Index first_pair) const {
    for (Index i = 0; i < y.size(); ++i) {
      c.row(at(i)).segment(first_pair, coupling.cols()) = coupling.row(i);
      m_bar.row(at(i)).segment(first, mean_bar.cols()) = mean_bar.row(i);
      v_bar.row(at(i)).segment(first, mean_bar.cols()) = variance_bar.row(i);
    }
  }
};

}  // namespace covary
