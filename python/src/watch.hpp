#pragma once

#include <nanobind/nanobind.h>

#include "covary/models/regression.hpp"

namespace covary::python {

// Training as Python sees it: Ctrl-C, the caller's function and the bar. It must outlive the fit.
class Watch {
 public:
  // `progress` is True, False or None (where somebody watches). `shift` makes the objective that of
  // the data's units.
  Watch(nanobind::object callback, nanobind::handle progress, const RegressionOptions& options,
        Index starts, double shift);
  void attach(RegressionOptions& options);
  void close(bool finished);  // the bar

 private:
  nanobind::object callback_, bar_;
  double shift_;
};

}  // namespace covary::python
