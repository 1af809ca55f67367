#include "watch.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

namespace covary::python {
namespace {

namespace nb = nanobind;

double norm(const LbfgsState& s) {
  return s.gradient.size() ? s.gradient.cwiseAbs().maxCoeff() : 0.0;
}

}  // namespace

Watch::Watch(nb::object callback, nb::handle progress, const LbfgsOptions& training, Index starts,
             double shift)
    : callback_(std::move(callback)), bar_(nb::none()), shift_(shift) {
  if (!progress.is(Py_False))
    bar_ =
        nb::module_::import_("covary.progress")
            .attr("begin")(progress, starts, training.max_iterations, training.gradient_tolerance);
}

void Watch::attach(LbfgsOptions& training,
                   std::function<void(const TrainingState&)>& after_iteration) {
  // Between evaluations, which is when Python gets to see a signal. What the caller's function
  // ended stays ended, also where training has several parts.
  training.stop = [this] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return stopped_;
  };
  if (!callback_.is_none())
    training.callback = [this](const LbfgsState& s) {
      const nb::gil_scoped_acquire acquire;
      stopped_ = callback_(s.iterations, shift_ - s.value, norm(s)).is(Py_False);
      return !stopped_;
    };
  if (!bar_.is_none())
    after_iteration = [this](const TrainingState& state) { show(state.restarts); };
}

void Watch::attach(std::function<void(const std::string&)>& tell) {
  if (!bar_.is_none())
    tell = [this](const std::string& text) {
      const nb::gil_scoped_acquire acquire;
      bar_.attr("say")(text);
    };
}

void Watch::attach(SparseRegressionOptions& options) {
  attach(options.training, options.after_iteration);
  attach(options.tell);
}

void Watch::attach(GeneralisedOptions& options) {
  attach(options.training, options.after_iteration);
  attach(options.tell);
}

void Watch::attach(SvgpOptions& options) {
  std::function<void(const TrainingState&)> unused;
  attach(options.training, unused);
  attach(options.tell);
  if (!bar_.is_none() || !callback_.is_none())
    options.after_iteration = [this](const SvgpState& state) {
      if (state.adam)
        show(*state.adam);
      else
        show(state.restarts);
    };
}

void Watch::show(const RestartsState& state) {
  if (bar_.is_none() || !state.run) return;
  const LbfgsState& s = *state.run;
  const nb::gil_scoped_acquire acquire;
  bar_.attr("show")(state.start, s.iterations, shift_ - s.value, norm(s),
                    norm(s) / std::max(1.0, std::abs(s.value)));
}

// Of minibatches the means over some steps are seen: single values say little. There are none
// before the first step of Adam, while q moves alone.
void Watch::show(const AdamState& s) {
  if (s.steps == seen_) return;  // a batch that moved q alone
  seen_ = s.steps;
  const nb::gil_scoped_acquire acquire;
  if (!callback_.is_none() && !stopped_)
    stopped_ =
        callback_(s.steps, shift_ - s.mean, s.first.size() ? s.first.cwiseAbs().maxCoeff() : 0.0)
            .is(Py_False);
  if (!bar_.is_none())
    bar_.attr("say")(fmt::format("step {}  elbo about {:.4f}", s.steps, shift_ - s.mean));
}

void Watch::close(bool finished) {
  if (!bar_.is_none()) bar_.attr("close")(finished);
}

}  // namespace covary::python
