#pragma once

#include <nanobind/nanobind.h>

#include "covary/training/trainer.hpp"
#include "unlocked.hpp"

namespace covary::python {

// Training as Python sees it: Ctrl-C, the caller's function and the bar. It must outlive the fit.
class Watch {
 public:
  // `progress` is True, False or None (where somebody watches). `shift` makes the objective that of
  // the data's units.
  Watch(nanobind::object callback, nanobind::handle progress, const TrainingOptions& training,
        Index starts, double shift);

  void attach(TrainingOptions& training);

  // For a model that knows its units only when it is made.
  void shift_by(double shift) { shift_ = shift; }

  // Trains a model with options that this was attached to, without the interpreter's lock.
  template <class Model>
  auto run(Model& model) {
    return run_with([&] { return model.fit(); });
  }
  // The same for any work.
  template <class Work>
  auto run_with(const Work& work) {
    try {
      auto fit = unlocked(work);
      close(true);
      return fit;
    } catch (...) {
      close(false);
      throw;
    }
  }

 private:
  void show(const TrainingProgress& now);
  void close(bool finished);  // the bar

  nanobind::object callback_, bar_;
  double shift_;
  Index seen_ = 0;        // steps of Adam
  bool stopped_ = false;  // by the caller's function
};

}  // namespace covary::python
