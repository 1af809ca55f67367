#include "watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "covary/error.hpp"
#include "covary/models/fit.hpp"

namespace covary::python {
namespace {

std::string path_of(const nb::object& path) {
  return nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(path));
}

double norm(const LbfgsState& s) {
  return s.gradient.size() ? s.gradient.cwiseAbs().maxCoeff() : 0.0;
}

}  // namespace

std::string TrainingArguments::checkpoint_path() const {
  return checkpoint.is_none() ? std::string() : path_of(checkpoint);
}

TrainingArguments::Start TrainingArguments::start() const {
  Start out;
  if (from.is_none()) return out;
  if (nb::isinstance<Parameters>(from)) {
    out.parameters = &nb::cast<const Parameters&>(from);
    return out;
  }
  if (nb::isinstance<FitNode>(from)) {
    out.fit = &nb::cast<const FitNode&>(from);
  } else {
    out.loaded = load(path_of(from));
    out.fit = &**out.loaded;
  }
  out.parameters = &out.fit->parameters;
  return out;
}

void TrainingArguments::apply(TrainingOptions& training) const {
  if (resume && checkpoint.is_none())
    throw InputError("resume needs the checkpoint: checkpoint='file'");
  if (restarts) training.starts = restarts;
  training.max_iterations = max_iter;
  if (max_seconds) training.max_seconds = *max_seconds;
}

std::string digest_of(const nb::object& state) {
  const nb::object bytes = nb::module_::import_("pickle").attr("dumps")(state, 4);
  return nb::cast<std::string>(
      nb::module_::import_("hashlib").attr("sha256")(bytes).attr("hexdigest")());
}

void start_from(const Parameters& from, Parameters& parameters) {
  for (const Parameter& p : std::vector<Parameter>(parameters.all()))
    if (from.contains(p.path) && from.at(p.path).value.size() == p.value.size())
      parameters.set(p.path, from.at(p.path).value);
}

Watch::Watch(const TrainingArguments& a, const TrainingOptions& training, Index starts)
    : callback_(a.callback),
      bar_(nb::none()),
      checkpoint_(a.checkpoint_path()),
      resume_(a.resume),
      checkpointing_(checkpoint_) {
  if (!a.progress.is(Py_False))
    bar_ = nb::module_::import_("covary.progress")
               .attr("begin")(a.progress, starts, training.max_iterations,
                              training.gradient_tolerance);
}

TrainingState Watch::resume(const std::string& problem) {
  checkpointing_.problem = problem;
  if (!resume_ || !std::filesystem::exists(checkpoint_)) return {};
  return load_checkpoint(checkpoint_, problem);
}

void Watch::attach(TrainingOptions& training) {
  // Between evaluations, which is when Python gets to see a signal. What the caller's function
  // ended stays ended, also where training has several parts.
  training.stop = [this] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return stopped_;
  };
  if (!bar_.is_none() || !callback_.is_none() || !checkpoint_.empty())
    training.after_iteration = [this](const TrainingProgress& now) {
      show(now);
      checkpointing_.keep(now);
    };
  if (!bar_.is_none())
    training.tell = [this](const std::string& text) {
      const nb::gil_scoped_acquire acquire;
      bar_.attr("say")(text);
    };
}

// Of minibatches the means over some steps are seen: single values say little. There are none
// before the first step of Adam, while q moves alone.
void Watch::show(const TrainingProgress& now) {
  if (bar_.is_none() && callback_.is_none()) return;
  if (now.over || (now.adam && now.adam->steps == seen_)) return;
  double value = 0.0, slope = 0.0;
  if (now.adam) {
    seen_ = now.adam->steps;
    value = now.adam->mean;
    slope = now.adam->first.size() ? now.adam->first.cwiseAbs().maxCoeff() : 0.0;
  } else if (now.run) {
    value = now.run->value;
    slope = norm(*now.run);
  } else {
    return;
  }
  const nb::gil_scoped_acquire acquire;
  if (!callback_.is_none() && !stopped_)
    stopped_ =
        callback_(now.adam ? seen_ : now.run->iterations, shift_ - value, slope).is(Py_False);
  if (bar_.is_none()) return;
  if (now.adam)
    bar_.attr("say")(fmt::format("step {}  elbo about {:.4f}", seen_, shift_ - value));
  else
    bar_.attr("show")(now.start, now.run->iterations, shift_ - value, slope,
                      slope / std::max(1.0, std::abs(value)));
}

void Watch::close(bool finished) {
  if (!bar_.is_none()) bar_.attr("close")(finished);
}

}  // namespace covary::python
