#include "covary/models/request.hpp"

#include <fmt/format.h>

#include <charconv>
#include <span>

#include "covary/data/split.hpp"
#include "covary/error.hpp"
#include "covary/inference/exact.hpp"
#include "covary/statistics/sweep.hpp"
#include "models/words.hpp"
#include "storage/sha256.hpp"

namespace covary {
namespace {

void add(Sha256& digest, const char* name, const double* values, Index size) {
  digest.update(fmt::format("\n{} {}:", name, size));
  digest.update(std::as_bytes(std::span(values, static_cast<std::size_t>(size))));
}

void add(Sha256& digest, const ModelData& d) {
  if (d.file)
    Sweep(*d.file, 4096).for_each_block([&](const DataBlock& block) {
      add(digest, "x", block.x.data, block.x.n * block.x.dims);
      add(digest, "y", block.y, block.x.n * block.outputs);
    });
  for (const auto& [name, rows] : {std::pair{"X", &d.X},
                                   {"Y", &d.Y},
                                   {"times", &d.times},
                                   {"input variance", &d.input_variance}}) {
    digest.update(fmt::format("\n{}×{}", rows->rows(), rows->cols()));
    add(digest, name, rows->data(), rows->size());
  }
  for (const auto& [name, column] :
       {std::pair{"noise", &d.noise}, {"aux", &d.aux}, {"weights", &d.weights}})
    add(digest, name, column->data(), column->size());
  if (d.likelihood) digest.update("\n" + d.likelihood->print());
  digest.update(fmt::format("\n{}", fmt::join(d.sequences, ",")));
}

void add(Sha256& digest, const Parameters& parameters) {
  for (const Parameter& p : parameters.all()) {
    digest.update(fmt::format("\n{} {} {} {} {} {} {} {}", p.path,
                              static_cast<int>(p.transform.kind()), p.transform.low(),
                              p.transform.high(), p.prior ? p.prior->describe() : "-", p.trainable,
                              p.tied_to, p.ratio));
    add(digest, "value", p.value.data(), p.value.size());
  }
}

ScaleMode scale_of(const FitOptions& o, ScaleMode suggested) {
  if (!o.is_scaled()) return ScaleMode::none;
  return o.scale == "auto" ? suggested : parse_scale_mode(o.scale);
}

void apply_settings(const FitOptions& o, Parameters& p) {
  for (const auto& text : o.bounds) {
    const auto [path, value] = split_assignment(text, "--bounds");
    const auto ends = parse_numbers(value, "--bounds " + path);
    if (ends.size() != 2) throw InputError(fmt::format("--bounds {} takes two numbers a,b", path));
    p.set_bounds(path, ends[0], ends[1]);
  }
  for (const auto& text : o.set) {
    const auto [path, value] = split_assignment(text, "--set");
    const auto numbers = parse_numbers(value, "--set " + path);
    p.set(path, Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size())));
  }
  for (const auto& text : o.prior) {
    const auto [path, value] = split_assignment(text, "--prior");
    p.set_prior(path, Prior::parse(value));
  }
  for (const auto& text : o.tie) {
    auto [path, target] = split_assignment(text, "--tie");
    double ratio = 1.0;
    if (const auto star = target.find('*'); star != std::string::npos) {
      ratio = parse_numbers(target.substr(0, star), "--tie " + path).front();
      target = target.substr(star + 1);
    }
    p.tie(path, target, ratio);
  }
  for (const auto& path : split_lists(o.fix)) p.fix(path);
}

Index parsed_inducing(const std::string& text) {
  if (text == "auto") return 0;
  Index M = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), M);
  if (error != std::errc() || end != text.data() + text.size() || M < 1)
    throw InputError(
        fmt::format("--inducing takes a number of at least 1, or auto; got '{}'", text));
  return M;
}

}  // namespace

FitRequest FitRequest::with_rows(const std::vector<Index>& numbers) const {
  FitRequest out{entry, model, options, data.rows(numbers)};
  out.options.standard_errors = "no";
  out.options.verbose = false;
  return out;
}

TrainingOptions FitRequest::training() const {
  TrainingOptions out;
  out.starts = options.restarts;
  out.max_iterations = options.max_iter;
  if (options.max_seconds > 0.0) out.max_seconds = options.max_seconds;
  out.batch = options.batch;
  out.epochs = options.epochs;
  out.steps = options.steps;
  if (options.learning_rate > 0.0) out.learning_rate.rate = options.learning_rate;
  if (!options.schedule.empty()) out.learning_rate.schedule = parse_schedule(options.schedule);
  if (options.decay > 0.0) out.learning_rate.decay = options.decay;
  out.learning_rate.every = options.every;
  out.learning_rate.warm_up = options.warm_up;
  if (options.natural_step > 0.0) out.natural_step = options.natural_step;
  if (session) session->attach(out);
  return out;
}

void FitRequest::settle(Parameters& parameters) {
  if (from) {
    for (const Parameter& p : std::vector<Parameter>(parameters.all())) {
      const Parameters& there = (*from)->parameters;
      const bool matches =
          there.contains(p.path) && there.at(p.path).value.size() == p.value.size();
      (matches ? taken : not_found).push_back(p.path);
      if (matches) parameters.set(p.path, there.at(p.path).value);
    }
    tell(fmt::format(
        "start from {}: {}{}", options.from,
        taken.empty() ? "nothing" : fmt::format("{}", fmt::join(taken, ", ")),
        not_found.empty() ? "" : fmt::format("; not in it: {}", fmt::join(not_found, ", "))));
  }
  apply_settings(options, parameters);
}

TrainingState FitRequest::resume(const Parameters& parameters) {
  if (!session || !session->keeps()) return {};
  // A start of a latent-variable model that has come to its limit is over.
  Sha256 digest;
  digest.update(entry->label() + " " + model +
                print_course(options, entry->reads("fit", "latent") || options.gplvm > 0));
  add(digest, data);
  add(digest, parameters);
  return session->resume(digest.hex());
}

void FitRequest::name(FitRecord& fit) const {
  if (entry->form != Form::plain) fit.form = entry->label();
  fit.input_columns = data.inputs;
  fit.output_names = data.output_names;
  fit.formats = data.formats;
}

Index FitRequest::inducing() const { return parsed_inducing(options.inducing); }

RowMatrix FitRequest::inducing_rows() const {
  return options.inducing_file.empty() ? RowMatrix()
                                       : data.inputs.apply(read_table(options.inducing_file));
}

ScaleMode FitRequest::input_scale() const {
  return scale_of(options, data.file ? data.file_inputs : suggest_mode(data.X));
}
ScaleMode FitRequest::output_scale() const {
  return scale_of(options, data.file ? data.file_outputs : suggest_mode(data.Y));
}
ScaleMode FitRequest::latent_scale() const { return scale_of(options, ScaleMode::global); }

ProblemSize problem_size(const ModelData& d, const FitOptions& o) {
  ProblemSize size;
  size.rows = static_cast<double>(d.count());
  size.inputs = static_cast<double>(d.file ? d.file->dims() : d.X.cols());
  size.outputs = static_cast<double>(d.file ? d.file->outputs() : d.Y.cols());
  if (d.file)
    size.patterns.assign(columns_by_pattern(*d.file).size(), size.rows);
  else
    for (const Pattern& pattern : missing_patterns(Matrix(d.Y)))
      size.patterns.push_back(static_cast<double>(pattern.rows.size()));
  size.inducing = static_cast<double>(parsed_inducing(o.inducing));
  size.batch = static_cast<double>(o.batch);
  size.latent = static_cast<double>(o.latent);
  if (d.likelihood) size.functions = static_cast<double>(d.likelihood->functions()) * size.outputs;
  if (o.functions) size.functions = static_cast<double>(o.functions);
  size.views = static_cast<double>(std::max<std::size_t>(1, d.views.size()));
  size.standard_errors = o.standard_errors == "yes";
  size.stream = d.file != nullptr;
  size.dynamics = d.times.size() > 0;
  return size;
}

}  // namespace covary
