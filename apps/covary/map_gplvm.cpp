#include "map_gplvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checkpointing.hpp"
#include "covary/data/columns.hpp"
#include "covary/data/labels.hpp"
#include "covary/error.hpp"

namespace covary::cli {
namespace {

// Of cells, −1 where they are missing.
std::vector<Index> classes_of(const std::vector<std::string>& cells) {
  std::vector<Index> out;
  out.reserve(cells.size());
  for (const double code : Labels::from(cells).encode(cells))
    out.push_back(std::isnan(code) ? -1 : static_cast<Index>(code));
  return out;
}

}  // namespace

MapGplvmRun fit_map_gplvm(const LatentArguments& a, const TrainingArguments& t,
                          const std::string& kernel, const CheckpointArguments& checkpoint,
                          const Forecast& forecast, const Common& common) {
  if (a.discriminative > 0.0 && a.label.empty())
    throw InputError("--discriminative needs labels; name their column with --label");
  LatentTable table = read_latent(a, t, common);
  forecast(size_of(table, a.latent), std::max<Index>(1, t.restarts));
  MapGplvmOptions o;
  o.latent = a.latent ? a.latent : std::min<Index>(2, table.Y.cols());
  o.kernel = Kernel(kernel);
  o.views = std::move(table.views);
  o.scale_outputs = latent_scale(t);
  o.jitter = t.jitter;
  o.times = std::move(table.times);
  o.dynamics = Kernel(a.dynamics_kernel);
  o.sequences = std::move(table.sequences);
  if (!a.back_constraint.empty())
    o.back_constraint = RecognitionOptions{.form = a.back_constraint, .seed = t.seed};
  if (a.discriminative > 0.0) {
    o.labels = classes_of(table.labels);
    o.discriminative = a.discriminative;
  }
  o.snr = a.snr;
  o.training.starts = t.restarts;
  o.seed = t.seed;
  o.training.max_iterations = t.max_iter;
  if (t.max_seconds > 0.0) o.training.max_seconds = t.max_seconds;
  TrainingSession session(t, checkpoint, common);
  session.attach(o.training);
  MapGplvm model(table.Y, o);
  apply_settings(t, model.parameters());
  if (session.keeps()) {
    TrainingData d;
    d.X = o.times;
    d.Y = table.Y;
    RegressionOptions r;
    r.kernel = o.kernel;
    r.scale_outputs = o.scale_outputs;
    r.jitter = o.jitter;
    r.seed = o.seed;
    model.resume(session.resume(problem_digest(d, r, model.parameters()) +
                                fmt::format("map_gplvm {} {} {} {} {} {}", o.snr, o.discriminative,
                                            o.dynamics.print(), fmt::join(o.sequences, ","),
                                            t.restarts, fmt::join(a.views, " "))));
  }
  session.begin();
  MapGplvmRun out{{model.fit()}, Interruption::requested(), false};
  session.end();
  out.checkpointed = session.has_checkpoint();
  out.saved.fit.output_names = std::move(table.output_names);
  out.saved.fit.row_labels = std::move(table.labels);
  out.saved.fit.time_names = std::move(table.time_names);
  return out;
}

Outcome evaluate_map_gplvm(const SavedMapGplvm& m, const DataArguments& a) {
  const Table table = read_table(a.data, {parse_header(a.header)});
  const RowMatrix Y = numeric_columns(table, select_columns(table, m.fit.output_names));
  const MapGplvmFit::Placed placed = m.fit.place(Y);
  const double reconstruction = reconstruction_error(Y, m.fit.decode(placed.X).mean),
               likelihood = placed.log_likelihood.mean();
  Outcome out;
  out.object = {{"n", Y.rows()},
                {"reconstruction_rmse", finite(reconstruction)},
                {"log_likelihood", finite(likelihood)}};
  out.text = fmt::format(
      "reconstruction_rmse {:.6g} (of the outputs it was given)\nlog_likelihood {:.6g} (log p(y | "
      "x) of a row where it was placed)\n",
      reconstruction, likelihood);
  return out;
}

}  // namespace covary::cli
