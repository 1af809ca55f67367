#include "latent_support.hpp"

#include <fmt/format.h>

#include "sparse_support.hpp"

namespace covary::experiments {

std::vector<Index> nearest_rows(ConstRows of, ConstRows among, const std::vector<Index>& columns) {
  std::vector<Index> out;
  const std::vector<Index> seen = columns.empty() ? columns_between(0, of.cols()) : columns;
  const RowMatrix a = of(Eigen::all, seen), b = among(Eigen::all, seen);
  for (Index i = 0; i < a.rows(); ++i) {
    Index best = 0;
    (b.rowwise() - a.row(i)).rowwise().squaredNorm().minCoeff(&best);
    out.push_back(best);
  }
  return out;
}

RowMatrix above_and_below(ConstRows above, ConstRows below) {
  RowMatrix out(above.rows() + below.rows(), above.cols());
  out << above, below;
  return out;
}

Index moves_most(const RowMatrix& Y) {
  Index out = 0;
  (Y.rowwise() - Y.colwise().mean()).colwise().squaredNorm().maxCoeff(&out);
  return out;
}

std::vector<Index> columns_between(Index first, Index end) {
  std::vector<Index> out;
  for (Index p = first; p < end; ++p) out.push_back(p);
  return out;
}

GplvmFit train_dynamical(const RowMatrix& Y, const GplvmOptions& options, const std::string& name) {
  GplvmFit out = Gplvm(Y, options).fit();
  progress(fmt::format("{}: bound {:.1f} after {} iterations and {:.0f} s, {} dimensions", name,
                       out.value, out.summary.iterations, out.summary.seconds,
                       out.active().size()));
  return out;
}

GplvmFit train_with_sequence(const GplvmFit& fit, const RowMatrix& Y, GplvmOptions options,
                             const RowMatrix& further, const RowMatrix& times,
                             const RowMatrix& means, Index iterations) {
  options.sequences.push_back(Y.rows());
  options.times = above_and_below(options.times, times);
  options.start_mean = above_and_below(fit.mean, means);
  options.held_iterations = 0;
  options.training.starts = 1;
  options.training.max_iterations = iterations;
  options.dynamics_start = fit.dynamics_values.tail(options.dynamics.parameter_count(times.cols()));
  Gplvm model(above_and_below(Y, further), options);
  Parameters& all = model.parameters();
  for (const Parameter& p : fit.parameters.all()) {
    Vector value = all.at(p.path).value;
    value.head(p.value.size()) = p.value;  // of q(X) the rows that were there
    all.set(p.path, value);
  }
  return model.fit();
}

}  // namespace covary::experiments
