#include "latent_support.hpp"

#include <fmt/format.h>

#include <cmath>

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

std::vector<Index> columns_between(Index first, Index end) {
  std::vector<Index> out;
  for (Index p = first; p < end; ++p) out.push_back(p);
  return out;
}

Dynamical train_dynamical(const RowMatrix& Y, GplvmOptions options, const std::string& name) {
  Gplvm model(Y, options);
  Dynamical out{Y, std::move(options), model.fit()};
  progress(fmt::format("{}: bound {:.1f} after {} iterations and {:.0f} s, {} dimensions", name,
                       out.fit.elbo, out.fit.summary.iterations, out.fit.summary.seconds,
                       out.fit.active().size()));
  return out;
}

Completed complete(const Dynamical& trained, const RowMatrix& Y, const RowMatrix& times,
                   const RowMatrix& start, Index iterations) {
  const Index N = trained.Y.rows(), n = Y.rows();
  GplvmOptions o = trained.options;
  o.times = above_and_below(o.times, times);
  if (o.sequences.empty()) o.sequences.push_back(0);
  o.sequences.push_back(N);
  o.start_mean = above_and_below(trained.fit.mean, start);
  const Parameters& known = trained.fit.parameters;
  const Index theta = o.dynamics.parameter_count(o.times.cols());
  o.dynamics_start = trained.fit.dynamics_values.tail(theta);
  o.held_iterations = 0;
  o.starts = 1;
  o.training.max_iterations = iterations;
  Gplvm model(above_and_below(trained.Y, Y), o);
  for (const Parameter& p : known.all())
    if (!p.path.starts_with("latent.")) {
      model.parameters().set(p.path, p.value);
      model.parameters().fix(p.path);  // rows that lie badly at first would spoil the mapping
    }
  Vector precisions = model.parameters().at("latent.precisions").value;
  const Vector& before = known.at("latent.precisions").value;
  precisions.head(before.size()) = before;
  model.parameters().set("latent.precisions", precisions);
  const GplvmFit fit = model.fit();
  return {fit.decode(fit.mean.bottomRows(n), fit.variance.bottomRows(n)).mean, fit.elbo};
}

}  // namespace covary::experiments
