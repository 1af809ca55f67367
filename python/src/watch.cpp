#include "watch.hpp"

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
    after_iteration = [this](const TrainingState& state) {
      if (!state.restarts.run) return;
      const LbfgsState& s = *state.restarts.run;
      const nb::gil_scoped_acquire acquire;
      bar_.attr("show")(state.restarts.start, s.iterations, shift_ - s.value, norm(s),
                        norm(s) / std::max(1.0, std::abs(s.value)));
    };
}

void Watch::attach(SparseRegressionOptions& options) {
  attach(options.training, options.after_iteration);
  if (!bar_.is_none())
    options.tell = [this](const std::string& text) {
      const nb::gil_scoped_acquire acquire;
      bar_.attr("say")(text);
    };
}

void Watch::close(bool finished) {
  if (!bar_.is_none()) bar_.attr("close")(finished);
}

}  // namespace covary::python
