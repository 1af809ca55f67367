#pragma once

#include <nanobind/nanobind.h>

#include "covary/models/generalised.hpp"
#include "covary/models/map_gplvm.hpp"
#include "covary/models/missing_inputs.hpp"
#include "covary/models/sparse_regression.hpp"
#include "covary/models/svgp.hpp"
#include "unlocked.hpp"

namespace covary::python {

// Training as Python sees it: Ctrl-C, the caller's function and the bar. It must outlive the fit.
class Watch {
 public:
  // `progress` is True, False or None (where somebody watches). `shift` makes the objective that of
  // the data's units.
  Watch(nanobind::object callback, nanobind::handle progress, const LbfgsOptions& training,
        Index starts, double shift);

  void attach(RegressionOptions& options) { attach(options.training, options.after_iteration); }
  void attach(SparseRegressionOptions& options);
  void attach(GeneralisedOptions& options);
  void attach(SvgpOptions& options);
  void attach(GplvmOptions& options) { attach(options.training, options.after_iteration); }
  void attach(MapGplvmOptions& options) { attach(options.training, options.after_iteration); }
  void attach(MissingInputsOptions& options) { attach(options.training, options.after_iteration); }

  // For a model that knows its units only when it is made.
  void shift_by(double shift) { shift_ = shift; }

  // Trains a model with options that this was attached to, without the interpreter's lock.
  template <class Model>
  auto run(Model& model) {
    try {
      auto fit = unlocked([&] { return model.fit(); });
      close(true);
      return fit;
    } catch (...) {
      close(false);
      throw;
    }
  }

 private:
  void attach(LbfgsOptions& training, std::function<void(const TrainingState&)>& after_iteration);
  void attach(std::function<void(const std::string&)>& tell);
  void show(const RestartsState& state);
  void show(const AdamState& state);
  void close(bool finished);  // the bar

  nanobind::object callback_, bar_;
  double shift_;
  Index seen_ = 0;        // steps of Adam
  bool stopped_ = false;  // by the caller's function
};

}  // namespace covary::python
