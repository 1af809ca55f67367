// How wide the bracket around the evidence is against M, and where automatic M stops: Snelson's
// set, 3000 rows of powerplant and 2000 of kin40k (drawn at random; these sizes so that all of it
// takes minutes). At each M: inducing inputs by greedy variance, 40 iterations of joint training of
// a squared exponential with a lengthscale for each input, parameters carried on from the M before.
// The two brackets are those of the trace bound, in O(NM²), and of conjugate gradients. No document
// has these figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "covary/data/scaling.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table.hpp"
#include "covary/random/random.hpp"
#include "experiments.hpp"
#include "small.hpp"
#include "sparse_support.hpp"
#include "support.hpp"

namespace covary::experiments {
namespace {

// Rows of a table, standardised; the target is its last column.
Data standardised(const std::string& path, Index rows, std::uint64_t seed) {
  const Table t = read_data(path);
  RowMatrix values = t.values;
  if (rows < values.rows())
    values = take_rows(values, sample_rows(values.rows(), rows, Random(seed, 11)));
  values = fit_scaling(values, ScaleMode::columns).scaling.apply(values);
  const Index D = values.cols() - 1;
  return {values.leftCols(D), values.col(D)};
}

double diagnostic(const RegressionFit& fit, const std::string& name) {
  for (const auto& [key, value] : fit.diagnostics)
    if (key == name) return value;
  return NAN;
}

SparseRegressionOptions options(std::uint64_t seed) {
  SparseRegressionOptions o;
  o.scale_inputs = o.scale_outputs = ScaleMode::none;
  o.seed = seed;
  o.subset = few(o.subset, 40);
  o.training.max_iterations = few(40, 2);
  return o;
}

void bracket_against_M(Result& result, const std::string& name, const Data& data,
                       const std::vector<Index>& sizes, Index most, std::uint64_t seed) {
  const double N = static_cast<double>(data.size());
  std::optional<Parameters> before;
  Matrix table(static_cast<Index>(sizes.size()), 5);  // M, bound, trace, cg, mean d/σ²
  bool ordered = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Index M = few(sizes[i], 4 + 4 * static_cast<Index>(i));
    SparseRegressionOptions o = options(seed);
    o.inducing = M;
    if (before) {
      // Z chosen at the parameters found before; those are the start.
      o.subset = 0;
      const Vector theta = before->values().head(o.kernel.parameter_count(data.X.cols()));
      o.Z = select_inducing(Selection::greedy_variance, M, data.X, o.kernel, theta, seed).Z;
    }
    SparseRegression model(data.X, data.Y, o);
    if (before)
      for (const char* const p : {"kernel.variance", "kernel.lengthscales", "likelihood.variance"})
        model.parameters().set(p, before->at(p).value);
    const RegressionFit fit = model.fit();
    before = fit.parameters;
    // The same place again, without conjugate gradients.
    o.Z = Eigen::Map<const RowMatrix>(fit.parameters.at("features.Z").value.data(),
                                      fit.parameters.at("features.Z").value.size() / data.X.cols(),
                                      data.X.cols());
    o.training.max_iterations = 0;
    o.certificate_flops = 0;
    SparseRegression again(data.X, data.Y, o);
    again.parameters().set_values(fit.parameters.values());
    const RegressionFit trace = again.fit();
    const double cg = diagnostic(fit, "bracket") / N, by_trace = diagnostic(trace, "bracket") / N;
    ordered = ordered && cg >= -1e-9 && by_trace >= -1e-9;
    table.row(static_cast<Index>(i)) << static_cast<double>(o.Z.rows()), fit.value / N, by_trace,
        cg, diagnostic(fit, "mean_residual_ratio");
    progress(fmt::format("{}, M = {}: bound {:.4f}, brackets {:.4f} and {:.4f} a row, {:.0f} s",
                         name, o.Z.rows(), fit.value / N, by_trace, cg, fit.summary.seconds));
    result.add(
        fmt::format("{}, M = {}: bound; bracket by trace; by CG; mean d/σ²", name, o.Z.rows()), "",
        fmt::format("{:.4f}; {:.4f}; {:.4f}; {:.3g}", fit.value / N, by_trace, cg,
                    diagnostic(fit, "mean_residual_ratio")),
        "nats a row");
  }
  const Index last = table.rows() - 1;
  result.claim(name + ": the bracket narrows as M grows",
               ordered && table(last, 3) < table(0, 3) && table(last, 2) < table(0, 2),
               fmt::format("by CG {:.4f} to {:.4f} nats a row", table(0, 3), table(last, 3)));

  SparseRegressionOptions automatic = options(seed);
  automatic.most_inducing = few(most, 12);
  automatic.training.tell = [&](const std::string& text) { progress("  " + text); };
  progress(name + ": automatic M");
  const RegressionFit fit = SparseRegression(data.X, data.Y, automatic).fit();
  const double width = diagnostic(fit, "bracket") / N,
               gain = fit.value - diagnostic(fit, "noise_only");
  result.add(fmt::format("{}, automatic: M; bound; bracket; mean d/σ²", name), "",
             fmt::format("{:.0f}; {:.4f}; {:.4f}; {:.3g}", diagnostic(fit, "inducing"),
                         fit.value / N, width, diagnostic(fit, "mean_residual_ratio")),
             "nats a row");
  const bool at_limit = fit.summary.reason.find("limit") != std::string::npos;
  result.claim(name + ": it stops with a narrow bracket, or says that it was the limit",
               at_limit || width <= 0.01 || width * N <= 0.05 * gain,
               fit.summary.reason.substr(0, fit.summary.reason.find(';')));
  result.series.push_back(
      {name + ": bracket of the evidence against M, nats a row",
       {"M", "trace", "conjugate gradients"},
       (Matrix(table.rows(), 3) << table.col(0), table.col(2), table.col(3)).finished()});
}

}  // namespace

Result automatic_m(std::uint64_t seed) {
  Result result;
  result.name = "automatic-m";
  result.source = "ours; background: Burt et al. 2020, Artemev et al. 2021";
  bracket_against_M(result, "Snelson", standardised("snelson1d/train.csv", 200, seed),
                    {4, 6, 8, 12, 16, 24}, 200, seed);
  bracket_against_M(result, "powerplant", standardised("powerplant/data.csv", 3000, seed),
                    {16, 32, 64, 128, 256}, 600, seed);
  bracket_against_M(result, "kin40k", standardised("kin40k/train.csv.gz", 2000, seed),
                    {32, 64, 128, 256, 512}, 600, seed);
  return result;
}

}  // namespace covary::experiments
