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

Watch::Watch(nb::object callback, nb::handle progress, const TrainingOptions& training,
             Index starts, double shift)
    : callback_(std::move(callback)), bar_(nb::none()), shift_(shift) {
  if (!progress.is(Py_False))
    bar_ =
        nb::module_::import_("covary.progress")
            .attr("begin")(progress, starts, training.max_iterations, training.gradient_tolerance);
}

void Watch::attach(TrainingOptions& training) {
  // Between evaluations, which is when Python gets to see a signal. What the caller's function
  // ended stays ended, also where training has several parts.
  training.stop = [this] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return stopped_;
  };
  if (!bar_.is_none() || !callback_.is_none())
    training.after_iteration = [this](const TrainingProgress& now) { show(now); };
  if (!bar_.is_none())
    training.tell = [this](const std::string& text) {
      const nb::gil_scoped_acquire acquire;
      bar_.attr("say")(text);
    };
}

// Of minibatches the means over some steps are seen: single values say little. There are none
// before the first step of Adam, while q moves alone.
void Watch::show(const TrainingProgress& now) {
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
