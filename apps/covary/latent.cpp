#include "latent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "checkpointing.hpp"
#include "cost.hpp"
#include "covary/data/columns.hpp"
#include "covary/error.hpp"
#include "covary/models/correspondences.hpp"
#include "covary/models/stochastic_gplvm.hpp"
#include "options.hpp"

namespace covary::cli {

std::vector<std::string> names_of(const Table& table, const std::vector<Index>& columns) {
  std::vector<std::string> out;
  out.reserve(columns.size());
  for (const Index c : columns) out.push_back(table.names[static_cast<std::size_t>(c)]);
  return out;
}

std::vector<Index> output_columns(const Table& table, const std::vector<std::string>& asked,
                                  const std::vector<Index>& others, const Common& common) {
  if (!asked.empty()) return select_columns(table, split_lists(asked));
  std::vector<Index> out, text;
  for (Index c = 0; c < table.cols(); ++c)
    if (std::find(others.begin(), others.end(), c) == others.end())
      (table.is_text(c) ? text : out).push_back(c);
  if (out.empty()) throw InputError("the table has no column with numbers to model");
  if (!text.empty())
    tell(common, fmt::format("ignoring text columns: {}", fmt::join(names_of(table, text), ", ")));
  return out;
}

std::vector<std::string> cells_of(const Table& table, Index column) {
  const auto& text = table.text[static_cast<std::size_t>(column)];
  if (!text.empty()) return text;
  std::vector<std::string> out;
  for (const double v : table.values.col(column)) out.push_back(fmt::format("{}", v));
  return out;
}

namespace {

// By minibatches, or of other than Gaussian outputs.
bool is_stochastic(const TrainingArguments& t, const SparseArguments& s) {
  return s.batch > 0 || s.epochs > 0 || s.steps > 0 || s.learning_rate > 0.0 ||
         s.natural_step > 0.0 || !s.schedule.empty() ||
         (t.likelihood != "auto" && t.likelihood != "gaussian");
}

// What the course of training depends on. Unlike those of regression, --max-iter is in it: a start
// that has come to its limit is over.
std::string digest_of(const LatentArguments& a, const TrainingArguments& t, const GplvmOptions& o,
                      const RowMatrix& Y, const Parameters& parameters) {
  TrainingData d;
  d.X = o.times;
  d.Y = Y;
  RegressionOptions r;
  r.kernel = o.kernel;
  r.scale_outputs = o.scale_outputs;
  r.jitter = o.jitter;
  r.training.starts = o.training.starts;
  r.seed = o.seed;
  std::string out = problem_digest(d, r, parameters) +
                    fmt::format("gplvm {} {} {} {} {} {}", o.snr, t.max_iter, o.dynamics.print(),
                                fmt::join(o.sequences, ","), o.fixed_point, a.back_constraint);
  for (const auto& view : a.views) out += " " + view;
  if (!a.start_view.empty()) out += " from " + a.start_view;
  return out;
}

// First rows of the runs of equal cells.
std::vector<Index> runs_of(const std::vector<std::string>& cells) {
  std::vector<Index> out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (i == 0 || cells[i] != cells[i - 1]) out.push_back(static_cast<Index>(i));
  return out;
}

std::vector<LatentView> views_of(const LatentArguments& a, const Table& table,
                                 const std::vector<Index>& outputs) {
  std::vector<LatentView> out;
  for (const auto& text : a.views) {
    const auto [name, columns] = split_assignment(text, "--view");
    LatentView view{name, {}};
    for (const Index c : select_columns(table, split_lists({columns}))) {
      const auto at = std::find(outputs.begin(), outputs.end(), c);
      if (at == outputs.end())
        throw InputError(fmt::format("--view {}: column '{}' is not an output of the model", name,
                                     table.names[static_cast<std::size_t>(c)]));
      view.columns.push_back(at - outputs.begin());
    }
    out.push_back(std::move(view));
  }
  return out;
}

}  // namespace

void add_latent_options(CLI::App& sub, LatentArguments& a) {
  OptionAdder add(sub, "fit");
  add("latent", a.latent)->check(CLI::NonNegativeNumber)->capture_default_str();
  add("dynamics", a.dynamics);
  add("dynamics-kernel", a.dynamics_kernel)->capture_default_str();
  add("sequences", a.sequences);
  add("view", a.views);
  add("start-view", a.start_view);
  add("label", a.label);
  add("fixed-point", a.fixed_point)->check(CLI::NonNegativeNumber);
  add("back-constraint", a.back_constraint)->check(CLI::IsMember({"kernel", "network"}));
  add("discriminative", a.discriminative)->check(CLI::NonNegativeNumber)->capture_default_str();
  add("snr", a.snr)->capture_default_str();
}

GplvmOptions gplvm_options(const LatentArguments& a, const TrainingArguments& t,
                           const SparseArguments& s, const std::string& kernel,
                           const Common& common) {
  GplvmOptions o;
  o.kernel = Kernel(kernel);
  o.inducing = inducing_of(s) ? inducing_of(s) : 50;
  o.scale_outputs = latent_scale(t);
  o.jitter = t.jitter;
  o.snr = a.snr;
  o.training.starts = t.restarts;
  o.seed = t.seed;
  o.training.max_iterations = t.max_iter;
  if (t.max_seconds > 0.0) o.training.max_seconds = t.max_seconds;
  o.training.stop = Interruption::requested;
  o.training.tell = [&common](const std::string& text) { tell(common, text); };
  return o;
}

ScaleMode latent_scale(const TrainingArguments& t) {
  return t.no_scale || t.scale == "none" ? ScaleMode::none
         : t.scale == "auto"             ? ScaleMode::global
                                         : parse_scale_mode(t.scale);
}

LatentTable read_latent(const LatentArguments& a, const TrainingArguments& t,
                        const Common& common) {
  const Table table = read_table(t.train, {.header = parse_header(t.header)});
  for (const auto& note : table.notes) tell(common, note);
  std::vector<Index> others;
  const auto column = [&](const std::string& spec) {
    const Index c = select_columns(table, {spec}).front();
    others.push_back(c);
    return c;
  };
  LatentTable out;
  if (!a.label.empty()) out.labels = cells_of(table, column(a.label));
  if (!a.dynamics.empty()) {
    const Index c = column(a.dynamics);
    out.times = numeric_columns(table, {c});
    out.time_names = names_of(table, {c});
    if (!a.sequences.empty()) out.sequences = runs_of(cells_of(table, column(a.sequences)));
  } else if (!a.sequences.empty()) {
    throw InputError("--sequences needs --dynamics; name the column of times");
  }
  const auto outputs = output_columns(table, t.target, others, common);
  out.Y = numeric_columns(table, outputs);
  out.views = views_of(a, table, outputs);
  out.output_names = names_of(table, outputs);
  return out;
}

ProblemSize size_of(const LatentTable& table, Index latent) {
  ProblemSize size;
  size.rows = static_cast<double>(table.Y.rows());
  size.outputs = static_cast<double>(table.Y.cols());
  size.patterns = patterns_of(table.Y);
  size.latent = static_cast<double>(latent);
  size.views = static_cast<double>(std::max<std::size_t>(1, table.views.size()));
  size.dynamics = table.times.size() > 0;
  return size;
}

LatentRun fit_latent(const LatentArguments& a, const TrainingArguments& t, const SparseArguments& s,
                     const std::string& kernel, const CheckpointArguments& checkpoint,
                     const Forecast& forecast, const Common& common) {
  LatentTable table = read_latent(a, t, common);
  GplvmOptions o = gplvm_options(a, t, s, kernel, common);
  o.latent = a.latent ? a.latent : std::min<Index>(10, table.Y.cols());
  ProblemSize size = size_of(table, o.latent);
  size.inducing = static_cast<double>(o.inducing);
  size.batch = static_cast<double>(s.batch);
  forecast(size, std::max<Index>(1, t.restarts));
  o.times = std::move(table.times);
  o.sequences = std::move(table.sequences);
  o.dynamics = Kernel(a.dynamics_kernel);
  o.fixed_point = a.fixed_point;
  o.views = std::move(table.views);
  o.start_view = a.start_view;
  if (!a.back_constraint.empty())
    o.back_constraint = RecognitionOptions{.form = a.back_constraint, .seed = t.seed};
  if (s.model == "mrd" && o.views.size() < 2)
    throw InputError("--model mrd needs two views or more: --view a=COL,… --view b=COL,…");
  TrainingSession session(t, checkpoint, common);
  session.attach(o.training);
  const auto train = [&](auto& model, const std::string& more) {
    apply_settings(t, model.parameters());
    if (session.keeps())
      model.resume(session.resume(digest_of(a, t, o, table.Y, model.parameters()) + more));
    session.begin();
    return model.fit();
  };
  LatentRun out;
  if (is_stochastic(t, s)) {
    StochasticGplvmOptions all;
    all.likelihood = t.likelihood == "auto" ? Likelihood("gaussian") : Likelihood(t.likelihood);
    set_minibatches(s, o.training);
    all.gplvm = o;
    StochasticGplvm model(table.Y, all);
    out.saved.fit =
        train(model, fmt::format("{} {} {} {} {} {} {}", all.likelihood.print(), s.batch, s.epochs,
                                 s.steps, s.learning_rate, s.schedule, s.natural_step));
  } else {
    Gplvm model(table.Y, o);
    out.saved.fit = train(model, "");
  }
  out.interrupted = Interruption::requested();
  session.end();
  out.checkpointed = session.has_checkpoint();
  out.saved.fit.output_names = std::move(table.output_names);
  out.saved.fit.row_labels = std::move(table.labels);
  out.saved.fit.time_names = std::move(table.time_names);
  return out;
}

std::optional<RowMatrix> latent_points(const Table& table, Index latent) {
  std::vector<std::string> names;
  for (Index q = 0; q < latent; ++q) names.push_back(fmt::format("x{}", q));
  for (const auto& name : names)
    if (std::find(table.names.begin(), table.names.end(), name) == table.names.end()) return {};
  return numeric_columns(table, select_columns(table, names));
}

Outcome give_latent(const DataArguments& a, const LatentMoments& x, const Prediction& p,
                    const std::vector<std::string>& output_names, const Common& common) {
  const Index Q = x.mean.cols();
  RowMatrix values(x.mean.rows(), 2 * Q + 2 * p.mean.cols());
  values << x.mean, x.variance, p.mean, p.variance_y;
  std::vector<std::string> names;
  for (const char* what : {"x", "variance_x"})
    for (Index q = 0; q < Q; ++q) names.push_back(fmt::format("{}{}", what, q));
  for (const char* what : {"mean_", "variance_"})
    for (const auto& name : output_names) names.push_back(what + name);
  return give_table(a, names, values, "rows", common);
}

double reconstruction_error(ConstRows Y, ConstRows mean) {
  double squares = 0.0, count = 0.0;
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index k = 0; k < Y.cols(); ++k)
      if (!std::isnan(Y(i, k))) {
        squares += std::pow(Y(i, k) - mean(i, k), 2);
        count += 1.0;
      }
  if (count == 0.0) throw InputError("the table has no observed output to score");
  return std::sqrt(squares / count);
}

namespace {

// The times of the rows, if the model has dynamics and the table has them.
template <class Fit>
std::optional<RowMatrix> times_in(const Table& table, const Fit& fit) {
  for (const std::string& name : fit.time_names)
    if (std::find(table.names.begin(), table.names.end(), name) == table.names.end())
      return std::nullopt;
  if (!fit.dynamics) return std::nullopt;
  return numeric_columns(table, select_columns(table, fit.time_names));
}

// `place` finds the means and variances of the latent inputs of rows of outputs.
template <class Fit, class Place>
Outcome predict_rows(const Fit& fit, const DataArguments& a, const Common& common,
                     const Place& place) {
  const Table table = read_table(a.data, {parse_header(a.header)});
  const bool has_outputs =
      std::all_of(fit.output_names.begin(), fit.output_names.end(), [&](const std::string& name) {
        return std::find(table.names.begin(), table.names.end(), name) != table.names.end();
      });
  RowMatrix mean, variance;
  if (const auto points = latent_points(table, fit.latent()); !has_outputs && points) {
    tell(common, "the table has points of the latent space and no outputs: they are decoded");
    mean = *points;
    variance = RowMatrix::Zero(mean.rows(), mean.cols());
  } else if (!has_outputs && fit.dynamics) {
    tell(common, "the table has no outputs: a forecast at its times, after the last sequence");
    const auto sequences = static_cast<Index>(fit.dynamics->options().sequences.size());
    const LatentMarginals ahead =
        fit.forecast(numeric_columns(table, select_columns(table, fit.time_names)), sequences - 1);
    mean = ahead.mean;
    variance = ahead.variance;
  } else {
    std::tie(mean, variance) =
        place(table, numeric_columns(table, select_columns(table, fit.output_names)));
  }
  const Prediction p = variance.isZero(0.0) ? fit.decode(mean) : fit.decode(mean, variance);
  return give_latent(a, {mean, variance}, p, fit.output_names, common);
}

}  // namespace

Outcome predict_latent(const SavedLatent& m, const DataArguments& a, const Common& common) {
  return predict_rows(m.fit, a, common, [&](const Table& table, const RowMatrix& Y) {
    if (const auto times = times_in(table, m.fit)) {
      tell(common, "the rows have times: they are placed together, as one further sequence");
      auto found = m.fit.infer_sequence(Y, *times);
      return std::pair(std::move(found.mean), std::move(found.variance));
    }
    auto found = m.fit.infer(Y);
    return std::pair(std::move(found.mean), std::move(found.variance));
  });
}

Outcome predict_latent(const SavedMapGplvm& m, const DataArguments& a, const Common& common) {
  return predict_rows(m.fit, a, common, [&](const Table&, const RowMatrix& Y) {
    RowMatrix X = m.fit.place(Y).X, none = RowMatrix::Zero(X.rows(), X.cols());
    return std::pair(std::move(X), std::move(none));
  });
}

Outcome predict_correspondences(const SavedLatent& m, const DataArguments& a, Index neighbours,
                                const Common& common) {
  const GplvmFit& fit = m.fit;
  const Table table = read_table(a.data, {parse_header(a.header)});
  const RowMatrix Y = numeric_columns(table, select_columns(table, fit.output_names));
  const Correspondences found = correspondences(fit, Y, {.neighbours = neighbours});
  std::vector<std::string> names{"row", "neighbour", "training_row", "distance"};
  for (const char* what : {"mean_", "variance_"})
    for (const auto& name : fit.output_names) names.push_back(what + name);
  RowMatrix values(Y.rows() * neighbours, static_cast<Index>(names.size()));
  for (Index k = 0; k < neighbours; ++k) {
    const Prediction p = fit.decode(found.latent[static_cast<std::size_t>(k)]);
    for (Index i = 0; i < Y.rows(); ++i) {
      const auto& rows = found.rows[static_cast<std::size_t>(i)];
      values.row(i * neighbours + k) << static_cast<double>(i), static_cast<double>(k + 1),
          static_cast<double>(rows[static_cast<std::size_t>(k)]), found.distances(i, k),
          p.mean.row(i), p.variance_y.row(i);
    }
  }
  return give_table(a, names, values, "correspondences", common);
}

Outcome evaluate_latent(const SavedLatent& m, const DataArguments& a) {
  const GplvmFit& fit = m.fit;
  const Table table = read_table(a.data, {parse_header(a.header)});
  const RowMatrix Y = numeric_columns(table, select_columns(table, fit.output_names));
  const auto scores = [&](const RowMatrix& mean, const RowMatrix& variance, double bound) {
    const double error = reconstruction_error(Y, fit.decode(mean, variance).mean);
    Outcome out;
    out.object = {
        {"n", Y.rows()}, {"reconstruction_rmse", finite(error)}, {"bound", finite(bound)}};
    out.text = fmt::format(
        "reconstruction_rmse {:.6g} (of the outputs it was given)\nbound {:.6g} (of log p(y) a "
        "row)\n",
        error, bound);
    return out;
  };
  if (const auto times = times_in(table, fit)) {  // together, as predict places them
    const auto found = fit.infer_sequence(Y, *times);
    Outcome out = scores(found.mean, found.variance, found.bound / static_cast<double>(Y.rows()));
    out.object["sequence"] = true;
    return out;
  }
  const auto found = fit.infer(Y);
  Outcome out = scores(found.mean, found.variance, found.bound.mean());
  const double density = fit.log_density(Y).mean();
  out.object["log_density"] = finite(density);
  out.text += fmt::format("log_density {:.6g} (an estimate of log p(y) a row)\n", density);
  return out;
}

}  // namespace covary::cli
