#include "watch.hpp"

#include <algorithm>
#include <cmath>

namespace covary::python {
namespace {

namespace nb = nanobind;

double norm(const LbfgsState& s) {
  return s.gradient.size() ? s.gradient.cwiseAbs().maxCoeff() : 0.0;
}

}  // namespace

Watch::Watch(nb::object callback, nb::handle progress, const RegressionOptions& options,
             Index starts, double shift)
    : callback_(std::move(callback)), bar_(nb::none()), shift_(shift) {
  if (!progress.is(Py_False))
    bar_ = nb::module_::import_("covary.progress")
               .attr("begin")(progress, starts, options.training.max_iterations,
                              options.training.gradient_tolerance);
}

void Watch::attach(RegressionOptions& options) {
  // Between evaluations, which is when Python gets to see a signal.
  options.training.stop = [] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return false;
  };
  if (!callback_.is_none())
    options.training.callback = [this](const LbfgsState& s) {
      const nb::gil_scoped_acquire acquire;
      return !callback_(s.iterations, shift_ - s.value, norm(s)).is(Py_False);
    };
  if (!bar_.is_none())
    options.after_iteration = [this](const TrainingState& state) {
      if (!state.restarts.run) return;
      const LbfgsState& s = *state.restarts.run;
      const nb::gil_scoped_acquire acquire;
      bar_.attr("show")(state.restarts.start, s.iterations, shift_ - s.value, norm(s),
                        norm(s) / std::max(1.0, std::abs(s.value)));
    };
}

void Watch::close(bool finished) {
  if (!bar_.is_none()) bar_.attr("close")(finished);
}

}  // namespace covary::python
